// ProfileRecorder: which operations of a device are timed, and what is kept of each until its times
// are read.
//
// A driver adds `Marks`, on which its runtime notes when an operation began and ended, and says how
// these are read. What the host does takes its times itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "hal/error.h"
#include "hal/profile.h"
#include "hal/status.h"
#include "plugins/sdk/operation_facts.h"

namespace halyard {

// On CLOCK_MONOTONIC.
struct TimeSpan {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
};

// FAILED_PRECONDITION of Device::begin_profile and of Device::end_profile.
Status profile_is_being_taken(StringView device);
Status no_profile_is_being_taken(StringView device);

// A device's profile, as Device::begin_profile and Device::end_profile take it. Any thread may use
// any method.
class DeviceProfile {
 public:
  // `device` is what errors call the device.
  virtual Status begin(StringView device, const ProfileOptions& options) = 0;
  // Waits for what was submitted since, and gives it to the sink in the order in which it began.
  virtual Status end(StringView device, ProfileSink sink, void* context) = 0;

 protected:
  ~DeviceProfile() = default;
};

// Any thread may use any method.
template <typename Marks>
class ProfileRecorder : public DeviceProfile {
 public:
  ProfileRecorder(const ProfileRecorder&) = delete;
  ProfileRecorder& operator=(const ProfileRecorder&) = delete;

  bool active() const { return kinds_.load(std::memory_order_acquire) != 0; }
  bool wants(ProfileKind kind) const {
    return (kinds_.load(std::memory_order_acquire) & profile_bit(kind)) != 0;
  }
  // RecordedPlace::execution of an execution that is submitted.
  uint64_t next_execution() { return next_execution_.fetch_add(1, std::memory_order_relaxed); }

  Status begin(StringView device, const ProfileOptions& options) final {
    if (taken_.exchange(true)) return profile_is_being_taken(device);
    if (Status status = prepare(); !status.ok()) {
      taken_.store(false);
      return status;
    }
    kinds_.store(options.kinds != 0 ? options.kinds : kAllProfileKinds, std::memory_order_release);
    begun();
    return {};
  }

  Status end(StringView device, ProfileSink sink, void* context) final {
    if (!active()) return no_profile_is_being_taken(device);
    wait_for_work();
    kinds_.store(0, std::memory_order_release);
    ended();
    std::vector<Event> events;
    {
      const std::lock_guard lock(mutex_);
      events.swap(events_);
    }
    const Status status = read(&events);
    if (status.ok()) {
      // Of those that began together, the first that was added comes first.
      std::vector<const Event*> in_order;
      for (const Event& event : events) {
        if (event.has_span) in_order.push_back(&event);
      }
      std::sort(in_order.begin(), in_order.end(), [](const Event* a, const Event* b) {
        return std::pair(a->span.begin_ns, a) < std::pair(b->span.begin_ns, b);
      });
      for (const Event* const event : in_order) {
        sink(context, event->note.event(event->span.begin_ns, event->span.end_ns));
      }
    }
    taken_.store(false);
    return status;
  }

  // What the host has done.
  void add_host(const OperationFacts& facts, uint64_t queue, uint64_t begin_ns, uint64_t end_ns) {
    const std::lock_guard lock(mutex_);
    events_.push_back({ProfileNote(facts, queue), {}, {begin_ns, end_ns}, true});
  }

 protected:
  struct Event {
    ProfileNote note;
    Marks marks;
    TimeSpan span;
    bool has_span = false;  // without one it is not reported
  };

  ProfileRecorder() = default;
  ~ProfileRecorder() = default;

  // An operation is on the device, with marks that will be noted.
  void add(ProfileNote note, Marks marks) {
    const std::lock_guard lock(mutex_);
    events_.push_back({std::move(note), std::move(marks), {}, false});
  }
  // Calls visit(marks) for those of operations that are on the device.
  template <typename Visit>
  void visit(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    for (Event& event : events_) {
      if (!event.has_span) visit(event.marks);
    }
  }

  // A driver's part. Before anything is timed; when operations are timed from now on; when none is.
  virtual Status prepare() { return {}; }
  virtual void begun() {}
  virtual void ended() {}
  // Waits for what was submitted; held-back operations are timed when they get onto the device.
  virtual void wait_for_work() = 0;
  // Gives those that have none their spans, and the marks back. An operation of a lost queue may
  // have none.
  virtual Status read(std::vector<Event>* events) = 0;

 private:
  std::atomic<bool> taken_{false};
  std::atomic<uint64_t> kinds_{0};  // a profile_bit() for each kind that is timed; 0: none
  std::atomic<uint64_t> next_execution_{1};
  std::mutex mutex_;
  std::vector<Event> events_;  // under mutex_
};

}  // namespace halyard
