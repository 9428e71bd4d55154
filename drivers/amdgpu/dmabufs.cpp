#include "drivers/amdgpu/dmabufs.h"

#include "plugins/sdk/dmabuf.h"

namespace halyard::amdgpu {
namespace {

// HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED, a bool, which older headers lack.
constexpr auto kDmabufSupported = static_cast<hsa_system_info_t>(0x204);

}  // namespace

Status check_has_dmabufs(const Hsa& hsa) {
  if (hsa.hsa_amd_portable_export_dmabuf == nullptr) {
    return no_dmabufs(
        "the HSA runtime lacks hsa_amd_portable_export_dmabuf, which releases from 5.6 on have");
  }
  bool supported = true;
  if (hsa.hsa_system_get_info(kDmabufSupported, &supported) == HSA_STATUS_SUCCESS && !supported)
    return no_dmabufs("the HSA runtime reports that this kernel driver has none (KFD before 1.12)");
  return {};
}

}  // namespace halyard::amdgpu
