// The values of a command line, in their order, as several may come from one file.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "tools/values/value.h"

namespace halyard::values {

// Beside what parse_value knows (value.h):
//
//   @-            a NumPy array, or untyped bytes, from standard input
//   +file.npy     the next array of a file of several, of which "@file.npy" gave the first; "+-" of
//                 standard input. NumPy writes such files by calling save() again on an open file.
class InputReader {
 public:
  Result<Value> read(std::string_view text);
  // INVALID_ARGUMENT if a file has arrays that were not read.
  Status finish() const;

 private:
  struct File {
    std::vector<std::byte> bytes;
    size_t read = 0;   // bytes
    size_t count = 0;  // arrays
  };
  Result<Value> next(File& file, const std::string& path);

  std::map<std::string, File> files_;  // .npy files by name
};

}  // namespace halyard::values
