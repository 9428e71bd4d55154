#include "vgpu/isa/float_atomics.h"

#include <bit>

#include "vgpu/isa/engine.h"
#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::isa {
uint64_t carried_out(Wave& wave, VectorRegister* dst, unsigned bytes, uint64_t mask,
                     const uint64_t* address) {
  const GroupContext* const context = wave.group != nullptr ? wave.group->context : nullptr;
  if (context == nullptr || context->float_atomics == nullptr) return mask;
  const MemoryRange scratch = scratch_range(wave);
  MemoryRange range;
  bool told = false;
  uint64_t kept = mask;
  for (uint64_t left = mask; left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    const uint64_t at = address[l];
    if (range.contains(at, bytes) || scratch.contains(at, bytes)) continue;
    range = context->float_atomics->find(at);
    // Inaccessible or misaligned addresses are faults, as for other atomics.
    if (range.contains(at, bytes) || at % bytes != 0 || find_host(wave, at, bytes, true) == nullptr)
      continue;
    kept &= ~(uint64_t{1} << l);
    if (dst != nullptr) {
      for (unsigned k = 0; k < bytes / 4; ++k) dst[k].lane[l] = 0;
    }
    if (told || !*context->dropped_atomic) continue;
    told = true;
    (*context->dropped_atomic)({*context, wave, at, l});
  }
  return kept;
}

}  // namespace halyard::vgpu::isa
