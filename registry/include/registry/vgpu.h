// Loads the virtual GPU into this process, below the vendor runtime: it plays the kernel driver. It
// loads the vendor's libraries, and redirects their calls of the C library. Load it before any
// driver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard {

struct VirtualGpuOptions {
  std::string installation = {};  // instead of the program's own prefix (installation.h)
  std::string library = {};  // a library of it or its folder, where HALYARD_VGPU_PATH is not set
  // The HSA runtime or its folder; empty: HALYARD_LIBHSA_PATH, or else libhsa-runtime64.so.1 as the
  // loader finds it.
  std::string runtime = {};
  // False: only other programs run on it, and this one calls the functions for them.
  bool in_this_process = true;
};

// Loads the virtual GPU's library (libhalyard-kfd.so.0) with `profile` (a name such as "gfx900",
// or a YAML file; empty: HALYARD_VGPU_PROFILE, or else the library's default). The library is
// searched in HALYARD_VGPU_PATH (a folder, or a file in it); if that is not set, in
// options.library; if that is empty, in lib/halyard/vgpu of the installation. It stays loaded for
// the life of the process.
//
// A second call with the same profile has no effect; with another profile it fails with
// FAILED_PRECONDITION, and so does a process that already has a libhsa-runtime64.so.1. NOT_FOUND
// lists every path that was tried. INVALID_ARGUMENT if the library refuses the profile, with its
// message; then another call can follow. UNAVAILABLE without an HSA runtime.
Status load_virtual_gpu(std::string_view profile, const VirtualGpuOptions& options = {});

// Makes the loaded virtual GPU replace functions of the HSA runtime in this process and those that
// it starts, so that image calls fail with an error (docs/virtual-gpu.md). Call it before that
// runtime is initialised. FAILED_PRECONDITION if the virtual GPU is not loaded.
Status hook_runtime_with_virtual_gpu();

// Enables the checks of the loaded virtual GPU (docs/virtual-gpu.md, "Looking inside"), in this
// process and those that it starts. Call it before the vendor's runtime is initialised.
//
// `checks`: "coherence,waits", or "lds,notes" for notes too; empty: all without notes. `findings`:
// a file to which findings are appended; empty: none. INVALID_ARGUMENT for an unknown check, with
// the legal ones; FAILED_PRECONDITION if the virtual GPU is not loaded.
Status check_with_virtual_gpu(const std::string& checks, const std::string& findings);
// A finding in the file begins a line with these words.
inline constexpr std::string_view kFindingMark = "halyard vgpu: check: ";

// For another program on the virtual kernel driver (vgpu/kfd), under the vendor's own thunk: makes
// the files for it, and returns the library to preload and their folder.
struct VirtualKernelDriver {
  std::string preload;  // for LD_PRELOAD
  std::string root;     // for HALYARD_VGPU_ROOT
};
// `profile` as for load_virtual_gpu(), which must have succeeded
// (FAILED_PRECONDITION).
Status make_virtual_kernel_driver(std::string_view profile, VirtualKernelDriver* driver);

// Whether load_virtual_gpu has succeeded in this process.
bool virtual_gpu_loaded();

// The path of the library that load_virtual_gpu has loaded; or empty.
std::string virtual_gpu_library();

}  // namespace halyard
