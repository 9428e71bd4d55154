#include "vgpu/machine/event_table.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>

#include "vgpu/fence.h"
#include "vgpu/host_guard.h"
#include "vgpu/monotonic.h"

namespace halyard::vgpu::machine {

namespace {

constexpr uint32_t kForever = 0xFFFFFFFE;

// How long a wait for ever that shares an event with another one lasts before it wakes them both.
constexpr uint64_t kSharedWaitNs = 10 * 1000 * 1000;

timespec to_timespec(uint64_t ns) {
  return {.tv_sec = static_cast<time_t>(ns / 1000000000),
          .tv_nsec = static_cast<long>(ns % 1000000000)};
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
  uint64_t age = 0;        // that the caller has seen; 0: it uses none
  bool activated = false;  // guarded by the event's mutex
  bool destroyed = false;
};

struct alignas(64) EventTable::Event {
  std::atomic<uint32_t> signaled{0};
  std::atomic<uint32_t> waiters{0};  // length of `entries`
  std::atomic<bool> live{false};
  std::atomic<bool> auto_reset{true};
  std::mutex mutex;  // `entries`, `age`, `fault` and consuming
  Entry* entries = nullptr;
  EventType type = EventType::kSignal;
  std::optional<queue::MemoryFault> fault;  // guarded by mutex
  // Grows when a raise of an event that resets itself is taken away, and not when it is made, which
  // would cost each completion. Who has read an age finds the event set after a later raise, or
  // finds another age because somebody else has taken the raise. That an older raise may be counted
  // late wakes a thread once too often at most. Manual events count their raises.
  uint64_t age = 1;
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

EventTable::Event* EventTable::find(uint32_t id) const {
  if (id >= kMaxEvents) return nullptr;
  Event* const found = events_[id].load(std::memory_order_acquire);
  return found != nullptr && found->live.load(std::memory_order_acquire) ? found : nullptr;
}

std::optional<EventType> EventTable::type_of(uint32_t id) const {
  const Event* const found = find(id);
  return found != nullptr ? std::optional(found->type) : std::nullopt;
}

std::optional<queue::MemoryFault> EventTable::fault_of(uint32_t id) const {
  Event* const found = find(id);
  if (found == nullptr) return std::nullopt;
  const std::lock_guard lock(found->mutex);
  return found->fault;
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

EventStatus EventTable::create(EventType type, bool manual_reset, uint32_t* id) {
  if (type > EventType::kLast) return EventStatus::kInvalid;
  if (mailboxes_ == nullptr) return EventStatus::kNoRoom;
  const std::lock_guard lock(mutex_);
  uint32_t free_id;
  if (!unused_.empty()) {
    free_id = unused_.back();
    unused_.pop_back();
  } else if (next_id_ < kMaxEvents) {
    free_id = next_id_++;
  } else {
    return EventStatus::kNoRoom;
  }
  if (!empty_mailbox(free_id)) {
    unused_.push_back(free_id);
    return EventStatus::kNoRoom;
  }
  Event* created = events_[free_id].load(std::memory_order_relaxed);
  if (created == nullptr) created = new Event;
  created->auto_reset.store(!manual_reset, std::memory_order_relaxed);
  created->signaled.store(0, std::memory_order_relaxed);
  created->type = type;
  {
    const std::lock_guard event_lock(created->mutex);
    created->fault.reset();
    created->age = 1;
  }
  created->live.store(true, std::memory_order_release);
  events_[free_id].store(created, std::memory_order_release);
  *id = free_id;
  return EventStatus::kSuccess;
}

EventStatus EventTable::destroy(uint32_t id) {
  const std::lock_guard lock(mutex_);
  Event* const found = find(id);
  if (found == nullptr) return EventStatus::kNoSuchEvent;
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
  unused_.push_back(id);
  return EventStatus::kSuccess;
}

// Whoever reads 1 here may leave it at that: the wait that takes the 1 away looks at the signal
// afterwards, and what this raise is about has become visible before it (all sequentially
// consistent).
void EventTable::signal(Event& event) {
  if (!event.auto_reset.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(event.mutex);
    ++event.age;
    event.signaled.store(1, std::memory_order_seq_cst);
    wake_entries(event);
    return;
  }
  if (event.signaled.load(std::memory_order_seq_cst) == 0) {
    event.signaled.exchange(1, std::memory_order_seq_cst);
  }
  if (event.waiters.load(std::memory_order_seq_cst) != 0) wake_waiters(event);
}

void EventTable::unset(Event& event) {
  event.signaled.store(0, std::memory_order_seq_cst);
  ++event.age;
}

void EventTable::wake_waiters(Event& event) {
  const std::lock_guard lock(event.mutex);
  if (event.entries == nullptr) return;
  if (event.auto_reset) unset(event);
  wake_entries(event);
}

void EventTable::wake_entries(Event& event) {
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

// As kfd_signal_event_interrupt(): an event is set if its mailbox has been written, which empties
// it. A context that leads to no such event means that all mailboxes are looked at.
void EventTable::raise_end_of_pipe(uint32_t context) {
  const auto take = [this](uint32_t id) {
    if (find(id) == nullptr || __atomic_load_n(&mailboxes_[id], __ATOMIC_SEQ_CST) == empty_)
      return false;
    __atomic_store_n(&mailboxes_[id], empty_, __ATOMIC_SEQ_CST);
    raise(id);
    return true;
  };
  if (take(context)) return;
  for (uint32_t id = 1; id < kMaxEvents; ++id) take(id);
}

void EventTable::raise_low_bits(uint32_t low_bits) {
  for (uint32_t id = low_bits & 0xff; id < kMaxEvents; id += 256) {
    if (__atomic_load_n(&mailboxes_[id], __ATOMIC_SEQ_CST) == empty_) continue;
    __atomic_store_n(&mailboxes_[id], empty_, __ATOMIC_SEQ_CST);
    raise(id);
  }
}

void EventTable::set_fault_listener(FaultListener* listener) {
  const std::lock_guard lock(listener_mutex_);
  listener_ = listener;
}

bool EventTable::memory_fault(const queue::MemoryFault& fault) {
  {
    const std::lock_guard lock(listener_mutex_);
    if (listener_ != nullptr) listener_->memory_fault(fault);
  }
  bool heard = false;
  const std::lock_guard lock(mutex_);
  for (uint32_t id = 1; id < next_id_; ++id) {
    Event* const event = events_[id].load(std::memory_order_relaxed);
    if (event == nullptr || !event->live.load(std::memory_order_relaxed)) continue;
    if (event->type != EventType::kMemory) continue;
    heard = true;
    {
      // The first fault is the one that is reported, as in the kernel driver.
      const std::lock_guard event_lock(event->mutex);
      if (event->fault) continue;
      event->fault = fault;
    }
    signal(*event);
  }
  return heard;
}

EventStatus EventTable::set(uint32_t id) {
  Event* const found = find(id);
  if (found == nullptr) return EventStatus::kNoSuchEvent;
  // The caller's own stores may be weaker than what signal() builds on.
  full_fence();
  signal(*found);
  return EventStatus::kSuccess;
}

EventStatus EventTable::reset(uint32_t id) {
  Event* const found = find(id);
  if (found == nullptr) return EventStatus::kNoSuchEvent;
  const std::lock_guard lock(found->mutex);
  if (found->auto_reset && found->signaled.load(std::memory_order_seq_cst) != 0) {
    unset(*found);
  } else {
    found->signaled.store(0, std::memory_order_seq_cst);
  }
  return EventStatus::kSuccess;
}

EventStatus EventTable::state(uint32_t id) const {
  const Event* const found = find(id);
  if (found == nullptr) return EventStatus::kNoSuchEvent;
  return found->signaled.load(std::memory_order_seq_cst) != 0 ? EventStatus::kSuccess
                                                              : EventStatus::kTimeout;
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
  const bool is_set = event.signaled.load(std::memory_order_seq_cst) != 0;
  entry.activated = is_set || (entry.age != 0 && entry.age != event.age);
  if (is_set && event.auto_reset) unset(event);
  return entry.activated;
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

bool EventTable::is_shared(const Entry& entry) {
  return entry.age == 0 && entry.event->auto_reset &&
         entry.event->waiters.load(std::memory_order_relaxed) > 1;
}

EventStatus EventTable::wait(const uint32_t* ids, uint32_t count, bool all, uint32_t milliseconds,
                             uint64_t* ages) {
  if (ids == nullptr || count == 0) return EventStatus::kInvalid;
  const uint64_t deadline = monotonic_ns() + uint64_t{milliseconds} * 1000000;
  Waiter waiter;
  Entry few[16];
  std::unique_ptr<Entry[]> many;
  Entry* entries = few;
  if (count > std::size(few)) {
    many = std::make_unique<Entry[]>(count);
    entries = many.get();
  }
  EventStatus status = EventStatus::kTimeout;
  uint32_t enlisted = 0;
  uint32_t active = 0;
  for (; enlisted < count; ++enlisted) {
    Event* const event = find(ids[enlisted]);
    if (event == nullptr) {
      status = EventStatus::kNoSuchEvent;
      break;
    }
    entries[enlisted].waiter = &waiter;
    if (ages != nullptr) entries[enlisted].age = ages[enlisted];
    if (!enlist(*event, entries[enlisted])) continue;
    ++active;
    if (!all) {
      ++enlisted;
      break;
    }
  }

  while (status != EventStatus::kNoSuchEvent) {
    const uint32_t seen = waiter.word.load(std::memory_order_seq_cst);
    active = 0;
    bool destroyed = false;
    for (uint32_t i = 0; i < enlisted; ++i) {
      const std::lock_guard lock(entries[i].event->mutex);
      if (entries[i].activated) ++active;
      destroyed |= entries[i].destroyed;
    }
    if (all ? active == count : active > 0) {
      status = EventStatus::kSuccess;
      break;
    }
    if (destroyed) {
      status = EventStatus::kDestroyed;
      break;
    }
    // Of two threads that wait for one event, one may have taken a raise that the other one has
    // missed between its look at the signals and its wait; and a store to a signal raises nothing
    // if it overtakes the look at who waits. Ages are the remedy against the first, and callers
    // without them had none (ROCm/ROCR-Runtime#160): ROCR 5.2.3's thread for handlers and a thread
    // that destroys a queue, which share one event, then wait for each other. Here nobody sleeps
    // through that: who shares an event wakes all that wait for it, and they look again.
    const bool endless = milliseconds >= kForever;
    bool shared = false;
    for (uint32_t i = 0; endless && i < enlisted; ++i) shared |= is_shared(entries[i]);
    timespec timeout;
    const timespec* limit = nullptr;
    if (shared) {
      timeout = to_timespec(kSharedWaitNs);
      limit = &timeout;
    } else if (!endless) {
      const uint64_t now = monotonic_ns();
      if (now >= deadline) break;
      timeout = to_timespec(deadline - now);
      limit = &timeout;
    }
    const long slept =
        syscall(SYS_futex, &waiter.word, FUTEX_WAIT_PRIVATE, seen, limit, nullptr, 0);
    if (!shared || slept == 0 || errno != ETIMEDOUT) continue;
    for (uint32_t i = 0; i < enlisted; ++i) {
      if (is_shared(entries[i])) wake_waiters(*entries[i].event);
    }
  }
  for (uint32_t i = 0; ages != nullptr && status == EventStatus::kSuccess && i < enlisted; ++i) {
    const std::lock_guard lock(entries[i].event->mutex);
    // Who uses no age gets none.
    if (entries[i].activated && entries[i].age != 0) ages[i] = entries[i].event->age;
  }
  for (uint32_t i = 0; i < enlisted; ++i) delist(entries[i]);
  return status;
}

}  // namespace halyard::vgpu::machine
