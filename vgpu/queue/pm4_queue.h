// A compute queue whose ring holds PM4 packets (KFD_IOC_QUEUE_TYPE_COMPUTE).
//
// The write index counts dwords and never wraps. The read index is what the compute engine of gfx9
// reports: 32 bits, the dword of the ring at which it is. A packet that cannot be executed stops
// the queue for good, which shows as a fault, because such a queue has no error signal.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/queue/hardware_queue.h"
#include "vgpu/queue/pm4_processor.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue {

class Pm4Queue final : public HardwareQueue, private pm4::Owner {
 public:
  Pm4Queue(const Device& device, uint32_t id, const Ring& ring);

 protected:
  void run() override;

 private:
  // pm4::Owner. Packets are executed without the ring.
  bool stopping() const override { return HardwareQueue::stopping(); }
  int priority() const override { return HardwareQueue::priority(); }
  void pause(WakeSource* source) override { idle_.pause(source); }
  isa::DispatchResult run(const isa::Dispatch& dispatch) override {
    return HardwareQueue::execute(dispatch);
  }
  PacketObserver::Pm4Place place() override { return {++observed_, at_, write_index()}; }

  uint64_t write_index() const { return __atomic_load_n(ring().write_index, __ATOMIC_ACQUIRE); }
  uint64_t ring_words() const { return ring().bytes / 4; }
  // A dword of the ring. The host may write it at any time.
  uint32_t ring_word(uint64_t index) const {
    const SharedMemoryAccess host_sees;
    return static_cast<const uint32_t*>(ring().base)[index & (ring_words() - 1)];
  }
  // Takes the packet at at_, of which `available` dwords are there. False: not all of it is.
  bool take(uint64_t available);
  void publish();
  void stop_with(const pm4::Failure& failure);

  pm4::Processor processor_;
  uint64_t at_ = 0;    // the dword of the current packet
  uint64_t skip_ = 0;  // dwords that are not to be executed
  uint64_t observed_ = 0;
  std::vector<uint32_t> packet_;
};

}  // namespace halyard::vgpu::queue
