// Tells the model of what kernels do to memory and caches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "vgpu/coherence/model.h"
#include "vgpu/coherence/packets.h"
#include "vgpu/isa/observer.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::coherence {

class Kernels final : public isa::Observer {
 public:
  Kernels(Model& model, Packets& packets) : model_(model), packets_(packets) {}

  void begin(const isa::GroupContext& context) override;
  void end(const isa::GroupContext& context, const isa::DispatchResult& result) override;
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

 private:
  class Group;
  class Names;

  // The assembler text of an instruction; LLVM makes it once.
  const std::string& text(const isa::GroupContext& context, uint64_t pc, uint64_t encoding);

  Model& model_;
  Packets& packets_;
  // Under the model's mutex.
  std::unordered_map<const isa::GroupContext*, WorkId> running_;
  struct Text {
    uint64_t encoding = 0;
    std::string text;
  };
  std::unordered_map<uint64_t, Text> texts_;  // by address
};

}  // namespace halyard::vgpu::coherence
