#include "vgpu/queue/sdma_packets.h"

#include <fmt/format.h>

namespace halyard::vgpu::queue::sdma {

namespace {

constexpr uint32_t kAll = ~uint32_t{0};
constexpr uint32_t kName = 0xffff;  // operation and sub-operation
constexpr uint32_t kXy = 0x3fff3fff;
constexpr uint32_t kZAndPitch = 0x7ff | 0x7ffffu << 13;
constexpr uint32_t kSlice = 0x0fffffff;

// Bits for swapping bytes, for encrypted memory and for broadcasting are fields of hardware's that
// are not implemented.
constexpr Packet kPackets[] = {
    {"NOP", kNop, 0, 1, 0, {kName | 0x3fffu << 16}},
    {"COPY_LINEAR", kCopy, kCopyLinear, 7, 1, {kName, 0, 0, kAll, kAll, kAll, kAll}},
    {"COPY_LINEAR_RECT",
     kCopy,
     kCopyLinearRectangle,
     13,
     0,
     {kName | 7u << 29, kAll, kAll, kXy, kZAndPitch, kSlice, kAll, kAll, kXy, kZAndPitch, kSlice,
      kXy, 0x7ff}},
    {"FENCE", kFence, 0, 4, 0, {kName, kAll, kAll, kAll}},
    {"TRAP", kTrap, 0, 2, 0, {kName, 0x0fffffff}},
    {"POLL_REGMEM",
     kPollRegMem,
     0,
     6,
     0,
     {kName | 1u << 26 | 7u << 28 | 1u << 31, kAll, kAll, kAll, kAll, 0x0fffffff}},
    {"ATOMIC", kAtomic, 0, 8, 0, {kName | 0x7fu << 25, kAll, kAll, kAll, kAll, kAll, kAll, 0x1fff}},
    {"CONST_FILL", kConstFill, 0, 5, 4, {kName | 3u << 30, kAll, kAll, kAll, 0}},
    {"TIMESTAMP", kTimestamp, kTimestampGetGlobal, 3, 0, {kName, kAll, kAll}},
};

}  // namespace

const Packet* find_packet(uint32_t header) {
  for (const Packet& packet : kPackets) {
    if (packet.operation == (header & 0xff) && packet.sub_operation == ((header >> 8) & 0xff))
      return &packet;
  }
  return nullptr;
}

uint32_t length(const Packet& packet, uint32_t header) {
  return packet.words + (packet.operation == kNop ? (header >> 16) & 0x3fff : 0);
}

std::string wrong_field(const Packet& packet, const uint32_t* words, uint32_t count_bits) {
  for (uint32_t i = 0; i < packet.words; ++i) {
    const bool is_count = packet.count_word != 0 && i == packet.count_word;
    const uint32_t fields = is_count ? (uint32_t{1} << count_bits) - 1 : packet.fields[i];
    const uint32_t others = words[i] & ~fields;
    if (others == 0) continue;
    if (is_count) {
      return fmt::format("{}'s count ({:#x}, for {} bytes) has more than the {} bits of this GPU's",
                         packet.name, words[i], uint64_t{words[i]} + 1, count_bits);
    }
    return fmt::format(
        "{}'s dword {} ({:#x}) has bits set ({:#x}) that are reserved or not "
        "implemented; its fields are {:#x}",
        packet.name, i, words[i], others, fields);
  }
  return {};
}

}  // namespace halyard::vgpu::queue::sdma
