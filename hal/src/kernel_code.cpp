#include "hal/kernel_code.h"

#include <algorithm>
#include <cstring>

#include "elf_image.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard {
namespace {

// KERNEL_CODE_ENTRY_BYTE_OFFSET of the kernel descriptor (LLVM AMDGPUUsage, "Kernel Descriptor").
constexpr uint64_t kEntryField = 16;

const Elf64_Phdr* segment_of(const internal::ElfImage& image, uint64_t address) {
  for (const Elf64_Phdr& segment : image.segments()) {
    const bool runs = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0;
    if (runs && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return &segment;
  }
  return nullptr;
}

// Of the function that begins there; 0 if no symbol says it.
uint64_t function_size(const std::vector<internal::ElfSymbol>& symbols, uint64_t address) {
  uint64_t size = 0;
  for (const internal::ElfSymbol& entry : symbols) {
    if (ELF64_ST_TYPE(entry.symbol.st_info) == STT_FUNC && entry.symbol.st_value == address)
      size = std::max<uint64_t>(size, entry.symbol.st_size);
  }
  return size;
}

}  // namespace

Result<KernelCode> kernel_code(std::span<const std::byte> object, const KernelInfo& kernel) {
  if (!kernel.has_descriptor) {
    return error(StatusCode::kInvalidArgument, "The kernel \"{}\" has no code. {}",
                 short_name(kernel.function.name), kernel.function.problem);
  }
  HALYARD_ASSIGN_OR_RETURN(const internal::ElfImage image,
                           internal::ElfImage::open(object.data(), object.size()));
  if (kernel.descriptor_offset > object.size() ||
      object.size() - kernel.descriptor_offset < kEntryField + sizeof(int64_t)) {
    return error(StatusCode::kInvalidArgument,
                 "The kernel \"{}\" is not of this code object: its descriptor at offset {} is not "
                 "in the file's {} bytes.",
                 short_name(kernel.function.name), kernel.descriptor_offset, object.size());
  }
  int64_t distance = 0;
  std::memcpy(&distance, object.data() + kernel.descriptor_offset + kEntryField, sizeof distance);
  const uint64_t entry = kernel.descriptor_address + static_cast<uint64_t>(distance);
  const Elf64_Phdr* const segment = segment_of(image, entry);
  if (segment == nullptr || segment->p_offset > object.size() ||
      object.size() - segment->p_offset < segment->p_filesz) {
    return error(StatusCode::kInvalidArgument,
                 "The kernel \"{}\" has no code: its descriptor at offset {} leads to the address "
                 "{:#x}, which is in no executable segment of the code object. Build it again.",
                 short_name(kernel.function.name), kernel.descriptor_offset, entry);
  }
  const uint64_t into = entry - segment->p_vaddr;
  uint64_t size = segment->p_filesz - into;
  const uint64_t named =
      std::max(function_size(image.symbols(), entry), function_size(image.static_symbols(), entry));
  if (named != 0) size = std::min(size, named);
  return KernelCode{entry, object.subspan(segment->p_offset + into, size)};
}

}  // namespace halyard
