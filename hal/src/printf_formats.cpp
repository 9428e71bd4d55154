#include "hal/printf_formats.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "damaged.h"
#include "elf_image.h"
#include "metadata.h"

namespace halyard {
namespace {

using internal::damaged;
using internal::ElfImage;
using internal::ElfNote;
using internal::MetadataTree;

constexpr uint32_t kMostArguments = 256;  // of one printf
constexpr uint32_t kLargestArgument = 1 << 20;

// The number before the next colon, which goes too. False if there is none.
bool take_number(std::string_view* text, uint32_t* number) {
  const size_t colon = text->find(':');
  if (colon == std::string_view::npos) return false;
  const char* const end = text->data() + colon;
  const auto result = std::from_chars(text->data(), end, *number);
  text->remove_prefix(colon + 1);
  return result.ec == std::errc() && result.ptr == end;
}

// What LLVM writes for characters that its metadata cannot hold.
std::string unescape(std::string_view text) {
  constexpr struct {
    std::string_view escape;
    char character;
  } kEscapes[] = {{"\\a", '\a'}, {"\\b", '\b'}, {"\\f", '\f'}, {"\\n", '\n'},
                  {"\\r", '\r'}, {"\\v", '\v'}, {"\\72", ':'}};
  std::string plain;
  while (!text.empty()) {
    const auto* const found =
        std::find_if(std::begin(kEscapes), std::end(kEscapes),
                     [&](const auto& entry) { return text.starts_with(entry.escape); });
    const bool is_escape = found != std::end(kEscapes);
    plain += is_escape ? found->character : text.front();
    text.remove_prefix(is_escape ? found->escape.size() : 1);
  }
  return plain;
}

// "id:count:size:…:format". Of arguments that the format does not use LLVM counts all, and writes
// neither the sizes nor the values. A colon of the format itself is escaped.
Result<PrintfFormat> parse(std::string_view entry) {
  PrintfFormat format;
  std::string_view rest = entry;
  uint32_t count = 0;
  bool good = take_number(&rest, &format.id) && take_number(&rest, &count) && format.id != 0 &&
              count <= kMostArguments;
  while (good && rest.find(':') != std::string_view::npos) {
    good = format.sizes.size() < count;
    uint32_t size = 0;
    good = take_number(&rest, &size) && size <= kLargestArgument && good;
    format.sizes.push_back(size);
  }
  if (!good) {
    return damaged(
        "has metadata whose amdhsa.printf has an entry ({}) that is not "
        "\"id:arguments:size:…:format\", with an id from 1 on, at most {} arguments and sizes of "
        "at most {} bytes.",
        entry.substr(0, 80), kMostArguments, kLargestArgument);
  }
  format.text = unescape(rest);
  return format;
}

}  // namespace

Result<std::vector<PrintfFormat>> read_printf_formats(const void* data, size_t size) {
  HALYARD_ASSIGN_OR_RETURN(const ElfImage image, ElfImage::open(data, size));
  std::vector<PrintfFormat> formats;
  for (const ElfNote& note : image.notes()) {
    if (note.type != internal::kMetadataNote || note.name != "AMDGPU") continue;
    const uint64_t base = note.description.data() - static_cast<const char*>(data);
    HALYARD_ASSIGN_OR_RETURN(const MetadataTree tree, MetadataTree::parse(note.description, base));
    const MetadataTree::Node* const list = tree.find(tree.root(), "amdhsa.printf");
    if (list == nullptr || list->type != MetadataTree::Type::kArray) continue;
    for (const MetadataTree::Node* node = tree.child(*list); node != nullptr;
         node = tree.sibling(*node)) {
      if (node->type != MetadataTree::Type::kString) {
        return damaged(
            "has metadata whose amdhsa.printf has an entry that is {} instead of a "
            "string.",
            MetadataTree::type_name(node->type));
      }
      HALYARD_ASSIGN_OR_RETURN(PrintfFormat format, parse(node->text));
      const bool is_taken = std::any_of(formats.begin(), formats.end(),
                                        [&](const auto& other) { return other.id == format.id; });
      if (is_taken) {
        return damaged(
            "has metadata whose amdhsa.printf has two formats with the id {}: it was linked from "
            "several files that print. Print in one of the files only, or load them one by one.",
            format.id);
      }
      formats.push_back(std::move(format));
    }
  }
  return formats;
}

}  // namespace halyard
