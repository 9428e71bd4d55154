#include "vgpu/kfd/import_table.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "vgpu/kfd/addresses.h"

namespace halyard::vgpu::kfd {
namespace {

// What the dynamic section says of an object; addresses are those of the process.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  std::span<const ElfW(Rela)> relocations[2];  // of the linkage table, and all others
};

Dynamic read_dynamic(const link_map& object) {
  Dynamic dynamic;
  const ElfW(Rela) * tables[2] = {};
  size_t bytes[2] = {};
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        dynamic.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        dynamic.strings = reinterpret_cast<const char*>(address);
        break;
      case DT_JMPREL:
        tables[0] = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        bytes[0] = entry->d_un.d_val;
        break;
      case DT_RELA:
        tables[1] = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        bytes[1] = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (tables[i] != nullptr) dynamic.relocations[i] = {tables[i], bytes[i] / sizeof(ElfW(Rela))};
  }
  return dynamic;
}

// The pages that the loader has made read-only, [begin, end).
struct ReadOnly {
  uint64_t base = 0;  // of the object
  uint64_t begin = 0;
  uint64_t end = 0;
  bool contains(uint64_t page) const { return page >= begin && page < end; }
};

int find_read_only(dl_phdr_info* info, size_t /*size*/, void* data) {
  auto& found = *static_cast<ReadOnly*>(data);
  if (info->dlpi_addr != found.base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_GNU_RELRO) continue;
    found.begin = (found.base + segment.p_vaddr) / kPage * kPage;
    found.end = (found.base + segment.p_vaddr + segment.p_memsz) / kPage * kPage;
  }
  return 1;
}

bool is_function_slot(unsigned type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

// The slots of imported functions, with the functions' names.
template <class Visit>
void visit_imports(const link_map& object, const Dynamic& dynamic, Visit&& visit) {
  for (const auto& relocations : dynamic.relocations) {
    for (const ElfW(Rela) & relocation : relocations) {
      if (!is_function_slot(ELF64_R_TYPE(relocation.r_info)) || relocation.r_addend != 0) continue;
      const ElfW(Sym) & symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
      if (symbol.st_shndx != SHN_UNDEF) continue;
      if (!visit(dynamic.strings + symbol.st_name, object.l_addr + relocation.r_offset)) return;
    }
  }
}

void* replacement_of(const char* name, std::span<const Redirect> redirects) {
  for (const Redirect& redirect : redirects) {
    if (std::strcmp(redirect.name, name) == 0) return redirect.function;
  }
  return nullptr;
}

}  // namespace

int redirect_imports(const link_map& object, std::span<const Redirect> redirects,
                     std::string& error) {
  const Dynamic dynamic = read_dynamic(object);
  if (dynamic.symbols == nullptr || dynamic.strings == nullptr) return 0;
  ReadOnly read_only;
  read_only.base = object.l_addr;
  dl_iterate_phdr(find_read_only, &read_only);
  const auto protect = [&error, &object](uint64_t page, int protection) {
    if (mprotect(reinterpret_cast<void*>(page), kPage, protection) == 0) return true;
    error = fmt::format("The import table of {} cannot be written: {}.", object.l_name,
                        std::strerror(errno));
    return false;
  };
  int count = 0;
  visit_imports(object, dynamic, [&](const char* name, uint64_t slot) {
    void* const function = replacement_of(name, redirects);
    if (function == nullptr) return true;
    const uint64_t page = slot / kPage * kPage;
    const bool is_read_only = read_only.contains(page);
    const bool done = !is_read_only || protect(page, PROT_READ | PROT_WRITE);
    if (done) __atomic_store_n(reinterpret_cast<void**>(slot), function, __ATOMIC_RELEASE);
    count = done && (!is_read_only || protect(page, PROT_READ)) ? count + 1 : -1;
    return count > 0;
  });
  return count;
}

void* imported_function(const link_map& object, const char* name) {
  void* found = nullptr;
  const Dynamic dynamic = read_dynamic(object);
  if (dynamic.symbols == nullptr || dynamic.strings == nullptr) return nullptr;
  visit_imports(object, dynamic, [&](const char* imported, uint64_t slot) {
    if (std::strcmp(imported, name) == 0) found = *reinterpret_cast<void**>(slot);
    return found == nullptr;
  });
  return found;
}

}  // namespace halyard::vgpu::kfd
