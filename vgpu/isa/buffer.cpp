// MUBUF: untyped buffer loads, stores and atomics (Vega ISA, 8.1). The FORMAT instructions are in
// buffer_format.cpp.

#include "vgpu/fence.h"
#include "vgpu/isa/buffer_resource.h"
#include "vgpu/isa/float_atomics.h"
#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/private_access.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {
namespace {

// Lanes that are not wholly inside the buffer: dwords outside read as zero and are not written.
template <class Op>
[[gnu::noinline]] Outcome partial_lanes(Wave& w, const Instruction& i, VectorRegister* dst,
                                        const VectorRegister* data, uint64_t mask,
                                        const BufferAddresses& addresses, size_t step) {
  for (uint64_t left = mask; left; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    if constexpr (Op::kAtomic) {
      alignas(8) uint8_t zeros[8] = {};
      if (dst) Op::lane(dst, data, l, zeros, kLinear);
    } else {
      const unsigned dwords = Op::kBytes > 4 ? addresses.inside[l] / 4 : 0;
      alignas(8) uint8_t bytes[Op::kBytes < 4 ? 4 : Op::kBytes] = {};
      uint8_t* host[(Op::kBytes + 3) / 4] = {};
      for (unsigned k = 0; k < dwords; ++k) {
        host[k] = find_host(w, addresses.lane[l] + k * step, 4, Op::kWrites);
        if (host[k] == nullptr)
          return fault_memory(w, i, addresses.lane[l] + k * step, 4, Op::kWrites,
                              static_cast<int>(l));
      }
      if constexpr (Op::kWrites) {
        Op::lane(dst, data, l, bytes, kLinear);
        for (unsigned k = 0; k < dwords; ++k) std::memcpy(host[k], bytes + 4 * k, 4);
      } else {
        for (unsigned k = 0; k < dwords; ++k) std::memcpy(bytes + 4 * k, host[k], 4);
        Op::lane(dst, data, l, bytes, kLinear);
      }
    }
  }
  return Outcome::kNext;
}

// The wave's own private segment, as start_wave() describes it: one that the kernel has not made
// itself.
bool is_own_segment(const Wave& w, const BufferResource& resource) {
  return resource.is_private_segment() && resource.base == w.scratch_base;
}
// Whether `bytes` from `position` on, whose dwords are a row apart, are in it.
bool in_own_segment(const Wave& w, uint64_t position, uint64_t bytes) {
  const uint64_t last = position + (bytes - 1) / 4 * kSwizzledStep + (bytes - 1) % 4;
  return position <= last && last < uint64_t{w.scratch_bytes_per_lane} * kLanes;
}

// Faults at the first lane of `mask` whose access lies outside of its private segment. Hardware
// would take the bytes of another wave's; accesses of flat instructions are checked like this too.
template <class Op>
Outcome check_own_segment(Wave& w, const Instruction& i, uint64_t mask,
                          const BufferAddresses& addresses) {
  for (uint64_t left = mask; left; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    const uint64_t position = addresses.lane[l] - w.scratch_base;
    if (addresses.inside[l] >= Op::kBytes && in_own_segment(w, position, Op::kBytes)) continue;
    const uint64_t offset = position / kSwizzledStep * 4 + position % 4;
    return fault_private(w, i, offset, Op::kBytes, Op::kWrites, static_cast<int>(l));
  }
  return Outcome::kNext;
}

template <class Op>
Outcome transfer(Wave& w, const Instruction& i, VectorRegister* dst, const VectorRegister* data) {
  const SharedMemoryAccess host_sees = begin_access(w);
  const BufferResource resource = BufferResource::read(w, i.src[1]);
  if constexpr (Op::kRows) {
    // Spills and the like: one offset for all lanes of a private segment.
    if (!i.offen && !i.idxen && resource.is_private_segment() && w.exec() == kAllLanes &&
        i.offset % 4 == 0) {
      const uint64_t soffset = read32(w, i.src[2]);
      const uint64_t row =
          resource.base + soffset + static_cast<uint64_t>(i.offset) / 4 * kSwizzledStep;
      if (soffset + static_cast<uint64_t>(i.offset) + Op::kBytes <= resource.records &&
          (!is_own_segment(w, resource) || in_own_segment(w, row - resource.base, Op::kBytes))) {
        constexpr uint64_t kSize = Op::kBytes / 4 * kSwizzledStep;
        if (uint8_t* const host = find_host(w, row, kSize, Op::kWrites)) {
          Op::rows(dst, data, host, kSwizzledStep);
          if constexpr (Op::kWrites) w.stores_pending = true;
          return Outcome::kNext;
        }
      }
    }
  }
  const uint64_t mask = w.exec();
  if constexpr (!Op::kAtomic) {
    if (i.offen && !i.idxen && resource.is_private_segment() && is_own_segment(w, resource)) {
      const uint32_t soffset = read32(w, i.src[2]);
      const uint32_t* const register_offset = w.vgpr[i.src[0].index].lane;
      uint32_t offset[kLanes];
      for (unsigned l = 0; l < kLanes; ++l)
        offset[l] = register_offset[l] + static_cast<uint32_t>(i.offset);
      const uint64_t records = resource.records > soffset ? resource.records - soffset : 0;
      if (access_private<Op>(w, dst, data, mask, soffset, records, offset)) return Outcome::kNext;
    }
  }
  BufferAddresses addresses;
  buffer_addresses(w, i, resource, Op::kBytes, addresses);
  if (is_own_segment(w, resource)) {
    const Outcome outcome = check_own_segment<Op>(w, i, mask, addresses);
    if (outcome != Outcome::kNext) return outcome;
  }
  uint64_t whole = 0;
  for (unsigned l = 0; l < kLanes; ++l)
    whole |= static_cast<uint64_t>(addresses.inside[l] >= Op::kBytes) << l;
  const size_t step = resource.step();
  if (mask & ~whole) [[unlikely]] {
    const Outcome outcome = partial_lanes<Op>(w, i, dst, data, mask & ~whole, addresses, step);
    if (outcome != Outcome::kNext) return outcome;
  }
  uint64_t lanes = mask & whole;
  if constexpr (kFloatAtomic<Op>) {
    if (step == kLinear) lanes = carried_out(w, dst, Op::kBytes, lanes, addresses.lane);
  }
  return access<Op>(w, i, dst, data, lanes, addresses.lane, step);
}

// With the LDS bit a load's result goes to LDS.
template <class Op>
[[gnu::noinline]] Outcome load_to_lds(Wave& w, const Instruction& i) {
  constexpr unsigned kDwords = (Op::kBytes + 3) / 4;
  if (kDwords == 2 || (kDwords > 2 && !w.target->wide_lds_loads))
    return fault_illegal(w, i, "cannot load so many dwords to LDS on this processor");
  VectorRegister results[kDwords] = {};
  const Outcome outcome = transfer<Op>(w, i, results, nullptr);
  if (outcome != Outcome::kNext) return outcome;
  to_lds(w, i, w.m0() & w.target->buffer_lds_m0, results, kDwords);
  return Outcome::kNext;
}

template <class Op>
Outcome buffer_load(Wave& w, const Instruction& i) {
  if (i.lds) [[unlikely]]
    return load_to_lds<Op>(w, i);
  return transfer<Op>(w, i, vector_registers(w, i.dst), nullptr);
}

template <class Op>
Outcome buffer_store(Wave& w, const Instruction& i) {
  return transfer<Op>(w, i, nullptr, vector_registers(w, i.dst));
}

// VDATA holds the operands and takes the old value if GLC is set.
template <class Op>
Outcome buffer_atomic(Wave& w, const Instruction& i) {
  VectorRegister* const data = vector_registers(w, i.dst);
  return transfer<Op>(w, i, i.glc ? data : nullptr, data);
}

// Target::f32_atomic_denormals.
Outcome buffer_atomic_add_f32(Wave& w, const Instruction& i) {
  return w.target->f32_atomic_denormals ? buffer_atomic<Atomic<atomic::Fadd, uint32_t>>(w, i)
                                        : buffer_atomic<Atomic<atomic::FaddMemory, uint32_t>>(w, i);
}

// The host's caches are coherent: only the order of accesses is left to keep.
Outcome cache_control(Wave& w, const Instruction&) {
  full_fence();
  w.stores_pending = false;
  return Outcome::kNext;
}

#define HALYARD_D16(name, M, half)                    \
  op(Op::name, buffer_load<LoadSmall<M, Part::half>>) \
      .or_clearing(buffer_load<LoadSmall<M, Part::half##Clearing>>)

#define HALYARD_ATOMIC(name, F)                                             \
  op(Op::buffer_atomic_##name, buffer_atomic<Atomic<atomic::F, uint32_t>>), \
      op(Op::buffer_atomic_##name##_x2, buffer_atomic<Atomic<atomic::F, uint64_t>>)

constexpr Opcode kOpcodes[] = {
    op(Op::buffer_load_ubyte, buffer_load<LoadSmall<uint8_t, Part::kFull>>),
    op(Op::buffer_load_sbyte, buffer_load<LoadSmall<int8_t, Part::kFull>>),
    op(Op::buffer_load_ushort, buffer_load<LoadSmall<uint16_t, Part::kFull>>),
    op(Op::buffer_load_sshort, buffer_load<LoadSmall<int16_t, Part::kFull>>),
    HALYARD_D16(buffer_load_ubyte_d16, uint8_t, kLow),
    HALYARD_D16(buffer_load_ubyte_d16_hi, uint8_t, kHigh),
    HALYARD_D16(buffer_load_sbyte_d16, int8_t, kLow),
    HALYARD_D16(buffer_load_sbyte_d16_hi, int8_t, kHigh),
    HALYARD_D16(buffer_load_short_d16, uint16_t, kLow),
    HALYARD_D16(buffer_load_short_d16_hi, uint16_t, kHigh),
    op(Op::buffer_load_dword, buffer_load<LoadDwords<1>>),
    op(Op::buffer_load_dwordx2, buffer_load<LoadDwords<2>>),
    op(Op::buffer_load_dwordx3, buffer_load<LoadDwords<3>>),
    op(Op::buffer_load_dwordx4, buffer_load<LoadDwords<4>>),
    op(Op::buffer_store_byte, buffer_store<StoreSmall<uint8_t, Part::kLow>>),
    op(Op::buffer_store_byte_d16_hi, buffer_store<StoreSmall<uint8_t, Part::kHigh>>),
    op(Op::buffer_store_short, buffer_store<StoreSmall<uint16_t, Part::kLow>>),
    op(Op::buffer_store_short_d16_hi, buffer_store<StoreSmall<uint16_t, Part::kHigh>>),
    op(Op::buffer_store_dword, buffer_store<StoreDwords<1>>),
    op(Op::buffer_store_dwordx2, buffer_store<StoreDwords<2>>),
    op(Op::buffer_store_dwordx3, buffer_store<StoreDwords<3>>),
    op(Op::buffer_store_dwordx4, buffer_store<StoreDwords<4>>),
    HALYARD_ATOMIC(swap, Swap),
    HALYARD_ATOMIC(add, Add),
    HALYARD_ATOMIC(sub, Sub),
    HALYARD_ATOMIC(smin, Smin),
    HALYARD_ATOMIC(umin, Umin),
    HALYARD_ATOMIC(smax, Smax),
    HALYARD_ATOMIC(umax, Umax),
    HALYARD_ATOMIC(and, And),
    HALYARD_ATOMIC(or, Or),
    HALYARD_ATOMIC(xor, Xor),
    HALYARD_ATOMIC(inc, Inc),
    HALYARD_ATOMIC(dec, Dec),
    op(Op::buffer_atomic_cmpswap, buffer_atomic<Atomic<atomic::Cmpswap, uint32_t>>),
    op(Op::buffer_atomic_cmpswap_x2, buffer_atomic<Atomic<atomic::Cmpswap, uint64_t>>),
    // gfx908 and gfx90a
    op(Op::buffer_atomic_add_f32, buffer_atomic_add_f32),
    op(Op::buffer_atomic_pk_add_f16, buffer_atomic<Atomic<atomic::PkFaddF16, uint32_t>>),
    op(Op::buffer_atomic_add_f64, buffer_atomic<Atomic<atomic::Fadd, uint64_t>>),
    op(Op::buffer_atomic_min_f64, buffer_atomic<Atomic<atomic::Fmin, uint64_t>>),
    op(Op::buffer_atomic_max_f64, buffer_atomic<Atomic<atomic::Fmax, uint64_t>>),
    // gfx950
    op(Op::buffer_atomic_pk_add_bf16, buffer_atomic<Atomic<atomic::PkFaddBF16, uint32_t>>),
    op(Op::buffer_wbinvl1, cache_control),
    op(Op::buffer_wbinvl1_vol, cache_control),
    op(Op::buffer_wbl2, cache_control),
    op(Op::buffer_invl2, cache_control),
    op(Op::buffer_inv, cache_control),  // gfx942
};

#undef HALYARD_D16
#undef HALYARD_ATOMIC

}  // namespace

std::span<const Opcode> buffer_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
