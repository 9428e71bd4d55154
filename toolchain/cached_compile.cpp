#include "toolchain/cached_compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "toolchain/device_libraries.h"
#include "toolchain/hash.h"
#include "toolchain/language.h"
#include "toolchain/process.h"
#include "toolchain/rust.h"

namespace halyard::toolchain {
namespace {

namespace fs = std::filesystem;

// Changes whenever Halyard's own command lines do.
constexpr std::string_view kRecipe = "halyard recipe 3";

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// A file that is part of the toolchain, without reading it.
std::string identity_of(const std::string& path) {
  std::error_code ignored;
  const fs::path real = fs::canonical(path, ignored);
  const auto written = fs::last_write_time(path, ignored);
  return fmt::format("{} {} {}", real.string(), fs::file_size(path, ignored),
                     written.time_since_epoch().count());
}

Tool compiler_of(Language language) {
  switch (language) {
    case Language::kHip:
      return Tool::kHipcc;
    case Language::kMlir:
      return Tool::kMlirOpt;
    case Language::kRust:
      return Tool::kRustc;
    default:
      return Tool::kClang;
  }
}

// All lines of --version, of which the first names the release.
Result<std::string> version_of(const std::string& compiler) {
  HALYARD_ASSIGN_OR_RETURN(const ProcessEnd end,
                           run_process({compiler, "--version"}, {.output = Output::kCapture}));
  if (end.ok()) return end.output;
  return error(StatusCode::kFailedPrecondition, "The compiler ({}) does not report its version: {}",
               compiler, printable(end.errors));
}

// Variables that compilers take options and paths from.
bool changes_compilers(std::string_view name) {
  return name.starts_with("HIP") || name.starts_with("ROCM_") || name.ends_with("_INCLUDE_PATH") ||
         name == "CPATH" || name == "CCC_OVERRIDE_OPTIONS" || name == "DEVICE_LIB_PATH";
}

struct Source {
  std::string path;
  Language language;
  std::vector<std::byte> bytes;
};

struct Key {
  std::string digest;
  std::string compiler;  // the first line of its version
};

Result<Key> key_of(const Source& source, const TargetId& target, const CompileOptions& options,
                   const SearchContext& context) {
  HALYARD_ASSIGN_OR_RETURN(const std::string compiler,
                           find_tool(compiler_of(source.language), context));
  HALYARD_ASSIGN_OR_RETURN(const std::string version, version_of(compiler));
  Hash hash;
  hash.add(kRecipe);
  hash.add(to_string(source.language));
  hash.add(source.bytes);
  hash.add(to_string(target));
  hash.add(compiler);
  hash.add(version);
  hash.add(std::to_string(options.code_object_version.value_or(0)));
  for (const std::string& option : options.compiler_options) hash.add(option);
  if (source.language == Language::kRust) {
    HALYARD_ASSIGN_OR_RETURN(const RustCompiler rust, find_rust(context));
    hash.add(rust_libraries_key(rust));
  }
  // Where it lies matters only to a source that says so; a Rust crate has its path in its panics.
  if (source.language == Language::kRust ||
      has_any(text_of(source.bytes), {"include", "embed", "__FILE__"})) {
    std::error_code ignored;
    hash.add(fs::absolute(source.path, ignored).string());
  }
  for (const auto& [name, value] : context.variables) {
    if (!changes_compilers(name)) continue;
    hash.add(name);
    hash.add(value);
  }
  for (const Tool tool : {Tool::kClang, Tool::kLld}) {
    const Result<std::string> path = find_tool(tool, context);
    hash.add(path.ok() ? identity_of(*path) : std::string());
  }
  HALYARD_ASSIGN_OR_RETURN(const std::string folder,
                           find_device_libraries(options.bitcode_folder, context));
  std::error_code ignored;
  for (fs::directory_iterator i(folder, ignored), end; !ignored && i != end; i.increment(ignored)) {
    if (i->path().extension() == ".bc") hash.add(identity_of(i->path().string()));
  }
  return Key{hash.digest(), version.substr(0, version.find('\n'))};
}

// The files that were read, with digests; nothing if they are not certain.
std::optional<CacheEntryInfo> info_of(const Source& source, const Compiled& compiled,
                                      fs::file_time_type begun) {
  // Files that .incbin reads are in no list.
  if (!compiled.dependencies || has_any(text_of(source.bytes), {"incbin"})) return std::nullopt;
  const auto now = read_file(source.path);
  if (!now.ok() || *now != source.bytes) return std::nullopt;
  CacheEntryInfo info;
  for (const std::string& path : *compiled.dependencies) {
    std::error_code wrong;
    const std::string absolute = fs::absolute(path, wrong).string();
    const auto bytes = read_file(absolute);
    // One that changed while the compiler ran may have been read before that.
    if (!bytes.ok() || fs::last_write_time(absolute, wrong) >= begun || wrong ||
        has_any(text_of(*bytes), {"incbin"})) {
      return std::nullopt;
    }
    info.dependencies.emplace_back(absolute, digest_of(*bytes));
  }
  return info;
}

}  // namespace

Result<CachedCompile> compile_cached(const std::string& input, const TargetId& target,
                                     const CompileOptions& options, const SearchContext& context,
                                     const Cache& cache) {
  HALYARD_ASSIGN_OR_RETURN(const Language language, language_of(input));
  CachedCompile result;
  CompileOptions caching = options;
  caching.cache = &cache;
  if (cache.limit() == 0) {
    HALYARD_ASSIGN_OR_RETURN(Compiled compiled, compile({input}, target, caching, context));
    result.bytes = std::move(compiled.bytes);
    return result;
  }
  HALYARD_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read_file(input));
  const Source source{input, language, std::move(bytes)};
  HALYARD_ASSIGN_OR_RETURN(const Key key, key_of(source, target, options, context));
  if (auto found = cache.find(key.digest)) {
    result.bytes = *std::move(found);
    result.was_cached = true;
    return result;
  }
  const auto begun = fs::file_time_type::clock::now();
  HALYARD_ASSIGN_OR_RETURN(Compiled compiled, compile({input}, target, caching, context));
  result.bytes = std::move(compiled.bytes);
  if (std::optional<CacheEntryInfo> info = info_of(source, compiled, begun)) {
    info->what = fmt::format("{} for {}, by {}", fs::path(input).filename().string(),
                             to_string(target), key.compiler);
    result.stored = cache.store(key.digest, *info, result.bytes);
  }
  return result;
}

}  // namespace halyard::toolchain
