// From sources to code objects, with the tools of this machine. What compilers and linkers print
// goes to standard error as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "toolchain/cache.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {

struct CompileOptions {
  std::optional<uint32_t> code_object_version;  // 4 to 6; by default what suits compiler and target
  std::vector<std::string> compiler_options;    // for each compiler, behind Halyard's own
  std::string bitcode_folder;  // of the device libraries; empty: where they usually are
  // Where STEM.TARGET.ll and STEM.TARGET.s of each input are kept; empty: nowhere.
  std::string temporaries_folder;
  // Keeps what the libraries of Rust are compiled to; null: they are compiled each time.
  const Cache* cache = nullptr;
  // Called several times a second with what takes long, as a line for a terminal, and with an empty
  // one before anything else is printed.
  std::function<void(const std::string&)> progress = {};
};

struct Compiled {
  std::vector<std::byte> bytes;  // a code object
  // The files that have been read, beside the inputs and the compiler's own libraries; nothing if
  // the compiler cannot say which.
  std::optional<std::vector<std::string>> dependencies;
};

// The code object of all inputs together for one target: each file is compiled on its own, and all
// are joined as LLVM bitcode. A HIP file has to be the only one, and so has assembly with kernels.
// NOT_FOUND for a missing file or tool, with its Debian package; INVALID_ARGUMENT for what a
// compiler or the linker refuses and for sources without a kernel: each says what to do.
Result<Compiled> compile(const std::vector<std::string>& inputs, const TargetId& target,
                         const CompileOptions& options, const SearchContext& context);

}  // namespace halyard::toolchain
