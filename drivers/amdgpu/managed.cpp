#include "drivers/amdgpu/managed.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

namespace {

constexpr uint64_t kPage = 4096;

hsa_amd_svm_attribute_pair_t attribute_of(const DeviceImpl& device, MemoryAdvice advice) {
  switch (advice) {
    case MemoryAdvice::kReadMostly:
      return {HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1};
    case MemoryAdvice::kNotReadMostly:
      return {HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0};
    case MemoryAdvice::kPreferDevice:
      return {HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, device.agent().handle};
    case MemoryAdvice::kPreferHost:
      return {HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, device.host_agent().handle};
    case MemoryAdvice::kPreferNothing:
      return {HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, 0};
    case MemoryAdvice::kAccessedByDevice:
      return {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, device.agent().handle};
    case MemoryAdvice::kNotAccessedByDevice:
      break;
  }
  // It keeps its access.
  return {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, device.agent().handle};
}

}  // namespace

bool has_managed_memory(const Hsa& hsa) {
  if (hsa.hsa_amd_svm_attributes_set == nullptr || hsa.hsa_amd_svm_prefetch_async == nullptr)
    return false;
  bool supported = false;
  return hsa.hsa_system_get_info(static_cast<hsa_system_info_t>(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED),
                                 &supported) == HSA_STATUS_SUCCESS &&
         supported;
}

// Not from a pool of the runtime's: the kernel driver places that memory itself.
Result<Backing> allocate_managed(DeviceImpl& device, uint64_t size, const BufferOptions& options) {
  const uint64_t alignment = std::max(options.alignment, kPage);
  const auto refuse = [&](int reason) {
    return error(StatusCode::kResourceExhausted,
                 "The allocation of {} bytes of managed memory fails: the system has no memory "
                 "for it ({}). Allocate less, or free other memory.",
                 size, std::strerror(reason));
  };
  if (size > UINT64_MAX - alignment - kPage) return refuse(ENOMEM);
  const uint64_t bytes = (size + kPage - 1) / kPage * kPage;
  const uint64_t mapped = bytes + alignment - kPage;
  void* const base =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return refuse(errno);
  // A child's copies on write would come between.
  madvise(base, mapped, MADV_DONTFORK);
  Backing backing;
  backing.release = [base, mapped] { munmap(base, mapped); };
  backing.type = MemoryType::kHost;
  backing.origin = Origin::kHost;
  backing.managed = true;
  backing.device = align_up(base, alignment);
  backing.host = backing.device;
  backing.size = size;
  backing.is_visible_to_peers = true;
  std::vector<hsa_amd_svm_attribute_pair_t> access;
  for (const hsa_agent_t gpu : device.all_gpus())
    access.push_back({HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle});
  const Hsa& hsa = device.hsa();
  HALYARD_RETURN_IF_ERROR(check(
      hsa, hsa.hsa_amd_svm_attributes_set(backing.device, bytes, access.data(), access.size()),
      fmt::format("Giving {} access to {} bytes of managed memory", device.info().name, size)));
  return backing;
}

Status prefetch(DeviceImpl& device, const BufferRange& range, PrefetchTarget to) {
  const Hsa& hsa = device.hsa();
  hsa_signal_t done = {};
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_signal_create(1, 0, nullptr, &done), "Creating a prefetch's signal"));
  const hsa_agent_t agent = to == PrefetchTarget::kDevice ? device.agent() : device.host_agent();
  const Status status = check(hsa,
                              hsa.hsa_amd_svm_prefetch_async(impl(*range.buffer).at(range.offset),
                                                             range.length, agent, 0, nullptr, done),
                              fmt::format("Prefetching {} bytes of managed memory", range.length));
  // The runtime's own thread moves the pages: this ends even if the device is lost.
  if (status.ok())
    hsa.hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                  HSA_WAIT_STATE_BLOCKED);
  hsa.hsa_signal_destroy(done);
  return status;
}

Status advise(DeviceImpl& device, const BufferRange& range, MemoryAdvice advice) {
  const Hsa& hsa = device.hsa();
  hsa_amd_svm_attribute_pair_t attribute = attribute_of(device, advice);
  return check(hsa,
               hsa.hsa_amd_svm_attributes_set(impl(*range.buffer).at(range.offset), range.length,
                                              &attribute, 1),
               fmt::format("Advising \"{}\" for {} bytes of managed memory", to_string(advice),
                           range.length));
}

}  // namespace halyard::amdgpu
