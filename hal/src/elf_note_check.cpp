#include "damaged.h"
#include "elf_check.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

constexpr std::string_view kVendor = "AMDGPU";
constexpr std::string_view kOldVendor = "AMD";  // of code object version 2
constexpr uint64_t kNoteAlignment = 4;

constexpr uint64_t aligned(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

// Walks one run like a loader whose steps are multiples of `alignment`. Loaders use their own step,
// regardless of the header, so a run can be walked more than once.
Status check_run(const ByteRange& run, uint64_t alignment, const std::string& where,
                 uint32_t* metadata) {
  uint64_t at = 0;
  while (at < run.size) {
    if (!run.holds(at, sizeof(Elf64_Nhdr))) {
      return damaged(
          "has {} whose note at offset {} breaks off: {} bytes are left, and a note's "
          "header has {}.",
          where, run.base + at, run.size - at, sizeof(Elf64_Nhdr));
    }
    const auto note = run.read<Elf64_Nhdr>(at);
    const uint64_t name_at = at + sizeof(Elf64_Nhdr);
    const uint64_t description_at = name_at + aligned(note.n_namesz, alignment);
    if (!run.holds(name_at, note.n_namesz) || !run.holds(description_at, note.n_descsz)) {
      return damaged(
          "has {} whose note at offset {} has a name of {} bytes and a description of {}, "
          "which reach past the end of the notes, offset {}.",
          where, run.base + at, note.n_namesz, note.n_descsz, run.end());
    }
    std::string_view name = run.text(name_at, note.n_namesz);
    if (name.ends_with('\0')) name.remove_suffix(1);
    if (name == kOldVendor || (name == kVendor && note.n_type != kMetadataNote)) {
      return damaged(
          "has {} with a note \"{}\" of type {} at offset {}. Loaders take it for "
          "something else. From version 3 on a code object has one note \"{}\" of type "
          "{}.",
          where, name, note.n_type, run.base + at, kVendor, kMetadataNote);
    }
    if (name == kVendor) ++*metadata;
    at = description_at + aligned(note.n_descsz, alignment);
  }
  return {};
}

Status check_one(uint32_t metadata, const std::string& where) {
  if (metadata <= 1) return {};
  return damaged("has {} with {} metadata notes (\"{}\" of type {}); it has one.", where, metadata,
                 kVendor, kMetadataNote);
}

}  // namespace

Status check_elf_notes(const ElfImage& image) {
  uint32_t in_segments = 0;
  for (size_t i = 0; i < image.segments().size(); ++i) {
    const Elf64_Phdr& segment = image.segments()[i];
    if (segment.p_type != PT_NOTE) continue;
    const std::string where = fmt::format("segment {}", i);
    if (segment.p_align > kNoteAlignment || segment.p_offset % kNoteAlignment != 0) {
      return damaged(
          "has {} with notes at offset {} that are aligned to {} bytes (p_align at offset "
          "{}). They are aligned to {}.",
          where, segment.p_offset, segment.p_align,
          image.segment_header(i) + offsetof(Elf64_Phdr, p_align), kNoteAlignment);
    }
    const ByteRange run = image.bytes().part(segment.p_offset, segment.p_filesz);
    HALYARD_RETURN_IF_ERROR(check_run(run, kNoteAlignment, where, &in_segments));
  }
  HALYARD_RETURN_IF_ERROR(check_one(in_segments, "segments"));
  uint32_t in_sections = 0;
  for (size_t i = 0; i < image.sections().size(); ++i) {
    const Elf64_Shdr& section = image.sections()[i].header;
    if (section.sh_type != SHT_NOTE) continue;
    const std::string where = section_text(image, i);
    const ByteRange run = image.bytes().part(section.sh_offset, section.sh_size);
    HALYARD_RETURN_IF_ERROR(check_run(run, kNoteAlignment, where, &in_sections));
  }
  return check_one(in_sections, "sections");
}

}  // namespace halyard::internal
