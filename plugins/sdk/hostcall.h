// Calls that kernels make to the host while they run: printf and assert of HIP, through ROCm's
// device library.
//
// A kernel finds a buffer through its hidden argument hidden_hostcall_buffer. A wavefront takes a
// packet from the buffer's free stack, writes what each of its work-items wants, pushes the packet
// onto the ready stack, rings the doorbell, and spins until the host has cleared a bit of the
// packet. The layout is the device library's, the same in all releases from 5.2.3 on; it is not
// documented, and was read from the library's bitcode (ockl.bc, __ockl_hostcall_internal).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "hal/types.h"

namespace halyard {

// Of each work-item: what it sends, and then the answer.
using HostcallSlots = std::array<uint64_t, 8>;

// Serves one work-item's call.
using HostcallHandler = std::function<void(uint32_t service, HostcallSlots& slots)>;

// The buffer. Its memory is the caller's: zeroed, coherent between host and device, aligned to 64
// bytes.
class HostcallBuffer {
 public:
  // There have to be as many packets as wavefronts that may run at the same time.
  static size_t bytes_for(uint32_t packets);

  // `host` and `device`: the memory's address on either side.
  HostcallBuffer(void* host, uint64_t device, uint32_t packets);

  // Serves the packets that are ready, in the order in which they were pushed. Whether there was
  // one. One thread at a time.
  bool serve(const HostcallHandler& handler);

 private:
  struct Packet;
  struct Control;

  const uint32_t count_;
  Control* control_;
  Packet* packets_;
  HostcallSlots (*slots_)[64];
  uint64_t mask_;
};

// The services that the device library asks for, by number.
inline constexpr uint32_t kPrintService = 2;
// Memory: the first word is the address of what is freed, or 0, and the second then how many bytes
// are wanted, whose address is the answer.
inline constexpr uint32_t kMemoryService = 3;

// Texts that work-items send in pieces of up to seven words. Answers of service kPrintService.
class HostcallMessages {
 public:
  // `print(to_stderr, text)`: what a message that is whole says.
  using Print = std::function<void(bool to_stderr, std::string_view text)>;

  void append(HostcallSlots& slots, const Print& print);

 private:
  uint64_t last_ = 0;
  std::map<uint64_t, std::vector<uint64_t>> open_;  // by number
};

}  // namespace halyard
