// A smaller GPU of the same kind: what a choice of a profile may add behind the profile's name.
//
//     mi210,memory_size=4GiB,compute_units=8
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vgpu/machine/profile.h"

namespace halyard::vgpu::machine {

// The maximum over the GPUs of the profile. A GPU with less is unchanged.
struct Shrink {
  std::optional<uint64_t> memory_bytes;
  std::optional<uint32_t> compute_units;
};

// Splits a choice. A choice that is the path of a file has no limits, whatever characters it
// contains. On failure, `error` names the mistake and what is legal.
bool split_choice(const std::string& choice, std::string& profile, Shrink& shrink,
                  std::string& error);

// Fails if no GPU of the profile has more than the limit, because the limit would mean nothing
// then, and if too little of a GPU would be left.
bool apply_shrink(const Shrink& shrink, Profile& profile, std::string& error);

}  // namespace halyard::vgpu::machine
