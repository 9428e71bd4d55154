// Programs, libraries and objects for the host that carry device code: an ELF whose section
// .hip_fatbin holds offload bundles, one for each translation unit, as hipcc makes them; or whose
// section .llvm.offloading holds offload packages, as clang makes objects that are not linked.
#pragma once

#include <vector>

#include "byte_range.h"
#include "hal/status.h"

namespace halyard::internal {

// Whether it is an ELF for another machine than an AMD GPU. Only the first bytes are looked at.
bool is_host_elf(const ByteRange& range);

struct FatSections {
  // The contents: one in a program or library, none without device code, any number in an object.
  std::vector<ByteRange> contents;
  // Whether there is device code as the input of a link (hipcc -fgpu-rdc -c): it is in sections
  // that clang-offload-bundler names __CLANG_OFFLOAD_BUNDLE__ and the target.
  bool is_unlinked = false;
};
// INVALID_ARGUMENT for a damaged ELF names the mistake and its offset.
Result<FatSections> find_fat_sections(const ByteRange& range);

// "x86-64"; "another machine" for one without a name here.
const char* elf_machine_name(uint16_t machine);

}  // namespace halyard::internal
