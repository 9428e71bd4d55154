// Memory of a Halyard device's, for the loops on it.
#pragma once

#include "hal/device.h"
#include "tools/bench/memory_loops.h"

namespace halyard::bench {

class HalyardMemory final : public MemoryApi {
 public:
  // `peer`: a second device, or null.
  HalyardMemory(Ref<Device> device, const Ref<Device>& peer);

  bool has_peer() const override { return static_cast<bool>(peer_); }
  void* host() override { return address_; }
  void copy(Block from, Block to, uint64_t bytes) override;
  void fill(uint32_t pattern, uint64_t bytes) override;
  void allocate_and_free(uint64_t bytes) override;

 private:
  Buffer& buffer(Block block) const;

  Ref<Device> device_;
  Ref<Queue> queue_;
  Ref<Semaphore> semaphore_;
  uint64_t timeline_ = 0;
  Ref<Buffer> host_, block_, other_, peer_;
  void* address_ = nullptr;  // of host_
};

}  // namespace halyard::bench
