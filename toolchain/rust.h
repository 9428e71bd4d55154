// From Rust to LLVM bitcode, with rustc: a `no_std` crate whose kernels are extern "gpu-kernel"
// functions, and the libraries under it (core, alloc, compiler_builtins), which Rust's own packages
// have for AMD GPUs only as sources.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "toolchain/cache.h"
#include "toolchain/commands.h"
#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {

struct RustCompiler {
  std::string rustc;
  std::string version;  // what --version prints
  std::string sources;  // the folder with core, alloc and compiler-builtins
};

// NOT_FOUND if there is no rustc, if it does not know AMD GPUs, or if the sources of its libraries
// are missing; the message names the Debian packages.
Result<RustCompiler> find_rust(const SearchContext& context);

// A library, which those behind it in rust_libraries() may use. Compiled, it is metadata
// (lib*.rmeta) and bitcode (*.bc).
//
// The bitcode is made once for all processors: only an attribute of its functions names one, and
// clang replaces that when it links bitcode as a library.
struct RustLibrary {
  const char* name;
  const char* root;  // the file under RustCompiler::sources; empty: rust_runtime_source()
  std::vector<std::string> options;
};
const std::vector<RustLibrary>& rust_libraries();

// The last of the libraries: what rustc otherwise adds when it links a program, and a panic handler
// that traps. A crate that has its own handlers keeps them.
const char* rust_runtime_source() noexcept;

// Where the libraries' files are in a sysroot.
std::string rust_library_folder(const std::string& sysroot);

// Compiles one library into a sysroot that has those before it.
Command rust_library(const RustCompiler& compiler, const RustLibrary& library,
                     const std::string& source, const std::string& sysroot);

struct RustCompilation {
  std::string rustc;
  std::string input;
  TargetId target;
  std::string sysroot;
  std::vector<std::string> options;  // the user's own, behind all others
};

// The crate's bitcode, not optimized, and which files were read. Both files are in one folder,
// which rustc writes other files to meanwhile.
Command rust_to_bitcode(const RustCompilation& compilation, const std::string& folder,
                        const std::string& output, const std::string& dependencies);

// rustc takes unstable features only from nightly releases, unless this is in the environment.
ProcessOptions rust_process();

// What the libraries' bytes depend on.
std::string rust_libraries_key(const RustCompiler& compiler);

// Fills a sysroot with the libraries: from the cache, if it has them, and otherwise by compiling
// them, which takes half a minute. `cache` may be null; `progress`, which gets lines for a terminal
// meanwhile, may be empty.
Status prepare_rust_libraries(const RustCompiler& compiler, const std::string& sysroot,
                              const Cache* cache,
                              const std::function<void(const std::string&)>& progress);

// The bitcode files of the libraries in a sysroot, in the order in which they are linked.
std::vector<std::string> rust_library_bitcode(const std::string& sysroot);

}  // namespace halyard::toolchain
