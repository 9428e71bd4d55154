// A smaller GPU of the same kind: what a choice of a profile may add behind the profile's name.
//
//     mi210,memory_size=4GiB,compute_units=8
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vgpu/machine/profile.h"

namespace halyard::vgpu::machine {

// The most that any GPU of the profile has. A GPU that has less keeps what it has.
struct Shrink {
  std::optional<uint64_t> memory_bytes;
  std::optional<uint32_t> compute_units;
};

// Takes a choice apart. A choice that is the path of a file has nothing behind it, whatever
// characters it contains. On failure `error` says what is wrong and what is legal.
bool split_choice(const std::string& choice, std::string& profile, Shrink& shrink,
                  std::string& error);

// Fails if no GPU of the profile has more than the limit, because the limit would mean nothing
// then, and if too little of a GPU would be left.
bool apply_shrink(const Shrink& shrink, Profile& profile, std::string& error);

}  // namespace halyard::vgpu::machine
