// ar archives, as GNU and BSD tools write them (FreeBSD ar(5); GNU's names in the System V
// variant described there).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "byte_range.h"
#include "hal/status.h"

namespace halyard::internal {

inline constexpr std::string_view kArchiveMagic = "!<arch>\n";
inline constexpr std::string_view kThinArchiveMagic = "!<thin>\n";

struct ArchiveMember {
  std::string name;
  ByteRange bytes;
};

// Thin archives count: read_archive() says what to do about them.
inline bool is_archive(const ByteRange& range) {
  return range.text().starts_with(kArchiveMagic) || range.text().starts_with(kThinArchiveMagic);
}

// The members except symbol and name tables, in order. INVALID_ARGUMENT names the mistake and its
// offset; UNIMPLEMENTED is a thin archive, whose members are elsewhere.
Result<std::vector<ArchiveMember>> read_archive(const ByteRange& range);

}  // namespace halyard::internal
