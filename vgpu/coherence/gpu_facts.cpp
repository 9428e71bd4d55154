// What the model has to know of a GPU.
#include "vgpu/coherence/model.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::coherence {

GpuFacts facts_of(uint32_t node, const std::string& processor, uint32_t xcds, bool apu) {
  GpuFacts facts;
  facts.node = node;
  facts.processor = processor;
  facts.xcds = xcds;
  isa::Target target;
  std::string unknown;
  if (!isa::find_target(processor, "", target, unknown)) return facts;
  facts.caching.probes_own = target.probed_l2;
  if (target.probed_l2) {
    facts.invalidate_l2 = "buffer_invl2";
    facts.write_back_l2 = "buffer_wbl2";
  }
  if (!target.scope_bits) return facts;
  facts.caching.holds_fine_grained = true;
  facts.caching.host_is_uncached = !apu;
  facts.caching.host_is_own = apu;
  facts.invalidate_l1 = "buffer_inv sc1";
  facts.invalidate_l2 = "buffer_inv sc0 sc1";
  facts.write_back_l2 = "buffer_wbl2 sc0 sc1";
  return facts;
}

}  // namespace halyard::vgpu::coherence
