#include "vgpu/kfd/drm.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "vgpu/kfd/drm_abi.h"
#include "vgpu/kfd/user_memory.h"
#include "vgpu/machine/compute_units.h"

namespace halyard::vgpu::kfd {
namespace {

using drm::Query;
using machine::GpuProfile;

// Of Linux 6.1's amdgpu.
constexpr int32_t kMajor = 3;
constexpr int32_t kMinor = 49;
constexpr std::string_view kDriverName = "amdgpu";
constexpr std::string_view kDate = "20150101";
constexpr std::string_view kDescription = "AMD GPU";
// What GB_ADDR_CONFIG reads as (Vega 10's value), and which register it is (in dwords).
constexpr uint32_t kGbAddrConfigRegister = 0x263e;
constexpr uint32_t kGbAddrConfig = 0x2a114042;
constexpr uint64_t kVaBegin = uint64_t{2} << 20;
constexpr uint64_t kLowEnd = uint64_t{1} << 47;
constexpr uint64_t kHighBegin = 0xffff800000000000;
constexpr uint64_t kHighEnd = 0xffffffffffe00000;

// As drm_copy_field(): as much as there is room for, and the length that there is.
bool copy_text(uint64_t& length, uint64_t to, std::string_view text) {
  const uint64_t room = length;
  length = text.size();
  const uint64_t bytes = std::min<uint64_t>(room, text.size());
  return bytes == 0 || to == 0 || copy_to_user(to, text.data(), bytes);
}

int get_version(uint64_t user, uint32_t bytes) {
  drm::Version version;
  if (bytes != sizeof version) return -EINVAL;
  if (!copy_from_user(&version, user, sizeof version)) return -EFAULT;
  version.major = kMajor;
  version.minor = kMinor;
  version.patch_level = 0;
  if (!copy_text(version.name_length, version.name_pointer, kDriverName) ||
      !copy_text(version.date_length, version.date_pointer, kDate) ||
      !copy_text(version.description_length, version.description_pointer, kDescription))
    return -EFAULT;
  return copy_to_user(user, &version, sizeof version) ? 0 : -EFAULT;
}

drm::DeviceInfo device_info(const GpuProfile& gpu) {
  drm::DeviceInfo info;
  info.device_id = gpu.device_id;
  info.external_revision = 1;
  info.shader_engines = gpu.shader_engines;
  info.counter_khz = static_cast<uint32_t>(gpu.clock_hz / 1000);
  info.max_engine_khz = gpu.engine_clock_hz / 1000;
  info.max_memory_khz = gpu.memory_clock_hz / 1000;
  info.active_units = gpu.compute_units;
  info.units_per_array = (gpu.compute_units + gpu.shader_engines - 1) / gpu.shader_engines;
  // The engines of the first XCD; there is room for 16.
  const std::vector<uint32_t> counts = machine::units_of_engines(gpu);
  for (uint32_t engine = 0; engine < counts.size() && engine < 16; ++engine) {
    const uint32_t units = counts[engine];
    const uint32_t mask = units >= 32 ? ~uint32_t{0} : (uint32_t{1} << units) - 1;
    info.unit_bitmap[engine % 4][engine / 4] = mask;
  }
  info.address_offset = kVaBegin;
  info.address_max = kLowEnd;
  info.high_address_offset = kHighBegin;
  info.high_address_max = kHighEnd;
  info.vram_bits = gpu.memory_width;
  return info;
}

drm::Heap heap_of(uint64_t total, uint64_t used) {
  return {total, total, used, total / 4 * 3};
}

// Answers a query into the program's memory, which may be smaller than the answer.
template <class T>
int answer(const drm::Info& info, const T& value) {
  const uint64_t bytes = std::min<uint64_t>(info.return_size, sizeof value);
  return copy_to_user(info.return_pointer, &value, bytes) ? 0 : -EFAULT;
}

int read_registers(const drm::Info& info) {
  const uint32_t first = info.words[0];
  const uint32_t count = info.words[1];
  if (first != kGbAddrConfigRegister || count != 1) return -EFAULT;
  return answer(info, kGbAddrConfig);
}

int query(Kfd& kfd, uint32_t index, uint64_t user, uint32_t bytes) {
  drm::Info info;
  if (!copy_from_user(&info, user, std::min<uint32_t>(bytes, sizeof info))) return -EFAULT;
  if (info.return_size == 0 || info.return_pointer == 0) return -EINVAL;
  const GpuProfile& gpu = kfd.machine().profile().gpus[index];
  const uint64_t total = gpu.memory_bytes;
  const uint64_t visible = gpu.visible_memory_bytes();
  const uint64_t used = std::min(total, kfd.usage().of_all(index));
  switch (info.query) {
    case Query::kAccelWorking:
      return answer(info, uint32_t{1});
    case Query::kTimestamp:
      return answer(info, kfd.machine().clock(index + 1).now());
    case Query::kHwIpInfo:
      if (info.words[0] >= drm::kHwIpTypes) return -EINVAL;
      return answer(info, drm::HwIpInfo{});
    case Query::kHwIpCount:
      return answer(info, uint32_t{0});  // no rings: nothing is submitted here
    case Query::kFirmwareVersion:
      return answer(info, uint64_t{0});
    case Query::kVramUsage:
      return answer(info, used);
    case Query::kVisibleVramUsage:
      return answer(info, std::min(used, visible));
    case Query::kGttUsage:
      return answer(info, uint64_t{0});
    case Query::kVramGtt:
      return answer(info, drm::VramGtt{total, visible, total});
    case Query::kReadRegisters:
      return read_registers(info);
    case Query::kDeviceInfo:
      return answer(info, device_info(gpu));
    case Query::kMemory:
      return answer(info,
                    drm::MemoryInfo{heap_of(total, used), heap_of(visible, std::min(used, visible)),
                                    heap_of(total, 0)});
  }
  return -EINVAL;
}

// Requests that this driver does not have. Of DRM's own those for a display or a master are refused
// at render nodes, and those for synchronisation objects are the driver's to have.
int refused(unsigned number) {
  constexpr unsigned kFirstSyncObject = 0xbf;
  constexpr unsigned kLastSyncObject = 0xcf;
  const bool is_drivers =
      number >= drm::kFirstDriverNumber && number < drm::kFirstDriverNumber + drm::kDriverNumbers;
  if (is_drivers || number > kLastSyncObject) return -EINVAL;
  const bool is_sync_object = (number >= kFirstSyncObject && number <= 0xc5) ||
                              (number >= 0xca && number <= 0xcd) || number == kLastSyncObject;
  return is_sync_object ? -EOPNOTSUPP : -EACCES;
}

// As drm_ioctl() in Linux: what a program does not pass is 0, what it does not ask for is not
// copied.
template <class T, class Function>
int with_argument(uint64_t user, uint32_t bytes, Function function) {
  T argument;
  const uint64_t known = std::min<uint64_t>(bytes, sizeof argument);
  if (!copy_from_user(&argument, user, known)) return -EFAULT;
  const int result = function(argument);
  if (result != 0) return result;
  return copy_to_user(user, &argument, known) ? 0 : -EFAULT;
}

// Contexts and lists of buffers are made; what is to be submitted, or waited for, needs a ring.
int submission_request(Kfd& kfd, uint32_t node, unsigned number, uint64_t user, uint32_t bytes) {
  using namespace drm;  // NOLINT(google-build-using-namespace)
  const auto refuse = [](auto&) { return -EINVAL; };
  switch (number) {
    case kAmdgpuContextNumber:
      return with_argument<Context>(
          user, bytes, [&](auto& a) { return kfd.submissions().change_context(node, a); });
    case kAmdgpuBufferListNumber:
      return with_argument<BufferList>(
          user, bytes, [&](auto& a) { return kfd.submissions().change_list(node, kfd.gem(), a); });
    case kAmdgpuSubmitNumber:
      return with_argument<Submit>(user, bytes, refuse);
    case kAmdgpuWaitNumber:
    case kAmdgpuWaitFencesNumber:
    case kAmdgpuFenceToHandleNumber:
      return with_argument<WaitForSubmission>(user, bytes, refuse);
    case kAmdgpuVmNumber:
      return with_argument<Vm>(user, bytes, [](Vm& vm) {
        return vm.operation == kReserveVmid || vm.operation == kUnreserveVmid ? 0 : -EINVAL;
      });
    case kAmdgpuScheduleNumber:
      return -EACCES;  // for a master
    default:
      return refused(number);
  }
}

int gem_request(Kfd& kfd, uint32_t node, unsigned number, uint64_t user, uint32_t bytes) {
  using namespace drm;  // NOLINT(google-build-using-namespace)
  Gem& gem = kfd.gem();
  switch (number) {
    case kAmdgpuGemCreateNumber:
      return with_argument<GemCreate>(user, bytes, [&](auto& a) { return gem.create(node, a); });
    case kAmdgpuGemWaitNumber:
      return with_argument<GemWait>(user, bytes, [&](auto& a) { return gem.wait(node, a); });
    case kAmdgpuGemUserMemoryNumber:
      return -ENODEV;  // as in a kernel without HMM
    case kGemCloseNumber:
      return with_argument<GemClose>(user, bytes, [&](auto& a) { return gem.close(node, a); });
    case kPrimeHandleToFdNumber:
      return with_argument<PrimeHandle>(user, bytes,
                                        [&](auto& a) { return gem.export_handle(node, a); });
    case kPrimeFdToHandleNumber:
      return with_argument<PrimeHandle>(user, bytes, [&](auto& a) { return gem.import(node, a); });
    case kAmdgpuGemMmapNumber:
      return with_argument<GemMmap>(user, bytes, [&](auto& a) { return gem.find_offset(node, a); });
    case kAmdgpuGemMetadataNumber:
      return with_argument<GemMetadata>(user, bytes,
                                        [&](auto& a) { return gem.change_metadata(node, a); });
    case kAmdgpuGemVaNumber:
      return with_argument<GemVa>(user, bytes,
                                  [&](auto& a) { return gem.change_addresses(node, a); });
    case kAmdgpuGemOpNumber:
      return with_argument<GemOp>(user, bytes, [&](auto& a) {
        GemCreateInfo info;
        const int result = gem.get_info(node, a, info);
        if (result != 0) return result;
        return copy_to_user(a.value, &info, sizeof info) ? 0 : -EFAULT;
      });
    default:
      return submission_request(kfd, node, number, user, bytes);
  }
}

int get_capability(uint64_t user, uint32_t bytes) {
  return with_argument<drm::GetCap>(user, bytes, [](drm::GetCap& cap) {
    switch (cap.capability) {
      case drm::kCapPrime:
        cap.value = drm::kPrimeBothWays;
        return 0;
      case drm::kCapMonotonic:
        cap.value = 1;
        return 0;
      case drm::kCapSyncObjects:
      case drm::kCapTimelines:
        cap.value = 0;
        return 0;
      default:
        // The others are of displays.
        return cap.capability <= drm::kCapMost ? -EOPNOTSUPP : -EINVAL;
    }
  });
}

}  // namespace

int drm_ioctl(Kfd& kfd, uint32_t index, unsigned long code, void* argument) {
  if (_IOC_TYPE(code) != drm::kRequestType) return -ENOTTY;
  if (index + 1 >= kfd.machine().node_count()) return -ENODEV;
  const auto user = reinterpret_cast<uintptr_t>(argument);
  switch (_IOC_NR(code)) {
    case drm::kVersionNumber:
      return get_version(user, _IOC_SIZE(code));
    case drm::kAmdgpuInfoNumber:
      return query(kfd, index, user, _IOC_SIZE(code));
    case drm::kGetCapNumber:
      return get_capability(user, _IOC_SIZE(code));
    default:
      return gem_request(kfd, index + 1, _IOC_NR(code), user, _IOC_SIZE(code));
  }
}

}  // namespace halyard::vgpu::kfd
