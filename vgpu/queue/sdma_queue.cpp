#include "vgpu/queue/sdma_queue.h"

#include <fmt/format.h>
#include <hsa/amd_hsa_signal.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "vgpu/fence.h"
#include "vgpu/queue/memory_poll.h"
#include "vgpu/queue/signal_waits.h"

namespace halyard::vgpu::queue {

namespace {

constexpr uint64_t kSignalValue = offsetof(amd_signal_t, value);

// The caches' operations (Linux, vega10_enum.h, TC_OP), which ATOMIC's field names: bits 0 to 4 say
// what, bit 5 that it is of 64 bits, bit 6 that nobody gets the old value, as here.
enum class AtomicKind : uint32_t {
  kSwap = 0x07,
  kCompareSwap = 0x08,
  kAdd = 0x0f,
  kSub = 0x10,
  kSignedMin = 0x11,
  kMin = 0x12,
  kSignedMax = 0x13,
  kMax = 0x14,
  kAnd = 0x15,
  kOr = 0x16,
  kXor = 0x17,
  kIncrement = 0x18,
  kDecrement = 0x19,
};
constexpr uint32_t kAtomic64 = 0x20;

bool is_atomic_kind(AtomicKind kind) {
  return kind == AtomicKind::kSwap || kind == AtomicKind::kCompareSwap ||
         (kind >= AtomicKind::kAdd && kind <= AtomicKind::kDecrement);
}

// No value: the memory stays as it is.
template <class T>
std::optional<T> atomic_result(AtomicKind kind, T before, T operand, T comparand) {
  using Signed = std::make_signed_t<T>;
  const auto is_less = static_cast<Signed>(before) < static_cast<Signed>(operand);
  switch (kind) {
    case AtomicKind::kCompareSwap:
      return before == comparand ? std::optional<T>(operand) : std::nullopt;
    case AtomicKind::kAdd:
      return before + operand;
    case AtomicKind::kSub:
      return before - operand;
    case AtomicKind::kSignedMin:
      return is_less ? before : operand;
    case AtomicKind::kMin:
      return std::min(before, operand);
    case AtomicKind::kSignedMax:
      return is_less ? operand : before;
    case AtomicKind::kMax:
      return std::max(before, operand);
    case AtomicKind::kAnd:
      return before & operand;
    case AtomicKind::kOr:
      return before | operand;
    case AtomicKind::kXor:
      return before ^ operand;
    // As the instructions of that name: they wrap at the operand.
    case AtomicKind::kIncrement:
      return before >= operand ? T{0} : before + 1;
    case AtomicKind::kDecrement:
      return before == 0 || before > operand ? operand : before - 1;
    default:
      return operand;
  }
}

// False if the memory stayed as it was.
template <class T>
bool change_atomically(uint8_t* at, AtomicKind kind, uint64_t operand, uint64_t comparand) {
  auto* const memory = reinterpret_cast<T*>(at);
  T before = __atomic_load_n(memory, __ATOMIC_RELAXED);
  for (;;) {
    const auto after =
        atomic_result(kind, before, static_cast<T>(operand), static_cast<T>(comparand));
    if (!after) return false;
    if (__atomic_compare_exchange_n(memory, &before, *after, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
      return true;
  }
}

}  // namespace

SdmaQueue::SdmaQueue(const Device& device, uint32_t id, const Ring& ring)
    : HardwareQueue(device, id, "sdma", ring),
      source_(device.memory),
      target_(device.memory),
      runtime_(device.runtime_memory) {}

void SdmaQueue::run() {
  at_ = __atomic_load_n(ring().read_index, __ATOMIC_ACQUIRE);
  while (!stopping()) {
    offer_ring();
    const uint64_t write = __atomic_load_n(ring().write_index, __ATOMIC_ACQUIRE);
    if (at_ == write || paused() || !ring().exists()) {
      pause_for_doorbell();
      continue;
    }
    uint64_t size = std::min(skip_, (write - at_) / 4);
    if (size != 0) {
      skip_ -= size;
    } else {
      const Stream stream = {static_cast<const uint32_t*>(ring().base), at_ / 4,
                             ring().bytes / 4 - 1};
      Step step = fetch(stream, (write - at_) / 4, size);
      if (step == Step::kDone) {
        const RingReleased released(*this);
        step = execute();
      }
      if (step == Step::kStopped) return;
      if (step == Step::kIncomplete) {
        pause_for_doorbell();
        continue;
      }
    }
    idle_.reset();
    at_ += size * 4;
    __atomic_store_n(ring().read_index, at_, __ATOMIC_RELEASE);
  }
}

SdmaQueue::Step SdmaQueue::fetch(const Stream& stream, uint64_t available, uint64_t& size) {
  const SharedMemoryAccess host_sees;
  const auto word_at = [&stream](uint64_t index) {
    return stream.base[(stream.first + index) & stream.mask];
  };
  if (available == 0) return Step::kIncomplete;
  const uint32_t header = word_at(0);
  kind_ = sdma::find_packet(header);
  if (kind_ == nullptr) {
    const char* const name = sdma::name_of(header);
    return unknown(fmt::format("{} (operation {} with sub-operation {}) is not implemented",
                               name != nullptr ? name : "a packet of unknown name", header & 0xff,
                               (header >> 8) & 0xff));
  }
  if (available < kind_->words) return Step::kIncomplete;
  packet_[0] = header;
  for (uint32_t i = 1; i < kind_->words; ++i) packet_[i] = word_at(i);
  const std::string wrong = sdma::wrong_field(*kind_, packet_, device_.limits.sdma_count_bits);
  if (!wrong.empty()) return unknown(wrong);
  const uint32_t trailing = sdma::trailing_words(*kind_, packet_);
  size = uint64_t{kind_->words} + trailing;
  if (buffer_ == 0 && size > stream.mask + 1) return unknown("the packet is larger than its ring");
  if (available < size) return Step::kIncomplete;
  data_.clear();
  if (kind_->operation == sdma::kWrite) {
    for (uint64_t i = kind_->words; i < size; ++i) data_.push_back(word_at(i));
  }
  return Step::kDone;
}

SdmaQueue::Step SdmaQueue::execute() {
  switch (kind_->operation) {
    case sdma::kCopy:
      return kind_->sub_operation == sdma::kCopyLinear ? copy() : copy_rectangle();
    case sdma::kWrite:
      return write();
    case sdma::kIndirect:
      return indirect();
    case sdma::kFence:
      return fence();
    case sdma::kTrap:
      return trap();
    case sdma::kPollRegMem:
      return poll();
    case sdma::kCondExe:
      return conditional();
    case sdma::kAtomic:
      return atomic();
    case sdma::kConstFill:
      return fill();
    case sdma::kTimestamp:
      return timestamp();
    default:
      return Step::kDone;
  }
}

// The packets of a buffer, in the place of this one.
SdmaQueue::Step SdmaQueue::indirect() {
  if (buffer_ != 0)
    return unknown("INDIRECT in an indirect buffer, which hardware does not follow");
  const uint64_t begin = address(1);
  const uint64_t words = word(3);
  buffer_ = begin;
  RangeCache code(device_.memory);
  for (buffer_at_ = 0; buffer_at_ < words;) {
    if (stopping()) return Step::kStopped;
    uint64_t size = std::min(skip_, words - buffer_at_);
    if (size != 0) {
      skip_ -= size;
      buffer_at_ += size;
      continue;
    }
    Step step = Step::kStopped;
    const Step found = access([&] {
      const uint8_t* const host = find(code, begin, words * 4, false, "indirect buffer");
      if (host == nullptr) return;
      const Stream stream = {reinterpret_cast<const uint32_t*>(host), buffer_at_};
      step = fetch(stream, words - buffer_at_, size);
    });
    if (found == Step::kStopped) return found;
    if (step == Step::kIncomplete)
      return unknown(fmt::format("{} is longer than what is left of its indirect buffer",
                                 kind_ != nullptr ? kind_->name : "the packet"));
    if (step == Step::kDone) step = execute();
    if (step == Step::kStopped) return step;
    buffer_at_ += size;
  }
  buffer_ = 0;
  return Step::kDone;
}

// Linux and PAL compare with 1: a memory of 1 has the packets carried out, one of 0 does not.
SdmaQueue::Step SdmaQueue::conditional() {
  uint32_t value = 0;
  const Step step = access([&] {
    const uint8_t* const source = find_word(source_, address(1), 4, false, "condition");
    if (source == nullptr) return;
    value = __atomic_load_n(reinterpret_cast<const uint32_t*>(source), __ATOMIC_ACQUIRE);
  });
  if (step == Step::kDone && value != word(3)) skip_ = word(4);
  return step;
}

SdmaQueue::Step SdmaQueue::trap() {
  // The signal's value was written by packets before this one.
  full_fence();
  device_.interrupts->raise(word(1));
  return Step::kDone;
}

SdmaQueue::Step SdmaQueue::timestamp() {
  return access([&] {
    uint8_t* const target = find_word(target_, address(1), 8, true, "time stamp");
    if (target == nullptr) return;
    __atomic_store_n(reinterpret_cast<uint64_t*>(target), device_.clock.now(), __ATOMIC_RELEASE);
  });
}

SdmaQueue::Step SdmaQueue::fence() {
  const uint64_t to = address(1);
  const Step step = access([&] {
    uint8_t* const target = find_word(target_, to, 4, true, "fence");
    if (target == nullptr) return;
    __atomic_store_n(reinterpret_cast<uint32_t*>(target), word(3), __ATOMIC_SEQ_CST);
  });
  if (step == Step::kDone) SignalWait::written(to - kSignalValue);
  return step;
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
  // ROCR polls the halves of a signal's value.
  const uint64_t signals[] = {from - kSignalValue, from - kSignalValue - 4};
  SignalWait wait(idle_, signals, std::size(signals));
  for (;;) {
    uint32_t value = 0;
    const Step looked = access([&] {
      const uint8_t* const source = find_word(source_, from, 4, false, "poll");
      if (source == nullptr) return;
      value = __atomic_load_n(reinterpret_cast<const uint32_t*>(source), __ATOMIC_ACQUIRE);
    });
    if (looked != Step::kDone || poll_holds(function, value & mask, reference)) return looked;
    if (stopping()) return Step::kStopped;
    idle_.pause(&wait);
  }
}

SdmaQueue::Step SdmaQueue::atomic() {
  const uint32_t operation = word(0) >> 25;
  const auto kind = static_cast<AtomicKind>(operation & 0x1f);
  const bool loops = (word(0) & sdma::kLoop) != 0;
  if (!is_atomic_kind(kind) || (loops && kind != AtomicKind::kCompareSwap)) {
    return unknown(fmt::format(
        "ATOMIC with operation {}{} is not implemented; integer operations are, and of them only "
        "the compare-and-swap in a loop",
        operation, loops ? " in a loop" : ""));
  }
  const uint64_t to = address(1);
  const bool is_wide = (operation & kAtomic64) != 0;
  const uint64_t signals[] = {to - kSignalValue};
  SignalWait wait(idle_, signals, std::size(signals));
  for (;;) {
    bool changed = false;
    const Step step = access([&] {
      uint8_t* const target = find_word(target_, to, is_wide ? 8 : 4, true, "atomic");
      if (target == nullptr) return;
      changed = is_wide ? change_atomically<uint64_t>(target, kind, address(3), address(5))
                        : change_atomically<uint32_t>(target, kind, address(3), address(5));
    });
    if (step != Step::kDone) return step;
    if (changed) SignalWait::written(to - kSignalValue);
    if (changed || !loops) return Step::kDone;
    if (stopping()) return Step::kStopped;
    idle_.pause(&wait);
  }
}

uint8_t* SdmaQueue::find(RangeCache& memory, uint64_t address, uint64_t size, bool is_write,
                         const char* what) {
  uint8_t* const found = memory.find(address, size, is_write);
  if (found == nullptr) refused_ = {address, size, is_write, what, address};
  return found;
}

uint8_t* SdmaQueue::find_word(RangeCache& memory, uint64_t address, uint32_t bytes, bool is_write,
                              const char* what) {
  uint8_t* found = nullptr;
  if (address % bytes == 0) {
    found = memory.find(address, bytes, is_write);
    if (found == nullptr && !memory.accessible(address, bytes))
      found = runtime_.find(address, bytes, is_write);
  }
  if (found == nullptr) refused_ = {address, bytes, is_write, what, address};
  return found;
}

std::string SdmaQueue::place() const {
  if (buffer_ == 0) return fmt::format("at byte {}", at_);
  return fmt::format("at byte {}, in dword {} of its indirect buffer ({:#x})", at_, buffer_at_,
                     buffer_);
}

SdmaQueue::Step SdmaQueue::stop_refused() {
  const Refused& access = refused_;
  set_failed();
  fail_with_memory_fault(
      {device_.node, access.fault, access.is_write, false},
      fmt::format("halyard vgpu: SDMA queue {} stopped {}: the {} may not {} {} bytes at "
                  "{:#x}; {}",
                  id_, place(), access.what, access.is_write ? "write" : "read", access.size,
                  access.address, describe(access.fault)));
  return Step::kStopped;
}

SdmaQueue::Step SdmaQueue::unknown(const std::string& text) {
  set_failed();
  fail_with_memory_fault(
      {device_.node, 0, false, true},
      fmt::format("halyard vgpu: SDMA queue {} stopped {}: {}", id_, place(), text));
  return Step::kStopped;
}

}  // namespace halyard::vgpu::queue
