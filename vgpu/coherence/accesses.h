// The effects of an instruction on memory and caches, from its row and the registers
// before it is executed.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/coherence/model.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::coherence {

// Of an opcode.
struct Effect {
  enum class Kind : uint8_t {
    kNone,
    kVector,  // vector memory
    kScalar,  // scalar memory
    kWait,    // s_waitcnt
    kInvalidateL1,
    kInvalidateScoped,  // the L1, and the L2 as far as the scope says
    kInvalidateL2,
    kWriteBackL2,
    kInvalidateScalar,
    kWriteBackScalar,
    kInvalidateCode,
  };
  Kind kind = Kind::kNone;
  Use use = Use::kLoad;
  uint8_t bytes = 0;  // of a lane's access; 0: the buffer's format says
};

Effect effect_of(const isa::Instruction& instruction);

// The lines that a memory instruction is about to touch, and each lane's first byte.
class Accesses {
 public:
  // Bytes outside of buffers, LDS and private memory are left out.
  void read(const isa::Wave& wave, const isa::Instruction& instruction, const Effect& effect);

  const std::vector<LineAccess>& lines() const { return lines_; }
  // The first access of a lane that touches a byte of `mask` in `line`. Lane -1: a scalar one.
  struct Lane {
    int lane = -1;
    uint64_t address = 0;  // the host's
    unsigned bytes = 0;
  };
  Lane find(uint64_t line, uint64_t mask) const;

 private:
  void add(int lane, uint64_t address, unsigned bytes);
  void add_line(uint64_t line, uint64_t mask);
  void read_flat(const isa::Wave& wave, const isa::Instruction& i, const Effect& effect);
  void read_buffer(const isa::Wave& wave, const isa::Instruction& i, const Effect& effect);
  void read_scalar(const isa::Wave& wave, const isa::Instruction& i, const Effect& effect);

  std::vector<LineAccess> lines_;
  std::vector<Lane> lanes_;
  const isa::AddressSpace* memory_ = nullptr;  // the GPU's
  isa::MemoryRange range_;                     // of it, the last that was found
};

// "reads", "writes", "updates".
const char* verb(Use use);

}  // namespace halyard::vgpu::coherence
