// The words against the numbers of the HSA runtime's own header.
#include "plugins/sdk/memory_fault.h"

#include <gtest/gtest.h>
#include <hsa/hsa_ext_amd.h>

namespace halyard {
namespace {

TEST(MemoryFault, NamesTheAddressAndEachReason) {
  EXPECT_EQ(describe_memory_fault(0x1000, 0), "memory access fault at address 0x1000");
  EXPECT_EQ(
      describe_memory_fault(0,
                            HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT | HSA_AMD_MEMORY_FAULT_READ_ONLY),
      "memory access fault at address 0x0: the page is not present or not accessible, a write "
      "to a read-only page");
}

TEST(MemoryFault, ReasonsHaveTheRuntimesNumbers) {
  const auto says = [](uint32_t reason, const char* words) {
    return describe_memory_fault(1, reason).find(words) != std::string::npos;
  };
  EXPECT_TRUE(says(HSA_AMD_MEMORY_FAULT_NX, "permission"));
  EXPECT_TRUE(says(HSA_AMD_MEMORY_FAULT_HOST_ONLY, "only the host"));
  EXPECT_TRUE(says(HSA_AMD_MEMORY_FAULT_DRAMECC, "DRAM"));
  EXPECT_TRUE(says(HSA_AMD_MEMORY_FAULT_IMPRECISE, "not exact"));
  EXPECT_TRUE(says(HSA_AMD_MEMORY_FAULT_SRAMECC, "SRAM"));
  EXPECT_TRUE(says(static_cast<uint32_t>(HSA_AMD_MEMORY_FAULT_HANG), "hung"));
}

TEST(MemoryFault, AnAddressPastTheStackOrLdsIsSaidToBeThat) {
  const auto text = [](uint64_t address) {
    return describe_memory_fault(address, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
  };
  const std::string stack = text(0x2000000001040);
  EXPECT_NE(stack.find("0x2000000001040: offset 4160 of a work-item's private segment"),
            std::string::npos)
      << stack;
  EXPECT_EQ(stack.find("not present"), std::string::npos) << stack;
  EXPECT_NE(text(0x1000000000010).find("offset 16 of a work-group's LDS"), std::string::npos);
  for (const uint64_t other : {0x1000100000000, 0x2000100000000, 0x3000000000000, 0x7f0000000000}) {
    EXPECT_NE(text(other).find("the page is not present"), std::string::npos) << other;
  }
}

}  // namespace
}  // namespace halyard
