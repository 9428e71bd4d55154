#include "plugins/sdk/memory_fault.h"

#include <fmt/format.h>

namespace halyard {
namespace {

// Where the kernel driver puts the windows through which flat instructions reach LDS and a
// work-item's private segment, 4 GiB each, on all GPUs from gfx9 on (Linux, kfd_flat_memory.c:
// MAKE_LDS_APP_BASE_V9, MAKE_SCRATCH_APP_BASE_V9). No memory has such addresses.
constexpr uint64_t kGroupWindow = uint64_t{1} << 48;
constexpr uint64_t kPrivateWindow = uint64_t{2} << 48;
constexpr uint64_t kWindowBytes = uint64_t{1} << 32;

bool is_in(uint64_t address, uint64_t window) {
  return address >= window && address - window < kWindowBytes;
}

// Empty for an address that memory may have.
std::string describe_window(uint64_t address) {
  if (is_in(address, kPrivateWindow)) {
    return fmt::format(
        "offset {} of a work-item's private segment, which ends before: its stack has overflowed, "
        "or a pointer into it is wrong (the device option stack_bytes gives kernels that recurse a "
        "larger stack)",
        address - kPrivateWindow);
  }
  if (is_in(address, kGroupWindow)) {
    return fmt::format("offset {} of a work-group's LDS, which ends before",
                       address - kGroupWindow);
  }
  return {};
}

}  // namespace

std::string describe_memory_fault(uint64_t address, uint32_t reasons) {
  struct Reason {
    uint32_t bit;
    const char* words;
  };
  static constexpr Reason kReasons[] = {
      {1u << 0, "the page is not present or not accessible"},
      {1u << 1, "a write to a read-only page"},
      {1u << 2, "execution from a page without permission"},
      {1u << 3, "a page that only the host may access"},
      {1u << 4, "an uncorrectable DRAM error"},
      {1u << 5, "the address is not exact"},
      {1u << 6, "an uncorrectable SRAM error"},
      {1u << 31, "the GPU was reset after it hung"},
  };
  std::string text = fmt::format("memory access fault at address {:#x}", address);
  const std::string window = describe_window(address);
  // Of such an address the runtime says that no page is present, which is no news.
  if (!window.empty()) {
    text += ": " + window;
    reasons &= ~uint32_t{1};
  }
  const char* separator = window.empty() ? ": " : ", ";
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    text += separator;
    text += reason.words;
    separator = ", ";
  }
  return text;
}

}  // namespace halyard
