#include "drivers/hip/hip.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "drivers/hip/agents.h"
#include "drivers/hip/reserved.h"
#include "hal/error.h"
#include "plugins/sdk/exit_handler.h"

namespace halyard::hip {

const VendorLibrary& Hip::library() {
  static constexpr const char* kSonames[] = {"libamdhip64.so.6", "libamdhip64.so.5"};
  static constexpr VendorLibrary kLibrary = {
      .name = "HIP",
      .sonames = kSonames,
      .option = "libhip",
      .variable = "HALYARD_LIBHIP_PATH",
      .package = "Debian: libamdhip64-5",
      // For its threads and for some queues: measured, 5.2.3 with the driver takes 570 MiB.
      .address_space = 640 << 20,
  };
  return kLibrary;
}

namespace {

std::atomic<uint32_t> calls{0};  // under way, of threads that wait

template <typename Call>
hipError_t unless_process_ends(Call call) {
  calls.fetch_add(1, std::memory_order_seq_cst);
  // Either this sees the end, or the end sees this.
  const hipError_t result = Hip::process_ends() ? hipErrorNotReady : call();
  calls.fetch_sub(1, std::memory_order_release);
  return result;
}

// At the process's end, before HIP's static objects are destroyed.
void wait_for_calls() {
  // A query takes microseconds. One that never returns does not keep the process.
  constexpr int kLooks = 1000;
  for (int i = 0; i < kLooks && calls.load(std::memory_order_seq_cst) != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

hipError_t Hip::query(hipEvent_t event) const {
  return unless_process_ends([&] { return hipEventQuery(event); });
}

hipError_t Hip::synchronise(hipStream_t stream) const {
  return unless_process_ends([&] { return hipStreamSynchronize(stream); });
}

Status Hip::resolve() {
  // Required functions are kept under the name that C has for them.
#define HALYARD_HIP_REQUIRED(symbol, ...) HALYARD_RETURN_IF_ERROR(require(#symbol, &symbol));
#define HALYARD_HIP_OPTIONAL(member, symbol, ...) find(symbol, &member);
#include "drivers/hip/hip_symbols.inl"
#undef HALYARD_HIP_REQUIRED
#undef HALYARD_HIP_OPTIONAL
  if (hipExtModuleLaunchKernel == nullptr) hipExtModuleLaunchKernel = hipExtModuleLaunchKernelCxx;
  if (hipExtModuleLaunchKernel == nullptr) return lacks("hipExtModuleLaunchKernel");
  if (hipGetDeviceProperties == nullptr && hipGetDevicePropertiesR0600 == nullptr) {
    return lacks("hipGetDeviceProperties");
  }
  at_exit_of_this_process<wait_for_calls>();
  return {};
}

bool Hip::is_running() const {
  const auto nothing = [](hsa_agent_t, void*) -> hsa_status_t { return HSA_STATUS_SUCCESS; };
  return hsa_iterate_agents != nullptr &&
         hsa_iterate_agents(nothing, nullptr) == HSA_STATUS_SUCCESS;
}

std::string Hip::start() {
  int count = 0;
  hipError_t result = hipInit(0);
  if (result == hipSuccess) result = hipGetDeviceCount(&count);
  if (result == hipSuccess) result = hipRuntimeGetVersion(&version_);
  return result == hipSuccess ? std::string() : describe(*this, result);
}

std::string Hip::version_text() const {
  return fmt::format("{}.{}.{}", version_ / 10'000'000, version_ / 100'000 % 100,
                     version_ % 100'000);
}

std::vector<VendorRuntime::Offer> Hip::offers() const {
  int managed = 0;
  const bool has_managed =
      hipMallocManaged != nullptr && hipMemPrefetchAsync != nullptr && hipMemAdvise != nullptr &&
      hipDeviceGetAttribute(&managed, hipDeviceAttributeManagedMemory, 0) == hipSuccess &&
      managed != 0;
  return {{"dma-bufs", check_has_dmabufs(*this).ok()},
          {"managed memory", has_managed},
          {"reserved buffers", has_virtual_memory(*this, 0)},
          {"hipLaunchHostFunc", hipLaunchHostFunc != nullptr}};
}

std::string describe(const Hip& hip, hipError_t error) {
  const char* const name = hip.hipGetErrorName(error);
  const char* const text = hip.hipGetErrorString(error);
  if (name == nullptr) return fmt::format("HIP error {}", error);
  // HIP 5's text is the name again.
  if (text == nullptr || std::string_view(text) == name) {
    return fmt::format("{} (HIP error {})", name, error);
  }
  return fmt::format("{}: {} (HIP error {})", name, text, error);
}

StatusCode code_for(hipError_t error) {
  switch (error) {
    case hipErrorInvalidValue:
    case hipErrorInvalidDevice:
    case hipErrorInvalidImage:
    case hipErrorNoBinaryForGpu:
    case hipErrorInvalidKernelFile:
    case hipErrorSharedObjectInitFailed:
    case hipErrorInvalidHandle:
      return StatusCode::kInvalidArgument;
    case hipErrorOutOfMemory:
      return StatusCode::kResourceExhausted;
    case hipErrorNotInitialized:
    case hipErrorInsufficientDriver:
    case hipErrorNoDevice:
      return StatusCode::kUnavailable;
    case hipErrorNotFound:
      return StatusCode::kNotFound;
    case hipErrorNotSupported:
      return StatusCode::kUnimplemented;
    default:
      return StatusCode::kInternal;
  }
}

Status check(const Hip& hip, hipError_t error, std::string_view doing) {
  if (error == hipSuccess) [[likely]]
    return {};
  return ::halyard::error(code_for(error), "{} fails: {}.", doing, describe(hip, error));
}

}  // namespace halyard::hip
