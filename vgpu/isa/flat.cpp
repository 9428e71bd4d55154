// FLAT, GLOBAL and SCRATCH (Vega ISA, chapter 10).
//
// A flat address belongs to LDS or to scratch if its upper half is that of the aperture. Scratch is
// swizzled: see Wave::scratch_base.

#include "vgpu/isa/float_atomics.h"
#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/private_access.h"
#include "vgpu/isa/scalar_operands.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {
namespace {

struct Addresses {
  uint64_t lane[kLanes];
};

// Upper halves of the apertures. One that is 0 was not given: no address is in it.
uint32_t shared_high(const Wave& w) {
  return static_cast<uint32_t>(w.apertures[0] >> 32);
}
uint32_t private_high(const Wave& w) {
  return static_cast<uint32_t>(w.apertures[2] >> 32);
}

uint64_t lanes_with_high(const Addresses& addresses, uint64_t mask, uint32_t high) {
  if (high == 0) return 0;
  uint64_t found = 0;
  for (unsigned l = 0; l < kLanes; ++l)
    found |= static_cast<uint64_t>(addresses.lane[l] >> 32 == high) << l;
  return found & mask;
}

// Lanes whose offsets are in addresses.lane[] as 32-bit numbers become addresses in scratch.
template <class Op>
bool to_scratch(Wave& w, const Instruction& i, Addresses& addresses, uint64_t mask) {
  int bad = -1;
  uint64_t bad_offset = 0;
  const uint64_t bytes = w.private_bytes_per_lane();
  const uint64_t base =
      w.program_scratch_bytes_per_lane != 0 ? w.scalar64(scalar::kFlatScratch) : w.scratch_base;
  for_each_lane(mask, [&](unsigned l) {
    const uint64_t offset = addresses.lane[l];
    if (offset + Op::kBytes > bytes && bad < 0) {
      bad = static_cast<int>(l);
      bad_offset = offset;
    }
    addresses.lane[l] = base + (offset >> 2) * kSwizzledStep + l * 4 + (offset & 3);
  });
  if (bad < 0) return true;
  fault_private(w, i, bad_offset, Op::kBytes, Op::kWrites, bad);
  return false;
}

// Lanes in scratch, at the offsets in the lower halves of their addresses.
template <class Op>
Outcome access_scratch(Wave& w, const Instruction& i, VectorRegister* dst,
                       const VectorRegister* data, uint64_t mask, const Addresses& addresses) {
  if constexpr (!Op::kAtomic) {
    uint32_t offset[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) offset[l] = static_cast<uint32_t>(addresses.lane[l]);
    if (access_private<Op>(w, dst, data, mask, 0, w.scratch_bytes_per_lane, offset))
      return Outcome::kNext;
  }
  Addresses scratch;
  for_each_lane(mask, [&](unsigned l) { scratch.lane[l] = addresses.lane[l] & 0xffffffff; });
  if (!to_scratch<Op>(w, i, scratch, mask)) return Outcome::kFault;
  return access<Op>(w, i, dst, data, mask, scratch.lane, kSwizzledStep);
}

// Lanes in memory, not in LDS or scratch.
template <class Op>
Outcome access_memory(Wave& w, const Instruction& i, VectorRegister* dst,
                      const VectorRegister* data, uint64_t mask, const uint64_t* address) {
  if constexpr (kFloatAtomic<Op>) mask = carried_out(w, dst, Op::kBytes, mask, address);
  return access<Op>(w, i, dst, data, mask, address, kLinear);
}

template <class Op>
[[gnu::noinline]] Outcome access_apertures(Wave& w, const Instruction& i, VectorRegister* dst,
                                           const VectorRegister* data, Addresses& addresses,
                                           uint64_t shared, uint64_t priv) {
  const uint64_t global = w.exec() & ~shared & ~priv;
  if (shared) {
    for (uint64_t left = shared; left; left &= left - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(left));
      const uint64_t offset = addresses.lane[l] & 0xffffffff;
      if (offset + Op::kBytes > w.lds_size || (Op::kAtomic && offset % Op::kBytes)) {
        fault_memory(w, i, addresses.lane[l], Op::kBytes, Op::kWrites, static_cast<int>(l));
        w.fault.kind = Fault::Kind::kAperture;
        w.fault.message += " (LDS offset " + std::to_string(offset) + " of " +
                           std::to_string(w.lds_size) + " bytes)";
        return Outcome::kFault;
      }
      Op::lane(dst, data, l, w.lds + offset, kLinear);
    }
  }
  if (priv) {
    const Outcome outcome = access_scratch<Op>(w, i, dst, data, priv, addresses);
    if (outcome != Outcome::kNext) return outcome;
  }
  return global ? access_memory<Op>(w, i, dst, data, global, addresses.lane) : Outcome::kNext;
}

void wide_addresses(const Wave& w, const Instruction& i, Addresses& addresses) {
  const uint32_t* const low = w.vgpr[i.src[0].index].lane;
  const uint32_t* const high = w.vgpr[i.src[0].index + 1].lane;
  const auto offset = static_cast<uint64_t>(static_cast<int64_t>(i.offset));
  for (unsigned l = 0; l < kLanes; ++l)
    addresses.lane[l] = (static_cast<uint64_t>(high[l]) << 32 | low[l]) + offset;
}

template <class Op>
Outcome flat(Wave& w, const Instruction& i) {
  const SharedMemoryAccess host_sees = begin_access(w);
  Addresses addresses;
  wide_addresses(w, i, addresses);
  VectorRegister* const dst = vector_registers(w, i.dst);
  const VectorRegister* const data = vector_registers(w, i.src[1]);
  const uint64_t mask = w.exec();
  const uint64_t shared = lanes_with_high(addresses, mask, shared_high(w));
  const uint64_t priv = lanes_with_high(addresses, mask, private_high(w));
  if (shared | priv) return access_apertures<Op>(w, i, dst, data, addresses, shared, priv);
  return access_memory<Op>(w, i, dst, data, mask, addresses.lane);
}

// A global or scratch access at the lanes' addresses.
template <class Op, bool kScratch>
Outcome access_in_space(Wave& w, const Instruction& i, VectorRegister* dst,
                        const VectorRegister* data, const Addresses& addresses) {
  if constexpr (kScratch) return access_scratch<Op>(w, i, dst, data, w.exec(), addresses);
  return access_memory<Op>(w, i, dst, data, w.exec(), addresses.lane);
}

// One whose results go to LDS. The offset counts at both ends (LLVM, IntrinsicsAMDGPU.td,
// llvm.amdgcn.global.load.lds).
template <class Op, bool kScratch>
[[gnu::noinline]] Outcome load_to_lds(Wave& w, const Instruction& i, const Addresses& addresses) {
  constexpr unsigned kDwords = (Op::kBytes + 3) / 4;
  VectorRegister results[kDwords] = {};
  const Outcome outcome = access_in_space<Op, kScratch>(w, i, results, nullptr, addresses);
  if (outcome == Outcome::kNext) to_lds(w, i, w.m0() & w.target->flat_lds_m0, results, kDwords);
  return outcome;
}

// Where results go: to registers, or to LDS if the LDS bit says so (up to gfx90a), or always.
enum class To : uint8_t { kAsBitSays, kLds };

template <class Op, bool kScratch, To kTo>
Outcome access_or_load_to_lds(Wave& w, const Instruction& i, const Addresses& addresses) {
  if constexpr (kTo == To::kLds) return load_to_lds<Op, kScratch>(w, i, addresses);
  if constexpr (Op::kLoads && !Op::kWrites && Op::kBytes <= 4) {
    if (i.lds) [[unlikely]]
      return load_to_lds<Op, kScratch>(w, i, addresses);
  }
  return access_in_space<Op, kScratch>(w, i, vector_registers(w, i.dst),
                                       vector_registers(w, i.src[1]), addresses);
}

template <class Op, To kTo>
Outcome access_global(Wave& w, const Instruction& i) {
  const SharedMemoryAccess host_sees = begin_access(w);
  Addresses addresses;
  if (i.src[2].kind == OperandKind::kScalar) {
    const uint64_t base =
        read64(w, i.src[2]) + static_cast<uint64_t>(static_cast<int64_t>(i.offset));
    const uint32_t* const offset = w.vgpr[i.src[0].index].lane;
    for (unsigned l = 0; l < kLanes; ++l) addresses.lane[l] = base + offset[l];
  } else {
    wide_addresses(w, i, addresses);
  }
  return access_or_load_to_lds<Op, false, kTo>(w, i, addresses);
}
template <class Op>
Outcome global(Wave& w, const Instruction& i) {
  return access_global<Op, To::kAsBitSays>(w, i);
}
template <class Op>
Outcome global_to_lds(Wave& w, const Instruction& i) {
  return access_global<Op, To::kLds>(w, i);
}

// VADDR, SADDR, both of them (gfx942's SVE) or neither, and the offset.
template <class Op, To kTo>
Outcome access_private_segment(Wave& w, const Instruction& i) {
  const SharedMemoryAccess host_sees = begin_access(w);
  Addresses addresses;
  auto start = static_cast<uint32_t>(i.offset);
  if (i.src[2].kind == OperandKind::kScalar) start += read32(w, i.src[2]);
  if (i.src[0].kind == OperandKind::kVector) {
    const uint32_t* const base = w.vgpr[i.src[0].index].lane;
    for (unsigned l = 0; l < kLanes; ++l) addresses.lane[l] = base[l] + start;
  } else {
    const uint64_t at = start;
    if constexpr (Op::kRows && kTo == To::kAsBitSays) {
      if (w.exec() == kAllLanes && at % 4 == 0 && at + Op::kBytes <= w.scratch_bytes_per_lane &&
          !i.lds) {
        Op::rows(vector_registers(w, i.dst), vector_registers(w, i.src[1]),
                 scratch_memory(w) + at / 4 * kSwizzledStep, kSwizzledStep);
        return Outcome::kNext;
      }
    }
    std::fill_n(addresses.lane, kLanes, at);
  }
  return access_or_load_to_lds<Op, true, kTo>(w, i, addresses);
}
template <class Op>
Outcome scratch(Wave& w, const Instruction& i) {
  return access_private_segment<Op, To::kAsBitSays>(w, i);
}
template <class Op>
Outcome scratch_to_lds(Wave& w, const Instruction& i) {
  return access_private_segment<Op, To::kLds>(w, i);
}

// Target::f32_atomic_denormals.
Outcome flat_atomic_add_f32(Wave& w, const Instruction& i) {
  return w.target->f32_atomic_denormals ? flat<Atomic<atomic::Fadd, uint32_t>>(w, i)
                                        : flat<Atomic<atomic::FaddMemory, uint32_t>>(w, i);
}
Outcome global_atomic_add_f32(Wave& w, const Instruction& i) {
  return w.target->f32_atomic_denormals ? global<Atomic<atomic::Fadd, uint32_t>>(w, i)
                                        : global<Atomic<atomic::FaddMemory, uint32_t>>(w, i);
}

#define HALYARD_D16(name, space, M, half)       \
  op(Op::name, space<LoadSmall<M, Part::half>>) \
      .or_clearing(space<LoadSmall<M, Part::half##Clearing>>)

#define HALYARD_TRANSFERS(prefix, space)                                             \
  op(Op::prefix##_load_ubyte, space<LoadSmall<uint8_t, Part::kFull>>),               \
      op(Op::prefix##_load_sbyte, space<LoadSmall<int8_t, Part::kFull>>),            \
      op(Op::prefix##_load_ushort, space<LoadSmall<uint16_t, Part::kFull>>),         \
      op(Op::prefix##_load_sshort, space<LoadSmall<int16_t, Part::kFull>>),          \
      HALYARD_D16(prefix##_load_ubyte_d16, space, uint8_t, kLow),                    \
      HALYARD_D16(prefix##_load_ubyte_d16_hi, space, uint8_t, kHigh),                \
      HALYARD_D16(prefix##_load_sbyte_d16, space, int8_t, kLow),                     \
      HALYARD_D16(prefix##_load_sbyte_d16_hi, space, int8_t, kHigh),                 \
      HALYARD_D16(prefix##_load_short_d16, space, uint16_t, kLow),                   \
      HALYARD_D16(prefix##_load_short_d16_hi, space, uint16_t, kHigh),               \
      op(Op::prefix##_load_dword, space<LoadDwords<1>>),                             \
      op(Op::prefix##_load_dwordx2, space<LoadDwords<2>>),                           \
      op(Op::prefix##_load_dwordx3, space<LoadDwords<3>>),                           \
      op(Op::prefix##_load_dwordx4, space<LoadDwords<4>>),                           \
      op(Op::prefix##_store_byte, space<StoreSmall<uint8_t, Part::kLow>>),           \
      op(Op::prefix##_store_byte_d16_hi, space<StoreSmall<uint8_t, Part::kHigh>>),   \
      op(Op::prefix##_store_short, space<StoreSmall<uint16_t, Part::kLow>>),         \
      op(Op::prefix##_store_short_d16_hi, space<StoreSmall<uint16_t, Part::kHigh>>), \
      op(Op::prefix##_store_dword, space<StoreDwords<1>>),                           \
      op(Op::prefix##_store_dwordx2, space<StoreDwords<2>>),                         \
      op(Op::prefix##_store_dwordx3, space<StoreDwords<3>>),                         \
      op(Op::prefix##_store_dwordx4, space<StoreDwords<4>>)

#define HALYARD_LOADS_TO_LDS(prefix, space)                                      \
  op(Op::prefix##_load_lds_ubyte, space<LoadSmall<uint8_t, Part::kFull>>),       \
      op(Op::prefix##_load_lds_sbyte, space<LoadSmall<int8_t, Part::kFull>>),    \
      op(Op::prefix##_load_lds_ushort, space<LoadSmall<uint16_t, Part::kFull>>), \
      op(Op::prefix##_load_lds_sshort, space<LoadSmall<int16_t, Part::kFull>>),  \
      op(Op::prefix##_load_lds_dword, space<LoadDwords<1>>)

#define HALYARD_ATOMIC(prefix, space, name, F)                        \
  op(Op::prefix##_atomic_##name, space<Atomic<atomic::F, uint32_t>>), \
      op(Op::prefix##_atomic_##name##_x2, space<Atomic<atomic::F, uint64_t>>)

#define HALYARD_ATOMICS(prefix, space)                                                      \
  HALYARD_ATOMIC(prefix, space, swap, Swap), HALYARD_ATOMIC(prefix, space, add, Add),       \
      HALYARD_ATOMIC(prefix, space, sub, Sub), HALYARD_ATOMIC(prefix, space, smin, Smin),   \
      HALYARD_ATOMIC(prefix, space, umin, Umin), HALYARD_ATOMIC(prefix, space, smax, Smax), \
      HALYARD_ATOMIC(prefix, space, umax, Umax), HALYARD_ATOMIC(prefix, space, and, And),   \
      HALYARD_ATOMIC(prefix, space, or, Or), HALYARD_ATOMIC(prefix, space, xor, Xor),       \
      HALYARD_ATOMIC(prefix, space, inc, Inc), HALYARD_ATOMIC(prefix, space, dec, Dec),     \
      op(Op::prefix##_atomic_cmpswap, space<Atomic<atomic::Cmpswap, uint32_t>>),            \
      op(Op::prefix##_atomic_cmpswap_x2,                                                    \
         space<Atomic<atomic::Cmpswap, uint64_t>>), /* gfx908 and gfx90a */                 \
      op(Op::prefix##_atomic_add_f64, space<Atomic<atomic::Fadd, uint64_t>>),               \
      op(Op::prefix##_atomic_min_f64, space<Atomic<atomic::Fmin, uint64_t>>),               \
      op(Op::prefix##_atomic_max_f64, space<Atomic<atomic::Fmax, uint64_t>>)

constexpr Opcode kOpcodes[] = {
    HALYARD_TRANSFERS(flat, flat),
    HALYARD_TRANSFERS(global, global),
    HALYARD_TRANSFERS(scratch, scratch),
    HALYARD_ATOMICS(flat, flat),
    HALYARD_ATOMICS(global, global),
    op(Op::global_atomic_add_f32, global_atomic_add_f32),
    op(Op::global_atomic_pk_add_f16, global<Atomic<atomic::PkFaddF16, uint32_t>>),
    // gfx942
    op(Op::flat_atomic_add_f32, flat_atomic_add_f32),
    op(Op::flat_atomic_pk_add_f16, flat<Atomic<atomic::PkFaddF16, uint32_t>>),
    op(Op::flat_atomic_pk_add_bf16, flat<Atomic<atomic::PkFaddBF16, uint32_t>>),
    op(Op::global_atomic_pk_add_bf16, global<Atomic<atomic::PkFaddBF16, uint32_t>>),
    HALYARD_LOADS_TO_LDS(global, global_to_lds),
    HALYARD_LOADS_TO_LDS(scratch, scratch_to_lds),
    // gfx950
    op(Op::global_load_lds_dwordx3, global_to_lds<LoadDwords<3>>),
    op(Op::global_load_lds_dwordx4, global_to_lds<LoadDwords<4>>),
};

#undef HALYARD_D16
#undef HALYARD_TRANSFERS
#undef HALYARD_LOADS_TO_LDS
#undef HALYARD_ATOMIC
#undef HALYARD_ATOMICS

}  // namespace

std::span<const Opcode> flat_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
