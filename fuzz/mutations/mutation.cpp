#include "fuzz/mutations/mutation.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace halyard::mutations {
namespace {

// SplitMix64: the standard's distributions differ from library to library.
class Random {
 public:
  Random(uint64_t seed, uint64_t number) : state_(seed * 0x9e3779b97f4a7c15 + number) {
    for (int i = 0; i < 3; ++i) next();
  }
  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Less than `end`, which is not 0.
  uint64_t below(uint64_t end) { return next() % end; }
  bool one_in(uint64_t count) { return below(count) == 0; }

 private:
  uint64_t state_;
};

template <typename T>
T read(std::span<const std::byte> file, uint64_t offset) {
  T value{};
  if (offset <= file.size() && sizeof(T) <= file.size() - offset) {
    std::memcpy(&value, file.data() + offset, sizeof(T));
  }
  return value;
}

// --- Where the fields are.

class PartReader {
 public:
  explicit PartReader(std::span<const std::byte> file) : file_(file) {}

  std::vector<Part> run() {
    const auto header = read<Elf64_Ehdr>(file_, 0);
    if (file_.size() < sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_machine != EM_AMDGPU) {
      return {};
    }
    Part& ident = part("ELF header");
    for (uint64_t i = 0; i < EI_NIDENT; ++i) add(ident, i, 1);
    layout(ident, EI_NIDENT, {2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2, 2});
    Part& segments = part("program headers");
    for (uint64_t i = 0; i < header.e_phnum; ++i) {
      layout(segments, header.e_phoff + i * sizeof(Elf64_Phdr), {4, 4, 8, 8, 8, 8, 8, 8});
    }
    Part& sections = part("section headers");
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      const uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
      layout(sections, at, {4, 4, 8, 8, 8, 8, 4, 4, 8, 8});
    }
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      contents(read<Elf64_Shdr>(file_, header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    std::erase_if(parts_, [](const Part& p) { return p.fields.empty(); });
    return std::move(parts_);
  }

 private:
  Part& part(const char* name) {
    parts_.reserve(64);  // callers keep references
    const auto found =
        std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.name == name; });
    return found == parts_.end() ? parts_.emplace_back(Part{name, {}}) : *found;
  }
  void add(Part& part, uint64_t offset, uint32_t width) {
    if (offset <= file_.size() && width <= file_.size() - offset) {
      part.fields.push_back({offset, width});
    }
  }
  void layout(Part& part, uint64_t offset, std::initializer_list<uint32_t> widths) {
    for (const uint32_t width : widths) {
      add(part, offset, width);
      offset += width;
    }
  }
  void table(const char* name, const Elf64_Shdr& section, uint64_t entry,
             std::initializer_list<uint32_t> widths) {
    Part& entries = part(name);
    for (uint64_t at = 0; at + entry <= section.sh_size; at += entry) {
      layout(entries, section.sh_offset + at, widths);
    }
  }

  void contents(const Elf64_Shdr& section) {
    switch (section.sh_type) {
      case SHT_SYMTAB:
      case SHT_DYNSYM:
        table(section.sh_type == SHT_SYMTAB ? "symbols" : "dynamic symbols", section,
              sizeof(Elf64_Sym), {4, 1, 1, 2, 8, 8});
        if (section.sh_type == SHT_DYNSYM) descriptors(section);
        break;
      case SHT_RELA:
        // r_info as type and symbol.
        table("relocations", section, sizeof(Elf64_Rela), {8, 4, 4, 8});
        break;
      case SHT_DYNAMIC:
        table("dynamic table", section, sizeof(Elf64_Dyn), {8, 8});
        break;
      case SHT_HASH:
      case SHT_GNU_HASH:
        table("hash tables", section, 4, {4});
        break;
      case SHT_STRTAB:
        table("strings", section, 1, {1});
        break;
      case SHT_NOTE: {
        Part& notes = part("notes");
        layout(notes, section.sh_offset, {4, 4, 4, 8});
        for (uint64_t at = sizeof(Elf64_Nhdr) + 8; at < section.sh_size; ++at) {
          add(part("metadata"), section.sh_offset + at, 1);
        }
        break;
      }
      default:
        break;
    }
  }

  // Kernel descriptors, which are the 64-byte objects; where they are in the file follows from the
  // sections that hold them.
  void descriptors(const Elf64_Shdr& symbols) {
    const auto header = read<Elf64_Ehdr>(file_, 0);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(file_, symbols.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size != 64) continue;
      if (symbol.st_shndx >= header.e_shnum) continue;
      const auto home =
          read<Elf64_Shdr>(file_, header.e_shoff + symbol.st_shndx * sizeof(Elf64_Shdr));
      layout(part("kernel descriptors"), home.sh_offset + symbol.st_value - home.sh_addr,
             {4, 4, 4, 4, 8, 8, 8, 4, 4, 4, 4, 2, 2, 4});
    }
  }

  std::span<const std::byte> file_;
  std::vector<Part> parts_;
};

// --- Changes.

// An earlier change may have cut the field off.
bool is_in(const Bytes& file, const Field& field) {
  return field.offset <= file.size() && field.width <= file.size() - field.offset;
}

uint64_t read_field(const Bytes& file, const Field& field) {
  uint64_t value = 0;
  if (is_in(file, field)) std::memcpy(&value, file.data() + field.offset, field.width);
  return value;
}

uint64_t interesting(Random& random, const Bytes& file, const Part& part, uint64_t old) {
  constexpr uint64_t kValues[] = {0,      1,      2,       3,          4,          7,
                                  8,      16,     64,      127,        128,        255,
                                  256,    0x7fff, 0x8000,  0xfff1,     0xffff,     0x10000,
                                  0x1000, 0xff00, 1 << 20, 0x7fffffff, 0x80000000, 0xffffffff};
  switch (random.below(12)) {
    case 0:
      return UINT64_MAX;
    case 1:
      return uint64_t{1} << random.below(64);
    case 2:
      return old + 1 + random.below(16);
    case 3:
      return old - 1 - random.below(16);
    case 4:
      return old ^ (uint64_t{1} << random.below(64));
    case 5:
      return file.size() + random.below(17) - 8;
    case 6:
      return random.below(file.size() + 1);
    case 7:
      return random.below(64);
    case 8:
      return random.next();
    case 9:  // what another field of the part has
      return read_field(file, part.fields[random.below(part.fields.size())]);
    case 10:
      return old * 2;
    default:
      return kValues[random.below(std::size(kValues))];
  }
}

void change_field(Random& random, std::span<const Part> parts, Bytes* file) {
  const Part& part = parts[random.below(parts.size())];
  const Field& field = part.fields[random.below(part.fields.size())];
  if (!is_in(*file, field)) return;
  const uint64_t value = interesting(random, *file, part, read_field(*file, field));
  std::memcpy(file->data() + field.offset, &value, field.width);
}

void change_bytes(Random& random, Bytes* file) {
  const uint64_t size = file->size();
  const uint64_t at = random.below(size);
  const uint64_t length = 1 + random.below(std::min<uint64_t>(size - at, 64));
  switch (random.below(16)) {
    case 0:  // a range from elsewhere
      std::memmove(file->data() + at, file->data() + random.below(size - length + 1), length);
      break;
    case 1:
      std::memset(file->data() + at, 0, length);
      break;
    case 2:
      std::memset(file->data() + at, 0xff, length);
      break;
    case 3:  // the end is missing
      if (random.one_in(4)) file->resize(1 + random.below(size));
      break;
    case 4:  // bytes are missing, or there are more
      if (random.one_in(2)) {
        file->erase(file->begin() + static_cast<int64_t>(at),
                    file->begin() + static_cast<int64_t>(at + std::min(length, size - 1)));
      } else {
        file->insert(file->begin() + static_cast<int64_t>(at), length, std::byte{0});
      }
      break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      (*file)[at] = static_cast<std::byte>(random.next());
      break;
    default:
      (*file)[at] ^= static_cast<std::byte>(1u << random.below(8));
      break;
  }
}

}  // namespace

std::vector<Part> parts_of(std::span<const std::byte> file) {
  return PartReader(file).run();
}

Bytes mutate(std::span<const std::byte> file, std::span<const Part> parts, uint64_t seed,
             uint64_t number) {
  Random random(seed, number);
  Bytes mutant(file.begin(), file.end());
  // Mostly one change, which most often passes the first checks.
  uint64_t changes = 1;
  while (changes < 8 && random.one_in(3)) ++changes;
  for (; changes > 0 && !mutant.empty(); --changes) {
    if (!parts.empty() && random.one_in(2)) {
      change_field(random, parts, &mutant);
    } else {
      change_bytes(random, &mutant);
    }
  }
  return mutant;
}

size_t file_of(uint64_t seed, uint64_t number, size_t count) {
  return Random(~seed, number).below(count);
}

}  // namespace halyard::mutations
