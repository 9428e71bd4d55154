// Events: how the GPU wakes host threads (hsaKmtCreateEvent and its family).
//
// Setting an event that nobody waits for is on the path of every completion: it is one load if the
// event is still set, and one exchange if it is not. A signal event resets itself: it stays set
// until one wait consumes it, or, if threads sleep on it, wakes them all and is not left set. A
// manual event stays set until it is reset.
#pragma once

#include <hsakmttypes.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::machine {

class EventTable final : public queue::Interrupts {
 public:
  static constexpr uint32_t kMaxEvents = 4096;  // as many as the kernel driver has

  EventTable();
  ~EventTable() override;

  HSAKMT_STATUS create(const HsaEventDescriptor& descriptor, bool manual_reset, bool is_signaled,
                       HsaEvent** event);
  // Threads that wait for the event return with WAIT_FAILURE.
  HSAKMT_STATUS destroy(HsaEvent* event);
  HSAKMT_STATUS set(HsaEvent* event);
  HSAKMT_STATUS reset(HsaEvent* event);
  // SUCCESS if the event is set, WAIT_TIMEOUT if not.
  HSAKMT_STATUS state(HsaEvent* event);
  // `milliseconds`: 0 only looks; 0xFFFFFFFE and above is for ever. A wait for ever that is not the
  // only one for its event may return SUCCESS without a cause, so that the caller looks again.
  HSAKMT_STATUS wait(HsaEvent* const* events, uint32_t count, bool all, uint32_t milliseconds);

  // The event of an id, or null if there is none.
  HsaEvent* find(uint32_t id);
  // Takes this page of kMaxEvents slots for the mailboxes, instead of its own. Slots that hold no
  // event's id are all ones then, as in the kernel driver. False once an event has been made, and
  // if the host does not have the page. Where it goes away later, no event can be made.
  bool use_page(uint64_t* page);

  // queue::Interrupts.
  void raise(uint32_t event_id) override;
  bool memory_fault(const queue::MemoryFault& fault) override;
  // Device code names an event by the low 8 bits of its id and has written its mailbox.
  void raise_low_bits(uint32_t low_bits);

  // One 8-byte slot per event, for the GPU to write.
  void* mailboxes() const { return mailboxes_; }
  uint64_t mailbox_bytes() const { return uint64_t{kMaxEvents} * sizeof(uint64_t); }

 private:
  struct Event;
  struct Waiter;
  struct Entry;

  bool empty_mailbox(uint32_t id);
  Event* from_public(HsaEvent* event);
  void signal(Event& event);
  void wake_waiters(Event& event);
  // Whether several threads wait for an event of which one may take what another one missed.
  static bool is_shared(const Event& event);
  bool enlist(Event& event, Entry& entry);
  void delist(Entry& entry);

  // Events are never deleted: their ids are used again, and a stale pointer stays harmless.
  std::array<std::atomic<Event*>, kMaxEvents> events_{};
  std::mutex mutex_;              // creation and destruction
  std::vector<uint32_t> unused_;  // ids of destroyed events
  uint32_t next_id_ = 1;          // 0 means "no event" to device code
  uint64_t* mailboxes_ = nullptr;
  bool owns_mailboxes_ = true;
  uint64_t empty_ = 0;  // what a mailbox holds that nobody has written to
};

}  // namespace halyard::vgpu::machine
