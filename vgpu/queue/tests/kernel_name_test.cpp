// A kernel's name is read from the loaded code object, and nothing in there is trusted.
#include "vgpu/queue/kernel_name.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace halyard::vgpu::queue {
namespace {

// A map of exactly one range.
class OneRange final : public isa::AddressSpace {
 public:
  OneRange(const void* begin, size_t size)
      : range_{reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(begin) + size} {}
  isa::MemoryRange find(uint64_t address) const override {
    return range_.contains(address, 1) ? range_ : isa::MemoryRange{};
  }
  uint64_t epoch() const override { return 1; }
  void describe(uint64_t, char*, uint64_t) const override {}

 private:
  isa::MemoryRange range_;
};

// What lld's first segment looks like: header, program headers, symbols, strings, descriptors.
struct LoadedCodeObject {
  static constexpr size_t kBytes = 3 * 4096;
  static constexpr size_t kDescriptor = 0x640;  // from the image's start, which is page 1

  LoadedCodeObject() {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = 224;
    header.e_phoff = sizeof header;
    header.e_phnum = 1;
    Elf64_Phdr dynamic = {};
    dynamic.p_type = PT_DYNAMIC;
    dynamic.p_vaddr = 0x100;
    dynamic.p_memsz = 4 * sizeof(Elf64_Dyn);
    const Elf64_Dyn entries[] = {
        {DT_SYMTAB, {0x200}}, {DT_STRTAB, {0x400}}, {DT_HASH, {0x300}}, {DT_NULL, {0}}};
    Elf64_Sym symbols[3] = {};
    symbols[1].st_name = 1;
    symbols[1].st_shndx = 3;
    symbols[1].st_value = 0x1000;
    symbols[2].st_name = 7;
    symbols[2].st_shndx = 3;
    symbols[2].st_value = kDescriptor;
    const uint32_t hash[] = {1, 3};
    put(0, &header, sizeof header);
    put(sizeof header, &dynamic, sizeof dynamic);
    put(0x100, entries, sizeof entries);
    put(0x200, symbols, sizeof symbols);
    put(0x300, hash, sizeof hash);
    put(0x400, "\0other\0vector_add.kd", 21);
  }
  void put(size_t offset, const void* data, size_t size) {
    std::memcpy(image() + offset, data, size);
  }
  unsigned char* image() { return bytes + 4096; }
  uint64_t kernel() { return reinterpret_cast<uintptr_t>(image() + kDescriptor); }
  std::string name() { return kernel_name(kernel(), OneRange(bytes, kBytes)); }

  alignas(4096) unsigned char bytes[kBytes] = {};
};

TEST(KernelName, ComesFromTheDynamicSymbols) {
  static LoadedCodeObject object;
  EXPECT_EQ(object.name(), "vector_add");
}

TEST(KernelName, IsEmptyWithoutACodeObject) {
  alignas(4096) static unsigned char bytes[8192] = {};
  EXPECT_EQ(kernel_name(reinterpret_cast<uintptr_t>(bytes + 5000), OneRange(bytes, sizeof bytes)),
            "");
  EXPECT_EQ(kernel_name(64, OneRange(bytes, sizeof bytes)), "");
}

TEST(KernelName, IsEmptyForAnAddressThatIsNoSymbol) {
  static LoadedCodeObject object;
  EXPECT_EQ(kernel_name(object.kernel() + 64, OneRange(object.bytes, sizeof object.bytes)), "");
}

TEST(KernelName, SurvivesDamage) {
  static LoadedCodeObject object;
  const LoadedCodeObject whole = object;
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    object = whole;
    for (int i = 0; i < 8; ++i) {
      object.image()[4 + random() % 0x420] = static_cast<unsigned char>(random());
    }
    object.name();
  }
}

}  // namespace
}  // namespace halyard::vgpu::queue
