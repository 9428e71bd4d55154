#include "archive.h"

#include <charconv>
#include <optional>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

// A member's header: name (16 characters), date (12), user (6), group (6), mode (8), size (10), and
// two that end it; all of it text, padded with blanks.
constexpr size_t kLongestName = 4096;  // PATH_MAX
constexpr uint64_t kHeaderBytes = 60;
constexpr uint64_t kNameBytes = 16;
constexpr uint64_t kSizeOffset = 48;
constexpr uint64_t kSizeBytes = 10;
constexpr uint64_t kEndOffset = 58;
constexpr std::string_view kEnd = "`\n";
constexpr std::string_view kBsdName = "#1/";

template <typename... Arguments>
Status damaged_archive(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return error(StatusCode::kInvalidArgument, "The archive {}",
               fmt::format(format, std::forward<Arguments>(arguments)...));
}

std::string_view without_blanks(std::string_view text) {
  const size_t last = text.find_last_not_of(' ');
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

// A decimal number and nothing else.
std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct MemberHeader {
  std::string_view name;  // as it stands there, without the blanks
  ByteRange bytes;        // what belongs to it, a BSD name included
};

Result<MemberHeader> read_header(const ByteRange& range, uint64_t at) {
  const uint64_t offset = range.base + at;
  if (!range.holds(at, kHeaderBytes)) {
    return damaged_archive(
        "is truncated: the member header at offset {} needs {} bytes, and the archive "
        "ends at offset {}.",
        offset, kHeaderBytes, range.end());
  }
  if (range.text(at + kEndOffset, kEnd.size()) != kEnd) {
    return damaged_archive(
        "has no member header at offset {}, where one must be: it does not end with the bytes 60 "
        "0a.",
        offset);
  }
  const std::string_view digits = without_blanks(range.text(at + kSizeOffset, kSizeBytes));
  const std::optional<uint64_t> size = parse_number(digits);
  if (!size) {
    return damaged_archive("has a member whose size (\"{}\" at offset {}) is not a number.",
                           printable(digits), offset + kSizeOffset);
  }
  MemberHeader header;
  header.name = without_blanks(range.text(at, kNameBytes));
  if (!range.holds(at + kHeaderBytes, *size)) {
    return damaged_archive(
        "is truncated: its member \"{}\" at offset {} has {} bytes, and the archive "
        "ends at offset {}.",
        printable(header.name), offset, *size, range.end());
  }
  header.bytes = range.part(at + kHeaderBytes, *size);
  return header;
}

// GNU: "/123" is the offset in the name table of a name that ends with "/\n".
Result<std::string> long_name(const ByteRange& table, std::string_view name, uint64_t offset) {
  const std::optional<uint64_t> at = parse_number(name.substr(1));
  if (!at || *at >= table.size) {
    return damaged_archive(
        "has a member at offset {} whose name (\"{}\") is not in the name table of {} "
        "bytes.",
        offset, printable(name), table.size);
  }
  const std::string_view rest = table.text().substr(*at);
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) {
    return damaged_archive("has a member at offset {} whose name, at offset {}, does not end.",
                           offset, table.base + *at);
  }
  // Many members may share one name, and each gets a copy.
  if (end > kLongestName) {
    return damaged_archive(
        "has a member at offset {} whose name, at offset {}, has {} bytes; no file's name has more "
        "than {}.",
        offset, table.base + *at, end, kLongestName);
  }
  std::string_view text = rest.substr(0, end);
  if (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

// BSD: "#1/20" is a name of 20 bytes in front of the member's own.
Result<ArchiveMember> bsd_member(const MemberHeader& header, uint64_t offset) {
  const std::optional<uint64_t> length = parse_number(header.name.substr(kBsdName.size()));
  if (!length || *length > header.bytes.size) {
    return damaged_archive(
        "has a member at offset {} whose name (\"{}\") is not within its {} bytes.", offset,
        printable(header.name), header.bytes.size);
  }
  const std::string_view name = header.bytes.text(0, *length);
  return ArchiveMember{std::string(name.substr(0, name.find('\0'))), header.bytes.from(*length)};
}

bool is_symbol_table(std::string_view name) {
  return name == "/" || name == "/SYM64/" || name.starts_with("__.SYMDEF");
}

}  // namespace

Result<std::vector<ArchiveMember>> read_archive(const ByteRange& range) {
  if (range.text().starts_with(kThinArchiveMagic)) {
    return error(StatusCode::kUnimplemented,
                 "The archive is thin (\"!<thin>\" at offset {}): it has only the names of its "
                 "members. Make a whole one with ar rc, without T or --thin.",
                 range.base);
  }
  std::vector<ArchiveMember> members;
  ByteRange names;
  uint64_t at = kArchiveMagic.size();
  while (at < range.size) {
    const uint64_t offset = range.base + at;
    HALYARD_ASSIGN_OR_RETURN(const MemberHeader header, read_header(range, at));
    // Members begin at even offsets; the last one's padding may be missing.
    at += kHeaderBytes + header.bytes.size;
    at += at % 2;
    if (header.name == "//") {
      names = header.bytes;
      continue;
    }
    ArchiveMember member{std::string(header.name), header.bytes};
    if (is_symbol_table(header.name)) continue;
    if (header.name.starts_with(kBsdName)) {
      HALYARD_ASSIGN_OR_RETURN(member, bsd_member(header, offset));
      if (is_symbol_table(member.name)) continue;
    } else if (header.name.starts_with('/')) {
      HALYARD_ASSIGN_OR_RETURN(member.name, long_name(names, header.name, offset));
    } else if (member.name.ends_with('/')) {
      member.name.pop_back();
    }
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace halyard::internal
