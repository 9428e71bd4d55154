#include "offload_bundle.h"

#include <algorithm>
#include <string>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

constexpr uint64_t kCountOffset = kBundleMagic.size();
constexpr uint64_t kTableOffset = kCountOffset + sizeof(uint64_t);
// Offset, size and length of the ID, eight bytes each, in front of the ID.
constexpr uint64_t kEntryHeader = 3 * sizeof(uint64_t);
constexpr uint64_t kLongestId = 4096;

template <typename... Arguments>
Status damaged_offload(const ByteRange& range, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  return error(StatusCode::kInvalidArgument, "The offload bundle at offset {} {}", range.base,
               fmt::format(format, std::forward<Arguments>(arguments)...));
}

struct RawEntry {
  uint64_t at;  // of its header, from the beginning of the bundle
  uint64_t offset;
  uint64_t size;
  std::string_view id;
};

// The entry whose header is at `*at`, which moves behind it.
Result<RawEntry> read_entry(const ByteRange& range, uint64_t index, uint64_t* at) {
  if (!range.holds(*at, kEntryHeader)) {
    return damaged_offload(range,
                           "is truncated: the header of entry {} at offset {} needs {} bytes, and "
                           "the bytes end at offset {}.",
                           index, range.base + *at, kEntryHeader, range.end());
  }
  RawEntry entry = {.at = *at,
                    .offset = range.read<uint64_t>(*at),
                    .size = range.read<uint64_t>(*at + 8),
                    .id = {}};
  const auto id_length = range.read<uint64_t>(*at + 16);
  if (id_length > kLongestId) {
    return damaged_offload(range,
                           "has an entry ({}) whose ID at offset {} is {} bytes long; the limit is "
                           "{}.",
                           index, range.base + *at + kEntryHeader, id_length, kLongestId);
  }
  if (!range.holds(*at + kEntryHeader, id_length)) {
    return damaged_offload(range,
                           "is truncated: the ID of entry {} at offset {} has {} bytes, and the "
                           "bytes end at offset {}.",
                           index, range.base + *at + kEntryHeader, id_length, range.end());
  }
  entry.id = range.text(*at + kEntryHeader, id_length);
  *at += kEntryHeader + id_length;
  if (!range.holds(entry.offset, entry.size)) {
    return damaged_offload(range,
                           "is truncated: its entry {} ({}), described at offset {}, has {} bytes "
                           "at offset {} of the bundle, which ends after {}.",
                           index, printable(entry.id), range.base + entry.at, entry.size,
                           entry.offset, range.size);
  }
  return entry;
}

// No two entries share bytes, and none lies in the table.
Status check_overlap(const ByteRange& range, std::vector<RawEntry> entries, uint64_t table_end) {
  std::erase_if(entries, [](const RawEntry& entry) { return entry.size == 0; });
  std::sort(entries.begin(), entries.end(),
            [](const RawEntry& a, const RawEntry& b) { return a.offset < b.offset; });
  uint64_t taken = table_end;
  std::string_view by = "the table of entries";
  for (const RawEntry& entry : entries) {
    if (entry.offset < taken) {
      return damaged_offload(
          range,
          "has an entry ({}), described at offset {}, whose bytes from offset {} "
          "on overlap {}, which reaches to offset {}.",
          printable(entry.id), range.base + entry.at, range.base + entry.offset, printable(by),
          range.base + taken);
    }
    taken = entry.offset + entry.size;
    by = entry.id;
  }
  return {};
}

}  // namespace

Result<OffloadBundle> read_offload_bundle(const ByteRange& range) {
  if (!range.holds(kCountOffset, sizeof(uint64_t))) {
    return damaged_offload(range,
                           "is truncated: the number of its entries at offset {} needs {} bytes, "
                           "and the bytes end at offset {}.",
                           range.base + kCountOffset, sizeof(uint64_t), range.end());
  }
  const auto count = range.read<uint64_t>(kCountOffset);
  // Before any room is made for them.
  if (const uint64_t most = (range.size - kTableOffset) / kEntryHeader; count > most) {
    return damaged_offload(range, "claims {} entries at offset {}, and has bytes for {} at most.",
                           count, range.base + kCountOffset, most);
  }
  std::vector<RawEntry> raw;
  uint64_t at = kTableOffset;
  for (uint64_t i = 0; i < count; ++i) {
    HALYARD_ASSIGN_OR_RETURN(const RawEntry entry, read_entry(range, i, &at));
    raw.push_back(entry);
  }
  HALYARD_RETURN_IF_ERROR(check_overlap(range, raw, at));

  OffloadBundle bundle;
  bundle.size = at;
  for (const RawEntry& entry : raw) {
    bundle.entries.push_back({entry.id, range.part(entry.offset, entry.size)});
    bundle.size = std::max(bundle.size, entry.offset + entry.size);
  }
  return bundle;
}

BundleEntryId parse_bundle_entry_id(std::string_view id) {
  BundleEntryId parsed;
  parsed.kind = id.substr(0, id.find('-'));
  // The triple has three or four parts and no processor of its own, and processors have dashes: the
  // processor is what begins with "gfx".
  const size_t at = id.rfind("-gfx");
  const bool is_amdgpu = id.find("-amdgcn-") != std::string_view::npos;
  if (is_amdgpu && at != std::string_view::npos) parsed.target = id.substr(at + 1);
  return parsed;
}

}  // namespace halyard::internal
