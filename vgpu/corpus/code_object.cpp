#include "vgpu/corpus/code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace halyard::vgpu::corpus {
namespace {

// LLVM AMDGPUUsage, "Relocation Records": what a linked code object can have.
constexpr uint32_t kAbs64 = 3, kRelative64 = 13;
// "Kernel Descriptor".
constexpr uint64_t kGroupSegmentSize = 0, kPrivateSegmentSize = 4, kKernargSize = 8,
                   kProperties = 56;
constexpr uint16_t kUsesDynamicStack = 1 << 11;
// "Code Object V5 Metadata": the hidden arguments behind the kernel's own.
constexpr size_t kHiddenBytes = 256;

template <class T>
T read(const void* base, uint64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(base) + offset, sizeof value);
  return value;
}

template <class T>
void write(void* base, uint64_t offset, T value) {
  std::memcpy(static_cast<uint8_t*>(base) + offset, &value, sizeof value);
}

struct File {
  std::vector<uint8_t> bytes;
  const uint8_t* data() const { return bytes.data(); }
  Elf64_Ehdr header() const { return read<Elf64_Ehdr>(data(), 0); }
  Elf64_Phdr segment(unsigned n) const {
    return read<Elf64_Phdr>(data(), header().e_phoff + n * sizeof(Elf64_Phdr));
  }
  Elf64_Shdr section(unsigned n) const {
    return read<Elf64_Shdr>(data(), header().e_shoff + n * sizeof(Elf64_Shdr));
  }
  const char* name(const Elf64_Shdr& strings, uint32_t offset) const {
    return reinterpret_cast<const char*>(data() + strings.sh_offset + offset);
  }
};

// Copies the segments; returns where address 0 is.
uint8_t* place(isa::testing::Machine& machine, const File& file) {
  uint64_t size = 0;
  for (unsigned n = 0; n < file.header().e_phnum; ++n) {
    const Elf64_Phdr segment = file.segment(n);
    if (segment.p_type == PT_LOAD) size = std::max(size, segment.p_vaddr + segment.p_memsz);
  }
  auto* const image = static_cast<uint8_t*>(machine.allocate_bytes(size));
  for (unsigned n = 0; n < file.header().e_phnum; ++n) {
    const Elf64_Phdr segment = file.segment(n);
    if (segment.p_type == PT_LOAD)
      std::memcpy(image + segment.p_vaddr, file.data() + segment.p_offset, segment.p_filesz);
  }
  return image;
}

// Returns what is wrong, or nothing.
std::string relocate(uint8_t* image, const File& file, const Elf64_Shdr& relocations) {
  const Elf64_Shdr symbols = file.section(relocations.sh_link);
  for (uint64_t at = 0; at < relocations.sh_size; at += sizeof(Elf64_Rela)) {
    const auto entry = read<Elf64_Rela>(file.data(), relocations.sh_offset + at);
    const auto base = reinterpret_cast<uint64_t>(image);
    const uint32_t type = ELF64_R_TYPE(entry.r_info);
    if (type != kRelative64 && type != kAbs64)
      return "a relocation of type " + std::to_string(type) + ", which this loader does not know";
    uint64_t value = base + static_cast<uint64_t>(entry.r_addend);
    if (type == kAbs64) {
      value += read<Elf64_Sym>(file.data(),
                               symbols.sh_offset + ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym))
                   .st_value;
    }
    write(image, entry.r_offset, value);
  }
  return {};
}

uint32_t at_least_one(uint32_t count) {
  return std::max(count, 1u);
}

}  // namespace

CodeObject::CodeObject(isa::testing::Machine& machine, const std::string& path, std::string& error)
    : machine_(machine) {
  std::ifstream stream(path, std::ios::binary);
  const File file{{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}};
  if (file.bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    error = path + " is not an ELF file; build the tests' code objects again";
    return;
  }
  uint8_t* const image = place(machine, file);
  for (unsigned n = 0; n < file.header().e_shnum; ++n) {
    const Elf64_Shdr section = file.section(n);
    if (section.sh_type == SHT_RELA) error = relocate(image, file, section);
    if (!error.empty()) {
      error = path + " has " + error;
      kernels_.clear();
      return;
    }
    if (section.sh_type != SHT_DYNSYM) continue;
    const Elf64_Shdr strings = file.section(section.sh_link);
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(file.data(), section.sh_offset + at);
      const std::string_view name = file.name(strings, symbol.st_name);
      if (name.size() > 3 && name.substr(name.size() - 3) == ".kd") {
        kernels_[std::string(name.substr(0, name.size() - 3))] =
            reinterpret_cast<uint64_t>(image + symbol.st_value);
      }
    }
  }
}

isa::DispatchResult CodeObject::run(const std::string& kernel, const Launch& launch) {
  const uint64_t descriptor = kernels_.at(kernel);
  const auto* const facts = reinterpret_cast<const uint8_t*>(descriptor);
  isa::Dispatch dispatch;
  dispatch.kernel_object = descriptor;
  dispatch.group_segment_size = read<uint32_t>(facts, kGroupSegmentSize);
  dispatch.private_segment_size = read<uint32_t>(facts, kPrivateSegmentSize);
  if (read<uint16_t>(facts, kProperties) & kUsesDynamicStack)
    dispatch.private_segment_size += launch.dynamic_stack_bytes;

  // Without hidden arguments if the kernel reads none.
  const size_t own_bytes = launch.arguments.size() * sizeof(uint64_t);
  const size_t read_bytes = (size_t{read<uint32_t>(facts, kKernargSize)} + 7) / 8 * 8;
  if (read_bytes != own_bytes && read_bytes != own_bytes + kHiddenBytes)
    throw std::invalid_argument(kernel + " has " + std::to_string(read_bytes) +
                                " bytes of arguments, hidden ones included, and is given " +
                                std::to_string(own_bytes) + " without them");
  auto* const kernarg = static_cast<uint8_t*>(machine_.allocate_bytes(own_bytes + kHiddenBytes));
  std::ranges::copy(launch.arguments, reinterpret_cast<uint64_t*>(kernarg));
  uint8_t* const hidden = kernarg + own_bytes;

  // hsa_kernel_dispatch_packet_t: work-group size at 4, grid size at 12, kernel arguments at 40.
  auto* const packet = static_cast<uint8_t*>(machine_.allocate_bytes(64));
  uint16_t dimensions = 1;
  for (unsigned d = 0; d < 3; ++d) {
    dispatch.group[d] = static_cast<uint16_t>(at_least_one(launch.items[d]));
    dispatch.grid[d] = dispatch.group[d] * at_least_one(launch.groups[d]);
    if (dispatch.grid[d] > 1) dimensions = static_cast<uint16_t>(d + 1);
    write(packet, 4 + 2 * d, dispatch.group[d]);
    write(packet, 12 + 4 * d, dispatch.grid[d]);
    write(hidden, 4 * d, at_least_one(launch.groups[d]));  // hidden_block_count
    write(hidden, 12 + 2 * d, dispatch.group[d]);          // hidden_group_size
  }
  write(hidden, 64, dimensions);  // hidden_grid_dims
  write(packet, 2, dimensions);
  write(packet, 24, dispatch.private_segment_size);
  write(packet, 28, dispatch.group_segment_size);
  write(packet, 32, descriptor);
  write(packet, 40, kernarg);
  dispatch.packet_address = reinterpret_cast<uint64_t>(packet);
  dispatch.kernarg_address = reinterpret_cast<uint64_t>(kernarg);
  return machine_.run(descriptor, {}, dispatch);
}

}  // namespace halyard::vgpu::corpus
