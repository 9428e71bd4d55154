// The table of config keys: every key is a row here.
//
// The reader checks against it, and the JSON Schema (config/halyard.schema.json) and the reference
// page (docs/config.md) are generated from it. A new key needs a row, code that obeys it, and a
// test of its effect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halyard::config {

enum class KeyType : uint8_t {
  kText,
  kLibrary,  // a file or a folder, or a file name for the loader's own search
  kPaths,    // a list of files and folders; each layer's come before those of earlier layers
  kProfile,  // of the virtual GPU: a name or a file, with limits behind it
  kDevices,  // a device URI, or a list of them
  kBoolean,
  kInteger,
  kNumber,
  kSize,
  kDuration,
  kChoice,
};

struct Key {
  // Segments with dots between. One in angle brackets stands for names that the config's author
  // chooses; name_rule() says which.
  std::string_view path;
  KeyType type = KeyType::kText;
  double min = 0;  // for numbers, sizes (bytes) and durations (nanoseconds)
  double max = 0;
  std::vector<std::string> values = {};  // of a choice
  std::string_view fallback = {};        // as a config would write it; empty: none
  std::string_view environment = {};     // the variable that sets it
  std::string_view flag = {};            // the option of `halyard` that sets it
  std::string_view uri_parameter = {};   // the parameter of a device URI that sets it
  // Below processors.<processor>: the option that a device of the processor is opened with, in
  // bytes, microseconds or plain numbers, if its driver lists it (Driver::device_options).
  std::string_view device_option = {};
  std::string_view example = {};        // a value
  std::string_view documentation = {};  // sentences
};

// The keys that change what Halyard does, in the order of the reference page.
std::span<const Key> key_table();

// What "<driver>" stands for.
struct NameRule {
  std::string_view placeholder;        // "<driver>"
  std::string_view pattern;            // a regular expression without lookahead, for the whole name
  std::vector<std::string> not_these;  // names that match but are taken
  std::string_view description;        // the end of a sentence: "it must be …"
};
const NameRule& name_rule(std::string_view placeholder);
bool is_placeholder(std::string_view segment);
bool accepts(const NameRule& rule, std::string_view name);

std::vector<std::string_view> segments_of(std::string_view path);

// The type and the legal values in words: "a size from 16MiB to 1TiB".
std::string legal_values(const Key& key);

}  // namespace halyard::config
