#include "vgpu/machine/coherence_check.h"

#include <utility>
#include <vector>

#include "vgpu/coherence/host_view.h"

namespace halyard::vgpu::machine {
namespace {

std::vector<coherence::GpuFacts> facts_of(const Profile& profile) {
  std::vector<coherence::GpuFacts> facts;
  for (const GpuProfile& gpu : profile.gpus) {
    const auto node = static_cast<uint32_t>(facts.size()) + 1;
    facts.push_back(coherence::facts_of(node, gpu.processor, gpu.xcds, gpu.apu));
  }
  return facts;
}

}  // namespace

CoherenceCheck::CoherenceCheck(const Profile& profile, coherence::KernelNames names,
                               coherence::HostAddresses addresses,
                               std::function<void(std::string_view)> report, bool notes)
    : profile_(profile),
      model_(facts_of(profile), std::move(report), notes),
      packets_(model_, std::move(names), std::move(addresses)),
      kernels_(model_, packets_) {
  model_.guard_host_pages();
  coherence::watch_host(model_);
}

void CoherenceCheck::added(const Memory& memory) {
  coherence::Allocation allocation;
  allocation.begin = memory.begin;
  allocation.size = memory.size;
  allocation.placement.node = memory.node;
  allocation.placement.coarse_grained = memory.coarse_grained;
  allocation.placement.host_visible = memory.node == 0 || profile_.gpus[memory.node - 1].large_bar;
  allocation.placement.own_mapping = memory.own_mapping;
  allocation.placement.is_shared = memory.is_shared;
  const coherence::Model::Lock lock(model_);
  model_.allocated(allocation);
}

void CoherenceCheck::set_window_register(uint32_t node, uint32_t* hdp_flush) {
  const coherence::Model::Lock lock(model_);
  model_.set_window_register(node - 1, hdp_flush);
}

void CoherenceCheck::shared(uint64_t begin) {
  const coherence::Model::Lock lock(model_);
  model_.shared(begin);
}

void CoherenceCheck::remapped(uint64_t begin) {
  const coherence::Model::Lock lock(model_);
  model_.forget(begin);
}

void CoherenceCheck::removed(uint64_t begin) {
  const coherence::Model::Lock lock(model_);
  model_.freed(begin);
}

}  // namespace halyard::vgpu::machine
