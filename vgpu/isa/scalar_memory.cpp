// SMEM: scalar loads, stores and atomics (Vega ISA, chapter 7 and 12.6).

#include <fmt/format.h>

#include "vgpu/fence.h"
#include "vgpu/isa/atomics.h"
#include "vgpu/isa/fault.h"
#include "vgpu/isa/memory_access.h"
#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/scalar_operands.h"
#include "vgpu/isa/tables.h"

namespace halyard::vgpu::isa {
namespace {

// Both parts of the sum and the sum itself are taken to a whole dword (Vega ISA 7.1).
constexpr uint64_t kDwordMask = ~uint64_t{3};

uint64_t offset_of(const Wave& w, const Instruction& i) {
  const uint64_t reg = i.src[1].kind == OperandKind::kNone ? 0 : w.sgpr[i.src[1].index];
  return (static_cast<uint64_t>(static_cast<int64_t>(i.offset)) + reg) & kDwordMask;
}

// s_load and its like: a 64-bit base, which is always in SGPRs.
struct Plain {
  static constexpr bool kHasEnd = false;
  static bool resolve(Wave& w, const Instruction& i, unsigned, uint64_t& address) {
    address = (w.scalar64(i.src[0].index) & kDwordMask) + offset_of(w, i);
    return true;
  }
};

// s_buffer_*: base and size from a buffer descriptor. False if the dwords from `first` on are
// beyond the buffer: a load then reads zeros, a store does nothing.
struct Buffer {
  static constexpr bool kHasEnd = true;
  static bool resolve(Wave& w, const Instruction& i, unsigned first, uint64_t& address) {
    const unsigned s = i.src[0].index;
    const uint64_t base = (w.scalar64(s) & 0xffffffffffff) & kDwordMask;
    const uint64_t stride = (w.sgpr[s + 1] >> 16) & 0x3fff;
    const uint64_t records = w.sgpr[s + 2];
    const uint64_t size = stride ? records * stride : records;
    // The offset is an unsigned number of bytes.
    const uint64_t offset = (offset_of(w, i) & 0xffffffff) + first * 4;
    address = base + offset - first * 4;
    return offset + 4 <= size;
  }
};

// s_scratch_*: SBASE holds FLAT_SCRATCH-like base; the offset register counts units of 64 bytes,
// the immediate bytes (Vega ISA 7.3; CLRX's GcnInstrsSmem).
struct Scratch {
  static constexpr bool kHasEnd = false;
  static bool resolve(Wave& w, const Instruction& i, unsigned, uint64_t& address) {
    const uint64_t reg =
        i.src[1].kind == OperandKind::kNone ? 0 : uint64_t{w.sgpr[i.src[1].index]} * 64;
    address = (w.scalar64(i.src[0].index) & kDwordMask) +
              ((reg + static_cast<uint64_t>(static_cast<int64_t>(i.offset))) & kDwordMask);
    return true;
  }
};

// How many of the dwords are inside, and the address of the first.
template <class Space, unsigned kDwords>
unsigned resolve_dwords(Wave& w, const Instruction& i, uint64_t& address) {
  if constexpr (!Space::kHasEnd) {
    Space::resolve(w, i, 0, address);
    return kDwords;
  }
  unsigned count = 0;
  while (count < kDwords && Space::resolve(w, i, count, address)) ++count;
  return count;
}

template <class Space, unsigned kDwords>
Outcome s_load(Wave& w, const Instruction& i) {
  const SharedMemoryAccess host_sees = begin_access(w);
  uint64_t address = 0;
  const unsigned count = resolve_dwords<Space, kDwords>(w, i, address);
  // The descriptor may be overwritten: it is not needed any longer.
  const uint8_t* const host = count != 0 ? find_host(w, address, count * 4, false) : nullptr;
  if (count != 0 && host == nullptr) return fault_memory(w, i, address, count * 4, false, -1);
  uint32_t data[kDwords] = {};
  for (unsigned k = 0; k < count; ++k) data[k] = load<uint32_t>(host + 4 * k);
  std::memcpy(&w.sgpr[i.dst.index], data, sizeof data);
  return Outcome::kNext;
}

template <class Space, unsigned kDwords>
Outcome s_store(Wave& w, const Instruction& i) {
  const SharedMemoryAccess host_sees = begin_access(w);
  uint64_t address = 0;
  const unsigned count = resolve_dwords<Space, kDwords>(w, i, address);
  uint8_t* const host = count != 0 ? find_host(w, address, count * 4, true) : nullptr;
  if (count != 0 && host == nullptr) return fault_memory(w, i, address, count * 4, true, -1);
  for (unsigned k = 0; k < count; ++k) store<uint32_t>(host + 4 * k, w.sgpr[i.dst.index + k]);
  w.stores_pending = true;
  return Outcome::kNext;
}

template <class Space, class F, class T>
Outcome s_atomic(Wave& w, const Instruction& i) {
  const SharedMemoryAccess host_sees = begin_access(w);
  uint64_t address = 0;
  if (!Space::resolve(w, i, sizeof(T) / 4 - 1, address)) {
    if (i.glc) write(w, i.dst, T{0});
    return Outcome::kNext;
  }
  uint8_t* const host = address % sizeof(T) == 0 ? find_host(w, address, sizeof(T), true) : nullptr;
  if (host == nullptr) return fault_memory(w, i, address, sizeof(T), true, -1);
  T data, compare = 0;
  std::memcpy(&data, &w.sgpr[i.dst.index], sizeof data);
  if constexpr (std::is_same_v<F, atomic::Cmpswap>)
    std::memcpy(&compare, &w.sgpr[i.dst.index + sizeof(T) / 4], sizeof compare);
  const T old = atomic::shared<F, T>(host, data, compare);
  if (i.glc) write(w, i.dst, old);
  return Outcome::kNext;
}

// Loads are coherent here: writing back and invalidating only order what the compiler may move.
Outcome s_dcache(Wave& w, const Instruction&) {
  full_fence();
  w.stores_pending = false;
  return Outcome::kNext;
}

// Discarding a cache line that is in memory has no effect, and neither has prefetching a
// translation (s_atc_probe), at any address.
Outcome s_no_effect(Wave&, const Instruction&) {
  return Outcome::kNext;
}

Outcome s_memtime(Wave& w, const Instruction& i) {
  write(w, i.dst, w.services ? w.services->shader_clock() : uint64_t{0});
  return Outcome::kNext;
}

Outcome s_memrealtime(Wave& w, const Instruction& i) {
  write(w, i.dst, w.services ? w.services->reference_clock() : uint64_t{0});
  return Outcome::kNext;
}

#define HALYARD_ATOMICS(prefix, Space, name, F)               \
  op(Op::prefix##name, s_atomic<Space, atomic::F, uint32_t>), \
      op(Op::prefix##name##_x2, s_atomic<Space, atomic::F, uint64_t>)

#define HALYARD_ALL_ATOMICS(prefix, Space)                                                    \
  HALYARD_ATOMICS(prefix, Space, swap, Swap), HALYARD_ATOMICS(prefix, Space, add, Add),       \
      HALYARD_ATOMICS(prefix, Space, sub, Sub), HALYARD_ATOMICS(prefix, Space, smin, Smin),   \
      HALYARD_ATOMICS(prefix, Space, umin, Umin), HALYARD_ATOMICS(prefix, Space, smax, Smax), \
      HALYARD_ATOMICS(prefix, Space, umax, Umax), HALYARD_ATOMICS(prefix, Space, and, And),   \
      HALYARD_ATOMICS(prefix, Space, or, Or), HALYARD_ATOMICS(prefix, Space, xor, Xor),       \
      HALYARD_ATOMICS(prefix, Space, inc, Inc), HALYARD_ATOMICS(prefix, Space, dec, Dec),     \
      op(Op::prefix##cmpswap, s_atomic<Space, atomic::Cmpswap, uint32_t>),                    \
      op(Op::prefix##cmpswap_x2, s_atomic<Space, atomic::Cmpswap, uint64_t>)

constexpr Opcode kOpcodes[] = {
    op(Op::s_load_dword, s_load<Plain, 1>),
    op(Op::s_load_dwordx2, s_load<Plain, 2>),
    op(Op::s_load_dwordx4, s_load<Plain, 4>),
    op(Op::s_load_dwordx8, s_load<Plain, 8>),
    op(Op::s_load_dwordx16, s_load<Plain, 16>),
    op(Op::s_buffer_load_dword, s_load<Buffer, 1>),
    op(Op::s_buffer_load_dwordx2, s_load<Buffer, 2>),
    op(Op::s_buffer_load_dwordx4, s_load<Buffer, 4>),
    op(Op::s_buffer_load_dwordx8, s_load<Buffer, 8>),
    op(Op::s_buffer_load_dwordx16, s_load<Buffer, 16>),
    op(Op::s_scratch_load_dword, s_load<Scratch, 1>),
    op(Op::s_scratch_load_dwordx2, s_load<Scratch, 2>),
    op(Op::s_scratch_load_dwordx4, s_load<Scratch, 4>),
    op(Op::s_store_dword, s_store<Plain, 1>),
    op(Op::s_store_dwordx2, s_store<Plain, 2>),
    op(Op::s_store_dwordx4, s_store<Plain, 4>),
    op(Op::s_buffer_store_dword, s_store<Buffer, 1>),
    op(Op::s_buffer_store_dwordx2, s_store<Buffer, 2>),
    op(Op::s_buffer_store_dwordx4, s_store<Buffer, 4>),
    op(Op::s_scratch_store_dword, s_store<Scratch, 1>),
    op(Op::s_scratch_store_dwordx2, s_store<Scratch, 2>),
    op(Op::s_scratch_store_dwordx4, s_store<Scratch, 4>),
    op(Op::s_dcache_inv, s_dcache),
    op(Op::s_dcache_wb, s_dcache),
    op(Op::s_dcache_inv_vol, s_dcache),
    op(Op::s_dcache_wb_vol, s_dcache),
    op(Op::s_dcache_discard, s_no_effect),
    op(Op::s_dcache_discard_x2, s_no_effect),
    op(Op::s_atc_probe, s_no_effect),
    op(Op::s_atc_probe_buffer, s_no_effect),
    op(Op::s_memtime, s_memtime),
    op(Op::s_memrealtime, s_memrealtime),
    HALYARD_ALL_ATOMICS(s_atomic_, Plain),
    HALYARD_ALL_ATOMICS(s_buffer_atomic_, Buffer),
};

#undef HALYARD_ALL_ATOMICS
#undef HALYARD_ATOMICS

}  // namespace

std::span<const Opcode> scalar_memory_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
