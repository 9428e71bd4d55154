#include "vgpu/machine/event_table.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>

#include "vgpu/fence.h"
#include "vgpu/host_guard.h"

namespace halyard::vgpu::machine {

namespace {

constexpr uint32_t kForever = 0xFFFFFFFE;

// How long a wait for ever that shares an event with another one lasts before it wakes them both.
constexpr uint64_t kSharedWaitNs = 10 * 1000 * 1000;

timespec to_timespec(uint64_t ns) {
  return {.tv_sec = static_cast<time_t>(ns / 1000000000),
          .tv_nsec = static_cast<long>(ns % 1000000000)};
}

uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

// One sleeping thread: a futex word that any of its events bumps.
struct EventTable::Waiter {
  std::atomic<uint32_t> word{0};

  void wake() {
    word.fetch_add(1, std::memory_order_seq_cst);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
};

// One waiter's interest in one event; linked into the event's list.
struct EventTable::Entry {
  Waiter* waiter = nullptr;
  Event* event = nullptr;
  Entry* next = nullptr;
  Entry** link = nullptr;  // who points here; null: in no list
  bool activated = false;  // guarded by the event's mutex
  bool destroyed = false;
};

struct alignas(64) EventTable::Event {
  std::atomic<uint32_t> signaled{0};
  std::atomic<uint32_t> waiters{0};  // length of `entries`
  std::atomic<bool> live{false};
  bool auto_reset = true;
  std::mutex mutex;  // `entries` and consuming
  Entry* entries = nullptr;
  HsaEvent pub = {};
};

EventTable::EventTable() {
  void* const memory =
      mmap(nullptr, mailbox_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) mailboxes_ = static_cast<uint64_t*>(memory);
}

EventTable::~EventTable() {
  for (auto& slot : events_) delete slot.load(std::memory_order_relaxed);
  if (mailboxes_ != nullptr && owns_mailboxes_) munmap(mailboxes_, mailbox_bytes());
}

EventTable::Event* EventTable::from_public(HsaEvent* event) {
  if (event == nullptr) return nullptr;
  // The pointer came from create(), which never gives memory back, so the id can be read.
  const uint32_t id = event->EventId;
  if (id >= kMaxEvents) return nullptr;
  Event* const found = events_[id].load(std::memory_order_acquire);
  if (found == nullptr || &found->pub != event) return nullptr;
  return found->live.load(std::memory_order_acquire) ? found : nullptr;
}

HsaEvent* EventTable::find(uint32_t id) {
  if (id >= kMaxEvents) return nullptr;
  Event* const found = events_[id].load(std::memory_order_acquire);
  return found != nullptr && found->live.load(std::memory_order_acquire) ? &found->pub : nullptr;
}

bool EventTable::use_page(uint64_t* page) {
  const std::lock_guard lock(mutex_);
  if (next_id_ != 1) return false;
  constexpr uint64_t kEmpty = ~uint64_t{0};
  HostFault gone;
  const auto fill = [page] { std::fill_n(page, kMaxEvents, uint64_t{kEmpty}); };
  if (!guarded(fill, gone)) return false;
  if (mailboxes_ != nullptr && owns_mailboxes_) munmap(mailboxes_, mailbox_bytes());
  owns_mailboxes_ = false;
  empty_ = kEmpty;
  mailboxes_ = page;
  return true;
}

bool EventTable::empty_mailbox(uint32_t id) {
  HostFault gone;
  return guarded([this, id] { __atomic_store_n(&mailboxes_[id], empty_, __ATOMIC_RELAXED); }, gone);
}

HSAKMT_STATUS EventTable::create(const HsaEventDescriptor& descriptor, bool manual_reset,
                                 bool is_signaled, HsaEvent** event) {
  if (event == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  *event = nullptr;
  if (descriptor.EventType < 0 || descriptor.EventType >= HSA_EVENTTYPE_MAXID) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  if (mailboxes_ == nullptr) return HSAKMT_STATUS_NO_MEMORY;
  const std::lock_guard lock(mutex_);
  uint32_t id;
  if (!unused_.empty()) {
    id = unused_.back();
    unused_.pop_back();
  } else if (next_id_ < kMaxEvents) {
    id = next_id_++;
  } else {
    return HSAKMT_STATUS_NO_MEMORY;
  }
  if (!empty_mailbox(id)) {
    unused_.push_back(id);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  Event* created = events_[id].load(std::memory_order_relaxed);
  if (created == nullptr) created = new Event;
  created->auto_reset = !manual_reset;
  created->signaled.store(is_signaled ? 1 : 0, std::memory_order_relaxed);
  created->pub = {};
  created->pub.EventId = id;
  created->pub.EventData.EventType = descriptor.EventType;
  created->pub.EventData.HWData1 = id;
  created->pub.EventData.HWData2 = reinterpret_cast<uintptr_t>(&mailboxes_[id]);
  created->pub.EventData.HWData3 = id;
  if (descriptor.EventType == HSA_EVENTTYPE_SIGNAL) {
    created->pub.EventData.EventData.SyncVar = descriptor.SyncVar;
  }
  created->live.store(true, std::memory_order_release);
  events_[id].store(created, std::memory_order_release);
  *event = &created->pub;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS EventTable::destroy(HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  Event* const found = from_public(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  found->live.store(false, std::memory_order_release);
  {
    const std::lock_guard event_lock(found->mutex);
    while (Entry* entry = found->entries) {
      entry->destroyed = true;
      found->entries = entry->next;
      if (entry->next != nullptr) entry->next->link = &found->entries;
      entry->link = nullptr;
      entry->waiter->wake();
    }
    found->waiters.store(0, std::memory_order_relaxed);
  }
  unused_.push_back(found->pub.EventId);
  return HSAKMT_STATUS_SUCCESS;
}

// Whoever reads 1 here may leave it at that: the wait that takes the 1 away looks at the signal
// afterwards, and what this raise is about has become visible before it (all sequentially
// consistent).
void EventTable::signal(Event& event) {
  if (event.signaled.load(std::memory_order_seq_cst) == 0) {
    event.signaled.exchange(1, std::memory_order_seq_cst);
  }
  if (event.waiters.load(std::memory_order_seq_cst) != 0) wake_waiters(event);
}

void EventTable::wake_waiters(Event& event) {
  const std::lock_guard lock(event.mutex);
  if (event.entries == nullptr) return;
  if (event.auto_reset) event.signaled.store(0, std::memory_order_seq_cst);
  for (Entry* entry = event.entries; entry != nullptr; entry = entry->next) {
    if (entry->activated) continue;
    entry->activated = true;
    entry->waiter->wake();
  }
}

void EventTable::raise(uint32_t event_id) {
  if (event_id >= kMaxEvents) return;
  Event* const event = events_[event_id].load(std::memory_order_acquire);
  if (event == nullptr || !event->live.load(std::memory_order_relaxed)) return;
  signal(*event);
}

void EventTable::raise_low_bits(uint32_t low_bits) {
  for (uint32_t id = low_bits & 0xff; id < kMaxEvents; id += 256) {
    if (__atomic_load_n(&mailboxes_[id], __ATOMIC_SEQ_CST) == empty_) continue;
    __atomic_store_n(&mailboxes_[id], empty_, __ATOMIC_SEQ_CST);
    raise(id);
  }
}

bool EventTable::memory_fault(const queue::MemoryFault& fault) {
  bool heard = false;
  const std::lock_guard lock(mutex_);
  for (uint32_t id = 1; id < next_id_; ++id) {
    Event* const event = events_[id].load(std::memory_order_relaxed);
    if (event == nullptr || !event->live.load(std::memory_order_relaxed)) continue;
    if (event->pub.EventData.EventType != HSA_EVENTTYPE_MEMORY) continue;
    HsaMemoryAccessFault& data = event->pub.EventData.EventData.MemoryAccessFault;
    heard = true;
    // The first fault is the one that is reported, as in the kernel driver.
    auto* const flags = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(&data) +
                                                    offsetof(HsaMemoryAccessFault, Flags));
    if (__atomic_load_n(flags, __ATOMIC_ACQUIRE) == HSA_EVENTID_MEMORY_FATAL_PROCESS) continue;
    data.NodeId = fault.node;
    data.VirtualAddress = fault.address;
    std::memset(&data.Failure, 0, sizeof data.Failure);
    if (fault.is_hang) {
      data.Failure.ErrorType = 3;
    } else {
      data.Failure.NotPresent = 1;
    }
    // ROCR looks at Flags without waiting: they are what makes the rest valid.
    __atomic_store_n(flags, static_cast<uint32_t>(HSA_EVENTID_MEMORY_FATAL_PROCESS),
                     __ATOMIC_SEQ_CST);
    signal(*event);
  }
  return heard;
}

HSAKMT_STATUS EventTable::set(HsaEvent* event) {
  Event* const found = from_public(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  // The caller's own stores may be weaker than what signal() builds on.
  full_fence();
  signal(*found);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS EventTable::reset(HsaEvent* event) {
  Event* const found = from_public(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  found->signaled.store(0, std::memory_order_seq_cst);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS EventTable::state(HsaEvent* event) {
  Event* const found = from_public(event);
  if (found == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  return found->signaled.load(std::memory_order_seq_cst) != 0 ? HSAKMT_STATUS_SUCCESS
                                                              : HSAKMT_STATUS_WAIT_TIMEOUT;
}

// Adds the entry to the event's list and says whether the event was set, consuming it if it resets
// itself. The count goes up before the look, and signal() sets before it counts: one of the two
// sees the other.
bool EventTable::enlist(Event& event, Entry& entry) {
  const std::lock_guard lock(event.mutex);
  entry.event = &event;
  entry.next = event.entries;
  entry.link = &event.entries;
  if (entry.next != nullptr) entry.next->link = &entry.next;
  event.entries = &entry;
  event.waiters.fetch_add(1, std::memory_order_seq_cst);
  if (event.signaled.load(std::memory_order_seq_cst) == 0) return false;
  entry.activated = true;
  if (event.auto_reset) event.signaled.store(0, std::memory_order_seq_cst);
  return true;
}

void EventTable::delist(Entry& entry) {
  if (entry.event == nullptr) return;
  const std::lock_guard lock(entry.event->mutex);
  if (entry.link == nullptr) return;
  *entry.link = entry.next;
  if (entry.next != nullptr) entry.next->link = entry.link;
  entry.link = nullptr;
  entry.event->waiters.fetch_sub(1, std::memory_order_seq_cst);
}

bool EventTable::is_shared(const Event& event) {
  return event.auto_reset && event.waiters.load(std::memory_order_relaxed) > 1;
}

HSAKMT_STATUS EventTable::wait(HsaEvent* const* events, uint32_t count, bool all,
                               uint32_t milliseconds) {
  if (events == nullptr || count == 0) return HSAKMT_STATUS_INVALID_PARAMETER;
  const uint64_t deadline = now_ns() + uint64_t{milliseconds} * 1000000;
  Waiter waiter;
  Entry few[16];
  std::unique_ptr<Entry[]> many;
  Entry* entries = few;
  if (count > std::size(few)) {
    many = std::make_unique<Entry[]>(count);
    entries = many.get();
  }
  HSAKMT_STATUS status = HSAKMT_STATUS_WAIT_TIMEOUT;
  uint32_t enlisted = 0;
  uint32_t active = 0;
  for (; enlisted < count; ++enlisted) {
    Event* const event = from_public(events[enlisted]);
    if (event == nullptr) {
      status = HSAKMT_STATUS_INVALID_HANDLE;
      break;
    }
    entries[enlisted].waiter = &waiter;
    if (!enlist(*event, entries[enlisted])) continue;
    ++active;
    if (!all) {
      ++enlisted;
      break;
    }
  }

  while (status != HSAKMT_STATUS_INVALID_HANDLE) {
    const uint32_t seen = waiter.word.load(std::memory_order_seq_cst);
    active = 0;
    bool destroyed = false;
    for (uint32_t i = 0; i < enlisted; ++i) {
      const std::lock_guard lock(entries[i].event->mutex);
      if (entries[i].activated) ++active;
      destroyed |= entries[i].destroyed;
    }
    if (all ? active == count : active > 0) {
      status = HSAKMT_STATUS_SUCCESS;
      break;
    }
    if (destroyed) {
      status = HSAKMT_STATUS_WAIT_FAILURE;
      break;
    }
    // Of two threads that wait for one event, one may have taken a raise that the other one has
    // missed between its look at the signals and its wait; and a store to a signal raises nothing
    // if it overtakes the look at who waits. Kernel drivers had no remedy before they counted an
    // event's age (ROCm/ROCR-Runtime#160): ROCR 5.2.3's thread for handlers and a thread that
    // destroys a queue, which share one event, then wait for each other. Here nobody sleeps through
    // that: who shares an event wakes all that wait for it, and they look again.
    const bool endless = milliseconds >= kForever;
    bool shared = false;
    for (uint32_t i = 0; endless && i < enlisted; ++i) shared |= is_shared(*entries[i].event);
    timespec timeout;
    const timespec* limit = nullptr;
    if (shared) {
      timeout = to_timespec(kSharedWaitNs);
      limit = &timeout;
    } else if (!endless) {
      const uint64_t now = now_ns();
      if (now >= deadline) break;
      timeout = to_timespec(deadline - now);
      limit = &timeout;
    }
    const long slept =
        syscall(SYS_futex, &waiter.word, FUTEX_WAIT_PRIVATE, seen, limit, nullptr, 0);
    if (!shared || slept == 0 || errno != ETIMEDOUT) continue;
    for (uint32_t i = 0; i < enlisted; ++i) {
      if (is_shared(*entries[i].event)) wake_waiters(*entries[i].event);
    }
  }
  for (uint32_t i = 0; i < enlisted; ++i) delist(entries[i]);
  return status;
}

}  // namespace halyard::vgpu::machine
