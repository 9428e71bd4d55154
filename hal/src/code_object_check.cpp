#include "hal/code_object_check.h"

#include "damaged.h"
#include "elf_check.h"
#include "kernel_check.h"

namespace halyard {
namespace {

// LLVM AMDGPUUsage, "AMDGPU ELF Header e_flags": the bits that have a meaning, by version.
uint32_t known_flags(const CodeObject& object) {
  if (object.version() == 3) return 0x3ff;
  return object.generic_version() != 0 ? 0xff000fff : 0xfff;
}

Status check_flags(const CodeObject& object) {
  const uint32_t unknown = object.elf_flags() & ~known_flags(object);
  if (unknown == 0) return {};
  return internal::damaged(
      "has bits {:#x} in its flags (e_flags is {:#x} at offset {}) that have no meaning for {} in "
      "version {}.",
      unknown, object.elf_flags(), offsetof(Elf64_Ehdr, e_flags), object.target_name(),
      object.version());
}

}  // namespace

Status check_code_object(const void* data, size_t size, const CodeObject& object,
                         uint64_t memory_bytes) {
  HALYARD_ASSIGN_OR_RETURN(const internal::ElfImage image, internal::ElfImage::open(data, size));
  HALYARD_RETURN_IF_ERROR(check_flags(object));
  HALYARD_RETURN_IF_ERROR(internal::check_elf_layout(image, memory_bytes));
  HALYARD_RETURN_IF_ERROR(internal::check_elf_notes(image));
  HALYARD_RETURN_IF_ERROR(internal::check_elf_dynamic(image));
  HALYARD_RETURN_IF_ERROR(internal::check_elf_symbols(image));
  HALYARD_RETURN_IF_ERROR(internal::check_elf_relocations(image));
  return internal::check_kernels(image, object);
}

}  // namespace halyard
