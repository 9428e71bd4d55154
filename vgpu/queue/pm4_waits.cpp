// WAIT_REG_MEM.
#include <fmt/format.h>

#include <iterator>

#include "vgpu/queue/memory_poll.h"
#include "vgpu/queue/pm4_fields.h"
#include "vgpu/queue/pm4_processor.h"
#include "vgpu/queue/signal_waits.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue::pm4 {

namespace {

constexpr uint32_t kRegisterSpace = 0;
constexpr uint32_t kMemorySpace = 1;
constexpr uint32_t kWait = 0;
constexpr uint32_t kWriteWaitWrite = 1;
constexpr uint32_t kWaitPreemptable = 3;

}  // namespace

bool Processor::wait() {
  const uint32_t function = word(1) & 7;
  const uint32_t space = word(1) >> 4 & 3;
  const uint32_t operation = word(1) >> 6 & 3;
  if (function == 7) return fail("its function (7) does not exist; the functions are 0 to 6");
  if (space == kMemorySpace && (operation == kWait || operation == kWaitPreemptable))
    return wait_for_memory();
  if (space == kRegisterSpace && (operation == kWait || operation == kWriteWaitWrite))
    return wait_for_register();
  return fail(
      fmt::format("its space ({}) and operation ({}) do not go together: it can wait for "
                  "memory (1, with 0 or 3) or a register (0, with 0 or 1)",
                  space, operation));
}

bool Processor::poll(uint64_t location, const std::function<bool()>& done) {
  // A signal's value has two halves.
  const uint64_t signals[] = {location - kSignalValue, location - kSignalValue - 4};
  SignalWait sleep(idle_, signals, std::size(signals));
  while (!done()) {
    if (owner_.stopping()) return cancel();
    owner_.pause(&sleep);
  }
  idle_.reset();
  return true;
}

bool Processor::wait_for_memory() {
  const uint64_t from = address(2) & ~uint64_t{3};
  const uint32_t function = word(1) & 7;
  const uint32_t reference = word(4);
  const uint32_t mask = word(5);
  bool is_there = true;
  const auto is_over = [&] {
    const SharedMemoryAccess in_flight;
    const auto* const location = reinterpret_cast<const uint32_t*>(find(from, 4, false));
    is_there = location != nullptr;
    return !is_there ||
           poll_holds(function, __atomic_load_n(location, __ATOMIC_ACQUIRE) & mask, reference);
  };
  if (!poll(from, is_over) || !is_there) return false;
  if (device_.observer != nullptr) device_.observer->waited(device_.node, queue_);
  return true;
}

bool Processor::wait_for_register() {
  const uint32_t operation = word(1) >> 6 & 3;
  const uint32_t first = word(2) & 0x3ffff;
  const uint32_t second = word(3) & 0x3ffff;
  const bool flushes =
      operation == kWriteWaitWrite && first == kHdpFlushRequest && second == kHdpFlushDone;
  if (flushes) {
    // Done at once: host and GPU share memory.
    if (device_.observer != nullptr) device_.observer->flush_window(device_.node);
    return true;
  }
  if (operation == kWriteWaitWrite) {
    return fail(
        fmt::format("it writes the register {:#x} and waits for {:#x}; this GPU has only "
                    "the HDP flush of that form ({:#x} and {:#x})",
                    first, second, kHdpFlushRequest, kHdpFlushDone));
  }
  if (first == kHdpFlushDone) return true;
  if (!Registers::has(first)) {
    return fail(
        fmt::format("it waits for the register {:#x}, which is not one of those that this "
                    "GPU's compute queues have",
                    first));
  }
  const uint32_t value = first_registers().get(first) & word(5);
  if (poll_holds(word(1) & 7, value, word(4))) return true;
  return fail(
      fmt::format("it would wait for ever for the register {:#x}, which only this queue's "
                  "packets change, and of which the masked value is {:#x}",
                  first, value));
}

}  // namespace halyard::vgpu::queue::pm4
