#include "vgpu/queue/sdma_queue.h"

#include <fmt/format.h>
#include <hsa/amd_hsa_signal.h>

#include <cstddef>
#include <cstring>
#include <iterator>

#include "vgpu/fence.h"
#include "vgpu/queue/signal_waits.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue {

namespace {

constexpr uint32_t kAtomicAdd64 = 47;
constexpr uint64_t kSignalValue = offsetof(amd_signal_t, value);

// POLL_REGMEM's function field.
bool poll_holds(uint32_t function, uint32_t value, uint32_t reference) {
  switch (function) {
    case 1:
      return value < reference;
    case 2:
      return value <= reference;
    case 3:
      return value == reference;
    case 4:
      return value != reference;
    case 5:
      return value >= reference;
    case 6:
      return value > reference;
    default:
      return true;  // 0; 7 has been refused
  }
}

}  // namespace

SdmaQueue::SdmaQueue(const Device& device, uint32_t id, const SdmaRing& ring)
    : HardwareQueue(device, id, "sdma"),
      ring_(ring),
      word_mask_(ring.size / 4 - 1),
      source_(device.memory),
      target_(device.memory),
      runtime_(device.runtime_memory) {}

void SdmaQueue::run() {
  at_ = __atomic_load_n(ring_.read_index, __ATOMIC_ACQUIRE);
  while (!stopping()) {
    const uint64_t write = __atomic_load_n(ring_.write_index, __ATOMIC_ACQUIRE);
    if (at_ == write || paused()) {
      idle_.pause_for_doorbell();
      continue;
    }
    uint64_t size = 0;
    const Step step = process(write - at_, size);
    if (step == Step::kStopped) return;
    if (step == Step::kIncomplete) {
      idle_.pause_for_doorbell();
      continue;
    }
    idle_.reset();
    at_ += size;
    __atomic_store_n(ring_.read_index, at_, __ATOMIC_RELEASE);
  }
}

SdmaQueue::Step SdmaQueue::process(uint64_t available, uint64_t& size) {
  if (available < 4) return Step::kIncomplete;
  const uint32_t header = ring_word(0);
  const sdma::Packet* const packet = sdma::find_packet(header);
  if (packet == nullptr) {
    return unknown(fmt::format("operation {} with sub-operation {} is not implemented",
                               header & 0xff, (header >> 8) & 0xff));
  }
  size = uint64_t{sdma::length(*packet, header)} * 4;
  if (size > ring_.size) return unknown("the packet is larger than its ring");
  if (available < size) return Step::kIncomplete;
  packet_[0] = header;
  for (uint32_t i = 1; i < packet->words; ++i) packet_[i] = ring_word(i);
  const std::string wrong = sdma::wrong_field(*packet, packet_, device_.limits.sdma_count_bits);
  if (!wrong.empty()) return unknown(wrong);
  switch (packet->operation) {
    case sdma::kCopy:
      return packet->sub_operation == sdma::kCopyLinear ? copy() : copy_rectangle();
    case sdma::kFence:
      return write_value(address(1), word(3), 4);
    case sdma::kTrap:
      // The signal's value was written by packets before this one.
      full_fence();
      device_.interrupts->raise(word(1));
      return Step::kDone;
    case sdma::kPollRegMem:
      return poll();
    case sdma::kAtomic:
      return atomic();
    case sdma::kConstFill:
      return fill();
    case sdma::kTimestamp:
      return write_value(address(1), device_.clock.now(), 8);
    default:
      return Step::kDone;
  }
}

SdmaQueue::Step SdmaQueue::copy() {
  const uint64_t bytes = uint64_t{word(1)} + 1;
  const uint64_t from = address(3);
  const uint64_t to = address(5);
  const uint8_t* const source = find(source_, from, bytes, false, "copy");
  uint8_t* const target = source != nullptr ? find(target_, to, bytes, true, "copy") : nullptr;
  if (target == nullptr) return Step::kStopped;
  move(from, to, bytes, [=] { std::memmove(target, source, bytes); });
  return Step::kDone;
}

// Carries out what a packet does to memory, and lets an observer see it. `from` is 0 if nothing is
// read.
template <class Function>
void SdmaQueue::move(uint64_t from, uint64_t to, uint64_t bytes, Function&& function) {
  const SharedMemoryAccess access;
  if (device_.observer == nullptr) return function();
  device_.observer->copy({device_.node, id_, at_, from, to, bytes}, function);
}

SdmaQueue::Step SdmaQueue::copy_rectangle() {
  const uint32_t element = word(0) >> 29;  // log2 of the bytes of an element
  if (element > 4)
    return unknown(fmt::format("COPY_LINEAR_RECT has an element size of 2^{}", element));
  struct Side {
    uint64_t base, x, y, z, pitch, slice;
  };
  const auto side = [this](uint32_t first) {
    const uint32_t xy = word(first + 2);
    const uint32_t zp = word(first + 3);
    return Side{address(first),         xy & 0x3fff,
                (xy >> 16) & 0x3fff,    zp & 0x7ff,
                uint64_t{zp >> 13} + 1, uint64_t{word(first + 4) & 0x0fffffff} + 1};
  };
  const Side from = side(1);
  const Side to = side(6);
  const uint64_t width = (uint64_t{word(11) & 0x3fff} + 1) << element;
  const uint64_t height = uint64_t{(word(11) >> 16) & 0x3fff} + 1;
  const uint64_t depth = uint64_t{word(12) & 0x7ff} + 1;
  const auto row = [element](const Side& s, uint64_t y, uint64_t z) {
    return s.base + (((s.z + z) * s.slice + (s.y + y) * s.pitch + s.x) << element);
  };
  for (uint64_t z = 0; z < depth; ++z) {
    if (stopping()) return Step::kStopped;
    for (uint64_t y = 0; y < height; ++y) {
      const uint64_t source_row = row(from, y, z);
      const uint64_t target_row = row(to, y, z);
      const uint8_t* const source = find(source_, source_row, width, false, "rectangle copy");
      uint8_t* const target =
          source != nullptr ? find(target_, target_row, width, true, "rectangle copy") : nullptr;
      if (target == nullptr) return Step::kStopped;
      move(source_row, target_row, width, [=] { std::memmove(target, source, width); });
    }
  }
  return Step::kDone;
}

SdmaQueue::Step SdmaQueue::fill() {
  const uint32_t size_code = word(0) >> 30;
  const uint64_t to = address(1);
  const uint32_t value = word(3);
  const uint64_t count = word(4);
  if (size_code != 0 && size_code != 2) {
    return unknown(
        fmt::format("CONST_FILL with elements of code {} is not implemented; 0 (byte) "
                    "and 2 (dword) are",
                    size_code));
  }
  // The count is one element short of the bytes to fill.
  const uint64_t bytes = size_code == 0 ? count + 1 : (count & ~uint64_t{3}) + 4;
  uint8_t* const target = find(target_, to, bytes, true, "fill");
  if (target == nullptr) return Step::kStopped;
  move(0, to, bytes, [=] {
    if (size_code == 0) {
      std::memset(target, static_cast<int>(value & 0xff), bytes);
      return;
    }
    for (uint64_t i = 0; i < bytes; i += 4) std::memcpy(target + i, &value, 4);
  });
  return Step::kDone;
}

SdmaQueue::Step SdmaQueue::write_value(uint64_t to, uint64_t value, uint32_t bytes) {
  uint8_t* const target = find_word(target_, to, bytes, true, "fence");
  if (target == nullptr) return Step::kStopped;
  if (bytes == 8) {
    __atomic_store_n(reinterpret_cast<uint64_t*>(target), value, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(reinterpret_cast<uint32_t*>(target), static_cast<uint32_t>(value),
                     __ATOMIC_SEQ_CST);
    SignalWait::written(to - kSignalValue);
  }
  return Step::kDone;
}

SdmaQueue::Step SdmaQueue::poll() {
  const uint32_t header = word(0);
  const bool memory = (header >> 31) != 0;
  const bool hdp_flush = ((header >> 26) & 1) != 0;
  const uint64_t from = address(1);
  const uint32_t reference = word(3);
  const uint32_t mask = word(4);
  const uint32_t function = (header >> 28) & 7;
  if (!memory) {
    // The HDP flush has no effect: host and GPU share memory. ROCR encodes it as a poll without a
    // register, Linux with a separate bit.
    if (hdp_flush || function == 0) return Step::kDone;
    return unknown(
        fmt::format("POLL_REGMEM of a register ({:#x}) is not implemented; polls of "
                    "memory and the HDP flush are",
                    word(1)));
  }
  if (hdp_flush || function == 7) {
    return unknown(
        fmt::format("POLL_REGMEM of memory with function {}{} does not exist; the "
                    "functions are 0 to 6",
                    function, hdp_flush ? " and an HDP flush" : ""));
  }
  const uint8_t* const source = find_word(source_, from, 4, false, "poll");
  if (source == nullptr) return Step::kStopped;
  const auto* const location = reinterpret_cast<const uint32_t*>(source);
  // ROCR polls the halves of a signal's value.
  const uint64_t signals[] = {from - kSignalValue, from - kSignalValue - 4};
  SignalWait wait(idle_, signals, std::size(signals));
  while (!poll_holds(function, __atomic_load_n(location, __ATOMIC_ACQUIRE) & mask, reference)) {
    if (stopping()) return Step::kStopped;
    idle_.pause(&wait);
  }
  return Step::kDone;
}

SdmaQueue::Step SdmaQueue::atomic() {
  const uint32_t operation = word(0) >> 25;
  if (operation != kAtomicAdd64) {
    return unknown(fmt::format("ATOMIC with operation {} is not implemented; {} (64-bit add) is",
                               operation, kAtomicAdd64));
  }
  const uint64_t to = address(1);
  uint8_t* const target = find_word(target_, to, 8, true, "atomic");
  if (target == nullptr) return Step::kStopped;
  __atomic_fetch_add(reinterpret_cast<uint64_t*>(target), address(3), __ATOMIC_SEQ_CST);
  SignalWait::written(to - kSignalValue);
  return Step::kDone;
}

// The slow path of an access that no cached range covers: always a failure.
uint8_t* SdmaQueue::find(RangeCache& memory, uint64_t address, uint64_t size, bool is_write,
                         const char* what) {
  uint8_t* const found = memory.find(address, size);
  if (found == nullptr) refuse(address, size, is_write, what);
  return found;
}

uint8_t* SdmaQueue::find_word(RangeCache& memory, uint64_t address, uint32_t bytes, bool is_write,
                              const char* what) {
  uint8_t* found = nullptr;
  if (address % bytes == 0) {
    found = memory.find(address, bytes);
    if (found == nullptr) found = runtime_.find(address, bytes);
  }
  if (found == nullptr) refuse(address, bytes, is_write, what);
  return found;
}

void SdmaQueue::refuse(uint64_t to, uint64_t size, bool is_write, const char* what) {
  set_failed();
  fail_with_memory_fault(
      {device_.node, to, is_write, false},
      fmt::format("halyard vgpu: SDMA queue {} stopped at byte {}: the {} may not {} {} bytes at "
                  "{:#x}; {}",
                  id_, at_, what, is_write ? "write" : "read", size, to, describe(to)));
}

SdmaQueue::Step SdmaQueue::unknown(const std::string& text) {
  set_failed();
  fail_with_memory_fault(
      {device_.node, 0, false, true},
      fmt::format("halyard vgpu: SDMA queue {} stopped at byte {}: {}", id_, at_, text));
  return Step::kStopped;
}

}  // namespace halyard::vgpu::queue
