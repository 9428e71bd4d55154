// The languages that kernels are written in, known by a file's extension.
#pragma once

#include <string>
#include <string_view>

#include "hal/status.h"

namespace halyard::toolchain {

enum class Language { kC, kOpenCl, kHip, kLlvmIr, kAssembly, kMlir, kRust };

// "C", "OpenCL C", …
const char* to_string(Language language) noexcept;

// By the extension of `path`, ignoring case. INVALID_ARGUMENT lists the extensions.
Result<Language> language_of(std::string_view path);

// Whether `path` has the extension of one of the languages.
bool is_source(std::string_view path) noexcept;

// ".c, .cl, …", for help and messages.
std::string source_extensions();

}  // namespace halyard::toolchain
