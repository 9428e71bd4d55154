// The state of one wavefront: what its instructions read and write.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/memory.h"

namespace halyard::vgpu::isa {

struct WorkGroup;
class Program;

// What stopped a wave. `code` is the bit pattern that the packet processor stores in the queue's
// inactive signal (shared facts: queue_inactive_signal); a memory fault goes through the memory
// event instead.
struct Fault {
  enum class Kind : uint8_t {
    kNone,
    kIllegalInstruction,
    kMemory,
    kTrap,
    kAperture,
    kWatchdog,
    // The dispatch itself cannot run; no wave was started.
    kCode,           // the kernel object or its entry is not readable
    kGroupMemory,    // more LDS than a compute unit has
    kWorkGroupSize,  // no or too many work-items in a work-group
  };
  Kind kind = Kind::kNone;
  uint64_t address = 0;  // kMemory: the address that could not be accessed
  bool is_write = false;
  int lane = -1;        // the lowest lane that is to blame; -1: the whole wave
  std::string message;  // a sentence that names the instruction, in words for a person
};

// What the packet processor stores in the queue's inactive signal for a fault. A memory fault goes
// through the memory event; its code here is for a queue that has none.
constexpr uint64_t queue_error_code(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kNone:
      return 0;
    case Fault::Kind::kGroupMemory:
      return 4;
    case Fault::Kind::kCode:
      return 8;
    case Fault::Kind::kWorkGroupSize:
      return 64;
    case Fault::Kind::kMemory:
    case Fault::Kind::kAperture:
      return 0x20000000;
    case Fault::Kind::kIllegalInstruction:
      return 0x40000000;
    case Fault::Kind::kTrap:
    case Fault::Kind::kWatchdog:
      return 0x80000000;
  }
  return 0x40000000;
}

// What a wave asks of the engine that runs it.
class WaveServices {
 public:
  virtual ~WaveServices() = default;
  virtual void raise_event(uint32_t payload) = 0;  // s_sendmsg(MSG_INTERRUPT)
  virtual void invalidate_code() = 0;              // s_icache_inv
  virtual uint64_t shader_clock() = 0;             // s_memtime: shader clocks
  virtual uint64_t reference_clock() = 0;          // s_memrealtime: EngineOptions::clock_hz
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
  bool dx10_clamp = true;      // clamp turns NaN into 0
  bool ieee = true;            // quieting of signalling NaNs, as IEEE 754 wants
  bool fp16_overflow = false;  // FP16_OVFL: an overflowing f16 result becomes ±65504, not infinity
};

// MODE's fields (Vega ISA 3.4, "Mode register").
namespace mode_bit {
inline constexpr uint32_t kDx10Clamp = 1u << 8;
inline constexpr uint32_t kIeee = 1u << 9;
inline constexpr uint32_t kFp16Overflow = 1u << 23;
inline constexpr uint32_t kGprIndex = 1u << 27;
inline constexpr uint32_t kVskip = 1u << 28;
}  // namespace mode_bit

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
  // Not 0: scratch is memory of the program's, at FLAT_SCRATCH, and the two above are 0.
  uint32_t program_scratch_bytes_per_lane = 0;

  WorkGroup* group = nullptr;
  const Program* program = nullptr;
  const struct Target* target = nullptr;
  AddressSpace* memory = nullptr;
  uint32_t index_in_group = 0;

  uint32_t allocated = 0;  // registers of each file, packed as in Instruction::needs
  uint8_t* lds = nullptr;  // the work-group's; only the thread that runs the group touches it
  uint32_t lds_size = 0;
  WaveServices* services = nullptr;
  uint32_t hw_id = 0;    // HW_ID as s_getreg_b32 sees it: where on the device the wave sits
  uint32_t xcc_id = 0;   // XCC_ID: which of the GPU's dies with compute units
  uint32_t trapsts = 0;  // TRAPSTS; exceptions are not raised, so it holds what was written to it

  // Ranges that were found for earlier accesses, valid while AddressSpace::epoch() is
  // `range_epoch`.
  static constexpr unsigned kRanges = 4;
  MemoryRange ranges[kRanges];
  uint64_t range_epoch = ~uint64_t{0};
  uint8_t next_range = 0;
  bool stores_pending = false;  // a store to memory that no s_waitcnt has ordered yet
  bool vskip = false;           // kept in step with mode_bits
  bool gpr_indexing = false;

  Fault fault;

  // Writes MODE and the values decoded from it.
  void set_mode(uint32_t bits) {
    mode_bits = bits;
    mode.round_f32 = bits & 3;
    mode.round_f16_f64 = (bits >> 2) & 3;
    mode.denorm_f32 = (bits >> 4) & 3;
    mode.denorm_f16_f64 = (bits >> 6) & 3;
    mode.dx10_clamp = bits & mode_bit::kDx10Clamp;
    mode.ieee = bits & mode_bit::kIeee;
    mode.fp16_overflow = bits & mode_bit::kFp16Overflow;
    gpr_indexing = bits & mode_bit::kGprIndex;
    vskip = bits & mode_bit::kVskip;
  }

  uint32_t private_bytes_per_lane() const {
    return program_scratch_bytes_per_lane != 0 ? program_scratch_bytes_per_lane
                                               : scratch_bytes_per_lane;
  }
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
