// The state of one wavefront: what its instructions read and write.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "vgpu/isa/instruction.h"

namespace halyard::vgpu::isa {

struct WorkGroup;
class Program;
class AddressSpace;

// What stopped a wave. `code` is the bit pattern that the packet processor stores in the queue's
// inactive signal (shared facts: queue_inactive_signal); a memory fault goes through the memory
// event instead.
struct Fault {
  enum class Kind : uint8_t { kNone, kIllegalInstruction, kMemory, kTrap, kAperture, kWatchdog };
  Kind kind = Kind::kNone;
  uint64_t address = 0;  // kMemory: the address that could not be accessed
  bool is_write = false;
  std::string message;  // a sentence that names the instruction, in words for a person
};

// One VGPR: 64 lanes of 32 bits.
struct alignas(64) VectorRegister {
  uint32_t lane[kLanes];
};

// The MODE hardware register (Vega ISA 3.4), kept decoded because every float handler reads it.
struct FloatMode {
  uint8_t round_f32 = 0;      // 0 nearest even, 1 +inf, 2 -inf, 3 toward zero
  uint8_t round_f16_f64 = 0;  // the same codes
  uint8_t denorm_f32 = 3;     // bit 0: keep input denormals, bit 1: keep output denormals
  uint8_t denorm_f16_f64 = 3;
  bool dx10_clamp = true;  // clamp turns NaN into 0
  bool ieee = true;        // quieting of signalling NaNs, as IEEE 754 wants
};

struct Wave {
  // Scalars, indexed as encodings index them: 0–101 SGPRs, then FLAT_SCRATCH, XNACK_MASK, VCC,
  // TTMPs, M0 (124) and EXEC (126).
  uint32_t sgpr[scalar::kCount] = {};
  bool scc = false;

  // Byte address of the instruction being executed. A handler that jumps sets it and returns
  // Outcome::kJump; otherwise the scheduler adds the instruction's size.
  uint64_t pc = 0;

  VectorRegister* vgpr = nullptr;  // as many as the kernel's descriptor asks for, owned by the pool
  VectorRegister* agpr = nullptr;  // gfx908: a file of its own; gfx90a: vgpr + ACCUM_OFFSET
  uint16_t vgpr_count = 0;
  uint16_t agpr_count = 0;

  FloatMode mode;
  uint32_t mode_bits = 0;  // the MODE register as s_getreg_b32 sees it, kept in step with `mode`
  uint64_t apertures[4] = {};  // SHARED_BASE, SHARED_LIMIT, PRIVATE_BASE, PRIVATE_LIMIT

  // Scratch: lane l's dword at private byte offset o lives at scratch_base + (o/4)*256 + l*4 + o%4.
  uint64_t scratch_base = 0;
  uint32_t scratch_bytes_per_lane = 0;

  WorkGroup* group = nullptr;
  const Program* program = nullptr;
  AddressSpace* memory = nullptr;
  uint32_t index_in_group = 0;

  Fault fault;

  uint64_t exec() const { return scalar64(scalar::kExec); }
  uint64_t vcc() const { return scalar64(scalar::kVcc); }
  void set_exec(uint64_t v) { set_scalar64(scalar::kExec, v); }
  void set_vcc(uint64_t v) { set_scalar64(scalar::kVcc, v); }
  uint32_t m0() const { return sgpr[scalar::kM0]; }

  uint64_t scalar64(unsigned index) const {
    uint64_t v;
    std::memcpy(&v, &sgpr[index], sizeof v);
    return v;
  }
  void set_scalar64(unsigned index, uint64_t v) { std::memcpy(&sgpr[index], &v, sizeof v); }
};

}  // namespace halyard::vgpu::isa
