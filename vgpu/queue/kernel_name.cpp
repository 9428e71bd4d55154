#include "vgpu/queue/kernel_name.h"

#include <elf.h>

#include <cstring>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::queue {

namespace {

constexpr uint16_t kMachineAmdGpu = 224;
constexpr uint64_t kMaxSearch = uint64_t{64} << 20;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxSymbols = 1 << 20;
constexpr uint64_t kMaxName = 4096;

// The mapped part of a loaded code object's image. Addresses are relative to its start.
class Image {
 public:
  Image(const uint8_t* begin, uint64_t size) : begin_(begin), size_(size) {}

  template <typename T>
  bool read(uint64_t offset, T& value) const {
    if (offset > size_ || sizeof(T) > size_ - offset) return false;
    return read_host(&value, begin_ + offset, sizeof(T));
  }

  std::string text(uint64_t offset) const {
    std::string result;
    char c = 0;
    while (result.size() < kMaxName && read(offset + result.size(), c) && c != 0) result += c;
    return result;
  }

  bool is_code_object() const {
    Elf64_Ehdr header;
    return read(0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kMachineAmdGpu;
  }

  std::string symbol_at(uint64_t value) const;

 private:
  bool find_dynamic(uint64_t& offset, uint64_t& size) const;

  const uint8_t* begin_;
  uint64_t size_;
};

bool Image::find_dynamic(uint64_t& offset, uint64_t& size) const {
  Elf64_Ehdr header;
  if (!read(0, header)) return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read(header.e_phoff + uint64_t{i} * sizeof segment, segment)) return false;
    if (segment.p_type != PT_DYNAMIC) continue;
    offset = segment.p_vaddr;
    size = segment.p_memsz;
    return true;
  }
  return false;
}

std::string Image::symbol_at(uint64_t value) const {
  uint64_t dynamic = 0;
  uint64_t dynamic_size = 0;
  if (!find_dynamic(dynamic, dynamic_size)) return {};
  uint64_t symbols = 0;
  uint64_t strings = 0;
  uint64_t hash = 0;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!read(dynamic + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SYMTAB) symbols = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_HASH) hash = entry.d_un.d_ptr;
  }
  if (symbols == 0 || strings == 0) return {};
  // The symbol table's length is the hash table's second word. Without one, the string table's
  // start bounds it: linkers put that behind the symbols.
  uint32_t count = 0;
  if (hash == 0 || !read(hash + 4, count)) {
    count = strings > symbols ? static_cast<uint32_t>((strings - symbols) / sizeof(Elf64_Sym)) : 0;
  }
  for (uint64_t i = 1; i < count && i < kMaxSymbols; ++i) {
    Elf64_Sym symbol;
    if (!read(symbols + i * sizeof symbol, symbol)) break;
    if (symbol.st_value != value || symbol.st_shndx == SHN_UNDEF) continue;
    std::string name = text(strings + symbol.st_name);
    if (name.ends_with(".kd")) name.resize(name.size() - 3);
    if (!name.empty()) return name;
  }
  return {};
}

}  // namespace

std::string kernel_name(uint64_t kernel_object, const isa::AddressSpace& memory) {
  const isa::MemoryRange range = memory.find(kernel_object);
  if (!range.contains(kernel_object, 1)) return {};
  // Neighbouring allocations appear as one range: the nearest ELF header below is the kernel's.
  const uint64_t first_page = kernel_object & ~(kPage - 1);
  for (uint64_t page = first_page; page >= range.begin; page -= kPage) {
    const Image image(range.host(page), range.end - page);
    if (image.is_code_object()) return image.symbol_at(kernel_object - page);
    if (page < kPage || first_page - page >= kMaxSearch) break;
  }
  return {};
}

}  // namespace halyard::vgpu::queue
