// The registers that an instruction reads and writes, and its kind for waits: one description for
// all checks, from the decoded Instruction and its row.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "vgpu/isa/wave.h"

namespace halyard::vgpu::observe {

// The register files, as operands number them. A wave's AGPRs are a separate file, also on gfx90a,
// where both are parts of one file: no register has two names.
enum class RegisterFile : uint8_t { kScalar, kVector, kAcc };
inline constexpr unsigned kRegisterFiles = 3;

struct RegisterRange {
  RegisterFile file = RegisterFile::kScalar;
  uint16_t first = 0;
  uint16_t count = 0;

  friend bool operator==(const RegisterRange&, const RegisterRange&) = default;
};

// What an instruction is to the wait counters.
enum class Role : uint8_t {
  kNone,
  kLoad,             // memory or LDS to registers (or from memory to LDS), a clock, a permutation
  kStore,            // registers to memory or LDS
  kAtomic,           // with or without a result
  kCacheControl,     // a vector cache is written back, or the L2 invalidated
  kCacheInvalidate,  // the vector L1 is invalidated
  kScalarCache,      // scalar data cache: written back, invalidated, probed
  kMessage,          // s_sendmsg
  kWait,             // s_waitcnt
  kBarrier,          // s_barrier
  kEnd,              // s_endpgm
};

// Registers that an instruction reads, and those that it writes. A memory instruction (one of the
// formats SMEM, DS, FLAT, MUBUF and MTBUF) reads all of them when it is issued, and writes later.
// What it keeps of a register that it writes in part (inactive lanes, the other half of a d16 load)
// does not count as read. Registers that it writes under a condition, EXEC included, count as
// written.
struct Effects {
  // More than any instruction has: four operands, a destination, and what is implied.
  static constexpr unsigned kMost = 16;

  std::span<const RegisterRange> read() const { return {reads_.data(), read_count_}; }
  std::span<const RegisterRange> written() const { return {writes_.data(), write_count_}; }

  void add_read(RegisterFile file, unsigned first, unsigned count) {
    add(reads_, read_count_, {file, static_cast<uint16_t>(first), static_cast<uint16_t>(count)});
  }
  void add_written(RegisterFile file, unsigned first, unsigned count) {
    add(writes_, write_count_, {file, static_cast<uint16_t>(first), static_cast<uint16_t>(count)});
  }
  // Ranges were left out. A test sees that no encoding of any processor gets here.
  bool is_cut() const { return is_cut_; }

 private:
  void add(std::array<RegisterRange, kMost>& ranges, uint8_t& count, const RegisterRange& range) {
    is_cut_ = is_cut_ || count == kMost;
    if (count < kMost) ranges[count++] = range;
  }

  std::array<RegisterRange, kMost> reads_;
  std::array<RegisterRange, kMost> writes_;
  uint8_t read_count_ = 0;
  uint8_t write_count_ = 0;
  bool is_cut_ = false;
};

// kNone for what is not executed.
Role role_of(const isa::Instruction& instruction);

// Of an instruction that `wave` is about to execute: registers that M0 or MODE displace are the
// ones meant. Fills an empty `effects`.
void find_effects(const isa::Wave& wave, const isa::Instruction& instruction, Effects& effects);

}  // namespace halyard::vgpu::observe
