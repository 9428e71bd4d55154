// Puts the virtual GPU into this process, below the vendor runtime: the virtual GPU plays the
// kernel driver. The vendor's libraries are loaded, and their calls of the C library redirected. It
// has to be loaded before any driver is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard {

struct VirtualGpuOptions {
  std::string installation = {};  // instead of the program's own prefix (installation.h)
  std::string library = {};  // a library of it or its folder, where HALYARD_VGPU_PATH is not set
  // The HSA runtime or its folder; empty: what HALYARD_LIBHSA_PATH names,
  // else libhsa-runtime64.so.1 as the loader finds it.
  std::string runtime = {};
  // False: only other programs are to be on it, and this one asks what belongs to that.
  bool in_this_process = true;
};

// Loads the virtual GPU's library (libhalyard-kfd.so.0) and has it play `profile` (a
// name such as "gfx900", or a YAML file; empty: what HALYARD_VGPU_PROFILE names, else the library's
// default). It is looked for in HALYARD_VGPU_PATH (a folder, or a file in it); if that is not set,
// in options.library; if that is empty, in lib/halyard/vgpu next to the program. It stays loaded
// for good.
//
// Once is enough: a second call with the same profile does nothing; with another one it is
// FAILED_PRECONDITION. So is a process that has a libhsa-runtime64.so.1 already. NOT_FOUND lists
// every path that was tried. INVALID_ARGUMENT if the library refuses the profile, in its own words;
// the call may then be repeated with another. UNAVAILABLE without an HSA runtime.
Status load_virtual_gpu(std::string_view profile, const VirtualGpuOptions& options = {});

// Has the loaded virtual GPU put functions of its own into the HSA runtime of this process and of
// those that it starts, so that devices report no images (docs/virtual-gpu.md). Before that runtime
// is initialised. FAILED_PRECONDITION if the virtual GPU is not loaded.
Status hook_runtime_with_virtual_gpu();

// Has the loaded virtual GPU look for mistakes (docs/virtual-gpu.md, "Looking inside"), in this
// process and in those that it starts. Before the vendor's runtime is initialised.
//
// `checks`: "coherence,waits"; empty: all. `findings`: a file to which each finding is added;
// empty: none. INVALID_ARGUMENT for a check that does not exist names those that do;
// FAILED_PRECONDITION if the virtual GPU is not loaded.
Status check_with_virtual_gpu(const std::string& checks, const std::string& findings);
// Each finding of a file begins a line with these words.
inline constexpr std::string_view kFindingMark = "halyard vgpu: check: ";

// For another program on the virtual kernel driver (vgpu/kfd), under the vendor's own thunk: makes
// the files that it is to see, and names the library to preload and their folder.
struct VirtualKernelDriver {
  std::string preload;  // for LD_PRELOAD
  std::string root;     // for HALYARD_VGPU_ROOT
};
// `profile` as for load_virtual_gpu(), which must have succeeded: FAILED_PRECONDITION if it has
// not.
Status make_virtual_kernel_driver(std::string_view profile, VirtualKernelDriver* driver);

// Whether load_virtual_gpu has succeeded in this process.
bool virtual_gpu_loaded();

// The path of the library that load_virtual_gpu has loaded; empty if it has not.
std::string virtual_gpu_library();

}  // namespace halyard
