// The files that mutations start from.
#pragma once

#include <string>
#include <vector>

#include "fuzz/mutations/mutation.h"
#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard::mutations {

struct Seed {
  std::string name;
  Bytes bytes;
  std::vector<Part> parts;
};

// Of the files in the folders that have code for the device: each code object that a device would
// take from them, and each file that has several, if it is not large. Sorted by name; files that
// are equal are there once.
Result<std::vector<Seed>> read_seeds(const std::vector<std::string>& folders,
                                     const TargetId& device);

}  // namespace halyard::mutations
