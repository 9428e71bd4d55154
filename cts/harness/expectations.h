// What a driver is excused from, as data: cts/expectations/<driver>.yaml.
//
//     unsupported:              # for good
//       "Suite.Test*": why no device of this driver can do it
//     xfail:                    # for now
//       "Suite.Test": what has to be mended
//
// An excused test runs all the same. That it passes is a failure, and so is a pattern that matches
// no test: an excuse that is not needed any more has to go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::cts {

struct Excuse {
  std::string pattern;  // a glob over "Suite.Test"
  std::string reason;
  bool for_good = false;  // unsupported; otherwise xfail
};

class Expectations {
 public:
  // INVALID_ARGUMENT names file, line and column of each mistake.
  static Result<Expectations> read_file(const std::string& path);
  static Result<Expectations> read_text(std::string_view text, const std::string& name);

  // The excuse of a test, or null.
  const Excuse* find(std::string_view test) const;
  // The patterns that match none of `tests`.
  std::vector<std::string> stale(const std::vector<std::string>& tests) const;

  const std::vector<Excuse>& excuses() const { return excuses_; }

 private:
  std::vector<Excuse> excuses_;
};

}  // namespace halyard::cts
