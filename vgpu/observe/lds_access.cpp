#include "vgpu/observe/lds_access.h"

#include <algorithm>
#include <bit>

#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::observe {
namespace {

using isa::Access;
using isa::AtomicOp;
using isa::for_each_lane;
using isa::Format;
using isa::Instruction;
using isa::Row;
using isa::Wave;
using Visit = std::function<void(const LdsAccess&)>;

LdsUse use_of(const Row& row) {
  if (row.memory.access == Access::kAtomic) return LdsUse::kAtomic;
  return row.memory.access == Access::kLoad ? LdsUse::kRead : LdsUse::kWrite;
}

// Vega ISA 12.13, the DS instructions. Address registers hold byte offsets.
void visit_ds(const Wave& wave, const Instruction& i, const Visit& visit) {
  const Row& row = isa::row_of(i.op);
  const isa::Memory& memory = row.memory;
  if (i.gds || memory.access == Access::kNone || row.has(isa::kPermutes)) return;
  const auto offset = static_cast<uint32_t>(i.offset);
  const LdsUse use = use_of(row);
  if (row.has(isa::kByLane)) {
    const uint32_t base = (wave.m0() & 0xffff) + offset;
    for_each_lane(wave.exec(), [&](unsigned l) { visit({use, l, base + l * 4, memory.bytes}); });
    return;
  }
  if (memory.atomic == AtomicOp::kAppend || memory.atomic == AtomicOp::kConsume) {
    if (wave.exec() == 0) return;
    const auto lane = static_cast<unsigned>(std::countr_zero(wave.exec()));
    visit({use, lane, ((wave.m0() >> 16) + offset) & ~3u, memory.bytes});
    return;
  }
  if (i.src[0].kind != isa::OperandKind::kVector) return;
  const uint32_t* const address = wave.vgpr[i.src[0].index].lane;
  const unsigned bytes = memory.bytes;
  if (memory.count == 2 && memory.atomic != AtomicOp::kCondxchg) {
    const unsigned unit = bytes * memory.unit;
    for_each_lane(wave.exec(), [&](unsigned l) {
      visit({use, l, address[l] + (offset & 0xff) * unit, bytes});
      visit({use, l, address[l] + (offset >> 8 & 0xff) * unit, bytes});
    });
    return;
  }
  const unsigned whole = bytes * memory.count;
  for_each_lane(wave.exec(), [&](unsigned l) {
    const uint64_t at = address[l] + offset;  // in 32 bits
    // Atomics ignore the low bits of their address and align to their size (Vega ISA 11.3).
    visit({use, l, use == LdsUse::kAtomic ? at & ~uint64_t{whole - 1} : at, whole});
  });
}

// Flat addresses in the shared aperture (Vega ISA, chapter 10).
void visit_flat(const Wave& wave, const Instruction& i, const Visit& visit) {
  const auto aperture = static_cast<uint32_t>(wave.apertures[0] >> 32);
  if (i.segment != 0 || aperture == 0 || i.src[0].kind != isa::OperandKind::kVector) return;
  const Row& row = isa::row_of(i.op);
  const LdsUse use = use_of(row);
  const unsigned bytes = row.memory.bytes;
  const uint32_t* const low = wave.vgpr[i.src[0].index].lane;
  const uint32_t* const high = wave.vgpr[i.src[0].index + 1].lane;
  for_each_lane(wave.exec(), [&](unsigned l) {
    const uint64_t address =
        (uint64_t{high[l]} << 32 | low[l]) + static_cast<uint64_t>(static_cast<int64_t>(i.offset));
    if (address >> 32 == aperture) visit({use, l, address & 0xffffffff, bytes});
  });
}

// M0 + offset, and from there whole dwords: one for each lane, or, of wider loads, 16 bytes from
// one lane to the next (Vega ISA 8.1.9, CDNA 4 ISA 9.1.9).
void visit_load_to_lds(const Wave& wave, const Instruction& i, const Visit& visit) {
  const isa::Target& target = *wave.target;
  const uint32_t m0 =
      wave.m0() & (i.format == Format::kFlat ? target.flat_lds_m0 : target.buffer_lds_m0);
  const uint32_t base = m0 + static_cast<uint32_t>(i.offset);
  const unsigned bytes = std::max<unsigned>(4, isa::row_of(i.op).memory.bytes);
  const uint32_t step = bytes == 4 ? 4 : 16;
  for_each_lane(wave.exec(),
                [&](unsigned l) { visit({LdsUse::kWrite, l, base + l * step, bytes}); });
}

// src_lds_direct: one place for all lanes, M0[15:0], of the type M0[18:16] (Vega ISA 11.3.1).
// v_readlane_b32 and v_readfirstlane_b32 heed no EXEC.
void visit_lds_direct(const Wave& wave, const Instruction& i, const Visit& visit) {
  constexpr unsigned kBytes[] = {1, 2, 4, 4, 1, 2, 4, 4};
  const uint64_t exec = wave.exec();
  if (exec == 0 && !isa::row_of(i.op).has(isa::kScalarResult)) return;
  const unsigned bytes = kBytes[wave.m0() >> 16 & 7];
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
  visit({LdsUse::kRead, lane, (wave.m0() & 0xffff) & ~(bytes - 1), bytes});
}

}  // namespace

const char* verb(LdsUse use) {
  switch (use) {
    case LdsUse::kRead:
      return "reads";
    case LdsUse::kWrite:
      return "writes";
    case LdsUse::kAtomic:
      return "updates";
  }
  return "uses";
}

bool loads_to_lds(const Instruction& instruction) {
  return instruction.lds || isa::row_of(instruction.op).has(isa::kToLds);
}

void for_each_lds_access(const Wave& wave, const Instruction& instruction, const Visit& visit) {
  if (instruction.format == Format::kDs) {
    visit_ds(wave, instruction, visit);
  } else if (loads_to_lds(instruction)) {
    visit_load_to_lds(wave, instruction, visit);
  } else if (instruction.format == Format::kFlat) {
    visit_flat(wave, instruction, visit);
  } else if (instruction.src[0].kind == isa::OperandKind::kLdsDirect) {
    visit_lds_direct(wave, instruction, visit);
  }
}

}  // namespace halyard::vgpu::observe
