#include "offload_package.h"

#include <algorithm>
#include <string>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

// Clang documentation, "Clang Offload Packager": the tables "Offloading Binary Header",
// "Offloading Entry" and "Offload Kind". All offsets count from the package's first byte.
struct PackageHeader {
  char magic[4];
  uint32_t version;
  uint64_t size;
  uint64_t entry_offset;
  uint64_t entry_size;
};
struct PackageEntry {
  uint16_t image_kind;
  uint16_t offload_kind;
  uint32_t flags;
  uint64_t strings_offset;
  uint64_t strings_count;
  uint64_t image_offset;
  uint64_t image_size;
};
struct PackageString {
  uint64_t key_offset;
  uint64_t value_offset;
};
constexpr uint32_t kVersion = 1;
// Compilers write two or three short ones.
constexpr uint64_t kMostStrings = 4096;
constexpr uint64_t kLongestString = 4096;

template <typename... Arguments>
Status damaged_package(const ByteRange& range, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  return error(StatusCode::kInvalidArgument, "The offload package at offset {} {}", range.base,
               fmt::format(format, std::forward<Arguments>(arguments)...));
}

Status out_of_package(const ByteRange& range, std::string_view what, uint64_t offset,
                      uint64_t size) {
  return damaged_package(
      range,
      "is damaged: its {} ({} bytes at offset {} of it) reaches past its end after {} bytes.", what,
      size, offset, range.size);
}

std::string_view name_of_kind(uint16_t kind) {
  switch (kind) {
    case 1:
      return "openmp";
    case 2:
      return "cuda";
    case 4:
      return "hip";
    case 8:
      return "sycl";
    default:
      return "none";
  }
}

// The text at the offset, up to its end.
Result<std::string_view> text_at(const ByteRange& package, uint64_t offset) {
  const std::string_view rest =
      package.text().substr(std::min(offset, package.size), kLongestString + 1);
  const size_t end = rest.find('\0');
  if (end != std::string_view::npos) return rest.substr(0, end);
  return damaged_package(package,
                         "is damaged: its string at offset {} of it does not end within {} bytes "
                         "and the package.",
                         offset, kLongestString);
}

bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
  return a_size != 0 && b_size != 0 && a < b + b_size && b < a + a_size;
}

}  // namespace

Result<OffloadPackage> read_offload_package(const ByteRange& range) {
  if (!range.holds(0, sizeof(PackageHeader))) {
    return out_of_package(range, "header", 0, sizeof(PackageHeader));
  }
  const auto header = range.read<PackageHeader>(0);
  if (header.version != kVersion) {
    return error(StatusCode::kUnimplemented,
                 "The offload package at offset {} has version {} of its format; Halyard reads "
                 "version {}. Make it with clang-offload-packager of LLVM 22 or older.",
                 range.base, header.version, kVersion);
  }
  if (header.size < sizeof(PackageHeader) || header.size > range.size) {
    return damaged_package(range, "claims {} bytes at offset {}; legal are {} to {}.", header.size,
                           range.base + offsetof(PackageHeader, size), sizeof(PackageHeader),
                           range.size);
  }
  const ByteRange package = range.part(0, header.size);
  if (header.entry_size < sizeof(PackageEntry) ||
      !package.holds(header.entry_offset, header.entry_size)) {
    return out_of_package(package, "entry", header.entry_offset, header.entry_size);
  }
  const auto entry = package.read<PackageEntry>(header.entry_offset);
  if (entry.strings_count > kMostStrings ||
      !package.holds(entry.strings_offset, entry.strings_count * sizeof(PackageString))) {
    return damaged_package(package,
                           "is damaged: its {} strings, described at offset {} of it, are more "
                           "than {}, or reach past its end after {} bytes.",
                           entry.strings_count, entry.strings_offset, kMostStrings, package.size);
  }
  if (!package.holds(entry.image_offset, entry.image_size)) {
    return out_of_package(package, "image", entry.image_offset, entry.image_size);
  }
  const uint64_t strings_size = entry.strings_count * sizeof(PackageString);
  if (overlap(entry.image_offset, entry.image_size, 0, sizeof(PackageHeader)) ||
      overlap(entry.image_offset, entry.image_size, header.entry_offset, header.entry_size) ||
      overlap(entry.image_offset, entry.image_size, entry.strings_offset, strings_size)) {
    return damaged_package(package,
                           "is damaged: its image ({} bytes at offset {} of it) overlaps what "
                           "describes it.",
                           entry.image_size, entry.image_offset);
  }
  OffloadPackage result;
  result.kind = name_of_kind(entry.offload_kind);
  result.image = package.part(entry.image_offset, entry.image_size);
  result.size = package.size;
  for (uint64_t i = 0; i < entry.strings_count; ++i) {
    const auto row = package.read<PackageString>(entry.strings_offset + i * sizeof(PackageString));
    HALYARD_ASSIGN_OR_RETURN(const std::string_view key, text_at(package, row.key_offset));
    HALYARD_ASSIGN_OR_RETURN(const std::string_view value, text_at(package, row.value_offset));
    if (key == "triple") result.triple = value;
    if (key == "arch") result.target = value;
  }
  return result;
}

}  // namespace halyard::internal
