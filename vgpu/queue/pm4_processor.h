// Executes PM4 packets of compute: those of a PM4 queue's ring, and of the indirect buffers that
// AQL's vendor packets lead to.
//
// A packet that is unknown, malformed, or asks for what is not implemented ends the work with a
// failure that names it, and so does an access to memory that the GPU may not touch. Dispatches
// are finished before the next packet, so that packets that wait for them have nothing to do.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "vgpu/queue/device.h"
#include "vgpu/queue/pm4_packets.h"
#include "vgpu/queue/pm4_registers.h"

namespace halyard::vgpu::queue::pm4 {

// Why the work has ended before its end.
struct Failure {
  enum class Kind : uint8_t {
    kCancelled,  // the queue stops
    kPacket,
    kAccess,  // memory that the GPU may not touch
    kKernel,
  };
  Kind kind = Kind::kCancelled;
  std::string text;    // a sentence fragment that begins with the packet's name and address
  MemoryFault access;  // of kAccess, and of a kernel's fault of that kind
  isa::Fault::Kind fault = isa::Fault::Kind::kNone;  // of kKernel
};

// The queue that the packets are of. Its thread calls all of it.
class Owner {
 public:
  virtual ~Owner() = default;
  virtual bool stopping() const = 0;
  virtual int priority() const = 0;
  // A packet has looked in vain for what it waits for.
  virtual void pause(WakeSource* source) = 0;
  virtual isa::DispatchResult run(const isa::Dispatch& dispatch) = 0;
  // Where the queue is, for observers.
  virtual PacketObserver::Pm4Place place() = 0;
};

class Processor {
 public:
  // All three outlive it.
  Processor(const Device& device, uint32_t queue, Idle& idle, Owner& owner);

  // One packet, which lies at the GPU's address `at`; of a NOP the header is enough. `skip`: how
  // many dwords behind it are not to be executed. False: the work has ended, and failure() says
  // why.
  bool execute(std::span<const uint32_t> packet, uint64_t at, uint32_t& skip);
  // Ends the work because of the packet. Always false.
  bool refuse(std::span<const uint32_t> packet, uint64_t at, const std::string& text);
  // The packets of an indirect buffer.
  bool run_buffer(uint64_t address, uint32_t words);
  // The same for an INDIRECT_BUFFER packet that lies at `at`.
  bool run_buffer_of(std::span<const uint32_t> packet, uint64_t at);

  const Failure& failure() const { return failure_; }
  const Registers& registers() const { return registers_[0]; }

 private:
  struct Buffer {
    uint64_t address = 0;
    uint32_t words = 0;
  };

  bool carry_out(const Header& header, uint32_t& skip);
  bool run_to_end(Buffer buffer);

  bool indirect_buffer();
  bool set_registers(uint32_t space);
  bool set_register(uint32_t address, uint32_t value);
  bool dispatch(const uint32_t (&dimensions)[3], uint32_t initiator);
  bool dispatch_indirect();
  bool event_write();
  bool acquire();
  bool condition(uint32_t& skip);
  void select_dies(uint32_t& skip);

  // pm4_memory.cpp.
  bool write_data();
  bool copy_data();
  bool read_source(uint32_t bytes, uint64_t& value);
  bool dma_data();
  bool atomic();
  template <class T>
  bool atomic_of(uint64_t to);
  bool release();
  bool store(uint64_t to, uint64_t value, uint32_t bytes, bool through_l2);
  void move(uint64_t from, uint64_t to, uint64_t bytes, bool reads_l2, bool writes_l2,
            const std::function<void()>& function);

  // pm4_waits.cpp.
  bool wait();
  bool wait_for_memory();
  bool wait_for_register();
  // Calls `done`, which looks at the location, until it returns true.
  bool poll(uint64_t location, const std::function<bool()>& done);

  uint32_t word(uint32_t index) const { return packet_[index]; }
  uint64_t address(uint32_t low) const { return word(low) | uint64_t{word(low + 1)} << 32; }
  // Where the process has the bytes. Null: the work has ended.
  uint8_t* find(uint64_t address, uint64_t bytes, bool is_write);
  bool fail(const std::string& text);
  bool fail_kernel(const isa::DispatchResult& result, uint64_t entry);
  bool cancel();
  std::string describe(uint64_t address) const;
  // The name and the address of the packet.
  std::string here() const;

  const Device& device_;
  const uint32_t queue_;
  Idle& idle_;
  Owner& owner_;
  RangeCache memory_;
  RangeCache runtime_;
  RangeCache buffers_;

  // Which dies execute packets, one bit for each, and for how many dwords; 0: until the buffer
  // ends.
  struct Selection {
    uint32_t dies = 0;
    uint32_t words = 0;
  };
  uint32_t all_dies() const { return (1u << registers_.size()) - 1; }
  // Of the dies that execute the packet.
  const Registers& first_registers() const;
  // Makes the selection that of the packet behind one of so many dwords.
  void advance_selection(uint32_t words);

  std::vector<Registers> registers_;  // by die
  Selection selection_;
  uint32_t dies_ = 0;           // that execute the packet
  uint64_t atomic_result_ = 0;  // for COPY_DATA
  bool is_ordered_ = true;      // nothing that has been started may still run
  uint32_t depth_ = 0;          // of indirect buffers
  Buffer chained_;              // where the present one goes on; no words: nowhere

  std::span<const uint32_t> packet_;
  uint64_t at_ = 0;
  std::vector<uint32_t> words_;  // of the packet, if it is in a buffer
  Failure failure_;
};

}  // namespace halyard::vgpu::queue::pm4
