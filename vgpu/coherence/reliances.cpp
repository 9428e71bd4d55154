#include "vgpu/coherence/reliances.h"

#include <algorithm>

namespace halyard::vgpu::coherence {
namespace {

// docs/coherence-check.md has the same table, with what hardware does.
constexpr Reliance kReliances[] = {
    {"libamdhip64", Mistake::kHostWindow,
     "hipMemcpy of up to 8 KiB to a GPU is a store through the PCI window, and so are kernel "
     "arguments in the GPU's memory; HIP flushes no HDP behind them",
     "ROCm/clr, rocclr/device/rocm: rocblit.hpp, kMaxH2dMemcpySize; rocsettings.cpp, "
     "setKernelArgImpl()"},
    {"libamdocl64", Mistake::kHostWindow,
     "OpenCL writes small buffers through the PCI window; it is HIP's code",
     "ROCm/clr, rocclr/device/rocm: rocblit.hpp, kMaxH2dMemcpySize"},
    {"libhsa-runtime64", Mistake::kHostWindow,
     "since 6.4, the loader of code objects stores their segments through the PCI window, and "
     "flushes no HDP",
     "ROCm/ROCR-Runtime, core/runtime/amd_loader_context.cpp"},
};

}  // namespace

const Reliance* reliance(Mistake mistake, std::string_view library) {
  const auto* const found = std::ranges::find_if(kReliances, [&](const Reliance& row) {
    return row.mistake == mistake && library.starts_with(row.library);
  });
  return found != std::end(kReliances) ? found : nullptr;
}

bool is_runtime(std::string_view library) {
  return std::ranges::any_of(kReliances,
                             [&](const Reliance& row) { return library.starts_with(row.library); });
}

}  // namespace halyard::vgpu::coherence
