#include "plugins/sdk/hostcall.h"

#include <algorithm>
#include <bit>

#include "plugins/sdk/printf_text.h"

namespace halyard {

// Numbers of packets: the index in the low bits, and in the others a tag that makes a packet that
// comes back onto a stack another number than before. 0 is none.
struct HostcallBuffer::Packet {
  uint64_t next;     // on its stack
  uint64_t lanes;    // the work-items that call
  uint32_t service;  // what for
  uint32_t control;  // bit 0: waits for the host
};

namespace {

// As the runtime lays out a signal (amd_signal_t). Without a mailbox the device raises no
// interrupt: the host looks.
struct Signal {
  int64_t kind;
  int64_t value;
  uint64_t event_mailbox;
  uint32_t event_id;
  uint32_t reserved[9];
};
static_assert(sizeof(Signal) == 64);

constexpr uint32_t kWaiting = 1;

}  // namespace

struct alignas(64) HostcallBuffer::Control {
  uint64_t packets;   // the device's address of them
  uint64_t slots;     // the device's address of 64 × 8 words for each packet
  uint64_t doorbell;  // the device's address of `signal`
  uint64_t free;      // the top of the free stack
  uint64_t ready;     // the top of the ready stack
  uint64_t mask;      // of the index in a packet's number
  uint64_t unused[2];
  Signal signal;
};

namespace {

constexpr size_t kControlBytes = 128;

size_t packet_bytes(uint32_t packets, size_t one) {
  return (packets * one + 63) / 64 * 64;
}

}  // namespace

size_t HostcallBuffer::bytes_for(uint32_t packets) {
  return kControlBytes + packet_bytes(packets, sizeof(Packet)) +
         packets * sizeof(HostcallSlots[64]);
}

HostcallBuffer::HostcallBuffer(void* host, uint64_t device, uint32_t packets) : count_(packets) {
  static_assert(sizeof(Packet) == 24 && sizeof(Control) == kControlBytes);
  auto* const base = static_cast<std::byte*>(host);
  const size_t slots_at = kControlBytes + packet_bytes(packets, sizeof(Packet));
  control_ = reinterpret_cast<Control*>(base);
  packets_ = reinterpret_cast<Packet*>(base + kControlBytes);
  slots_ = reinterpret_cast<HostcallSlots(*)[64]>(base + slots_at);
  mask_ = std::bit_ceil(uint64_t{packets}) - 1;
  control_->packets = device + kControlBytes;
  control_->slots = device + slots_at;
  control_->doorbell = device + offsetof(Control, signal);
  control_->mask = mask_;
  // The first tag is 1, so that no number is 0.
  uint64_t top = 0;
  for (uint32_t i = 0; i < packets; ++i) {
    packets_[i].next = top;
    top = (mask_ + 1) | i;
  }
  __atomic_store_n(&control_->free, top, __ATOMIC_RELEASE);
}

bool HostcallBuffer::serve(const HostcallHandler& handler) {
  uint64_t number = __atomic_load_n(&control_->ready, __ATOMIC_RELAXED);
  if (number == 0) return false;
  number = __atomic_exchange_n(&control_->ready, 0, __ATOMIC_ACQUIRE);
  // Before any is answered: its wavefront then puts it onto another stack.
  std::vector<uint64_t> ready;
  // A kernel that writes where it should not may have been here.
  while (number != 0 && (number & mask_) < count_ && ready.size() < count_) {
    ready.push_back(number & mask_);
    number = packets_[number & mask_].next;
  }
  std::reverse(ready.begin(), ready.end());
  for (const uint64_t index : ready) {
    Packet& packet = packets_[index];
    for (uint64_t lanes = packet.lanes; lanes != 0; lanes &= lanes - 1) {
      handler(packet.service, slots_[index][std::countr_zero(lanes)]);
    }
    __atomic_and_fetch(&packet.control, ~kWaiting, __ATOMIC_RELEASE);
  }
  return true;
}

void HostcallMessages::append(HostcallSlots& slots, const Print& print) {
  // The first word: bit 0: begins a message; bit 1: ends it; bits 5 to 7: how many words follow;
  // the rest: the message's number, which the host chooses.
  constexpr uint64_t kBegins = 1;
  constexpr uint64_t kEnds = 2;
  constexpr uint32_t kCountShift = 5;
  constexpr uint32_t kNumberShift = 8;
  const uint64_t head = slots[0];
  const uint64_t number = (head & kBegins) != 0 ? ++last_ : head >> kNumberShift;
  const size_t count = head >> kCountShift & 7;
  std::vector<uint64_t>& words = open_[number];
  words.insert(words.end(), slots.begin() + 1, slots.begin() + 1 + static_cast<ptrdiff_t>(count));
  if ((head & kEnds) == 0) {
    slots[0] = number << kNumberShift;
    return;
  }
  // The first word of a message chooses where it goes.
  const std::vector<uint64_t> whole = std::move(words);
  open_.erase(number);
  slots[0] = 0;
  if (whole.empty()) return;
  const std::string text = printf_text({whole.data() + 1, whole.size() - 1});
  print((whole[0] & 1) != 0, text);
  slots[0] = text.size();
}

}  // namespace halyard
