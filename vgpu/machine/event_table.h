// Events: how the GPU wakes host threads. Programs name them by their ids.
//
// Setting an event that nobody waits for is on the path of every completion: it is one load if the
// event is still set, and one exchange if it is not. A signal event resets itself: it stays set
// until one wait consumes it, or, if threads sleep on it, wakes them all and is not left set. A
// manual event stays set until it is reset.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::machine {

// What an event tells of, by the kernel driver's numbers (KFD_IOC_EVENT_…).
enum class EventType : uint32_t { kSignal = 0, kMemory = 8, kLast = kMemory };

enum class EventStatus : uint8_t {
  kSuccess,
  kTimeout,
  kDestroyed,    // while a thread waited for it
  kNoSuchEvent,  // no event has the id
  kNoRoom,       // as many events as there can be
  kInvalid,      // nothing that could be done
};

// Hears of each memory fault. Called by the queue's thread.
class FaultListener {
 public:
  virtual ~FaultListener() = default;
  virtual void memory_fault(const queue::MemoryFault& fault) = 0;
};

class EventTable final : public queue::Interrupts {
 public:
  static constexpr uint32_t kMaxEvents = 4096;  // as many as the kernel driver has

  EventTable();
  ~EventTable() override;

  EventStatus create(EventType type, bool manual_reset, uint32_t* id);
  // Threads that wait for the event return with kDestroyed.
  EventStatus destroy(uint32_t id);
  EventStatus set(uint32_t id);
  EventStatus reset(uint32_t id);
  // kSuccess if the event is set, kTimeout if not.
  EventStatus state(uint32_t id) const;
  // `milliseconds`: 0 only looks; 0xFFFFFFFE and above is for ever. A wait for ever that is not the
  // only one for its event may return kSuccess without a cause, so that the caller looks again.
  //
  // `ages`: for each event its age when the caller last waited for it, 1 if it has not yet, or 0:
  // no age. An event of another age counts as set, so that no raise between two waits is missed.
  // Of the events that are set the age is the present one when kSuccess is returned.
  EventStatus wait(const uint32_t* ids, uint32_t count, bool all, uint32_t milliseconds,
                   uint64_t* ages = nullptr);

  // No value if there is no such event.
  std::optional<EventType> type_of(uint32_t id) const;
  // What a memory event tells of: the first fault since it was made. No value if there was none.
  std::optional<queue::MemoryFault> fault_of(uint32_t id) const;
  // Takes this page of kMaxEvents slots for the mailboxes, instead of its own. Slots that hold no
  // event's id are all ones then, as in the kernel driver. False once an event has been made, and
  // if the host does not have the page. Where it goes away later, no event can be made.
  bool use_page(uint64_t* page);

  // Null: none. What listened before does so no longer once this returns.
  void set_fault_listener(FaultListener* listener);

  // queue::Interrupts.
  void raise(uint32_t event_id) override;
  void raise_end_of_pipe(uint32_t context) override;
  bool memory_fault(const queue::MemoryFault& fault) override;
  // Device code names an event by the low 8 bits of its id and has written its mailbox.
  void raise_low_bits(uint32_t low_bits);

  // One 8-byte slot per event, for the GPU to write.
  uint64_t* mailboxes() const { return mailboxes_; }
  uint64_t mailbox_bytes() const { return uint64_t{kMaxEvents} * sizeof(uint64_t); }

 private:
  struct Event;
  struct Waiter;
  struct Entry;

  bool empty_mailbox(uint32_t id);
  Event* find(uint32_t id) const;
  void signal(Event& event);
  void wake_waiters(Event& event);
  // The caller holds the event's mutex.
  static void wake_entries(Event& event);
  // A raise of the event is over: a wait or a reset takes it away, or threads have been woken. The
  // caller holds the event's mutex.
  static void unset(Event& event);
  // Whether several threads wait for an event of which one may take what this one has missed.
  static bool is_shared(const Entry& entry);
  static bool enlist(Event& event, Entry& entry);
  void delist(Entry& entry);

  // Events are never deleted before the table: their ids are used again, and a thread that has
  // found one just before it was destroyed does no harm.
  std::array<std::atomic<Event*>, kMaxEvents> events_{};
  std::mutex mutex_;  // creation and destruction
  std::mutex listener_mutex_;
  FaultListener* listener_ = nullptr;  // under listener_mutex_
  std::vector<uint32_t> unused_;       // ids of destroyed events
  uint32_t next_id_ = 1;               // 0 means "no event" to device code
  uint64_t* mailboxes_ = nullptr;
  bool owns_mailboxes_ = true;
  uint64_t empty_ = 0;  // what a mailbox holds that nobody has written to
};

}  // namespace halyard::vgpu::machine
