#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "damaged.h"
#include "elf_check.h"
#include "hal/target_map.h"
#include "hal/text.h"
#include "kernel_check.h"

namespace halyard::internal {
namespace {

constexpr uint64_t kDescriptorAlignment = 64;
constexpr uint64_t kEntryAlignment = 256;
constexpr uint64_t kSmallestInstruction = 4;  // bytes

// Offsets in a kernel descriptor.
constexpr uint64_t kGroupSegmentSize = 0;
constexpr uint64_t kPrivateSegmentSize = 4;
constexpr uint64_t kKernargSize = 8;
constexpr uint64_t kEntryOffset = 16;
constexpr uint64_t kResources3 = 44;
constexpr uint64_t kResources1 = 48;
constexpr uint64_t kResources2 = 52;
constexpr uint64_t kProperties = 56;
constexpr uint64_t kPreload = 58;
// Bytes that are 0.
struct Reserved {
  uint64_t offset;
  uint64_t size;
};
constexpr Reserved kReserved[] = {{12, 4}, {24, 20}, {60, 4}};

// Processors that give the bits of a descriptor the same meaning.
enum class Generation : uint8_t {
  kGfx8,    // and older
  kGfx9,    // without unified vector registers
  kGfx90a,  // with them: gfx90a, gfx942, gfx950
  kGfx10,
  kGfx11,
  kGfx120,
  kGfx125,
  kUnknown,
};

Generation generation_of(std::string_view processor) {
  constexpr std::string_view kUnified[] = {"gfx90a", "gfx940", "gfx941",
                                           "gfx942", "gfx950", "gfx9-4-generic"};
  if (std::find(std::begin(kUnified), std::end(kUnified), processor) != std::end(kUnified)) {
    return Generation::kGfx90a;
  }
  const struct {
    std::string_view prefix;
    Generation generation;
  } prefixes[] = {
      {"gfx125", Generation::kGfx125}, {"gfx12", Generation::kGfx120},
      {"gfx11", Generation::kGfx11},   {"gfx10", Generation::kGfx10},
      {"gfx9", Generation::kGfx9},     {"gfx8", Generation::kGfx8},
      {"gfx7", Generation::kGfx8},     {"gfx6", Generation::kGfx8},
  };
  for (const auto& known : prefixes) {
    if (processor.starts_with(known.prefix)) return known.generation;
  }
  return Generation::kUnknown;
}

constexpr uint32_t bits(uint32_t low, uint32_t count) {
  return static_cast<uint32_t>(((uint64_t{1} << count) - 1) << low);
}

// The bits that are reserved or set by the packet processor, and so 0, of each word.
struct MustBeZero {
  uint32_t resources1;
  uint32_t resources2;
  uint32_t resources3;
  uint32_t properties;
  uint32_t preload;
};

// But the number of SGPRs, which clang 15 sets for gfx10 and later too.
MustBeZero must_be_zero(Generation generation) {
  // Of every generation: priority, privileged, debug, bulky, debugger, one reserved; address watch,
  // memory violation, LDS size, one reserved; two groups of reserved ones.
  MustBeZero zero = {
      .resources1 = bits(10, 2) | bits(20, 1) | bits(22, 1) | bits(24, 2) | bits(28, 1),
      .resources2 = bits(13, 2) | bits(15, 9) | bits(31, 1),
      .resources3 = 0,
      .properties = bits(7, 3) | bits(12, 4),
      .preload = 0};
  switch (generation) {
    case Generation::kGfx8:
      zero.resources1 |= bits(26, 2) | bits(29, 3);
      zero.resources2 |= bits(6, 1);
      zero.resources3 = bits(0, 32);
      zero.properties |= bits(10, 1);
      zero.preload = bits(0, 16);
      break;
    case Generation::kGfx9:
      zero.resources1 |= bits(27, 1) | bits(29, 3);
      zero.resources2 |= bits(6, 1);
      zero.resources3 = bits(0, 32);
      zero.properties |= bits(10, 1);
      zero.preload = bits(0, 16);
      break;
    case Generation::kGfx90a:
      zero.resources1 |= bits(27, 1) | bits(29, 3);
      zero.resources2 |= bits(6, 1);
      zero.resources3 = bits(6, 10) | bits(17, 15);
      zero.properties |= bits(10, 1);
      break;
    case Generation::kGfx10:
      zero.resources1 |= bits(27, 1);
      zero.resources2 |= bits(6, 1);
      zero.resources3 = bits(4, 28);
      zero.preload = bits(0, 16);
      break;
    case Generation::kGfx11:
      zero.resources1 |= bits(27, 1);
      zero.resources2 |= bits(6, 1);
      zero.resources3 = bits(12, 19);
      zero.preload = bits(0, 16);
      break;
    case Generation::kGfx120:
      zero.resources1 |= bits(23, 1) | bits(27, 1);
      zero.resources3 = bits(0, 4) | bits(12, 1) | bits(14, 17);
      zero.preload = bits(0, 16);
      break;
    case Generation::kGfx125:
      zero.resources1 |= bits(23, 1);
      zero.resources3 = bits(0, 4) | bits(12, 1) | bits(22, 9);
      break;
    case Generation::kUnknown:
      break;
  }
  return zero;
}

// One kernel's descriptor.
class DescriptorCheck {
 public:
  DescriptorCheck(const ElfImage& image, const CodeObject& object, const KernelInfo& kernel)
      : image_(image),
        object_(object),
        kernel_(kernel),
        descriptor_(image.bytes().part(kernel.descriptor_offset, kDescriptorBytes)),
        generation_(generation_of(object.target().processor)) {}

  Status run() const {
    HALYARD_RETURN_IF_ERROR(check_symbol());
    HALYARD_RETURN_IF_ERROR(check_reserved_bytes());
    HALYARD_RETURN_IF_ERROR(check_reserved_bits());
    HALYARD_RETURN_IF_ERROR(check_entry());
    HALYARD_RETURN_IF_ERROR(check_registers());
    return check_against_metadata();
  }

 private:
  std::string name() const { return fmt::format("\"{}\"", short_name(kernel_.function.name)); }
  uint64_t offset(uint64_t field) const { return descriptor_.base + field; }

  Status check_symbol() const {
    const ElfSymbol& symbol = *image_.find(kernel_.symbol.view());
    if (ELF64_ST_TYPE(symbol.symbol.st_info) != STT_OBJECT ||
        ELF64_ST_BIND(symbol.symbol.st_info) == STB_LOCAL || !symbol.name.ends_with(".kd")) {
      return damaged(
          "has kernel {} with the descriptor \"{}\", which is a symbol of type {} and "
          "binding {}. It is a variable ({}) that is not local, and its name ends in .kd.",
          name(), short_name(symbol.name), ELF64_ST_TYPE(symbol.symbol.st_info),
          ELF64_ST_BIND(symbol.symbol.st_info), STT_OBJECT);
    }
    if (symbol.symbol.st_size != kDescriptorBytes) {
      return damaged("has kernel {} with a descriptor \"{}\" of {} bytes; it has {}.", name(),
                     short_name(symbol.name), symbol.symbol.st_size, kDescriptorBytes);
    }
    if (kernel_.descriptor_address % kDescriptorAlignment != 0) {
      return damaged(
          "has kernel {} with its descriptor at address {:#x}, which is not a multiple of "
          "{}.",
          name(), kernel_.descriptor_address, kDescriptorAlignment);
    }
    return {};
  }

  Status check_reserved_bytes() const {
    for (const Reserved& reserved : kReserved) {
      for (uint64_t i = reserved.offset; i < reserved.offset + reserved.size; ++i) {
        if (descriptor_.read<uint8_t>(i) == 0) continue;
        return damaged(
            "has kernel {} with a reserved byte of its descriptor ({:#x} at offset {}) "
            "that is not 0.",
            name(), descriptor_.read<uint8_t>(i), offset(i));
      }
    }
    return {};
  }

  Status check_reserved_bits() const {
    const MustBeZero zero = must_be_zero(generation_);
    const struct {
      const char* field;
      uint64_t offset;
      uint32_t value;
      uint32_t zero;
    } words[] = {
        {"compute_pgm_rsrc1", kResources1, descriptor_.read<uint32_t>(kResources1),
         zero.resources1},
        {"compute_pgm_rsrc2", kResources2, descriptor_.read<uint32_t>(kResources2),
         zero.resources2},
        {"compute_pgm_rsrc3", kResources3, descriptor_.read<uint32_t>(kResources3),
         zero.resources3},
        {"kernel_code_properties", kProperties, descriptor_.read<uint16_t>(kProperties),
         zero.properties},
        {"kernarg_preload", kPreload, descriptor_.read<uint16_t>(kPreload), zero.preload},
    };
    for (const auto& word : words) {
      if ((word.value & word.zero) == 0) continue;
      return damaged(
          "has kernel {} with bits {:#x} in its descriptor's {} ({:#x} at offset {}) that "
          "must be 0 on {}.",
          name(), word.value & word.zero, word.field, word.value, offset(word.offset),
          object_.target().processor);
    }
    return {};
  }

  Status check_entry() const {
    const auto distance = descriptor_.read<uint64_t>(kEntryOffset);
    const uint64_t entry = kernel_.descriptor_address + distance;
    if (entry % kEntryAlignment != 0) {
      return damaged(
          "has kernel {} with its code at address {:#x} "
          "(kernel_code_entry_byte_offset at offset {}), which is not a multiple of {}.",
          name(), entry, offset(kEntryOffset), kEntryAlignment);
    }
    const Elf64_Phdr* const segment = loaded_segment(image_, entry, kSmallestInstruction);
    if (segment == nullptr || (segment->p_flags & PF_X) == 0 ||
        !inside(entry - segment->p_vaddr, kSmallestInstruction, segment->p_filesz)) {
      return damaged(
          "has kernel {} with its code at address {:#x} "
          "(kernel_code_entry_byte_offset at offset {}), which is in no segment with "
          "code.",
          name(), entry, offset(kEntryOffset));
    }
    return {};
  }

  // The user data that the code asks for is in as many registers as it says.
  Status check_registers() const {
    constexpr uint32_t kRegistersOf[] = {4, 2, 2, 2, 2, 2, 1};  // of the properties' bits
    const auto properties = descriptor_.read<uint16_t>(kProperties);
    uint32_t enabled = descriptor_.read<uint16_t>(kPreload) & bits(0, 7);
    for (uint32_t bit = 0; bit < std::size(kRegistersOf); ++bit) {
      if ((properties >> bit & 1) != 0) enabled += kRegistersOf[bit];
    }
    const auto resources = descriptor_.read<uint32_t>(kResources2);
    const uint32_t count = resources >> 1 & (generation_ == Generation::kGfx125 ? 63 : 31);
    if (enabled > count) {
      return damaged(
          "has kernel {} with {} user SGPRs (compute_pgm_rsrc2 at offset {}), fewer than "
          "the {} that its kernel_code_properties and kernarg_preload enable.",
          name(), count, offset(kResources2), enabled);
    }
    if ((resources >> 11 & 3) == 3) {
      return damaged(
          "has kernel {} with 3 as its number of work-item IDs in VGPRs "
          "(compute_pgm_rsrc2 at offset {}). It is 0, 1 or 2.",
          name(), offset(kResources2));
    }
    return {};
  }

  Status check_against_metadata() const {
    const FunctionInfo& function = kernel_.function;
    const struct {
      const char* key;
      uint64_t offset;
      uint32_t metadata;
      bool may_be_unspecified;  // as 0
    } sizes[] = {
        {".group_segment_fixed_size", kGroupSegmentSize, function.group_segment_size, false},
        {".private_segment_fixed_size", kPrivateSegmentSize, function.private_segment_size, false},
        {".kernarg_segment_size", kKernargSize, function.kernarg_size, true},
    };
    for (const auto& size : sizes) {
      const auto value = descriptor_.read<uint32_t>(size.offset);
      if (value == size.metadata || (size.may_be_unspecified && value == 0)) continue;
      return damaged(
          "has kernel {} with {} of {} in its metadata and of {} in its descriptor (at "
          "offset {}).",
          name(), size.key, size.metadata, value, offset(size.offset));
    }
    const bool wave32 = (descriptor_.read<uint16_t>(kProperties) >> 10 & 1) != 0;
    if (generation_ != Generation::kUnknown && (function.wavefront_size == 32) != wave32) {
      return damaged(
          "has kernel {} with .wavefront_size of {} in its metadata and wavefronts of {} "
          "in its descriptor (kernel_code_properties at offset {}).",
          name(), function.wavefront_size, wave32 ? 32 : 64, offset(kProperties));
    }
    return {};
  }

  const ElfImage& image_;
  const CodeObject& object_;
  const KernelInfo& kernel_;
  const ByteRange descriptor_;
  const Generation generation_;
};

}  // namespace

Status check_kernels(const ElfImage& image, const CodeObject& object) {
  std::unordered_set<std::string_view> names;
  for (const KernelInfo& kernel : object.kernels()) {
    if (!names.insert(kernel.function.name.view()).second) {
      return damaged("has two kernels named \"{}\".", short_name(kernel.function.name));
    }
    if (!kernel.has_descriptor) continue;
    HALYARD_RETURN_IF_ERROR(DescriptorCheck(image, object, kernel).run());
  }
  return {};
}

}  // namespace halyard::internal
