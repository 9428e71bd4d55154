// What a memory fault of a GPU is called, whichever driver is told of it.
#pragma once

#include <cstdint>
#include <string>

namespace halyard {

// "memory access fault at address 0x1000: the page is not present or not accessible". `reasons` are
// the bits of hsa_amd_memory_fault_reason_t (hsa_ext_amd.h). An address past the end of a private
// segment or of LDS is said to be that.
std::string describe_memory_fault(uint64_t address, uint32_t reasons);

}  // namespace halyard
