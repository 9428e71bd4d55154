#include <bit>
#include <optional>
#include <vector>

#include "damaged.h"
#include "elf_check.h"

namespace halyard::internal {
namespace {

// The first loaded section of a type; nothing if there is none.
std::optional<size_t> loaded_section(const ElfImage& image, uint32_t type) {
  for (size_t i = 1; i < image.sections().size(); ++i) {
    const Elf64_Shdr& header = image.sections()[i].header;
    if (header.sh_type == type && (header.sh_flags & SHF_ALLOC) != 0) return i;
  }
  return std::nullopt;
}

ByteRange contents(const ElfImage& image, size_t section) {
  const Elf64_Shdr& header = image.sections()[section].header;
  return image.bytes().part(header.sh_offset, header.sh_size);
}

// --- The dynamic table.

struct Entry {
  Elf64_Sxword tag;
  uint64_t value;
  uint64_t offset;  // in the file
};

Result<std::vector<Entry>> read_dynamic(const ElfImage& image) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < image.segments().size(); ++i) {
    const Elf64_Phdr& segment = image.segments()[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const ByteRange table = image.bytes().part(segment.p_offset, segment.p_filesz);
    bool ended = false;
    for (uint64_t at = 0; !ended && table.holds(at, sizeof(Elf64_Dyn)); at += sizeof(Elf64_Dyn)) {
      const auto entry = table.read<Elf64_Dyn>(at);
      ended = entry.d_tag == DT_NULL;
      entries.push_back({entry.d_tag, entry.d_un.d_val, table.base + at});
    }
    if (ended) continue;
    return damaged(
        "has a dynamic table (segment {}, {} bytes at offset {}) without an end: its last "
        "entry is of type {} (DT_NULL).",
        i, segment.p_filesz, segment.p_offset, DT_NULL);
  }
  return entries;
}

struct SizeTag {
  Elf64_Sxword tag;
  const char* name;
  uint64_t value;
};
constexpr SizeTag kSizeTags[] = {
    {DT_SYMENT, "DT_SYMENT", sizeof(Elf64_Sym)},
    {DT_RELAENT, "DT_RELAENT", sizeof(Elf64_Rela)},
};

// Entries that say where a section is, which says so itself.
struct AddressTag {
  Elf64_Sxword tag;
  const char* name;
  uint32_t section_type;
};
constexpr AddressTag kAddressTags[] = {
    {DT_SYMTAB, "DT_SYMTAB", SHT_DYNSYM},
    {DT_HASH, "DT_HASH", SHT_HASH},
    {DT_GNU_HASH, "DT_GNU_HASH", SHT_GNU_HASH},
    {DT_RELA, "DT_RELA", SHT_RELA},
};

Status check_entry(const ElfImage& image, const Entry& entry) {
  for (const SizeTag& known : kSizeTags) {
    if (known.tag == entry.tag && known.value != entry.value) {
      return damaged(
          "has entries of {} bytes by its dynamic table ({} at offset {}); they have {}.",
          entry.value, known.name, entry.offset, known.value);
    }
  }
  for (const AddressTag& known : kAddressTags) {
    if (known.tag != entry.tag) continue;
    const std::optional<size_t> section = loaded_section(image, known.section_type);
    if (section && image.sections()[*section].header.sh_addr == entry.value) continue;
    return damaged("has {:#x} as an address in its dynamic table ({} at offset {}), where {}.",
                   entry.value, known.name, entry.offset,
                   section
                       ? section_text(image, *section) +
                             fmt::format(" is at {:#x}", image.sections()[*section].header.sh_addr)
                       : fmt::format("no section of type {} is loaded", known.section_type));
  }
  return {};
}

// DT_STRTAB and DT_STRSZ: the strings of the dynamic symbols.
Status check_strings(const ElfImage& image, const std::vector<Entry>& entries) {
  const std::optional<size_t> symbols = loaded_section(image, SHT_DYNSYM);
  for (const Entry& entry : entries) {
    if (entry.tag != DT_STRTAB && entry.tag != DT_STRSZ) continue;
    const char* const name = entry.tag == DT_STRTAB ? "DT_STRTAB" : "DT_STRSZ";
    if (!symbols) {
      return damaged(
          "has a string table by its dynamic table ({} at offset {}) and no dynamic "
          "symbols (section of type {}).",
          name, entry.offset, SHT_DYNSYM);
    }
    const size_t strings = image.sections()[*symbols].header.sh_link;
    const Elf64_Shdr& header = image.sections()[strings].header;
    const uint64_t wanted = entry.tag == DT_STRTAB ? header.sh_addr : header.sh_size;
    if (entry.value == wanted) continue;
    return damaged("has {:#x} in its dynamic table ({} at offset {}), where {} has {:#x}.",
                   entry.value, name, entry.offset, section_text(image, strings), wanted);
  }
  return {};
}

Status check_dynamic_table(const ElfImage& image) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<Entry> entries, read_dynamic(image));
  for (const Entry& entry : entries) HALYARD_RETURN_IF_ERROR(check_entry(image, entry));
  return check_strings(image, entries);
}

// --- The hash tables.

// A hash table as 32-bit words.
class Words {
 public:
  Words(const ElfImage& image, size_t section)
      : where_(section_text(image, section)), bytes_(contents(image, section)) {}

  const std::string& where() const { return where_; }
  uint64_t count() const { return bytes_.size / sizeof(uint32_t); }
  uint32_t operator[](uint64_t index) const {
    return bytes_.read<uint32_t>(index * sizeof(uint32_t));
  }
  uint64_t offset(uint64_t index) const { return bytes_.base + index * sizeof(uint32_t); }

 private:
  std::string where_;
  ByteRange bytes_;
};

Status truncated_table(const Words& words, uint64_t wanted) {
  return damaged("has {} of {} words from offset {} on, which by its first words needs {}.",
                 words.where(), words.count(), words.offset(0), wanted);
}

// gABI, "Hash Table": nbucket, nchain, the buckets, the chains. Every symbol is at most once in a
// chain, so that the chains have no more links than there are symbols.
Status check_sysv_hash(const Words& words, uint64_t symbols) {
  constexpr uint64_t kHeader = 2;
  if (words.count() < kHeader) return truncated_table(words, kHeader);
  const uint64_t buckets = words[0];
  const uint64_t chains = words[1];
  if (chains != symbols) {
    return damaged("has {} for {} symbols (offset {}), and {} dynamic symbols.", words.where(),
                   chains, words.offset(1), symbols);
  }
  if (words.count() < kHeader + buckets + chains) {
    return truncated_table(words, kHeader + buckets + chains);
  }
  std::vector<bool> seen(chains, false);
  for (uint64_t bucket = 0; bucket < buckets; ++bucket) {
    for (uint64_t at = kHeader + bucket; words[at] != STN_UNDEF;
         at = kHeader + buckets + words[at]) {
      const uint64_t symbol = words[at];
      if (symbol >= chains) {
        return damaged("has {} that leads to symbol {} at offset {}; there are {}.", words.where(),
                       symbol, words.offset(at), chains);
      }
      if (seen[symbol]) {
        return damaged("has {} that leads to symbol {} twice, the second time at offset {}.",
                       words.where(), symbol, words.offset(at));
      }
      seen[symbol] = true;
    }
  }
  return {};
}

// nbuckets, the first symbol's index, words of the Bloom filter, its shift; the filter (64 bits
// each), the buckets, and for each symbol from the first on its hash, whose lowest bit says that
// the chain ends.
Status check_gnu_hash(const Words& words, uint64_t symbols) {
  constexpr uint64_t kHeader = 4;
  if (words.count() < kHeader) return truncated_table(words, kHeader);
  const uint64_t buckets = words[0];
  const uint64_t first = words[1];
  const uint64_t filter = words[2];
  const uint32_t shift = words[3];
  if (!std::has_single_bit(filter) || shift >= 64) {
    return damaged(
        "has {} with a filter of {} words (offset {}) and a shift of {} (offset {}). The "
        "first is a power of two, the second less than 64.",
        words.where(), filter, words.offset(2), shift, words.offset(3));
  }
  if (first > symbols) {
    return damaged("has {} from symbol {} on (offset {}); there are {}.", words.where(), first,
                   words.offset(1), symbols);
  }
  const uint64_t buckets_at = kHeader + 2 * filter;
  const uint64_t chains_at = buckets_at + buckets;
  if (words.count() < chains_at) return truncated_table(words, chains_at);
  uint64_t last = 0;  // the highest symbol that a chain begins with
  uint64_t last_bucket = 0;
  for (uint64_t at = buckets_at; at < chains_at; ++at) {
    const uint64_t symbol = words[at];
    if (symbol == STN_UNDEF) continue;
    if (symbol < first || symbol >= symbols) {
      return damaged(
          "has {} that leads to symbol {} at offset {}; it is about those from {} to {}.",
          words.where(), symbol, words.offset(at), first, symbols);
    }
    if (symbol > last) {
      last = symbol;
      last_bucket = at;
    }
  }
  if (last == 0) return {};
  if (words.count() < chains_at + (symbols - first)) {
    return truncated_table(words, chains_at + (symbols - first));
  }
  // Chains run on to the next end, so if the last one has an end, all have.
  for (uint64_t symbol = last; symbol < symbols; ++symbol) {
    if ((words[chains_at + (symbol - first)] & 1) != 0) return {};
  }
  return damaged("has {} whose chain from symbol {} on (offset {}) does not end.", words.where(),
                 last, words.offset(last_bucket));
}

}  // namespace

Status check_elf_dynamic(const ElfImage& image) {
  HALYARD_RETURN_IF_ERROR(check_dynamic_table(image));
  for (size_t i = 1; i < image.sections().size(); ++i) {
    const Elf64_Shdr& header = image.sections()[i].header;
    if (header.sh_type != SHT_HASH && header.sh_type != SHT_GNU_HASH) continue;
    const uint64_t symbols = image.sections()[header.sh_link].header.sh_size / sizeof(Elf64_Sym);
    const Words words(image, i);
    HALYARD_RETURN_IF_ERROR(header.sh_type == SHT_HASH ? check_sysv_hash(words, symbols)
                                                       : check_gnu_hash(words, symbols));
  }
  return {};
}

}  // namespace halyard::internal
