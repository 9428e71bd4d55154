#include "code_object_header.h"

#include "damaged.h"
#include "elf_image.h"
#include "hal/error.h"
#include "hal/target_map.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

constexpr unsigned char kOsAbiHsa = 64;

Feature feature_of(bool supported, uint32_t version, uint32_t flags, uint32_t v3_bit,
                   uint32_t v4_shift) {
  if (!supported) return Feature::kUnsupported;
  if (version == 3) return (flags & v3_bit) != 0 ? Feature::kOn : Feature::kOff;
  constexpr Feature kSettings[] = {Feature::kAny, Feature::kAny, Feature::kOff, Feature::kOn};
  return kSettings[(flags >> v4_shift) & 3];
}

}  // namespace

// EI_ABIVERSION is the code object version less two.
Result<uint32_t> code_object_version(const Elf64_Ehdr& header) {
  const unsigned char os_abi = header.e_ident[EI_OSABI];
  if (os_abi != kOsAbiHsa) {
    return damaged(
        "is not for HSA (EI_OSABI is {} at offset 7{}); Halyard runs code for amdhsa ({}). Compile "
        "with -target amdgcn-amd-amdhsa.",
        os_abi,
        os_abi == 65   ? ", PAL"
        : os_abi == 66 ? ", Mesa"
                       : "",
        kOsAbiHsa);
  }
  const uint32_t abi = header.e_ident[EI_ABIVERSION];
  const uint32_t version = abi + 2;
  if (abi < 1) {
    return error(
        StatusCode::kUnimplemented,
        "The code object has version 2 (EI_ABIVERSION is 0 at offset 8), from before 2020. "
        "Supported are 3 to 6: compile it again with -mcode-object-version=5.");
  }
  if (abi > 4) {
    return error(
        StatusCode::kUnimplemented,
        "The code object has version {} (EI_ABIVERSION is {} at offset 8). Supported are 3 "
        "to 6: compile it again with -mcode-object-version=6 or lower.",
        version, abi);
  }
  return version;
}

// LLVM AMDGPUUsage, "AMDGPU ELF Header e_flags" for V3, V4 and V6.
Result<CodeObjectHeader> code_object_header(const Elf64_Ehdr& header, uint32_t version,
                                            std::string_view metadata_target) {
  CodeObjectHeader result;
  const uint32_t flags = header.e_flags;
  result.version = version;
  result.elf_flags = flags;
  const ProcessorInfo* processor = find_processor(static_cast<uint8_t>(flags & 0xff));
  if (processor == nullptr) {
    return error(StatusCode::kUnimplemented,
                 "The code object is for a processor (EF_AMDGPU_MACH {:#04x} in e_flags at offset "
                 "48{}) that this version of Halyard does not know.",
                 flags & 0xff,
                 metadata_target.empty()
                     ? ""
                     : fmt::format("; its metadata says {}", short_name(metadata_target)));
  }
  if (processor->is_generic()) result.generic_version = flags >> 24;
  if (processor->is_generic() && (result.version < 6 || result.generic_version == 0)) {
    return damaged(
        "is for the generic target {}, with version {} of it and code object version {}; generic "
        "targets have at least 1 and 6.",
        processor->name, result.generic_version, result.version);
  }
  result.target.processor = processor->name;
  result.target.xnack = feature_of(processor->has_xnack, result.version, flags, 0x100, 8);
  result.target.sramecc = feature_of(processor->has_sramecc, result.version, flags, 0x200, 10);
  return result;
}

Result<CodeObjectHeader> read_code_object_header(const void* data, size_t size) {
  HALYARD_ASSIGN_OR_RETURN(const Elf64_Ehdr header, read_elf_header(data, size));
  HALYARD_ASSIGN_OR_RETURN(const uint32_t version, code_object_version(header));
  return code_object_header(header, version, {});
}

}  // namespace halyard::internal
