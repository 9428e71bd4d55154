// SMI events (system management interface): descriptors from which a program reads what happens on
// a GPU, as lines of text.
//
// As Linux, kfd_smi_events.c: a program writes a mask of 8 bytes to the descriptor to choose
// events, and reads or polls it. Reads never wait (EAGAIN). The descriptor is one end of a socket
// pair, so reads, writes and polls need no redirection; the driver has the other end.
//
// The one event that happens here is a memory fault. As from Linux, each listener hears of the
// faults of every process that uses the GPU, of any user; here these are the processes that share
// the folder of the driver's files. The other events can be chosen and do not happen.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "vgpu/kfd/mailbox.h"
#include "vgpu/machine/event_table.h"

namespace halyard::vgpu::kfd {

// Any thread.
class SmiEvents final : public machine::FaultListener {
 public:
  // `events` outlives this.
  explicit SmiEvents(machine::EventTable& events);
  ~SmiEvents() override;
  SmiEvents(const SmiEvents&) = delete;
  SmiEvents& operator=(const SmiEvents&) = delete;

  // `root`: the folder of the driver's files, or null.
  void start(const char* root) { mailbox_.start(root); }
  // When the process ends.
  void remove();
  // For a child of fork.
  void leave_to_parent() { mailbox_.leave_to_parent(); }

  // A new descriptor for the events of a GPU, which is the program's; or an errno value below 0.
  int open(uint32_t node);

  void memory_fault(const queue::MemoryFault& fault) override;

 private:
  struct Client {
    uint32_t node = 0;
    int socket = -1;
    uint64_t mask = 0;
    // Of a mask that has not arrived as a whole.
    unsigned char bytes[sizeof(uint64_t)] = {};
    uint32_t byte_count = 0;
  };

  // What a process tells the others.
  struct Message {
    uint32_t node = 0;
    char line[92] = "";  // with its end of line
  };

  void hear(const void* message, size_t bytes);
  void report(const Message& message);  // under mutex_
  // Reads the masks that the program has written. False if it has closed its descriptor.
  static bool update(Client& client);
  void update_all();

  machine::EventTable& events_;
  std::mutex mutex_;
  std::vector<Client> clients_;
  Mailbox mailbox_;
  bool listening_ = false;
};

}  // namespace halyard::vgpu::kfd
