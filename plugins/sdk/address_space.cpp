#include "plugins/sdk/address_space.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "hal/error.h"

namespace halyard {

namespace {

constexpr int kThunkSuccess = 0;         // HSAKMT_STATUS_SUCCESS
constexpr int kThunkAlreadyOpened = 22;  // HSAKMT_STATUS_KERNEL_ALREADY_OPENED
// More than HsaSystemProperties and HsaNodeProperties have in any release.
constexpr size_t kPropertiesBytes = 4096;

// "4.5 GiB"
std::string gibibytes(uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (uint64_t{1} << 30));
}

// The next tenth of a GiB, so that a limit that is set to what a message says is enough.
uint64_t round_up(uint64_t bytes) {
  constexpr uint64_t kTenth = (uint64_t{1} << 30) / 10;
  return (bytes + kTenth - 1) / kTenth * kTenth;
}

}  // namespace

std::optional<uint32_t> count_gpus(const ThunkTopology& thunk) {
  if (thunk.open == nullptr || thunk.close == nullptr || thunk.acquire == nullptr ||
      thunk.release == nullptr || thunk.node == nullptr) {
    return std::nullopt;
  }
  const int opened = thunk.open();
  if (opened != kThunkSuccess) {
    // It counts, also when it was open.
    if (opened == kThunkAlreadyOpened) thunk.close();
    return std::nullopt;
  }
  std::optional<uint32_t> gpus;
  alignas(8) std::byte properties[kPropertiesBytes] = {};
  if (thunk.acquire(properties) == kThunkSuccess) {
    uint32_t nodes = 0;  // HsaSystemProperties::NumNodes
    std::memcpy(&nodes, properties, sizeof nodes);
    gpus = 0;
    for (uint32_t i = 0; i < nodes; ++i) {
      std::memset(properties, 0, sizeof properties);
      if (thunk.node(i, properties) != kThunkSuccess) continue;
      uint32_t cores = 0;  // HsaNodeProperties::NumFComputeCores
      std::memcpy(&cores, properties + sizeof(uint32_t), sizeof cores);
      if (cores != 0) ++*gpus;
    }
    thunk.release();
  }
  thunk.close();
  return gpus;
}

AddressSpace own_address_space() {
  AddressSpace space;
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    space.limit = limit.rlim_cur;
  }
  // "<pages mapped> …" (proc(5), /proc/[pid]/statm)
  if (std::FILE* const file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    unsigned long long pages = 0;
    if (std::fscanf(file, "%llu", &pages) == 1) {
      space.used = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    }
    std::fclose(file);
  }
  return space;
}

Status check_address_space(std::string_view runtime, uint32_t gpus, uint64_t beside,
                           const AddressSpace& space) {
  const uint64_t needed = gpus * kReservedPerGpu + beside;
  const uint64_t free = space.limit > space.used ? space.limit - space.used : 0;
  if (needed <= free) return {};
  return error(StatusCode::kResourceExhausted,
               "{} needs more address space than the process may map, and would end it: {} for {} "
               "GPU{} and {} for itself, where {} of {} are left (RLIMIT_AS). Raise the limit to "
               "{} or more, or lift it (ulimit -v unlimited).",
               runtime, gibibytes(gpus * kReservedPerGpu), gpus, gpus == 1 ? "" : "s",
               gibibytes(beside), gibibytes(free), gibibytes(space.limit),
               gibibytes(round_up(space.used + needed)));
}

Status check_address_space(std::string_view runtime, const ThunkTopology& thunk, uint64_t beside) {
  const AddressSpace space = own_address_space();
  if (space.limit == UINT64_MAX) return {};
  const std::optional<uint32_t> gpus = count_gpus(thunk);
  return gpus ? check_address_space(runtime, *gpus, beside, space) : Status();
}

}  // namespace halyard
