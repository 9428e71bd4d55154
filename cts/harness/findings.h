// What the virtual GPU's checks have found (--check): a finding fails the test that it came in.
#pragma once

#include <string>

#include "hal/status.h"

namespace halyard::cts {

class Findings {
 public:
  // Makes the file that findings go to. Processes that this one starts add to it too.
  Status create();
  // Removes it. Not left to a destructor, as the environment has none.
  void remove();
  // Empty before create().
  const std::string& path() const { return path_; }
  // The findings since the last call.
  std::string take();

 private:
  std::string path_;
  int descriptor_ = -1;
  bool is_own_ = false;
};

}  // namespace halyard::cts
