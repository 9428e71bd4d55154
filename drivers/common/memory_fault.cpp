#include "drivers/common/memory_fault.h"

#include <fmt/format.h>

namespace halyard {

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
  const char* separator = ": ";
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    text += separator;
    text += reason.words;
    separator = ", ";
  }
  return text;
}

}  // namespace halyard
