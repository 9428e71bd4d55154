#include "toolchain/rust.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "toolchain/hash.h"
#include "toolchain/temporary_folder.h"

namespace halyard::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTarget = "amdgcn-amd-amdhsa";
// rustc requires one; see rust.h.
constexpr const char* kProcessorOfLibraries = "gfx900";

// rustc's crates for our sysroot, not optimized: clang optimizes the used parts.
void add_common(Command& command, const std::string& processor, const std::string& sysroot) {
  command.insert(command.end(), {"--target", kTarget, "-Ctarget-cpu=" + processor, "--sysroot",
                                 sysroot, "--crate-type", "lib", "-Copt-level=3", "-Cpanic=abort",
                                 "-Ccodegen-units=1", "-Cno-prepopulate-passes"});
}

std::vector<std::string> names_of_files() {
  std::vector<std::string> names;
  for (const RustLibrary& library : rust_libraries()) {
    names.push_back(fmt::format("lib{}.rmeta", library.name));
    names.push_back(fmt::format("{}.bc", library.name));
  }
  return names;
}

// The files of a folder one after the other, each behind its size.
Result<std::vector<std::byte>> pack_files(const std::string& folder) {
  std::vector<std::byte> pack;
  for (const std::string& name : names_of_files()) {
    HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(folder + "/" + name));
    const std::string head = fmt::format("{}\n", bytes.size());
    const auto* const head_bytes = reinterpret_cast<const std::byte*>(head.data());
    pack.insert(pack.end(), head_bytes, head_bytes + head.size());
    pack.insert(pack.end(), bytes.begin(), bytes.end());
  }
  return pack;
}

Status unpack_files(std::span<const std::byte> pack, const std::string& folder) {
  for (const std::string& name : names_of_files()) {
    const auto* const text = reinterpret_cast<const char*>(pack.data());
    size_t size = 0;
    const auto [end, wrong] = std::from_chars(text, text + pack.size(), size);
    const size_t head = static_cast<size_t>(end - text) + 1;
    if (wrong != std::errc() || head > pack.size() || *end != '\n' || size > pack.size() - head) {
      return error(StatusCode::kDataLoss,
                   "The cache's entry of Rust's libraries has an unexpected format. Clear the "
                   "cache (halyard cache clear).");
    }
    HALYARD_RETURN_IF_ERROR(write_temporary(folder + "/" + name, pack.subspan(head, size)));
    pack = pack.subspan(head + size);
  }
  return {};
}

using Progress = std::function<void(const std::string&)>;

// For run_process, from now on.
std::function<void()> show_progress(const Progress& progress, std::string what) {
  if (!progress) return {};
  const auto begin = std::chrono::steady_clock::now();
  return [&progress, what = std::move(what), begin] {
    const auto passed = std::chrono::steady_clock::now() - begin;
    progress(fmt::format("{}, {} s", what,
                         std::chrono::duration_cast<std::chrono::seconds>(passed).count()));
  };
}

Status compile_libraries(const RustCompiler& compiler, const std::string& sysroot,
                         const Progress& progress) {
  if (isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr,
               "halyard: note: Rust's libraries are compiled for AMD GPUs, which takes half a "
               "minute. The cache keeps them (halyard cache).\n");
  }
  const std::string runtime = sysroot + "/runtime.rs";
  const std::string_view text = rust_runtime_source();
  HALYARD_RETURN_IF_ERROR(
      write_temporary(runtime, {reinterpret_cast<const std::byte*>(text.data()), text.size()}));
  const size_t count = rust_libraries().size();
  for (size_t i = 0; i < count; ++i) {
    const RustLibrary& library = rust_libraries()[i];
    const bool is_runtime = *library.root == '\0';
    const std::string source = is_runtime ? runtime : compiler.sources + "/" + library.root;
    ProcessOptions process = rust_process();
    process.while_running = show_progress(
        progress,
        fmt::format("Compiling Rust's {} for AMD GPUs ({} of {})", library.name, i + 1, count));
    HALYARD_ASSIGN_OR_RETURN(
        const ProcessEnd end,
        run_process(rust_library(compiler, library, source, sysroot), process));
    if (progress) progress("");
    if (end.ok()) continue;
    fmt::print(stderr, "{}{}", end.output, end.errors);
    return error(StatusCode::kFailedPrecondition,
                 "The Rust compiler ({}) does not compile its own library ({}) for AMD GPUs; its "
                 "messages are above. Halyard knows Debian's rustc-web and rust-web-src of release "
                 "1.96: install these, or name another compiler (HALYARD_RUSTC).",
                 compiler.rustc, source);
  }
  return {};
}

}  // namespace

Result<RustCompiler> find_rust(const SearchContext& context) {
  HALYARD_ASSIGN_OR_RETURN(const std::string rustc, find_tool(Tool::kRustc, context));
  HALYARD_ASSIGN_OR_RETURN(const ProcessEnd version,
                           run_process({rustc, "--version"}, {.output = Output::kCapture}));
  // The first line is the sysroot.
  HALYARD_ASSIGN_OR_RETURN(const ProcessEnd facts,
                           run_process({rustc, "--print", "sysroot", "--print", "target-list"},
                                       {.output = Output::kCapture}));
  if (!version.ok() || !facts.ok()) {
    return error(StatusCode::kFailedPrecondition,
                 "The Rust compiler ({}) does not report its version and targets: {}", rustc,
                 printable(version.errors + facts.errors));
  }
  if (facts.output.find(fmt::format("\n{}\n", kTarget)) == std::string::npos) {
    return error(StatusCode::kNotFound,
                 "The Rust compiler ({}, {}) does not know AMD GPUs (the target {}). Install the "
                 "Debian packages rustc-web and rust-web-src, or set HALYARD_RUSTC to the path of "
                 "another compiler.",
                 rustc, printable(version.output.substr(0, version.output.find('\n'))), kTarget);
  }
  RustCompiler compiler{
      rustc, version.output,
      facts.output.substr(0, facts.output.find('\n')) + "/lib/rustlib/src/rust/library"};
  for (const RustLibrary& library : rust_libraries()) {
    if (*library.root == '\0') continue;
    const std::string root = compiler.sources + "/" + library.root;
    std::error_code ignored;
    if (fs::exists(root, ignored)) continue;
    return error(StatusCode::kNotFound,
                 "The sources of the Rust compiler's libraries are not on this machine ({} has no "
                 "{}). Install the Debian packages rustc-web and rust-web-src; or, if rustup has "
                 "installed the compiler, `rustup component add rust-src`.",
                 rustc, root);
  }
  return compiler;
}

const std::vector<RustLibrary>& rust_libraries() {
  static const std::vector<RustLibrary> kLibraries = {
      {"core", "core/src/lib.rs", {"--cap-lints", "allow"}},
      // What LLVM calls where the processor has no instruction; `mem`: also memcmp.
      {"compiler_builtins",
       "compiler-builtins/compiler-builtins/src/lib.rs",
       {"--cap-lints", "allow", "--cfg", "feature=\"compiler-builtins\"", "--cfg",
        "feature=\"mem\""}},
      {"alloc", "alloc/src/lib.rs", {"--cap-lints", "allow"}},
      {"halyard_runtime", "", {}},
  };
  return kLibraries;
}

const char* rust_runtime_source() noexcept {
  return R"(#![no_std]
#![feature(core_intrinsics, rustc_attrs)]
#![allow(internal_features)]

#[rustc_std_internal_symbol]
fn __rust_no_alloc_shim_is_unstable_v2() {}

#[rustc_std_internal_symbol]
fn __rust_alloc_error_handler(_size: usize, _align: usize) -> ! {
    core::intrinsics::abort()
}

#[rustc_std_internal_symbol]
fn rust_begin_unwind(_info: &core::panic::PanicInfo) -> ! {
    core::intrinsics::abort()
}
)";
}

std::string rust_library_folder(const std::string& sysroot) {
  return fmt::format("{}/lib/rustlib/{}/lib", sysroot, kTarget);
}

Command rust_library(const RustCompiler& compiler, const RustLibrary& library,
                     const std::string& source, const std::string& sysroot) {
  Command command = {compiler.rustc, "--edition=2024", "--crate-name", library.name};
  add_common(command, kProcessorOfLibraries, sysroot);
  command.insert(command.end(), library.options.begin(), library.options.end());
  command.insert(command.end(),
                 {"--emit=metadata,llvm-bc", "--out-dir", rust_library_folder(sysroot), source});
  return command;
}

Command rust_to_bitcode(const RustCompilation& compilation, const std::string& folder,
                        const std::string& output, const std::string& dependencies) {
  Command command = {compilation.rustc};
  add_common(command, compilation.target.processor, compilation.sysroot);
  bool has_edition = false;
  for (const std::string& option : compilation.options) {
    has_edition = has_edition || option.starts_with("--edition");
  }
  // rustc takes it once only.
  if (!has_edition) command.push_back("--edition=2024");
  command.insert(command.end(), {fmt::format("--emit=llvm-bc={},dep-info={}", output, dependencies),
                                 "--out-dir", folder});
  command.insert(command.end(), compilation.options.begin(), compilation.options.end());
  command.push_back(compilation.input.starts_with('-') ? "./" + compilation.input
                                                       : compilation.input);
  return command;
}

ProcessOptions rust_process() {
  return {.output = Output::kCapture, .environment = {"RUSTC_BOOTSTRAP=1"}};
}

std::string rust_libraries_key(const RustCompiler& compiler) {
  Hash hash;
  hash.add(compiler.version);
  hash.add(rust_runtime_source());
  for (const RustLibrary& library : rust_libraries()) {
    const std::string source = compiler.sources + "/" + library.root;
    for (const std::string& word : rust_library(compiler, library, source, "")) hash.add(word);
    std::error_code ignored;
    const auto written = fs::last_write_time(source, ignored).time_since_epoch().count();
    hash.add(fmt::format("{}", written));
  }
  return hash.digest();
}

Status prepare_rust_libraries(const RustCompiler& compiler, const std::string& sysroot,
                              const Cache* cache, const Progress& progress) {
  const std::string folder = rust_library_folder(sysroot);
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  if (wrong) {
    return error(StatusCode::kUnavailable, "The temporary folder ({}) cannot be made: {}.", folder,
                 wrong.message());
  }
  if (cache == nullptr || cache->limit() == 0)
    return compile_libraries(compiler, sysroot, progress);
  const std::string key = rust_libraries_key(compiler);
  if (const auto found = cache->find(key)) return unpack_files(*found, folder);
  HALYARD_RETURN_IF_ERROR(compile_libraries(compiler, sysroot, progress));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> pack, pack_files(folder));
  const std::string version = compiler.version.substr(0, compiler.version.find('\n'));
  const Status stored =
      cache->store(key, {fmt::format("Rust's core and alloc, by {}", version)}, pack);
  // No reason to do without them.
  if (!stored.ok()) fmt::print(stderr, "halyard: note: {}\n", stored.message());
  return {};
}

std::vector<std::string> rust_library_bitcode(const std::string& sysroot) {
  // Only what files before it call is linked of each: core calls compiler_builtins and the runtime.
  std::vector<std::string> files;
  for (const char* name : {"alloc", "core", "compiler_builtins", "halyard_runtime"}) {
    files.push_back(fmt::format("{}/{}.bc", rust_library_folder(sysroot), name));
  }
  return files;
}

}  // namespace halyard::toolchain
