#include "plugin_symbol.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string_view>

#include "hal/contract/driver.h"

namespace halyard {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

const char* symbol_type_name(unsigned type) {
  switch (type) {
    case STT_OBJECT:
    case STT_COMMON:
      return "a variable";
    case STT_TLS:
      return "a thread-local variable";
    default:
      return "a symbol of another kind";
  }
}

// An assembler may leave the type away; where the symbol lies decides then.
bool may_be_function(unsigned type) {
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

std::string no_function(const std::string& what) {
  return fmt::format(
      "The library's {} is {}, not a function, so the library is not a Halyard plugin. A plugin "
      "defines it with the macro HALYARD_PLUGIN of hal/contract/plugin.h.",
      HALYARD_PLUGIN_SYMBOL, what);
}

// The library's own dynamic symbol of that name. `lists` says whether there is a table to look in.
std::optional<GElf_Sym> find_symbol(Elf* elf, std::string_view name, bool& lists) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    lists = true;
    GElf_Sym symbol;
    for (int i = 1; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const char* const text = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (text != nullptr && name == text) return symbol;
    }
  }
  return std::nullopt;
}

bool is_code(Elf* elf, uint64_t address) {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return false;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string why_no_entry(const std::string& path) {
  const Descriptor file(path);
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, ElfEnd> elf(elf_begin(file.get(), ELF_C_READ, nullptr));
  bool lists = false;
  const auto symbol = find_symbol(elf.get(), HALYARD_PLUGIN_SYMBOL, lists);
  if (!lists) return {};
  if (!symbol) {
    return fmt::format("The library is not a Halyard plugin: it exports no function {}.",
                       HALYARD_PLUGIN_SYMBOL);
  }
  const unsigned type = GELF_ST_TYPE(symbol->st_info);
  if (!may_be_function(type)) return no_function(symbol_type_name(type));
  if (!is_code(elf.get(), symbol->st_value)) return no_function("outside the library's code");
  return {};
}

std::string why_not_callable(void* symbol) {
  Dl_info info;
  void* extra = nullptr;
  if (dladdr1(symbol, &info, &extra, RTLD_DL_SYMENT) == 0) return {};
  const auto* const found = static_cast<const ElfW(Sym)*>(extra);
  // Nothing is found for the address that an indirect function has chosen.
  if (found == nullptr || may_be_function(GELF_ST_TYPE(found->st_info))) return {};
  return no_function(symbol_type_name(GELF_ST_TYPE(found->st_info)));
}

}  // namespace halyard
