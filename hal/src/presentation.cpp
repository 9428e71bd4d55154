#include "hal/presentation.h"

#include <cstring>
#include <string>

#include "dynamic_symbols.h"
#include "elf_image.h"
#include "hal/error.h"
#include "hal/target_map.h"
#include "metadata.h"
#include "opaque_arguments.h"

namespace halyard {
namespace {

using internal::ElfImage;
using internal::ElfNote;
using internal::ElfSection;
using internal::MetadataTree;

// In a kernel descriptor (LLVM AMDGPUUsage, "Kernel Descriptor"): private_segment_fixed_size.
constexpr uint64_t kPrivateSegmentSize = 4;
constexpr uint32_t kMachineMask = 0xff;
constexpr uint32_t kXnackShift = 8;
constexpr uint32_t kSrameccShift = 10;

uint32_t feature_bits(Feature feature) {
  switch (feature) {
    case Feature::kUnsupported:
      return 0;
    case Feature::kAny:
      return 1;
    case Feature::kOff:
      return 2;
    case Feature::kOn:
      return 3;
  }
  return 0;
}

// The code's own settings, on a processor that may have features that its generic target has not:
// code that ignores a feature runs with either setting of it.
TargetId presented_target(const TargetId& code, const ProcessorInfo& processor) {
  TargetId target = code;
  target.processor = processor.name;
  const auto adapt = [](Feature feature, bool supported) {
    if (!supported) return Feature::kUnsupported;
    return feature == Feature::kUnsupported ? Feature::kAny : feature;
  };
  target.xnack = adapt(code.xnack, processor.has_xnack);
  target.sramecc = adapt(code.sramecc, processor.has_sramecc);
  return target;
}

// Bytes of the MessagePack header in front of `text`, which lies inside of its document.
size_t string_header_size(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const size_t size = text.size();
  if (size < 32 && p[-1] == (0xa0u | size)) return 1;  // fixstr
  if (size < 256 && p[-2] == 0xd9 && p[-1] == size) return 2;
  if (size < 65536 && p[-3] == 0xda) return 3;
  return 5;
}

std::string encode_string(std::string_view text) {
  std::string encoded;
  if (text.size() < 32) {
    encoded += static_cast<char>(0xa0u | text.size());
  } else {
    encoded += '\xd9';
    encoded += static_cast<char>(text.size());
  }
  return encoded.append(text);
}

// The metadata with its target replaced, or as it is if it names none.
Result<std::string> rewrite_metadata(std::string_view metadata, uint64_t base,
                                     const TargetId& target) {
  HALYARD_ASSIGN_OR_RETURN(const MetadataTree tree, MetadataTree::parse(metadata, base));
  const MetadataTree::Node* node = tree.find(tree.root(), "amdhsa.target");
  if (node == nullptr || node->type != MetadataTree::Type::kString) return std::string(metadata);
  const std::string_view old = node->text;
  // What stands before the processor: "amdgcn-amd-amdhsa--".
  const size_t triple_end = old.rfind("--");
  const std::string_view triple =
      triple_end == std::string_view::npos ? "amdgcn-amd-amdhsa--" : old.substr(0, triple_end + 2);
  const std::string replacement = std::string(triple) + to_string(target);
  if (replacement == old) return std::string(metadata);
  if (replacement.size() > 255) {
    return error(StatusCode::kInvalidArgument,
                 "The code object's metadata names a target of {} bytes at offset {}.", old.size(),
                 base + (old.data() - metadata.data()));
  }
  const size_t begin = old.data() - metadata.data() - string_header_size(old);
  const size_t end = old.data() - metadata.data() + old.size();
  std::string rewritten(metadata.substr(0, begin));
  rewritten += encode_string(replacement);
  rewritten += metadata.substr(end);
  return rewritten;
}

void append_note(std::vector<std::byte>* run, uint32_t type, std::string_view name,
                 std::string_view description, uint64_t alignment) {
  const auto append = [run](const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    run->insert(run->end(), bytes, bytes + size);
  };
  const auto pad = [run, alignment] {
    run->resize((run->size() + alignment - 1) & ~(alignment - 1));
  };
  const Elf64_Nhdr header = {.n_namesz = static_cast<Elf64_Word>(name.size() + 1),
                             .n_descsz = static_cast<Elf64_Word>(description.size()),
                             .n_type = type};
  append(&header, sizeof(header));
  append(name.data(), name.size());
  run->push_back(std::byte{0});
  pad();
  append(description.data(), description.size());
  pad();
}

// Where a run of notes is described: a PT_NOTE segment and the SHT_NOTE section that covers the
// same bytes, either of which may be missing.
struct NoteRun {
  uint64_t offset;
  uint64_t size;
  uint64_t alignment;
};

Result<NoteRun> run_of(const ElfImage& image, const ElfNote& note) {
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type == PT_NOTE && note.offset >= segment.p_offset &&
        note.offset - segment.p_offset < segment.p_filesz) {
      return NoteRun{segment.p_offset, segment.p_filesz, segment.p_align == 8 ? 8u : 4u};
    }
  }
  for (const ElfSection& section : image.sections()) {
    const Elf64_Shdr& header = section.header;
    if (header.sh_type == SHT_NOTE && note.offset >= header.sh_offset &&
        note.offset - header.sh_offset < header.sh_size) {
      return NoteRun{header.sh_offset, header.sh_size, header.sh_addralign == 8 ? 8u : 4u};
    }
  }
  return error(StatusCode::kInternal,
               "The code object's metadata note at offset {} lies in no segment and no section.",
               note.offset);
}

template <typename T>
void patch(std::vector<std::byte>* file, uint64_t offset, T value) {
  std::memcpy(file->data() + offset, &value, sizeof(value));
}

// Every header that describes the run [old.offset, old.offset + old.size) describes the new one. A
// run that has moved is no longer part of what is loaded; tools and loaders read it in the file.
void patch_note_headers(const ElfImage& image, const NoteRun& old, uint64_t offset, uint64_t size,
                        std::vector<std::byte>* file) {
  const uint64_t segments = image.header().e_phoff;
  for (size_t i = 0; i < image.segments().size(); ++i) {
    const Elf64_Phdr& segment = image.segments()[i];
    if (segment.p_type != PT_NOTE || segment.p_offset != old.offset) continue;
    const uint64_t at = segments + i * sizeof(Elf64_Phdr);
    patch(file, at + offsetof(Elf64_Phdr, p_offset), offset);
    patch(file, at + offsetof(Elf64_Phdr, p_filesz), size);
    patch(file, at + offsetof(Elf64_Phdr, p_memsz), size);
  }
  const uint64_t sections = image.header().e_shoff;
  for (size_t i = 0; i < image.sections().size(); ++i) {
    const Elf64_Shdr& section = image.sections()[i].header;
    if (section.sh_type != SHT_NOTE || section.sh_offset != old.offset) continue;
    const uint64_t at = sections + i * sizeof(Elf64_Shdr);
    patch(file, at + offsetof(Elf64_Shdr, sh_offset), offset);
    patch(file, at + offsetof(Elf64_Shdr, sh_size), size);
    if (offset != old.offset) {
      patch(file, at + offsetof(Elf64_Shdr, sh_flags), section.sh_flags & ~uint64_t{SHF_ALLOC});
      patch(file, at + offsetof(Elf64_Shdr, sh_addr), Elf64_Addr{0});
    }
  }
}

// Replaces the metadata by what `rewrite(text, offset)` makes of it.
template <typename Rewrite>
Status rewrite_notes(const ElfImage& image, Rewrite&& rewrite, std::vector<std::byte>* file) {
  const ElfNote* metadata = nullptr;
  for (const ElfNote& note : image.notes()) {
    if (note.type == internal::kMetadataNote && note.name == "AMDGPU") metadata = &note;
  }
  if (metadata == nullptr) return {};
  const uint64_t base = metadata->description.data() - reinterpret_cast<const char*>(image.data());
  HALYARD_ASSIGN_OR_RETURN(const std::string rewritten, rewrite(metadata->description, base));
  if (rewritten == metadata->description) return {};

  HALYARD_ASSIGN_OR_RETURN(const NoteRun old, run_of(image, *metadata));
  std::vector<std::byte> run;
  for (const ElfNote& note : image.notes()) {
    if (note.offset < old.offset || note.offset - old.offset >= old.size) continue;
    append_note(&run, note.type, note.name,
                &note == metadata ? std::string_view(rewritten) : note.description, old.alignment);
  }
  uint64_t offset = old.offset;
  if (run.size() <= old.size) {
    std::memset(file->data() + offset, 0, old.size);
  } else {
    // Longer than before: the end of the file is the only place where nothing has to move.
    offset = (file->size() + 7) & ~uint64_t{7};
    file->resize(offset + run.size());
  }
  std::memcpy(file->data() + offset, run.data(), run.size());
  patch_note_headers(image, old, offset, run.size(), file);
  return {};
}

}  // namespace

bool needs_presentation(const CodeObject& object, uint32_t newest_version) noexcept {
  return object.version() > newest_version;
}

Result<std::vector<std::byte>> present_code_object(const void* data, size_t size, uint32_t version,
                                                   const TargetId& device) {
  if (version != 4 && version != 5) {
    return error(StatusCode::kInvalidArgument,
                 "A code object cannot be presented as version {}. Legal are 4 and 5.", version);
  }
  HALYARD_ASSIGN_OR_RETURN(const CodeObject object, CodeObject::read(data, size));
  HALYARD_RETURN_IF_ERROR(check_target(object, device));
  const auto* begin = static_cast<const std::byte*>(data);
  std::vector<std::byte> file(begin, begin + size);
  if (!needs_presentation(object, version)) return file;

  const ProcessorInfo* processor = find_processor(device.processor);
  if (processor == nullptr || processor->is_generic()) {
    return error(StatusCode::kUnimplemented,
                 "A code object for {} cannot be presented as one for {}, whose ELF machine number "
                 "is not known.",
                 object.target_name(), device.processor);
  }
  const TargetId target = presented_target(object.target(), *processor);
  const uint32_t flags = (processor->elf_machine & kMachineMask) |
                         feature_bits(target.xnack) << kXnackShift |
                         feature_bits(target.sramecc) << kSrameccShift;
  patch(&file, EI_ABIVERSION, static_cast<uint8_t>(version - 2));
  patch(&file, offsetof(Elf64_Ehdr, e_flags), flags);
  HALYARD_ASSIGN_OR_RETURN(const ElfImage image, ElfImage::open(data, size));
  const auto retarget = [&target](std::string_view metadata, uint64_t base) {
    return rewrite_metadata(metadata, base, target);
  };
  HALYARD_RETURN_IF_ERROR(rewrite_notes(image, retarget, &file));
  return file;
}

Result<std::vector<std::byte>> present_opaque_arguments(const void* data, size_t size,
                                                        uint32_t dynamic_stack_bytes) {
  HALYARD_ASSIGN_OR_RETURN(const CodeObject object, CodeObject::read(data, size));
  HALYARD_ASSIGN_OR_RETURN(const ElfImage image, ElfImage::open(data, size));
  const auto* begin = static_cast<const std::byte*>(data);
  std::vector<std::byte> file(begin, begin + size);
  for (const KernelInfo& kernel : object.kernels()) {
    const FunctionInfo& function = kernel.function;
    if (!kernel.has_descriptor || !function.uses_dynamic_stack ||
        function.private_segment_size >= dynamic_stack_bytes) {
      continue;
    }
    patch(&file, kernel.descriptor_offset + kPrivateSegmentSize, dynamic_stack_bytes);
  }
  const auto hide = [&](std::string_view metadata, uint64_t base) {
    return internal::with_opaque_arguments(object, metadata, base, dynamic_stack_bytes);
  };
  HALYARD_RETURN_IF_ERROR(rewrite_notes(image, hide, &file));
  internal::add_dynamic_symbols(image, &file);
  return file;
}

}  // namespace halyard
