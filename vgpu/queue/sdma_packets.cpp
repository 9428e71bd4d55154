#include "vgpu/queue/sdma_packets.h"

#include <fmt/format.h>

namespace halyard::vgpu::queue::sdma {

namespace {

constexpr uint32_t kAll = ~uint32_t{0};
constexpr uint32_t kName = 0xffff;  // operation and sub-operation
constexpr uint32_t kXy = 0x3fff3fff;
constexpr uint32_t kZAndPitch = 0x7ff | 0x7ffffu << 13;
constexpr uint32_t kSlice = 0x0fffffff;
constexpr uint32_t kWriteCount = 0xfffff;

// Bits for swapping bytes and for encrypted memory are fields of hardware's that are not
// implemented.
constexpr Packet kPackets[] = {
    {"NOP", kNop, 0, 0, 1, 0, {kName | 0x3fffu << 16}},
    {"COPY_BROADCAST_LINEAR",
     kCopy,
     kCopyLinear,
     kBroadcast,
     9,
     1,
     {kName | kBroadcast, 0, 0, kAll, kAll, kAll, kAll, kAll, kAll}},
    {"COPY_LINEAR", kCopy, kCopyLinear, 0, 7, 1, {kName, 0, 0, kAll, kAll, kAll, kAll}},
    {"COPY_LINEAR_RECT",
     kCopy,
     kCopyLinearRectangle,
     0,
     13,
     0,
     {kName | 7u << 29, kAll, kAll, kXy, kZAndPitch, kSlice, kAll, kAll, kXy, kZAndPitch, kSlice,
      kXy, 0x7ff}},
    {"WRITE_LINEAR", kWrite, 0, 0, 4, 0, {kName, kAll, kAll, kWriteCount}},
    // Which VMID it names does not matter to a program's queue.
    {"INDIRECT", kIndirect, 0, 0, 6, 0, {kName | 0xfu << 16, ~31u, kAll, 0xfffff, kAll, kAll}},
    {"FENCE", kFence, 0, 0, 4, 0, {kName, kAll, kAll, kAll}},
    {"TRAP", kTrap, 0, 0, 2, 0, {kName, 0x0fffffff}},
    {"POLL_REGMEM",
     kPollRegMem,
     0,
     0,
     6,
     0,
     {kName | 1u << 26 | 7u << 28 | 1u << 31, kAll, kAll, kAll, kAll, 0x0fffffff}},
    {"COND_EXE", kCondExe, 0, 0, 5, 0, {kName, kAll, kAll, kAll, 0x3fff}},
    {"ATOMIC",
     kAtomic,
     0,
     0,
     8,
     0,
     {kName | kLoop | 0x7fu << 25, kAll, kAll, kAll, kAll, kAll, kAll, 0x1fff}},
    {"CONST_FILL", kConstFill, 0, 0, 5, 4, {kName | 3u << 30, kAll, kAll, kAll, 0}},
    {"TIMESTAMP", kTimestamp, kTimestampGetGlobal, 0, 3, 0, {kName, kAll, kAll}},
};

// What gfx9 has besides: packets of the kernel's, of graphics, or of encrypted memory.
struct OtherPacket {
  uint32_t operation;
  uint32_t sub_operation;
  const char* name;
};
constexpr OtherPacket kOtherPackets[] = {
    {kCopy, 1, "COPY_TILED"},
    {kCopy, 3, "COPY_SOA"},
    {kCopy, 5, "COPY_TILED_SUB_WIND"},
    {kCopy, 6, "COPY_T2T_SUB_WIND"},
    {kCopy, 7, "COPY_DIRTY_PAGE"},
    {kCopy, 8, "COPY_LINEAR_PHY"},
    {kWrite, 1, "WRITE_TILED"},
    {7, 0, "SEM"},
    {kPollRegMem, 1, "POLL_REG_WRITE_MEM"},
    {kPollRegMem, 2, "POLL_DBIT_WRITE_MEM"},
    {kPollRegMem, 3, "POLL_MEM_VERIFY"},
    {kConstFill, 1, "DATA_FILL_MULTI"},
    {12, 0, "PTEPDE_GEN"},
    {12, 1, "PTEPDE_COPY"},
    {12, 2, "PTEPDE_RMW"},
    {12, 3, "PTEPDE_COPY_BACKWARDS"},
    {kTimestamp, 0, "TIMESTAMP_SET"},
    {kTimestamp, 1, "TIMESTAMP_GET"},
    {14, 0, "SRBM_WRITE"},
    {15, 0, "PRE_EXE"},
    {16, 0, "DUMMY_TRAP"},
};

template <class Entry>
bool has_name(const Entry& entry, uint32_t header) {
  return entry.operation == (header & 0xff) && entry.sub_operation == ((header >> 8) & 0xff);
}

}  // namespace

const Packet* find_packet(uint32_t header) {
  for (const Packet& packet : kPackets) {
    if (has_name(packet, header) && (header & packet.variant) == packet.variant) return &packet;
  }
  return nullptr;
}

const char* name_of(uint32_t header) {
  for (const OtherPacket& packet : kOtherPackets) {
    if (has_name(packet, header)) return packet.name;
  }
  return nullptr;
}

uint32_t trailing_words(const Packet& packet, const uint32_t* words) {
  if (packet.operation == kNop) return (words[0] >> 16) & 0x3fff;
  return packet.operation == kWrite ? (words[3] & kWriteCount) + 1 : 0;
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
