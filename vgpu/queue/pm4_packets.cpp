#include "vgpu/queue/pm4_packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace halyard::vgpu::queue::pm4 {

namespace {

struct Form {
  Opcode opcode;
  const char* name;
  // Dwords, with the header.
  uint32_t least;
  uint32_t most;
};

constexpr Form kGfx9Forms[] = {
    {kNop, "NOP", 1, kMaximumWords},
    {kDispatchDirect, "DISPATCH_DIRECT", 5, 5},
    {kDispatchIndirect, "DISPATCH_INDIRECT", 4, 4},
    {kAtomicMem, "ATOMIC_MEM", 9, 9},
    {kCondExec, "COND_EXEC", 5, 5},
    {kPredExec, "PRED_EXEC", 2, 2},
    {kWriteData, "WRITE_DATA", 5, kMaximumWords},
    {kWaitRegMem, "WAIT_REG_MEM", 7, 7},
    {kIndirectBuffer, "INDIRECT_BUFFER", 4, 4},
    {kCopyData, "COPY_DATA", 6, 6},
    // The address is there only for events that write.
    {kEventWrite, "EVENT_WRITE", 2, 4},
    {kReleaseMem, "RELEASE_MEM", 8, 8},
    {kDmaData, "DMA_DATA", 7, 7},
    {kAcquireMem, "ACQUIRE_MEM", 7, 7},
    {kSetShReg, "SET_SH_REG", 3, kMaximumWords},
    {kSetUconfigReg, "SET_UCONFIG_REG", 3, kMaximumWords},
};

// Packets of the compute engine that no program's compute needs here, for their names.
struct Other {
  uint32_t opcode;
  const char* name;
};
constexpr Other kOthers[] = {
    {0x11, "SET_BASE"},        {0x12, "CLEAR_STATE"},     {0x1d, "ATOMIC_GDS"},
    {0x20, "SET_PREDICATION"}, {0x21, "REG_RMW"},         {0x39, "MEM_SEMAPHORE"},
    {0x42, "PFP_SYNC_ME"},     {0x45, "COND_WRITE"},      {0x59, "REWIND"},
    {0x68, "SET_CONFIG_REG"},  {0x69, "SET_CONTEXT_REG"}, {0x77, "SET_SH_REG_OFFSET"},
    {0x78, "SET_QUEUE_REG"},   {0x98, "INVALIDATE_TLBS"}, {0xa0, "SET_RESOURCES"},
    {0xa1, "MAP_PROCESS"},     {0xa2, "MAP_QUEUES"},      {0xa3, "UNMAP_QUEUES"},
    {0xa4, "QUERY_STATUS"},    {0xa5, "RUN_LIST"},
};

const Form* find_form(Generation generation, uint32_t opcode) {
  switch (generation) {
    case Generation::kGfx9:
      break;
  }
  const auto* const found = std::find_if(std::begin(kGfx9Forms), std::end(kGfx9Forms),
                                         [=](const Form& form) { return form.opcode == opcode; });
  return found != std::end(kGfx9Forms) ? found : nullptr;
}

const char* find_name(uint32_t opcode) {
  if (const Form* const form = find_form(Generation::kGfx9, opcode)) return form->name;
  for (const Other& other : kOthers) {
    if (other.opcode == opcode) return other.name;
  }
  return nullptr;
}

}  // namespace

std::string name(const Header& header) {
  if (header.type != 3) return fmt::format("a packet of type {}", header.type);
  const char* const found = find_name(header.opcode);
  if (found == nullptr) return fmt::format("opcode {:#x}", header.opcode);
  return fmt::format("{} (opcode {:#x})", found, header.opcode);
}

std::string wrong_header(Generation generation, const Header& header) {
  if (header.type == 2) return {};
  if (header.type != 3) return "a compute queue takes packets of type 3 (and 2, a filler)";
  const Form* const form = find_form(generation, header.opcode);
  if (form == nullptr) return "the packet is not one that this GPU's compute queues implement";
  const uint32_t words = header.words();
  if (words >= form->least && words <= form->most) return {};
  return form->least == form->most
             ? fmt::format("it has {} dwords, and must have {}", words, form->least)
             : fmt::format("it has {} dwords, and must have {} to {}", words, form->least,
                           form->most);
}

}  // namespace halyard::vgpu::queue::pm4
