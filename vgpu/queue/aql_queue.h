// The packet processor of an AQL queue (HSA System Architecture 1.2, section 2.9, and AMD's vendor
// packets).
//
// One thread takes packets in order and finishes each before the next one, so the barrier bit and
// the order of completions hold by themselves. As in hardware, a packet that cannot be executed
// stops the queue permanently, with the reason in queue_inactive_signal.
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include <cstdint>
#include <optional>
#include <string>

#include "vgpu/queue/hardware_queue.h"
#include "vgpu/queue/pm4_processor.h"

namespace halyard::vgpu::queue {

// What queue_inactive_signal is set to (the bits that ROCR 5.2.3 turns into a status).
enum class QueueError : uint32_t {
  kDimensions = 2,
  kGroupMemory = 4,
  kCode = 8,
  kPacketFormat = 32,
  kWorkGroupSize = 64,
  kRegisters = 128,
  kVendorPacketFormat = 256,
  kAperture = 0x20000000,
  kIllegalInstruction = 0x40000000,
  kTrap = 0x80000000,
};
QueueError error_of(isa::Fault::Kind kind);

// What belongs to a queue besides its ring, whose indices count packets of 64 bytes.
struct AqlQueueMemory {
  // Null: the program keeps its indices elsewhere, and gets no error codes.
  amd_queue_t* queue = nullptr;
  uint64_t address = 0;  // what kernels get as the queue's
};

class AqlQueue final : public HardwareQueue {
 public:
  AqlQueue(const Device& device, uint32_t id, const Ring& ring, const AqlQueueMemory& memory);

 protected:
  void run() override;

 private:
  union Packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t dispatch;
    hsa_barrier_and_packet_t barrier;
    uint32_t words[16];
  };
  static_assert(sizeof(Packet) == 64);

  // The remaining work after a packet's slot has been freed.
  struct Completion {
    uint64_t signal = 0;
    uint64_t index = 0;  // of the packet, or of the last one
    int64_t count = 0;
    uint64_t start = 0;
    uint64_t end = 0;
  };

  uint64_t write_index() const { return __atomic_load_n(ring().write_index, __ATOMIC_ACQUIRE); }
  uint64_t packets_in_ring() const { return ring().bytes / sizeof(Packet); }
  Packet& packet_at(uint64_t index) const {
    return static_cast<Packet*>(ring().base)[index & (packets_in_ring() - 1)];
  }
  void publish(uint64_t index);
  // Packets from `index` on that have been written, up to the first that has not.
  uint64_t valid_below(uint64_t index) const;
  // For observers.
  class Ahead final : public PacketObserver::Ahead {
   public:
    explicit Ahead(const AqlQueue& queue) : queue_(queue) {}
    void start_behind(uint64_t index);
    std::optional<PacketObserver::AqlPacket> next() override;
    // The packet of next(), and its header; null if there is none.
    const Packet* find(uint16_t& header) const;

   private:
    const AqlQueue& queue_;
    uint64_t current_ = 0;  // the packet that the queue is at
    uint64_t next_ = 0;     // all below have been told of
  };
  // What the PM4 packets need of the queue whose vendor packet leads to them.
  class Pm4Owner final : public pm4::Owner {
   public:
    explicit Pm4Owner(AqlQueue& queue) : queue_(queue) {}
    void begin(uint64_t index) {
      index_ = index;
      is_first_ = true;
    }
    bool stopping() const override { return queue_.stopping(); }
    int priority() const override { return queue_.priority(); }
    void pause(WakeSource* source) override;
    isa::DispatchResult run(const isa::Dispatch& dispatch) override;
    PacketObserver::Pm4Place place() override;

   private:
    AqlQueue& queue_;
    uint64_t index_ = 0;
    bool is_first_ = true;
  };
  PacketObserver::AqlPacket observed(const Packet& packet, uint64_t index, uint16_t header) const;
  void look_ahead();
  bool process_observed(Packet& packet, uint64_t index, uint16_t header, Completion& completion);
  // Signals a finished packet, now or, if packets take no time, with the next flush().
  void complete(const Completion& completion);
  // If the signal is no longer valid, the queue has failed afterwards.
  void flush();
  // False: the queue stops here, and the packet keeps its slot.
  bool process(Packet& packet, uint64_t index, uint16_t header, Completion& completion);
  bool process_dispatch(const Packet& packet, uint64_t index, Completion& completion);
  bool check_dispatch(const hsa_kernel_dispatch_packet_t& packet, uint64_t index,
                      isa::Dispatch& dispatch);
  bool check_code(const hsa_kernel_dispatch_packet_t& packet, uint64_t index,
                  const isa::Dispatch& dispatch);
  bool process_barrier(const Packet& packet, uint64_t index, bool wait_for_all);
  bool process_barrier_value(const Packet& packet, uint64_t index);
  bool process_pm4(const Packet& packet, uint64_t address, uint64_t index);
  bool process_vendor(const Packet& packet, uint64_t address, uint64_t index);
  bool fail_pm4(const pm4::Failure& failure, uint64_t index);

  // The address of a signal; null if it is not one. check_signal() then also stops the queue.
  amd_signal_t* find_signal(uint64_t handle);
  amd_signal_t* check_signal(uint64_t handle, uint64_t index, const char* role);
  bool mailbox_usable(uint64_t mailbox);
  void stop_at(uint64_t address, uint64_t index, const std::string& what);
  // False if there is nobody to tell.
  bool tell_of_error(QueueError error);
  bool fail(QueueError error, uint64_t index, const std::string& text);
  bool fail_dispatch(uint64_t kernel_object, uint64_t index, const isa::DispatchResult& result);

  const AqlQueueMemory memory_;
  RangeCache signals_;
  RangeCache runtime_signals_;
  RangeCache mailboxes_;
  RangeCache code_;
  Pm4Owner pm4_owner_{*this};
  pm4::Processor pm4_;
  Ahead ahead_{*this};
  uint64_t published_ = 0;
  uint64_t publish_interval_ = 1;
  Completion pending_;
  bool told_ = false;  // somebody may have waited for a packet of the current batch
  uint64_t now_ = 0;   // GPU clock of the current batch, where packets take no time
};

}  // namespace halyard::vgpu::queue
