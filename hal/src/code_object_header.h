// What the ELF header of a code object says: enough to choose one among many without reading them
// whole.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard::internal {

struct CodeObjectHeader {
  uint32_t version = 0;  // 3 to 6
  uint32_t elf_flags = 0;
  uint32_t generic_version = 0;  // 0 unless the target is generic
  TargetId target;
};

// INVALID_ARGUMENT for other files and damaged headers, UNIMPLEMENTED for a code object that
// Halyard does not support: an old or a later version, an unknown processor.
Result<CodeObjectHeader> read_code_object_header(const void* data, size_t size);

// The same in two steps, for a caller that reads the metadata in between. `metadata_target` is for
// the message about an unknown processor; it may be empty.
Result<uint32_t> code_object_version(const Elf64_Ehdr& header);
Result<CodeObjectHeader> code_object_header(const Elf64_Ehdr& header, uint32_t version,
                                            std::string_view metadata_target);

}  // namespace halyard::internal
