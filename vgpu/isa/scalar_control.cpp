// SOPP and other instructions that change the program counter or the wave's mode (Vega ISA,
// chapters 3, 4 and 12.5).

#include <fmt/format.h>

#include <atomic>
#include <bit>

#include "vgpu/fence.h"
#include "vgpu/isa/fault.h"
#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/scalar_operands.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/wait_counts.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::isa {
namespace {

uint64_t branch_target(const Wave& w, const Instruction& i) {
  return w.pc + 4 + static_cast<int64_t>(i.offset) * 4;
}

Outcome jump(Wave& w, uint64_t target) {
  w.pc = target & ~uint64_t{3};  // the program counter has no bits 1:0
  return Outcome::kJump;
}

Outcome s_branch(Wave& w, const Instruction& i) {
  return jump(w, branch_target(w, i));
}

struct IfScc0 {
  static bool taken(const Wave& w) { return !w.scc; }
};
struct IfScc1 {
  static bool taken(const Wave& w) { return w.scc; }
};
struct IfVccz {
  static bool taken(const Wave& w) { return w.vcc() == 0; }
};
struct IfVccnz {
  static bool taken(const Wave& w) { return w.vcc() != 0; }
};
struct IfExecz {
  static bool taken(const Wave& w) { return w.exec() == 0; }
};
struct IfExecnz {
  static bool taken(const Wave& w) { return w.exec() != 0; }
};
// The conditional debug flags belong to a debugger, which is not there.
struct Never {
  static bool taken(const Wave&) { return false; }
};

template <class Condition>
Outcome s_cbranch(Wave& w, const Instruction& i) {
  return Condition::taken(w) ? s_branch(w, i) : Outcome::kNext;
}

Outcome s_getpc(Wave& w, const Instruction& i) {
  write(w, i.dst, w.pc + 4);
  return Outcome::kNext;
}

Outcome s_setpc(Wave& w, const Instruction& i) {
  return jump(w, read64(w, i.src[0]));
}

Outcome s_swappc(Wave& w, const Instruction& i) {
  const uint64_t target = read64(w, i.src[0]);
  write(w, i.dst, w.pc + 4);
  return jump(w, target);
}

Outcome s_call(Wave& w, const Instruction& i) {
  const uint64_t target = branch_target(w, i);
  write(w, i.dst, w.pc + 4);
  return jump(w, target);
}

// --- s_cbranch_g_fork, s_cbranch_i_fork, s_cbranch_join: a stack of (PC, EXEC) pairs in SGPRs,
// four for each level, whose depth is MODE.CSP. Both sides of a fork run, the one with fewer lanes
// first.

constexpr unsigned kCspShift = 29;

unsigned csp(const Wave& w) {
  return w.mode_bits >> kCspShift;
}

void set_csp(Wave& w, unsigned depth) {
  w.mode_bits = (w.mode_bits & ((1u << kCspShift) - 1)) | depth << kCspShift;
}

Outcome fork(Wave& w, uint64_t condition, uint64_t target) {
  const uint64_t exec = w.exec();
  const uint64_t pass = condition & exec, fail = ~condition & exec;
  if (pass == exec) return jump(w, target);
  if (fail == exec) return Outcome::kNext;
  const bool fall_through_first = std::popcount(fail) < std::popcount(pass);
  const unsigned slot = csp(w) * 4;
  w.set_scalar64(slot, fall_through_first ? pass : fail);
  w.set_scalar64(slot + 2, fall_through_first ? target : w.pc + 4);
  set_csp(w, (csp(w) + 1) & 7);
  w.set_exec(fall_through_first ? fail : pass);
  return fall_through_first ? Outcome::kNext : jump(w, target);
}

Outcome s_cbranch_g_fork(Wave& w, const Instruction& i) {
  return fork(w, read64(w, i.src[0]), read64(w, i.src[1]));
}

Outcome s_cbranch_i_fork(Wave& w, const Instruction& i) {
  return fork(w, read64(w, i.src[0]), branch_target(w, i));
}

Outcome s_cbranch_join(Wave& w, const Instruction& i) {
  if (csp(w) == (read32(w, i.src[0]) & 7)) return Outcome::kNext;
  set_csp(w, (csp(w) - 1) & 7);
  const unsigned slot = csp(w) * 4;
  w.set_exec(w.scalar64(slot));
  return jump(w, w.scalar64(slot + 2));
}

// --- Indirect scalar registers. Out of range (Vega ISA 3.6.3): a source reads SGPR 0, a
// destination is not written.

bool relative(const Wave& w, unsigned base, unsigned dwords, unsigned& index) {
  const uint64_t wide = uint64_t{base} + w.m0();
  index = static_cast<unsigned>(wide);
  return wide + dwords <= unpack_registers(w.allocated).sgprs;
}

template <class T>
Outcome s_movrels(Wave& w, const Instruction& i) {
  unsigned index = 0;
  Operand source = i.src[0];
  source.index =
      relative(w, i.src[0].index, sizeof(T) / 4, index) ? static_cast<uint16_t>(index) : 0;
  write(w, i.dst, read<T>(w, source));
  return Outcome::kNext;
}

template <class T>
Outcome s_movreld(Wave& w, const Instruction& i) {
  unsigned index = 0;
  if (!relative(w, i.dst.index, sizeof(T) / 4, index)) return Outcome::kNext;
  Operand destination = i.dst;
  destination.index = static_cast<uint16_t>(index);
  write(w, destination, read<T>(w, i.src[0]));
  return Outcome::kNext;
}

// --- Mode.

constexpr uint32_t kIndexMask = 0xff;        // M0[7:0]: how far registers are displaced
constexpr uint32_t kIndexModeMask = 0xf000;  // M0[15:12]: which operands are

void set_m0(Wave& w, uint32_t mask, uint32_t value) {
  w.sgpr[scalar::kM0] = (w.m0() & ~mask) | (value & mask);
}

Outcome s_set_gpr_idx_on(Wave& w, const Instruction& i) {
  set_m0(w, kIndexMask | kIndexModeMask,
         (read32(w, i.src[0]) & kIndexMask) | (read32(w, i.src[1]) & 15) << 12);
  w.set_mode(w.mode_bits | mode_bit::kGprIndex);
  return Outcome::kMode;
}

Outcome s_set_gpr_idx_off(Wave& w, const Instruction&) {
  w.set_mode(w.mode_bits & ~mode_bit::kGprIndex);
  return Outcome::kMode;
}

Outcome s_set_gpr_idx_idx(Wave& w, const Instruction& i) {
  set_m0(w, kIndexMask, read32(w, i.src[0]));
  return Outcome::kNext;
}

Outcome s_set_gpr_idx_mode(Wave& w, const Instruction& i) {
  set_m0(w, kIndexModeMask, (static_cast<uint32_t>(i.offset) & 15) << 12);
  return Outcome::kNext;
}

Outcome s_setvskip(Wave& w, const Instruction& i) {
  const bool skip = (read32(w, i.src[0]) >> (read32(w, i.src[1]) & 31)) & 1;
  w.set_mode(skip ? w.mode_bits | mode_bit::kVskip : w.mode_bits & ~mode_bit::kVskip);
  return Outcome::kMode;
}

// Hardware registers (Vega ISA 3.x and 13.1.4, LLVM's AMDGPUUsage "hwreg").
namespace hwreg {
// Vega ISA, 5.4 (table of S_GETREG's registers); from 16 on as LLVM AMDGPUUsage names them.
constexpr unsigned kMode = 1, kStatus = 2, kTrapsts = 3, kHwId = 4, kGprAlloc = 5, kLdsAlloc = 6,
                   kIbSts = 7, kShMemBases = 15, kXccId = 20;
}  // namespace hwreg

bool is_hwreg(const Target& target, unsigned id) {
  return (id >= hwreg::kMode && id <= hwreg::kIbSts) ||
         (id >= hwreg::kShMemBases && id <= target.last_hwreg);
}

uint32_t read_hwreg(const Wave& w, unsigned id) {
  switch (id) {
    case hwreg::kMode:
      return w.mode_bits;
    case hwreg::kStatus:  // SCC, EXECZ, VCCZ, IN_TG, VALID
      return uint32_t{w.scc} | uint32_t{w.exec() == 0} << 9 | uint32_t{w.vcc() == 0} << 10 |
             1u << 11 | 1u << 16;
    case hwreg::kTrapsts:
      return w.trapsts;
    case hwreg::kHwId:
      if (w.group != nullptr) w.group->settle();
      return w.hw_id;
    case hwreg::kGprAlloc: {  // sizes in granules, less one; of SGPRs a granule is 16
      const uint32_t vgprs = w.vgpr_count + (w.target->accum_offset ? w.agpr_count : 0u);
      return (vgprs / w.target->vgpr_granule - 1) << 8 |
             (unpack_registers(w.allocated).sgprs / 16 - 1) << 24;
    }
    case hwreg::kLdsAlloc:
      return w.lds_size / w.target->lds_granule << 12;
    case hwreg::kShMemBases:  // bits 63:48 of both apertures
      return static_cast<uint32_t>(w.apertures[0] >> 48) << 16 |
             static_cast<uint32_t>(w.apertures[2] >> 48);
    case hwreg::kXccId:
      return w.xcc_id;
    // IB_STS: an instruction's memory operations have ended before the next one. TBA and TMA: there
    // is no trap handler. SQ_PERF_SNAPSHOT_*: nobody samples the wave.
    default:
      return 0;
  }
}

struct HwregField {
  unsigned id, offset;
  uint32_t mask;  // before it is shifted to `offset`
  explicit HwregField(const Instruction& i)
      : id(i.offset & 63),
        offset((i.offset >> 6) & 31),
        mask(static_cast<uint32_t>((uint64_t{1} << (((i.offset >> 11) & 31) + 1)) - 1)) {}
};

[[gnu::cold]] Outcome fault_hwreg(Wave& w, const Instruction& i, unsigned id) {
  return fault_illegal(
      w, i,
      fmt::format(
          "names the hardware register {}, which this processor does not have; it has 1 to 7 "
          "and 15 to {}",
          id, w.target->last_hwreg));
}

Outcome s_getreg(Wave& w, const Instruction& i) {
  const HwregField f(i);
  if (!is_hwreg(*w.target, f.id)) return fault_hwreg(w, i, f.id);
  write(w, i.dst, (read_hwreg(w, f.id) >> f.offset) & f.mask);
  return Outcome::kNext;
}

// The other registers are read-only for a user's wave.
Outcome s_setreg(Wave& w, const Instruction& i) {
  const HwregField f(i);
  if (!is_hwreg(*w.target, f.id)) return fault_hwreg(w, i, f.id);
  const uint32_t mask = f.mask << f.offset;
  const uint32_t value = (read32(w, i.src[0]) << f.offset) & mask;
  if (f.id == hwreg::kTrapsts) w.trapsts = (w.trapsts & ~mask) | value;
  if (f.id != hwreg::kMode) return Outcome::kNext;
  w.set_mode((w.mode_bits & ~mask) | value);
  return Outcome::kMode;
}

// --- The rest of SOPP.

Outcome nothing(Wave&, const Instruction&) {
  return Outcome::kNext;
}

Outcome s_endpgm(Wave&, const Instruction&) {
  return Outcome::kEnd;
}

Outcome s_barrier(Wave&, const Instruction&) {
  return Outcome::kBarrier;
}

Outcome s_sleep(Wave&, const Instruction& i) {
  return (i.offset & 127) ? Outcome::kYield : Outcome::kNext;
}

// Handlers complete their accesses before they return, so there is nothing to wait for; but on the
// host a load may still overtake an earlier store of this wave, which a wait for that store
// forbids.
Outcome s_waitcnt(Wave& w, const Instruction& i) {
  const auto counts = WaitCounts::decode(static_cast<uint32_t>(i.offset));
  if (w.stores_pending && (counts.vm == 0 || counts.lgkm == 0)) {
    full_fence();
    w.stores_pending = false;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool waits = counts.vm != WaitCounts::kMostVm || counts.lgkm != WaitCounts::kMostLgkm;
  return waits ? Outcome::kWait : Outcome::kNext;
}

Outcome s_sendmsg(Wave& w, const Instruction& i) {
  constexpr unsigned kInterrupt = 1;
  const unsigned message = i.offset & 15;
  if (message != kInterrupt)
    return fault_illegal(
        w, i, fmt::format("sends message ({}), and only interrupts (1) exist here", message));
  // The wave's earlier writes must be visible to the threads that the event wakes.
  full_fence();
  if (w.services) w.services->raise_event(w.m0());
  return Outcome::kNext;
}

Outcome s_trap(Wave& w, const Instruction& i) {
  const unsigned id = i.offset & 0xff;
  // 3 is llvm.debugtrap: without a debugger the trap handler returns at once.
  if (id == 3) return Outcome::kNext;
  w.fault.kind = Fault::Kind::kTrap;
  w.fault.message = id == 2 ? std::string("The kernel called s_trap 2 (llvm.trap: an abort).")
                            : fmt::format("The kernel called s_trap ({}).", id);
  return Outcome::kFault;
}

Outcome halt(Wave& w, const Instruction& i) {
  return fault_illegal(w, i, "halts the wave, and there is no debugger to resume it");
}

Outcome s_sethalt(Wave& w, const Instruction& i) {
  return (i.offset & 1) ? halt(w, i) : Outcome::kNext;
}

Outcome s_sendmsghalt(Wave& w, const Instruction& i) {
  const Outcome sent = s_sendmsg(w, i);
  return sent == Outcome::kNext ? halt(w, i) : sent;
}

Outcome s_setkill(Wave&, const Instruction& i) {
  return (i.offset & 1) ? Outcome::kEnd : Outcome::kNext;
}

Outcome s_icache_inv(Wave& w, const Instruction&) {
  if (w.services) w.services->invalidate_code();
  return Outcome::kMode;
}

constexpr Opcode kOpcodes[] = {
    op(Op::s_branch, s_branch),
    op(Op::s_cbranch_scc0, s_cbranch<IfScc0>),
    op(Op::s_cbranch_scc1, s_cbranch<IfScc1>),
    op(Op::s_cbranch_vccz, s_cbranch<IfVccz>),
    op(Op::s_cbranch_vccnz, s_cbranch<IfVccnz>),
    op(Op::s_cbranch_execz, s_cbranch<IfExecz>),
    op(Op::s_cbranch_execnz, s_cbranch<IfExecnz>),
    op(Op::s_cbranch_cdbgsys, s_cbranch<Never>),
    op(Op::s_cbranch_cdbguser, s_cbranch<Never>),
    op(Op::s_cbranch_cdbgsys_or_user, s_cbranch<Never>),
    op(Op::s_cbranch_cdbgsys_and_user, s_cbranch<Never>),
    op(Op::s_getpc_b64, s_getpc),
    op(Op::s_setpc_b64, s_setpc),
    op(Op::s_swappc_b64, s_swappc),
    op(Op::s_call_b64, s_call),
    op(Op::s_cbranch_g_fork, s_cbranch_g_fork),
    op(Op::s_cbranch_i_fork, s_cbranch_i_fork),
    op(Op::s_cbranch_join, s_cbranch_join),
    op(Op::s_movrels_b32, s_movrels<uint32_t>),
    op(Op::s_movrels_b64, s_movrels<uint64_t>),
    op(Op::s_movreld_b32, s_movreld<uint32_t>),
    op(Op::s_movreld_b64, s_movreld<uint64_t>),
    op(Op::s_set_gpr_idx_on, s_set_gpr_idx_on),
    op(Op::s_set_gpr_idx_off, s_set_gpr_idx_off),
    op(Op::s_set_gpr_idx_idx, s_set_gpr_idx_idx),
    op(Op::s_set_gpr_idx_mode, s_set_gpr_idx_mode),
    op(Op::s_setvskip, s_setvskip),
    op(Op::s_getreg_b32, s_getreg),
    op(Op::s_setreg_b32, s_setreg),
    op(Op::s_setreg_imm32_b32, s_setreg),
    op(Op::s_nop, nothing),
    op(Op::s_setprio, nothing),
    op(Op::s_incperflevel, nothing),
    op(Op::s_decperflevel, nothing),
    op(Op::s_ttracedata, nothing),
    op(Op::s_wakeup, nothing),
    op(Op::s_endpgm, s_endpgm),
    op(Op::s_endpgm_saved, s_endpgm),
    op(Op::s_barrier, s_barrier),
    op(Op::s_sleep, s_sleep),
    op(Op::s_waitcnt, s_waitcnt),
    op(Op::s_sendmsg, s_sendmsg),
    op(Op::s_sendmsghalt, s_sendmsghalt),
    op(Op::s_trap, s_trap),
    op(Op::s_sethalt, s_sethalt),
    op(Op::s_setkill, s_setkill),
    op(Op::s_icache_inv, s_icache_inv),
};

}  // namespace

std::span<const Opcode> scalar_control_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
