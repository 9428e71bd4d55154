#include "bindings/mlir/vendor_compiler.h"

#include <dlfcn.h>

#include <filesystem>

namespace halyard::mlir {

void isolate_compiler_of_hip([[maybe_unused]] const std::string& hip_path) {
// The sanitizers' runtimes refuse RTLD_DEEPBIND, and MLIR's tools cannot load what is built with
// them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  namespace fs = std::filesystem;
  constexpr const char* kName = "libamd_comgr.so.2";  // of ROCm 5 and 6
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_DEEPBIND;
  if (!hip_path.empty()) {
    std::error_code error;
    const fs::path folder =
        fs::is_directory(hip_path, error) ? fs::path(hip_path) : fs::path(hip_path).parent_path();
    if (dlopen((folder / kName).c_str(), kFlags) != nullptr) return;
  }
  // Where it is missing HIP says so, if it needs it.
  dlopen(kName, kFlags);
#endif
}

}  // namespace halyard::mlir
