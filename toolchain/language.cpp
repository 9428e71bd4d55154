#include "toolchain/language.h"

#include <algorithm>
#include <vector>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::toolchain {
namespace {

struct Extension {
  std::string_view text;
  Language language;
};
constexpr Extension kExtensions[] = {
    {".c", Language::kC},       {".cl", Language::kOpenCl}, {".hip", Language::kHip},
    {".ll", Language::kLlvmIr}, {".bc", Language::kLlvmIr}, {".s", Language::kAssembly},
    {".mlir", Language::kMlir}, {".rs", Language::kRust},
};

bool ends_with(std::string_view path, std::string_view extension) noexcept {
  if (path.size() < extension.size()) return false;
  const std::string_view end = path.substr(path.size() - extension.size());
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c + 0; };
  return std::equal(end.begin(), end.end(), extension.begin(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

const Extension* find(std::string_view path) noexcept {
  for (const Extension& extension : kExtensions) {
    if (ends_with(path, extension.text)) return &extension;
  }
  return nullptr;
}

}  // namespace

const char* to_string(Language language) noexcept {
  switch (language) {
    case Language::kC:
      return "C";
    case Language::kOpenCl:
      return "OpenCL C";
    case Language::kHip:
      return "HIP";
    case Language::kLlvmIr:
      return "LLVM IR";
    case Language::kAssembly:
      return "AMDGCN assembly";
    case Language::kMlir:
      return "MLIR";
    case Language::kRust:
      return "Rust";
  }
  return "?";
}

Result<Language> language_of(std::string_view path) {
  const Extension* const extension = find(path);
  if (extension != nullptr) return extension->language;
  return error(
      StatusCode::kInvalidArgument,
      "The language of the file ({}) is unknown, because its name does not end in one of {}.",
      printable(path), source_extensions());
}

bool is_source(std::string_view path) noexcept {
  return find(path) != nullptr;
}

std::string source_extensions() {
  std::vector<std::string_view> names;
  for (const Extension& extension : kExtensions) names.push_back(extension.text);
  return list_of(names);
}

}  // namespace halyard::toolchain
