// Tells the model of packets and copies, and looks after kernel arguments.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/coherence/model.h"
#include "vgpu/queue/packet_observer.h"

namespace halyard::vgpu::coherence {

// The name of the kernel whose descriptor lies at an address, or empty. Any thread.
using KernelNames = std::function<std::string(uint64_t kernel_object)>;

// Where the host has what a GPU sees at an address: the model knows memory by the host's addresses.
// Any thread.
using HostAddresses = std::function<uint64_t(uint32_t node, uint64_t address)>;

class Packets final : public queue::PacketObserver {
 public:
  Packets(Model& model, KernelNames names, HostAddresses addresses)
      : model_(model), names_(std::move(names)), addresses_(std::move(addresses)) {}

  void begin(const AqlPacket& packet, Ahead& ahead) override;
  void look(uint32_t node, uint32_t queue) override;
  void end(const AqlPacket& packet, uint64_t valid_below) override;
  void stopped(uint32_t node) override;
  void invalidate_code(uint32_t node) override;
  void begin(const Pm4Dispatch& dispatch) override;
  void end(const Pm4Dispatch& dispatch) override;
  void acquire(uint32_t node, uint32_t queue, const Caches& caches) override;
  void release(uint32_t node, uint32_t queue, const Pm4Place& place, const Caches& caches,
               bool tells) override;
  void waited(uint32_t node, uint32_t queue) override;
  void flush_work(uint32_t node) override;
  void flush_window(uint32_t node) override;
  void copy(const Copy& copy, const std::function<void()>& move) override;

  // The dispatch that this thread's queue is at; 0: none.
  static WorkId current();
  // As look(), for a thread that holds the model: packets that were published behind the dispatch.
  void look_behind(WorkId dispatch);

 private:
  // What orders the packets of a queue.
  struct Queue {
    uint64_t ordered_below = 0;
    // A packet with a completion signal ended while packets at positions below `valid_below` had
    // been written: the writer of later ones can have waited for it, and so for the packets before
    // it.
    struct Told {
      uint64_t packet = 0;
      uint64_t ordered_below = 0;
      uint64_t valid_below = 0;
    };
    std::deque<Told> told;     // by packet
    std::vector<WorkId> open;  // packets, the last of which lies in a buffer of the one before it
    Scope acquired = Scope::kNone;  // by PM4 packets, for the next dispatch
    std::vector<uint8_t> kernarg;   // as it was when the dispatch began
    Ahead* ahead = nullptr;         // while there is a packet
    // The arguments of dispatches that have not begun, as they were when they were first seen.
    std::map<uint64_t, std::vector<uint8_t>> published;
  };

  Queue& queue_of(uint32_t node, uint32_t queue) { return queues_[{node, queue}]; }
  static void order(Queue& queue, Work& work);
  static void tell(Queue& queue, const Queue::Told& told);
  static WorkId work_of(const Queue& queue) { return queue.open.empty() ? 0 : queue.open.back(); }
  const std::string& name_of(uint64_t kernel_object);
  void look(Queue& queue);
  // Empty if they cannot be read.
  std::vector<uint8_t> arguments_of(const AqlPacket& packet) const;
  void take_arguments(Queue& queue, const AqlPacket& packet);
  void check_arguments(Queue& queue, const AqlPacket& packet);
  // Tells if they are not what they `were` when the dispatch began, or when it was published.
  void compare_arguments(const std::vector<uint8_t>& were, const std::vector<uint8_t>& are,
                         const AqlPacket& packet, WorkId work, bool has_begun);

  Model& model_;
  KernelNames names_;
  HostAddresses addresses_;
  // Under the model's mutex.
  std::map<std::pair<uint32_t, uint32_t>, Queue> queues_;
  std::unordered_map<uint64_t, std::string> known_names_;
};

}  // namespace halyard::vgpu::coherence
