// Observes packets while queues process them, and the accesses of copy engines, for the coherence
// check (vgpu/coherence). Without an observer, a queue only reads a null pointer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace halyard::vgpu::queue {

class PacketObserver {
 public:
  // An AQL packet, as it was when the packet processor took it.
  struct AqlPacket {
    uint32_t node = 0;
    uint32_t queue = 0;
    uint64_t index = 0;
    uint16_t header = 0;
    bool signals = false;  // it has a completion signal
    bool waits = false;    // a barrier packet that waits for signals
    bool failed = false;   // at its end: it met an error, which the host may know, or was given up
    // Of a dispatch.
    uint64_t kernel_object = 0;
    uint64_t kernarg = 0;
  };

  // Bytes that a packet of SDMA or PM4 moves or fills; rows of a rectangle come one by one.
  struct Copy {
    uint32_t node = 0;
    uint32_t queue = 0;
    uint64_t packet = 0;  // the byte of the ring at which its packet begins; PM4: its number
    uint64_t from = 0;    // the GPU's addresses; 0: nothing is read, or written
    uint64_t to = 0;
    uint64_t bytes = 0;
    bool is_pm4 = false;
    // Whether it goes through the GPU's L2, as only PM4 packets do.
    bool reads_l2 = false;
    bool writes_l2 = false;
  };

  // Where a PM4 queue is.
  struct Pm4Place {
    uint64_t index = 0;     // packets that observers hear of are counted
    uint64_t position = 0;  // of the packet in the ring
    uint64_t written = 0;   // packets at positions below had been written by now
  };
  struct Pm4Dispatch {
    uint32_t node = 0;
    uint32_t queue = 0;
    Pm4Place place;
    uint64_t entry = 0;       // of the kernel
    bool is_ordered = false;  // nothing that the queue has started before still runs
  };
  // What a PM4 packet does to a GPU's caches.
  struct Caches {
    bool scalar = false;  // invalidated
    bool l1 = false;
    bool l2 = false;
    bool write_back_scalar = false;
    bool write_back_l2 = false;
  };

  // What lies in the ring behind the packet that a queue is at. One thread at a time.
  class Ahead {
   public:
    virtual ~Ahead() = default;
    // The next packet that has been published, each once; none: the one behind has not been yet.
    virtual std::optional<AqlPacket> next() = 0;
  };

  virtual ~PacketObserver() = default;

  // On the queue's thread, before the packet is executed and before its completion is signalled.
  // `ahead` can be called until end() returns.
  virtual void begin(const AqlPacket& packet, Ahead& ahead) = 0;
  // Now and then between the two: a packet that waits for signals does so.
  virtual void look(uint32_t node, uint32_t queue) = 0;
  // Packets of the queue below `valid_below` had been written by then.
  virtual void end(const AqlPacket& packet, uint64_t valid_below) = 0;
  // A queue of the GPU has an error, and processes no further packets.
  virtual void stopped(uint32_t node) = 0;
  // The instruction cache of a GPU was invalidated.
  virtual void invalidate_code(uint32_t node) = 0;
  // Around a dispatch of a PM4 packet, which may lie in a buffer that an AQL packet leads to.
  virtual void begin(const Pm4Dispatch& dispatch) = 0;
  virtual void end(const Pm4Dispatch& dispatch) = 0;
  // ACQUIRE_MEM.
  virtual void acquire(uint32_t node, uint32_t queue, const Caches& caches) = 0;
  // RELEASE_MEM, when all work before it has ended. `tells`: it then writes to memory, for which
  // the host or a packet may wait.
  virtual void release(uint32_t node, uint32_t queue, const Pm4Place& place, const Caches& caches,
                       bool tells) = 0;
  // WAIT_REG_MEM has found in memory what it waits for.
  virtual void waited(uint32_t node, uint32_t queue) = 0;
  // The waves of the dispatches before have ended, with their stores.
  virtual void flush_work(uint32_t node) = 0;
  // What the host has stored through the PCI window has arrived.
  virtual void flush_window(uint32_t node) = 0;
  // Carries out a copy by calling `move`, once.
  virtual void copy(const Copy& copy, const std::function<void()>& move) = 0;
};

}  // namespace halyard::vgpu::queue
