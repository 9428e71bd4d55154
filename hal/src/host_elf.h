// Programs and libraries for the host that carry device code, as hipcc makes them: an ELF whose
// section .hip_fatbin holds offload bundles, one for each translation unit.
#pragma once

#include <vector>

#include "byte_range.h"
#include "hal/status.h"

namespace halyard::internal {

// Whether it is an ELF for another machine than an AMD GPU. Only the first bytes are looked at.
bool is_host_elf(const ByteRange& range);

// The contents of its .hip_fatbin sections: one in a program or library, none without device code,
// any number in an unlinked object. INVALID_ARGUMENT for a damaged ELF names the mistake and its
// offset.
Result<std::vector<ByteRange>> find_fat_sections(const ByteRange& range);

// "x86-64"; "another machine" for one without a name here.
const char* elf_machine_name(uint16_t machine);

}  // namespace halyard::internal
