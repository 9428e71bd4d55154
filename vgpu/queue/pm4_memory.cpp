// The packets that read and write memory: WRITE_DATA, COPY_DATA, DMA_DATA, ATOMIC_MEM, RELEASE_MEM.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "vgpu/fence.h"
#include "vgpu/queue/pm4_fields.h"
#include "vgpu/queue/pm4_processor.h"
#include "vgpu/queue/signal_waits.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue::pm4 {

namespace {

// Where WRITE_DATA and COPY_DATA can write, and COPY_DATA read: numbers that they share.
constexpr uint32_t kRegister = 0;
constexpr uint32_t kMemorySync = 1;
constexpr uint32_t kL2 = 2;
constexpr uint32_t kMemory = 5;  // of a source: the packet's own data

bool is_memory(uint32_t destination) {
  return destination == kMemorySync || destination == kL2 || destination == kMemory;
}

// What ATOMIC_MEM's operation does (PAL, TC_OP; the Vega ISA's names).
template <class T>
bool compute_atomic(uint32_t operation, T old, T source, T compare, T& result) {
  using Signed = std::make_signed_t<T>;
  const auto is_less = static_cast<Signed>(old) < static_cast<Signed>(source);
  switch (operation) {
    case 0x07:
      result = source;
      return true;
    case 0x08:
      result = old == compare ? source : old;
      return true;
    case 0x0f:
      result = old + source;
      return true;
    case 0x10:
      result = old - source;
      return true;
    case 0x11:
      result = is_less ? old : source;
      return true;
    case 0x12:
      result = old < source ? old : source;
      return true;
    case 0x13:
      result = is_less ? source : old;
      return true;
    case 0x14:
      result = old < source ? source : old;
      return true;
    case 0x15:
      result = old & source;
      return true;
    case 0x16:
      result = old | source;
      return true;
    case 0x17:
      result = old ^ source;
      return true;
    case 0x18:
      result = old >= source ? 0 : old + 1;
      return true;
    case 0x19:
      result = old == 0 || old > source ? source : old - 1;
      return true;
    default:
      return false;
  }
}

constexpr uint32_t kCompareAndSwap = 0x08;

}  // namespace

// Carries out what a packet does to memory, and lets an observer see it. An address of 0: nothing
// is read, or written.
void Processor::move(uint64_t from, uint64_t to, uint64_t bytes, bool reads_l2, bool writes_l2,
                     const std::function<void()>& function) {
  const SharedMemoryAccess access;
  if (device_.observer == nullptr) return function();
  PacketObserver::Copy copy;
  copy.node = device_.node;
  copy.queue = queue_;
  copy.packet = owner_.place().index;
  copy.from = from;
  copy.to = to;
  copy.bytes = bytes;
  copy.is_pm4 = true;
  copy.reads_l2 = reads_l2;
  copy.writes_l2 = writes_l2;
  device_.observer->copy(copy, function);
}

// A value of 4 or 8 bytes at an address that is a multiple of that, in one access.
bool Processor::store(uint64_t to, uint64_t value, uint32_t bytes, bool through_l2) {
  const SharedMemoryAccess in_flight;
  uint8_t* const target = find(to, bytes, true);
  if (target == nullptr) return false;
  move(0, to, bytes, false, through_l2, [=] {
    if (bytes == 8) {
      __atomic_store_n(reinterpret_cast<uint64_t*>(target), value, __ATOMIC_SEQ_CST);
    } else {
      __atomic_store_n(reinterpret_cast<uint32_t*>(target), static_cast<uint32_t>(value),
                       __ATOMIC_SEQ_CST);
    }
  });
  SignalWait::written(to - kSignalValue);
  return true;
}

bool Processor::write_data() {
  const uint32_t destination = bits(word(1), 8, 4);
  const bool to_one_address = bits(word(1), 16, 1) != 0;
  const auto count = static_cast<uint32_t>(packet_.size()) - 4;
  if (destination == kRegister) {
    const uint32_t first = word(2) & 0x3ffff;
    for (uint32_t n = 0; n < count; ++n) {
      if (!set_register(first + (to_one_address ? 0 : n), word(4 + n))) return false;
    }
    return true;
  }
  if (!is_memory(destination)) {
    return fail(
        fmt::format("its destination ({}) is not implemented; 0 (registers), 1 and 5 "
                    "(memory) and 2 (the L2) are",
                    destination));
  }
  const uint64_t to = address(2) & ~uint64_t{3};
  if (to_one_address) return store(to, word(3 + count), 4, destination == kL2);
  const SharedMemoryAccess in_flight;
  uint8_t* const target = find(to, uint64_t{count} * 4, true);
  if (target == nullptr) return false;
  move(0, to, uint64_t{count} * 4, false, destination == kL2, [=, this] {
    auto* const words = reinterpret_cast<uint32_t*>(target);
    for (uint32_t n = 0; n < count; ++n) __atomic_store_n(words + n, word(4 + n), __ATOMIC_RELEASE);
  });
  full_fence();
  SignalWait::written(to - kSignalValue);
  return true;
}

bool Processor::copy_data() {
  const uint32_t destination = bits(word(1), 8, 4);
  const uint32_t bytes = bits(word(1), 16, 1) != 0 ? 8 : 4;
  uint64_t value = 0;
  if (!read_source(bytes, value)) return false;
  if (destination == kRegister) {
    const uint32_t to = word(4) & 0x3ffff;
    return set_register(to, static_cast<uint32_t>(value)) &&
           (bytes == 4 || set_register(to + 1, static_cast<uint32_t>(value >> 32)));
  }
  if (!is_memory(destination)) {
    return fail(
        fmt::format("its destination ({}) is not implemented; 0 (a register), 1 and 5 "
                    "(memory) and 2 (the L2) are",
                    destination));
  }
  return store(address(4) & ~uint64_t{bytes - 1}, value, bytes, destination == kL2);
}

// What COPY_DATA copies.
bool Processor::read_source(uint32_t bytes, uint64_t& value) {
  constexpr uint32_t kAtomicResult = 6;
  constexpr uint32_t kClock = 9;
  const uint32_t from = bits(word(1), 0, 4);
  switch (from) {
    case kRegister: {
      const uint32_t first = word(2) & 0x3ffff;
      if (!Registers::has(first) || (bytes == 8 && !Registers::has(first + 1))) {
        return fail(
            fmt::format("the register {:#x} is not one of those that this GPU's compute "
                        "queues have",
                        first));
      }
      value = first_registers().get(first);
      if (bytes == 8) value |= uint64_t{first_registers().get(first + 1)} << 32;
      return true;
    }
    case kMemorySync:
    case kL2: {
      const uint64_t at = address(2) & ~uint64_t{bytes - 1};
      const SharedMemoryAccess in_flight;
      const uint8_t* const source = find(at, bytes, false);
      if (source == nullptr) return false;
      move(at, 0, bytes, from == kL2, false, [&] {
        value = bytes == 8
                    ? __atomic_load_n(reinterpret_cast<const uint64_t*>(source), __ATOMIC_ACQUIRE)
                    : __atomic_load_n(reinterpret_cast<const uint32_t*>(source), __ATOMIC_ACQUIRE);
      });
      return true;
    }
    case kMemory:
      value = address(2);
      return true;
    case kAtomicResult:
      value = atomic_result_;
      return true;
    case kClock:
      value = device_.clock.now();
      return true;
    default:
      return fail(
          fmt::format("its source ({}) is not implemented; 0 (a register), 1 (memory), 2 "
                      "(the L2), 5 (its own data), 6 (the last atomic's result) and 9 (the "
                      "GPU's clock) are",
                      from));
  }
}

bool Processor::dma_data() {
  constexpr uint32_t kData = 2;     // of a source
  constexpr uint32_t kNowhere = 2;  // of a destination
  constexpr uint32_t kAddressInL2 = 3;
  const uint32_t from = bits(word(1), 29, 2);
  const uint32_t to = bits(word(1), 20, 2);
  const uint64_t bytes = bits(word(6), 0, 26);
  // SAS and DAS: registers instead of memory. SAIC and DAIC: the address stays.
  if (from == 1 || to == 1 || bits(word(6), 26, 4) != 0) {
    return fail(
        fmt::format("its source ({}), destination ({}) and command ({:#x}) ask for GDS, for "
                    "registers or for an address that stays, which are not implemented",
                    from, to, word(6)));
  }
  if (bytes == 0) return true;
  const SharedMemoryAccess in_flight;
  const uint8_t* source = nullptr;
  if (from != kData) {
    source = find(address(2), bytes, false);
    if (source == nullptr) return false;
  }
  const uint64_t begin = source != nullptr ? address(2) : 0;
  if (to == kNowhere) {
    if (source != nullptr) move(begin, 0, bytes, from == kAddressInL2, false, [] {});
    return true;
  }
  uint8_t* const target = find(address(4), bytes, true);
  if (target == nullptr) return false;
  move(begin, address(4), bytes, from == kAddressInL2, to == kAddressInL2, [=, this] {
    if (source != nullptr) {
      std::memmove(target, source, bytes);
      return;
    }
    const uint32_t value = word(2);
    for (uint64_t at = 0; at < bytes; at += 4)
      std::memcpy(target + at, &value, std::min<uint64_t>(4, bytes - at));
  });
  return true;
}

bool Processor::atomic() {
  constexpr uint32_t k64Bits = 0x20;
  const uint64_t to = address(2);
  return (word(1) & k64Bits) != 0 ? atomic_of<uint64_t>(to) : atomic_of<uint32_t>(to);
}

template <class T>
bool Processor::atomic_of(uint64_t to) {
  const uint32_t operation = bits(word(1), 0, 5);
  const uint32_t command = bits(word(1), 8, 4);
  const auto source_data = static_cast<T>(address(4));
  const auto compare = static_cast<T>(address(6));
  T result = 0;
  if (!compute_atomic<T>(operation, 0, source_data, compare, result)) {
    return fail(
        fmt::format("its operation ({:#x}) is not implemented: swap, compare-and-swap and "
                    "those of integers are",
                    bits(word(1), 0, 7)));
  }
  const bool loops = command == 1;
  if (command > 1 || (loops && operation != kCompareAndSwap)) {
    return fail(
        fmt::format("its command ({}) is not implemented; 0 is, and 1 (repeat) for "
                    "compare-and-swap",
                    command));
  }
  if (to % sizeof(T) != 0) {
    return fail(fmt::format("its address ({:#x}) must be a multiple of {}", to, sizeof(T)));
  }
  T old = 0;
  bool is_there = true;
  const auto once = [&](T* location) {
    old = __atomic_load_n(location, __ATOMIC_ACQUIRE);
    do {
      compute_atomic<T>(operation, old, source_data, compare, result);
    } while (!__atomic_compare_exchange_n(location, &old, result, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
  };
  const auto look = [&] {
    const SharedMemoryAccess in_flight;
    auto* const location = reinterpret_cast<T*>(find(to, sizeof(T), true));
    is_there = location != nullptr;
    if (!is_there) return true;
    // Every die that executes the packet does so.
    for (int die = std::popcount(dies_); die > 0; --die)
      move(to, to, sizeof(T), true, true, [&] { once(location); });
    return !loops || old == compare;
  };
  if (!poll(to, look) || !is_there) return false;
  atomic_result_ = old;
  SignalWait::written(to - kSignalValue);
  return true;
}

bool Processor::release() {
  constexpr uint32_t kEndOfPipe = 5;
  constexpr uint32_t kShaderDone = 6;
  enum Data : uint32_t { kNone, k32Bits, k64Bits, kClock };
  enum Interrupt : uint32_t { kNoInterrupt, kOnly, kAfterWrite, kJustWrite, kAlways };
  const uint32_t index = bits(word(1), 8, 4);
  const uint32_t destination = bits(word(2), 16, 2);
  const uint32_t interrupt = bits(word(2), 24, 3);
  const uint32_t data = bits(word(2), 29, 3);
  if (index != kEndOfPipe && index != kShaderDone) {
    return fail(fmt::format("its event index ({}) must be {} (end of pipe) or {} (shader done)",
                            index, kEndOfPipe, kShaderDone));
  }
  if (destination > 1 || interrupt > kAlways || data > kClock) {
    return fail(
        fmt::format("its destination ({}), interrupt ({}) or data ({}) is not implemented: "
                    "the destination can be 0 (memory) or 1 (the L2), the interrupt 0 to "
                    "4, the data 0 (none), 1 and 2 (32 and 64 bits) or 3 (the GPU's clock)",
                    destination, interrupt, data));
  }
  if (device_.observer != nullptr) {
    PacketObserver::Caches caches;
    caches.l1 = (word(1) & (1u << 12 | 1u << 16)) != 0;
    caches.l2 = bits(word(1), 17, 1) != 0;
    caches.write_back_l2 = bits(word(1), 15, 1) != 0;
    device_.observer->release(device_.node, queue_, owner_.place(), caches, data != kNone);
  }
  if (data != kNone) {
    const uint32_t bytes = data == k32Bits ? 4 : 8;
    const uint64_t value = data == kClock ? device_.clock.now() : address(5);
    if (!store(address(3) & ~uint64_t{bytes - 1}, value, bytes, destination == 1)) return false;
  }
  if (interrupt != kNoInterrupt && interrupt != kJustWrite) {
    full_fence();
    device_.interrupts->raise_end_of_pipe(word(7));
  }
  return true;
}

}  // namespace halyard::vgpu::queue::pm4
