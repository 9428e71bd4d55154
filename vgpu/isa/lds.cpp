// DS: the local data share and the cross-lane permutes (Vega ISA, chapter 11 and 12.13).
//
// One thread runs a work-group, so LDS operations are plain. An access that is not wholly inside
// the work-group's LDS reads zero and writes nothing. Base and offset add up in 32 bits: LLVM gives
// an offset to a base that may be negative (AMDGPUISelDAGToDAG, isDSOffsetLegal).

#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/tables.h"

namespace halyard::vgpu::isa {
namespace {

uint8_t* lds_at(const Wave& w, uint64_t offset, unsigned bytes) {
  return offset + bytes <= w.lds_size ? w.lds + offset : nullptr;
}

const uint32_t* lanes_of(Wave& w, const Operand& operand) {
  return vector_registers(w, operand)->lane;
}

// The global data share. The kernel driver gives compute processes none of it (Linux, amdgpu's
// gfx_v9_0_init_gds_vmid; amdkfd never requests any), and an address out of range is a memory
// violation (Vega ISA 3.11).
[[gnu::cold]] Outcome no_gds(Wave& w, const Instruction& i) {
  if (w.exec() == 0) return Outcome::kNext;
  w.fault.kind = Fault::Kind::kAperture;
  w.fault.lane = std::countr_zero(w.exec());
  w.fault.message = std::string(name_of(i)) +
                    " accesses the global data share (GDS), of which the kernel driver gives a "
                    "compute process 0 bytes; use LDS or global memory";
  return Outcome::kFault;
}

// Whether `bytes` bytes at every lane's address lie in the work-group's LDS.
bool all_inside(const Wave& w, uint64_t mask, const uint32_t* address, uint64_t bytes) {
  uint32_t highest = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const uint32_t at = (mask >> l & 1) != 0 ? address[l] : 0;
    highest = at > highest ? at : highest;
  }
  return highest + bytes <= w.lds_size;
}

// Loads and stores of one address, as lane operations.
template <class Op>
Outcome ds_access(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const uint32_t* const address = lanes_of(w, i.src[0]);
  VectorRegister* const dst = vector_registers(w, i.dst);
  const VectorRegister* const data = vector_registers(w, i.src[1]);
  const auto offset = static_cast<uint32_t>(i.offset);
  const uint64_t mask = w.exec();
  if (mask == kAllLanes) {
    // Lanes side by side, or all at one place: one copy.
    uint32_t apart = 0, differ = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      apart |= address[l] ^ (address[0] + l * Op::kBytes);
      differ |= address[l] ^ address[0];
    }
    uint8_t* const all = lds_at(w, address[0] + offset, Op::kBytes * kLanes);
    if (apart == 0 && all) {
      Op::whole(dst, data, all);
      return Outcome::kNext;
    }
    if constexpr (Op::kLoads && Op::kRows) {
      uint8_t* const one = lds_at(w, address[0] + offset, Op::kBytes);
      if (differ == 0 && one) {
        broadcast<Op>(dst, one);
        return Outcome::kNext;
      }
    }
  }
  if constexpr (Op::kLoads && Op::kRows) {
    if (all_inside(w, mask, address, uint64_t{offset} + Op::kBytes)) {
      load_scattered<Op::kBytes / 4>(dst, mask, w.lds + offset, address);
      return Outcome::kNext;
    }
  }
  for_each_lane(mask, [&](unsigned l) {
    alignas(16) uint8_t outside[16] = {};
    uint8_t* const p = lds_at(w, address[l] + offset, Op::kBytes);
    if (p || !Op::kWrites) Op::lane(dst, data, l, p ? p : outside, kLinear);
  });
  return Outcome::kNext;
}

// Two addresses: the base plus offset0 and offset1, each times `kUnit`.
template <unsigned kDwords, unsigned kUnit>
Outcome ds_read2(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  // The address register may be among the results.
  const VectorRegister address = *vector_registers(w, i.src[0]);
  VectorRegister* const dst = vector_registers(w, i.dst);
  const unsigned offsets[2] = {(i.offset & 0xff) * kUnit, (i.offset >> 8 & 0xff) * kUnit};
  if (all_inside(w, w.exec(), address.lane, std::max(offsets[0], offsets[1]) + kDwords * 4)) {
    for (unsigned half = 0; half < 2; ++half)
      load_scattered<kDwords>(dst + half * kDwords, w.exec(), w.lds + offsets[half], address.lane);
    return Outcome::kNext;
  }
  for_each_lane(w.exec(), [&](unsigned l) {
    for (unsigned half = 0; half < 2; ++half) {
      uint32_t values[kDwords] = {};
      const uint8_t* const p = lds_at(w, address.lane[l] + offsets[half], kDwords * 4);
      if (p) std::memcpy(values, p, sizeof values);
      for (unsigned k = 0; k < kDwords; ++k) dst[half * kDwords + k].lane[l] = values[k];
    }
  });
  return Outcome::kNext;
}

template <unsigned kDwords, unsigned kUnit>
Outcome ds_write2(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const uint32_t* const address = lanes_of(w, i.src[0]);
  const unsigned offsets[2] = {(i.offset & 0xff) * kUnit, (i.offset >> 8 & 0xff) * kUnit};
  const VectorRegister* const data[2] = {vector_registers(w, i.src[1]),
                                         vector_registers(w, i.src[2])};
  for_each_lane(w.exec(), [&](unsigned l) {
    for (unsigned half = 0; half < 2; ++half) {
      uint8_t* const p = lds_at(w, address[l] + offsets[half], kDwords * 4);
      for (unsigned k = 0; p && k < kDwords; ++k) std::memcpy(p + 4 * k, &data[half][k].lane[l], 4);
    }
  });
  return Outcome::kNext;
}

// Both exchanges of a lane happen before the next lane's.
template <class T, unsigned kUnit>
Outcome ds_wrxchg2(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const VectorRegister address = *vector_registers(w, i.src[0]);
  const unsigned offsets[2] = {(i.offset & 0xff) * kUnit, (i.offset >> 8 & 0xff) * kUnit};
  const VectorRegister* const data[2] = {vector_registers(w, i.src[1]),
                                         vector_registers(w, i.src[2])};
  VectorRegister* const dst = vector_registers(w, i.dst);
  for_each_lane(w.exec(), [&](unsigned l) {
    // Both data operands are read before a result is written: the registers may overlap.
    const T values[2] = {get_lane<T>(data[0], 0, l), get_lane<T>(data[1], 0, l)};
    for (unsigned half = 0; half < 2; ++half) {
      T old = 0;
      uint8_t* const p = lds_at(w, address.lane[l] + offsets[half], sizeof(T));
      if (p) old = atomic::local<atomic::Swap, T>(p, values[half], 0);
      put_lane<T>(dst + half * (sizeof(T) / 4), l, old);
    }
  });
  return Outcome::kNext;
}

// ds_mskor: DATA0 is the mask, DATA1 the bits. ds_wrap: DATA0 is the subtrahend, DATA1 the addend.
// ds_cmpst: DATA0 is the comparison, DATA1 the new value. Here: f(old, DATA0, DATA1).
struct Mskor {
  template <class T>
  static T f(T old, T mask, T bits) {
    return (old & ~mask) | bits;
  }
};
struct Wrap {
  template <class T>
  static T f(T old, T low, T high) {
    return old >= low ? old - low : old + high;
  }
};
template <class F>
struct Compared {
  template <class T>
  static T f(T old, T compare, T data) {
    return F::template f<T>(old, data, compare);
  }
};
using Cmpst = Compared<atomic::Cmpswap>;
using CmpstFloat = Compared<atomic::Fcmpswap>;

// kReturns: the _rtn form. kSecond: DATA1 takes part.
template <class F, class T, bool kReturns, bool kSecond>
Outcome ds_atomic(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const uint32_t* const address = lanes_of(w, i.src[0]);
  const VectorRegister* const data0 = vector_registers(w, i.src[1]);
  const VectorRegister* const data1 = vector_registers(w, i.src[2]);
  VectorRegister* const dst = kReturns ? vector_registers(w, i.dst) : nullptr;
  const auto offset = static_cast<uint32_t>(i.offset);
  for_each_lane(w.exec(), [&](unsigned l) {
    // Aligned to its size; the low bits are ignored (Vega ISA 11.3).
    const uint64_t at = (address[l] + offset) & ~uint64_t{sizeof(T) - 1};
    uint8_t* const p = lds_at(w, at, sizeof(T));
    T old = 0;
    if (p) {
      const T first = get_lane<T>(data0, 0, l);
      T second = 0;
      if constexpr (kSecond) second = get_lane<T>(data1, 0, l);
      old = atomic::local<F, T>(p, first, second);
    }
    if constexpr (kReturns) put_lane<T>(dst, l, old);
  });
  return Outcome::kNext;
}

// Adding heeds MODE's denormal field but not its rounding (LLVM's SIISelLowering on LDS atomics,
// https://reviews.llvm.org/D87864).
template <class T, bool kReturns>
Outcome ds_add_float(Wave& w, const Instruction& i) {
  const unsigned denormals = sizeof(T) == 8 ? w.mode.denorm_f16_f64 : w.mode.denorm_f32;
  switch (denormals) {
    case 0:
      return ds_atomic<atomic::FaddFlushing<0>, T, kReturns, false>(w, i);
    case 1:
      return ds_atomic<atomic::FaddFlushing<1>, T, kReturns, false>(w, i);
    case 2:
      return ds_atomic<atomic::FaddFlushing<2>, T, kReturns, false>(w, i);
    default:
      return ds_atomic<atomic::Fadd, T, kReturns, false>(w, i);
  }
}

// Two f16 or bf16. The document says that MODE counts here, and has one field for all floats that
// are not f32 (CDNA 4 ISA 9.2; docs/virtual-gpu.md, "Open readings").
template <class Half, bool kReturns>
Outcome ds_pk_add(Wave& w, const Instruction& i) {
  switch (w.mode.denorm_f16_f64) {
    case 0:
      return ds_atomic<atomic::PkFadd<Half, 0>, uint32_t, kReturns, false>(w, i);
    case 1:
      return ds_atomic<atomic::PkFadd<Half, 1>, uint32_t, kReturns, false>(w, i);
    case 2:
      return ds_atomic<atomic::PkFadd<Half, 2>, uint32_t, kReturns, false>(w, i);
    default:
      return ds_atomic<atomic::PkFadd<Half, 3>, uint32_t, kReturns, false>(w, i);
  }
}

// Loads that transpose: what the 16 lanes of a row read, one behind the other, are the rows of a
// matrix with 16 columns, and each lane gets a column (CDNA 4 ISA 11.4). An element has kBits bits.
// EXEC must be all ones; the elements of inactive lanes are zeros here.
template <unsigned kDwords, unsigned kBits>
Outcome ds_read_transposed(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  constexpr unsigned kRow = 16, kElements = kDwords * 32 / kBits;  // of a lane
  constexpr unsigned kLanesOfRow = kRow / kElements;
  uint16_t elements[kLanes][kElements] = {};
  const uint32_t* const address = lanes_of(w, i.src[0]);
  for_each_lane(w.exec(), [&](unsigned l) {
    uint32_t read[kDwords + 1] = {};
    const uint8_t* const p = lds_at(w, address[l] + static_cast<uint32_t>(i.offset), kDwords * 4);
    if (p != nullptr) std::memcpy(read, p, kDwords * 4);
    for (unsigned e = 0; e < kElements; ++e) {
      const unsigned bit = e * kBits;
      const uint64_t both = read[bit / 32] | uint64_t{read[bit / 32 + 1]} << 32;
      const auto element = static_cast<uint32_t>(both >> bit % 32) & ((1u << kBits) - 1);
      elements[l][e] = static_cast<uint16_t>(element);
    }
  });
  VectorRegister* const dst = vector_registers(w, i.dst);
  for_each_lane(w.exec(), [&](unsigned l) {
    const unsigned first = l & ~(kRow - 1), column = l % kRow;
    uint64_t gathered[kDwords] = {};
    for (unsigned row = 0; row < kElements; ++row) {
      const unsigned from = first + kLanesOfRow * row + column / kElements;
      const uint64_t element = elements[from][column % kElements];
      const unsigned bit = row * kBits;
      gathered[bit / 32] |= element << bit % 32;
      if (bit % 32 + kBits > 32) gathered[bit / 32 + 1] |= element >> (32 - bit % 32);
    }
    for (unsigned k = 0; k < kDwords; ++k) dst[k].lane[l] = static_cast<uint32_t>(gathered[k]);
  });
  return Outcome::kNext;
}

// Conditionally exchanges two dwords: each is written, without its top bit, if the data's top bit
// is set.
Outcome ds_condxchg32_rtn_b64(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const uint32_t* const address = lanes_of(w, i.src[0]);
  const VectorRegister* const data = vector_registers(w, i.src[1]);
  VectorRegister* const dst = vector_registers(w, i.dst);
  for_each_lane(w.exec(), [&](unsigned l) {
    const uint32_t base = (address[l] + static_cast<uint32_t>(i.offset)) & 0xfff8;
    const uint32_t values[2] = {data[0].lane[l], data[1].lane[l]};
    for (unsigned k = 0; k < 2; ++k) {
      uint32_t old = 0;
      if (uint8_t* const p = lds_at(w, base + 4 * k, 4)) {
        std::memcpy(&old, p, 4);
        const uint32_t value = values[k] & 0x7fffffff;
        if (values[k] >> 31) std::memcpy(p, &value, 4);
      }
      dst[k].lane[l] = old;
    }
  });
  return Outcome::kNext;
}

// One counter for the wave, at M0[31:16] + offset (LDS): all lanes get its old value.
template <bool kAppend>
Outcome ds_count(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const uint32_t offset = (w.m0() >> 16) + static_cast<uint32_t>(i.offset);
  const auto count = static_cast<uint32_t>(std::popcount(w.exec()));
  uint32_t old = 0;
  if (uint8_t* const p = lds_at(w, offset & ~3u, 4)) {
    old =
        atomic::local<std::conditional_t<kAppend, atomic::Add, atomic::Sub>, uint32_t>(p, count, 0);
  }
  uint32_t* const dst = vector_registers(w, i.dst)->lane;
  for_each_lane(w.exec(), [&](unsigned l) { dst[l] = old; });
  return Outcome::kNext;
}

// Addressed by lane: M0[15:0] + offset + lane * 4.
Outcome ds_read_addtid_b32(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const uint32_t base = (w.m0() & 0xffff) + static_cast<uint32_t>(i.offset);
  uint32_t* const dst = vector_registers(w, i.dst)->lane;
  for_each_lane(w.exec(), [&](unsigned l) {
    dst[l] = 0;
    if (const uint8_t* const p = lds_at(w, base + l * 4, 4)) std::memcpy(&dst[l], p, 4);
  });
  return Outcome::kNext;
}

Outcome ds_write_addtid_b32(Wave& w, const Instruction& i) {
  if (i.gds) [[unlikely]]
    return no_gds(w, i);
  const uint32_t base = (w.m0() & 0xffff) + static_cast<uint32_t>(i.offset);
  const uint32_t* const data = lanes_of(w, i.src[1]);
  for_each_lane(w.exec(), [&](unsigned l) {
    if (uint8_t* const p = lds_at(w, base + l * 4, 4)) std::memcpy(p, &data[l], 4);
  });
  return Outcome::kNext;
}

// --- Cross-lane moves. They use LDS's crossbar and not its memory.

// Where lane `l` reads from, by the 16-bit offset's pattern (Vega ISA 12.13, DS_SWIZZLE_B32).
unsigned swizzle_source(unsigned offset, unsigned l) {
  if (offset >= 0xe000) {  // FFT: the bits of the lane that the mask leaves, reversed
    const unsigned mask = offset & 0x1f, free = l & 0x1f & ~mask;
    unsigned reversed = 0;
    for (unsigned b = 0; b < 5; ++b) reversed |= ((free >> b) & 1) << (4 - b);
    return (l & 0x20) | (l & mask) | reversed >> std::popcount(mask);
  }
  if (offset >= 0xc000) {  // rotate within 32 lanes
    const unsigned keep = offset & 0x1f;
    const unsigned amount = (offset >> 5) & 0x1f;
    const unsigned turned = offset & 0x400 ? l + 32 - amount : l + amount;
    return (l & 0x20) | (l & keep) | (turned & 0x1f & ~keep);
  }
  if (offset & 0x8000) {  // any permutation of four lanes
    return (l & ~3u) | (offset >> (2 * (l & 3)) & 3);
  }
  const unsigned keep = offset & 0x1f, set = offset >> 5 & 0x1f, flip = offset >> 10 & 0x1f;
  return (l & 0x20) | ((((l & 0x1f) & keep) | set) ^ flip);
}

// A source lane that is not active reads as 0.
Outcome ds_swizzle_b32(Wave& w, const Instruction& i) {
  const VectorRegister source = *vector_registers(w, i.src[0]);
  const uint64_t exec = w.exec();
  uint32_t* const dst = vector_registers(w, i.dst)->lane;
  for_each_lane(exec, [&](unsigned l) {
    const unsigned from = swizzle_source(static_cast<unsigned>(i.offset), l);
    dst[l] = exec >> from & 1 ? source.lane[from] : 0;
  });
  return Outcome::kNext;
}

// Sends: the highest lane that names a destination wins.
Outcome ds_permute_b32(Wave& w, const Instruction& i) {
  const uint32_t* const address = lanes_of(w, i.src[0]);
  const uint32_t* const data = lanes_of(w, i.src[1]);
  VectorRegister result = {};
  for_each_lane(w.exec(), [&](unsigned l) {
    result.lane[(address[l] + static_cast<uint32_t>(i.offset)) / 4 % kLanes] = data[l];
  });
  uint32_t* const dst = vector_registers(w, i.dst)->lane;
  for_each_lane(w.exec(), [&](unsigned l) { dst[l] = result.lane[l]; });
  return Outcome::kNext;
}

// Fetches; from an inactive lane: 0.
Outcome ds_bpermute_b32(Wave& w, const Instruction& i) {
  const uint32_t* const address = lanes_of(w, i.src[0]);
  const VectorRegister data = *vector_registers(w, i.src[1]);
  const uint64_t exec = w.exec();
  uint32_t* const dst = vector_registers(w, i.dst)->lane;
  for_each_lane(exec, [&](unsigned l) {
    const unsigned from = (address[l] + static_cast<uint32_t>(i.offset)) / 4 % kLanes;
    dst[l] = exec >> from & 1 ? data.lane[from] : 0;
  });
  return Outcome::kNext;
}

Outcome ds_nop(Wave&, const Instruction&) {
  return Outcome::kNext;
}

#define HALYARD_DS(name32, name64, F)                        \
  op(Op::ds_##name32, ds_atomic<F, uint32_t, false, false>), \
      op(Op::ds_##name64, ds_atomic<F, uint64_t, false, false>)
#define HALYARD_DS_RTN(name32, name64, F)                   \
  op(Op::ds_##name32, ds_atomic<F, uint32_t, true, false>), \
      op(Op::ds_##name64, ds_atomic<F, uint64_t, true, false>)
#define HALYARD_DS_BOTH(name, type, F)                 \
  HALYARD_DS(name##_##type##32, name##_##type##64, F), \
      HALYARD_DS_RTN(name##_rtn_##type##32, name##_rtn_##type##64, F)
#define HALYARD_DS_TWO(name, type, F)                                         \
  op(Op::ds_##name##_##type##32, ds_atomic<F, uint32_t, false, true>),        \
      op(Op::ds_##name##_##type##64, ds_atomic<F, uint64_t, false, true>),    \
      op(Op::ds_##name##_rtn_##type##32, ds_atomic<F, uint32_t, true, true>), \
      op(Op::ds_##name##_rtn_##type##64, ds_atomic<F, uint64_t, true, true>)

#define HALYARD_DS_D16(name, M, half)               \
  op(Op::name, ds_access<LoadSmall<M, Part::half>>) \
      .or_clearing(ds_access<LoadSmall<M, Part::half##Clearing>>)

constexpr Opcode kOpcodes[] = {
    HALYARD_DS_BOTH(add, u, atomic::Add),
    HALYARD_DS_BOTH(sub, u, atomic::Sub),
    HALYARD_DS_BOTH(rsub, u, atomic::Rsub),
    HALYARD_DS_BOTH(inc, u, atomic::Inc),
    HALYARD_DS_BOTH(dec, u, atomic::Dec),
    HALYARD_DS_BOTH(min, i, atomic::Smin),
    HALYARD_DS_BOTH(max, i, atomic::Smax),
    HALYARD_DS_BOTH(min, u, atomic::Umin),
    HALYARD_DS_BOTH(max, u, atomic::Umax),
    HALYARD_DS_BOTH(and, b, atomic::And),
    HALYARD_DS_BOTH(or, b, atomic::Or),
    HALYARD_DS_BOTH(xor, b, atomic::Xor),
    HALYARD_DS_BOTH(min, f, atomic::Fmin),
    HALYARD_DS_BOTH(max, f, atomic::Fmax),
    op(Op::ds_add_f32, ds_add_float<uint32_t, false>),
    op(Op::ds_add_f64, ds_add_float<uint64_t, false>),
    op(Op::ds_add_rtn_f32, ds_add_float<uint32_t, true>),
    op(Op::ds_add_rtn_f64, ds_add_float<uint64_t, true>),
    HALYARD_DS_RTN(wrxchg_rtn_b32, wrxchg_rtn_b64, atomic::Swap),
    HALYARD_DS_TWO(mskor, b, Mskor),
    HALYARD_DS_TWO(cmpst, b, Cmpst),
    HALYARD_DS_TWO(cmpst, f, CmpstFloat),
    op(Op::ds_wrap_rtn_b32, ds_atomic<Wrap, uint32_t, true, true>),
    op(Op::ds_condxchg32_rtn_b64, ds_condxchg32_rtn_b64),
    op(Op::ds_wrxchg2_rtn_b32, ds_wrxchg2<uint32_t, 4>),
    op(Op::ds_wrxchg2_rtn_b64, ds_wrxchg2<uint64_t, 8>),
    op(Op::ds_wrxchg2st64_rtn_b32, ds_wrxchg2<uint32_t, 256>),
    op(Op::ds_wrxchg2st64_rtn_b64, ds_wrxchg2<uint64_t, 512>),

    op(Op::ds_read_u8, ds_access<LoadSmall<uint8_t, Part::kFull>>),
    op(Op::ds_read_i8, ds_access<LoadSmall<int8_t, Part::kFull>>),
    op(Op::ds_read_u16, ds_access<LoadSmall<uint16_t, Part::kFull>>),
    op(Op::ds_read_i16, ds_access<LoadSmall<int16_t, Part::kFull>>),
    HALYARD_DS_D16(ds_read_u8_d16, uint8_t, kLow),
    HALYARD_DS_D16(ds_read_u8_d16_hi, uint8_t, kHigh),
    HALYARD_DS_D16(ds_read_i8_d16, int8_t, kLow),
    HALYARD_DS_D16(ds_read_i8_d16_hi, int8_t, kHigh),
    HALYARD_DS_D16(ds_read_u16_d16, uint16_t, kLow),
    HALYARD_DS_D16(ds_read_u16_d16_hi, uint16_t, kHigh),
    op(Op::ds_read_b32, ds_access<LoadDwords<1>>),
    op(Op::ds_read_b64, ds_access<LoadDwords<2>>),
    op(Op::ds_read_b96, ds_access<LoadDwords<3>>),
    op(Op::ds_read_b128, ds_access<LoadDwords<4>>),
    op(Op::ds_write_b8, ds_access<StoreSmall<uint8_t, Part::kLow>>),
    op(Op::ds_write_b8_d16_hi, ds_access<StoreSmall<uint8_t, Part::kHigh>>),
    op(Op::ds_write_b16, ds_access<StoreSmall<uint16_t, Part::kLow>>),
    op(Op::ds_write_b16_d16_hi, ds_access<StoreSmall<uint16_t, Part::kHigh>>),
    op(Op::ds_write_b32, ds_access<StoreDwords<1>>),
    op(Op::ds_write_b64, ds_access<StoreDwords<2>>),
    op(Op::ds_write_b96, ds_access<StoreDwords<3>>),
    op(Op::ds_write_b128, ds_access<StoreDwords<4>>),
    op(Op::ds_read2_b32, ds_read2<1, 4>),
    op(Op::ds_read2_b64, ds_read2<2, 8>),
    op(Op::ds_read2st64_b32, ds_read2<1, 256>),
    op(Op::ds_read2st64_b64, ds_read2<2, 512>),
    op(Op::ds_write2_b32, ds_write2<1, 4>),
    op(Op::ds_write2_b64, ds_write2<2, 8>),
    op(Op::ds_write2st64_b32, ds_write2<1, 256>),
    op(Op::ds_write2st64_b64, ds_write2<2, 512>),
    op(Op::ds_append, ds_count<true>),
    op(Op::ds_consume, ds_count<false>),
    op(Op::ds_read_addtid_b32, ds_read_addtid_b32),
    op(Op::ds_write_addtid_b32, ds_write_addtid_b32),
    op(Op::ds_swizzle_b32, ds_swizzle_b32),
    op(Op::ds_permute_b32, ds_permute_b32),
    op(Op::ds_bpermute_b32, ds_bpermute_b32),
    op(Op::ds_nop, ds_nop),
    // gfx942
    op(Op::ds_pk_add_f16, ds_pk_add<valu::F16, false>),
    op(Op::ds_pk_add_rtn_f16, ds_pk_add<valu::F16, true>),
    op(Op::ds_pk_add_bf16, ds_pk_add<valu::BF16, false>),
    op(Op::ds_pk_add_rtn_bf16, ds_pk_add<valu::BF16, true>),
    // gfx950
    op(Op::ds_read_b64_tr_b4, ds_read_transposed<2, 4>),
    op(Op::ds_read_b96_tr_b6, ds_read_transposed<3, 6>),
    op(Op::ds_read_b64_tr_b8, ds_read_transposed<2, 8>),
    op(Op::ds_read_b64_tr_b16, ds_read_transposed<2, 16>),
};

#undef HALYARD_DS
#undef HALYARD_DS_RTN
#undef HALYARD_DS_BOTH
#undef HALYARD_DS_TWO
#undef HALYARD_DS_D16

}  // namespace

std::span<const Opcode> simd_lds_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
