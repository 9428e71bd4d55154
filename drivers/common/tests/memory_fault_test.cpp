// The words against the numbers of the HSA runtime's own header.
#include "drivers/common/memory_fault.h"

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

}  // namespace
}  // namespace halyard
