// The PM4 packets of a compute queue: their names, their lengths and what their headers say.
//
// Sources: Linux's soc15d.h for opcodes and register spaces of gfx9, and nvd.h for gfx10; AMD's PAL
// (gfx9_plus_merged_f32_mec_pm4_packets.h) for what the compute engine's packets hold, by
// generation.
#pragma once

#include <cstdint>
#include <string>

namespace halyard::vgpu::queue::pm4 {

enum Opcode : uint32_t {
  kNop = 0x10,
  kDispatchDirect = 0x15,
  kDispatchIndirect = 0x16,
  kAtomicMem = 0x1e,
  kCondExec = 0x22,
  kPredExec = 0x23,
  kWriteData = 0x37,
  kWaitRegMem = 0x3c,
  kIndirectBuffer = 0x3f,
  kCopyData = 0x40,
  kEventWrite = 0x46,
  kReleaseMem = 0x49,
  kDmaData = 0x50,
  kAcquireMem = 0x58,
  kSetShReg = 0x76,
  kSetUconfigReg = 0x79,
};

// Packets that have the same form on all processors of one. gfx942's are those of gfx9; gfx10's
// ACQUIRE_MEM and RELEASE_MEM name other caches.
enum class Generation : uint8_t { kGfx9 };

// The most dwords that a packet has, with its header.
inline constexpr uint32_t kMaximumWords = 0x4001;

struct Header {
  explicit Header(uint32_t word)
      : type(word >> 30), opcode(word >> 8 & 0xff), count(word >> 16 & 0x3fff) {}

  // Dwords of the packet. A filler (type 2) has one, and so has a NOP of the largest count.
  uint32_t words() const {
    const bool is_one = type == 2 || (opcode == kNop && count == 0x3fff);
    return is_one ? 1 : count + 2;
  }

  uint32_t type;
  uint32_t opcode;
  uint32_t count;
};

// "WRITE_DATA (opcode 0x37)", "opcode 0x39", "a packet of type 0".
std::string name(const Header& header);

// A sentence fragment about a packet that the queue cannot take, whatever is in it: because of its
// type, its opcode or its length. Empty: it can.
std::string wrong_header(Generation generation, const Header& header);

}  // namespace halyard::vgpu::queue::pm4
