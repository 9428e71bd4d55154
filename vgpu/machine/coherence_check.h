// The coherence check of a process: the model (vgpu/coherence) and what tells it of memory, packets
// and kernels.
#pragma once

#include <functional>
#include <string_view>

#include "vgpu/coherence/kernels.h"
#include "vgpu/coherence/model.h"
#include "vgpu/coherence/packets.h"
#include "vgpu/machine/memory_map.h"
#include "vgpu/machine/profile.h"

namespace halyard::vgpu::machine {

class CoherenceCheck final : public MemoryObserver {
 public:
  // `notes`: of what the vendor's runtime relies on, too.
  CoherenceCheck(const Profile& profile, coherence::KernelNames names,
                 coherence::HostAddresses addresses, std::function<void(std::string_view)> report,
                 bool notes);

  void set_window_register(uint32_t node, uint32_t* hdp_flush);
  queue::PacketObserver& packets() { return packets_; }
  isa::Observer& kernels() { return kernels_; }

  void added(const Memory& memory) override;
  void removed(uint64_t begin) override;
  void remapped(uint64_t begin) override;
  void shared(uint64_t begin) override;

 private:
  const Profile& profile_;
  coherence::Model model_;
  coherence::Packets packets_;
  coherence::Kernels kernels_;
};

}  // namespace halyard::vgpu::machine
