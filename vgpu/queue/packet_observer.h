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

  // Bytes that an SDMA packet moves or fills; rows of a rectangle come one by one.
  struct Copy {
    uint32_t node = 0;
    uint32_t queue = 0;
    uint64_t packet = 0;  // the byte of the ring at which its packet begins
    uint64_t from = 0;    // the GPU's addresses; 0: nothing is read
    uint64_t to = 0;
    uint64_t bytes = 0;
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
  // Carries out a copy by calling `move`, once.
  virtual void copy(const Copy& copy, const std::function<void()>& move) = 0;
};

}  // namespace halyard::vgpu::queue
