// What a memory instruction does with one lane's bytes, read off its name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {

struct MemoryOperation {
  enum class What : uint8_t { kLoad, kStore, kAtomic } what = What::kLoad;
  unsigned bytes = 4;                        // of memory, in each place
  bool is_signed = false;                    // a small load
  bool low_half = false, high_half = false;  // the D16 forms: of the register
  bool ecc = false;                          // of the registers: a load of a half clears the rest
  std::string op;                            // "add", "smin", "cmpswap", …
  char type = 'u';                           // of an atomic: u, i, b, f; p, q: two f16, two bf16
  bool keeps_denormals = false;              // of f32 in memory: gfx942 and later
  bool returns = false;
  bool second = false;  // takes two data operands (compare and swap, mskor, wrap)
  bool lds = false;

  unsigned data_dwords() const { return (bytes + 3) / 4; }
};

// Of "flat_load_sbyte_d16", "buffer_atomic_smax_x2", "ds_read_u8_d16_hi", "ds_add_rtn_u32", …
// False if the name is of no such instruction.
bool parse_memory(const std::string& name, MemoryOperation& operation);

// An atomic's new value.
uint64_t atomic_result(const MemoryOperation& o, const Mode& mode, uint64_t old, uint64_t data,
                       uint64_t second);

// One lane. `place` is where byte `n` of the access is, or null outside of the buffer or of LDS;
// `data` and `second` are its operands, and `result` becomes what a load or an atomic returns (with
// what the register held before on entry).
using Place = std::function<uint8_t*(unsigned n)>;
void access_lane(const MemoryOperation& o, const Mode& mode, const Place& place, const Dwords& data,
                 const Dwords& second, Dwords& result);

}  // namespace halyard::vgpu::isa::model
