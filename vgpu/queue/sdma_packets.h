// The packets that an SDMA queue of gfx9 takes: their lengths and fields.
//
// Sources: ROCR's sdma_registers.h for the layouts, Linux's vega10_sdma_pkt_open.h for what gfx9
// has beside them, and its sdma_v4_0.c for the counts: 22 bits, and 30 from SDMA 4.4 (gfx90a) on.
#pragma once

#include <cstdint>
#include <string>

namespace halyard::vgpu::queue::sdma {

// Packet headers: operation in bits 0–7, sub-operation in 8–15.
enum Operation : uint32_t {
  kNop = 0,
  kCopy = 1,
  kWrite = 2,
  kIndirect = 4,
  kFence = 5,
  kTrap = 6,
  kPollRegMem = 8,
  kCondExe = 9,
  kAtomic = 10,
  kConstFill = 11,
  kTimestamp = 13,
};
inline constexpr uint32_t kCopyLinear = 0;
inline constexpr uint32_t kCopyLinearRectangle = 4;
inline constexpr uint32_t kTimestampGetGlobal = 2;
// Of a linear copy: to two places.
inline constexpr uint32_t kBroadcast = uint32_t{1} << 27;
// Of an atomic operation: again and again, until the comparison holds.
inline constexpr uint32_t kLoop = uint32_t{1} << 16;

inline constexpr uint32_t kMaximumWords = 13;

struct Packet {
  const char* name;
  uint32_t operation;
  uint32_t sub_operation;
  uint32_t variant;     // bits of the header that make it this packet
  uint32_t words;       // what follows a NOP's or WRITE's header comes on top
  uint32_t count_word;  // the dword that is a count of bytes, or 0
  // The bits of each dword that hold a field which is implemented. A count's are left out.
  uint32_t fields[kMaximumWords];
};

// Null if no packet that is implemented has this header's operation and sub-operation.
const Packet* find_packet(uint32_t header);

// What SDMA calls a packet that find_packet() does not find; null if gfx9 has none.
const char* name_of(uint32_t header);

// Dwords behind the packet's own: a NOP's padding, the data that a WRITE has. `words` has the
// packet's own.
uint32_t trailing_words(const Packet& packet, const uint32_t* words);

// A sentence fragment about the first dword that has bits set outside of its fields, or nothing.
// Hardware ignores reserved bits, so a length that does not fit would be cut without a word.
std::string wrong_field(const Packet& packet, const uint32_t* words, uint32_t count_bits);

}  // namespace halyard::vgpu::queue::sdma
