#include "vgpu/observe/atomic_check.h"

#include <fmt/format.h>

#include "vgpu/isa/program.h"

namespace halyard::vgpu::observe {

void AtomicCheck::dropped(const isa::DroppedAtomic& atomic) {
  const uint64_t object = atomic.context.dispatch->kernel_object;
  const uint64_t pc = atomic.wave.pc;
  {
    const std::lock_guard lock(mutex_);
    if (!seen_.emplace(object, pc).second) return;
  }
  char place[256] = "";
  atomic.context.memory->describe(atomic.address, place, sizeof place);
  report_(fmt::format(
      "halyard vgpu: check: float atomic on fine-grained memory in {} on {}\n"
      "  work-group {}, wave {}, lane {}: address {:#x}, {}\n"
      "  this GPU does not carry it out: nothing is written, and 0 is returned. Allocate the "
      "memory "
      "coarse-grained (hipMalloc), or have the compiler write a compare-and-swap loop\n"
      "  pc {}: {}\n",
      kernel_text(names_, object), atomic.context.target->processor, group_text(*atomic.wave.group),
      atomic.wave.index_in_group, atomic.lane, atomic.address, place,
      offset_text(atomic.context, pc), atomic.context.program->text(pc)));
}

}  // namespace halyard::vgpu::observe
