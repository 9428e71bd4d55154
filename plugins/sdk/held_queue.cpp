#include "plugins/sdk/held_queue.h"

#include <functional>
#include <utility>

#include "hal/error.h"
#include "plugins/sdk/clock.h"
#include "plugins/sdk/loss.h"
#include "plugins/sdk/workers.h"

namespace halyard {

Status HeldQueue::push(std::unique_ptr<QueueOperation> operation, const Sync& sync) {
  HALYARD_ASSIGN_OR_RETURN(HeldSync held, HeldSync::add(this, operation->name(), sync));
  push_entry(std::move(operation), std::move(held), nullptr);
  return {};
}

Status HeldQueue::push_steps(std::vector<std::unique_ptr<QueueOperation>> steps, const Sync& sync) {
  HALYARD_ASSIGN_OR_RETURN(HeldSync held, HeldSync::add(this, steps.back()->name(), sync));
  const auto shared = std::make_shared<Steps>();
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    push_entry(std::move(steps[i]), held.split_waits(), shared);
  }
  push_entry(std::move(steps.back()), std::move(held), shared);
  return {};
}

void HeldQueue::push_entry(std::unique_ptr<QueueOperation> operation, HeldSync sync,
                           const std::shared_ptr<Steps>& steps) {
  auto entry = std::make_unique<Entry>();
  entry->queue = this;
  entry->id = next_id_++;
  entry->device = Ref<Device>::retain(&device_);
  entry->keep_queue = keep_alive();
  entry->operation = std::move(operation);
  entry->sync = std::move(sync);
  entry->steps = steps;
  const bool first = entries_.empty();
  entries_.push_back(std::move(entry));
  if (!first) return;
  any_.store(true, std::memory_order_release);
  holds(true);
}

HeldQueue::Round HeldQueue::advance() {
  Round round;
  for (;;) {
    std::unique_ptr<Entry> done;  // may hold the last reference to anything: goes without the lock
    std::function<void()> host_part;
    {
      const std::lock_guard lock(order_);
      if (const Status cause = fault(); !cause.ok()) round.changed |= fail_all(cause);
      if (entries_.empty()) return round;
      Entry& front = *entries_.front();
      const Turn turn = take_turn(front);
      round.soon = turn == Turn::kSoon;
      if (turn == Turn::kArrives) {
        host_part = [this, keep = front.keep_queue, device = front.device, id = front.id] {
          arrived(id);
        };
      } else if (turn != Turn::kDone) {
        return round;
      } else {
        done = std::move(entries_.front());
        entries_.pop_front();
        // Whoever finds nothing held back submits on its own, behind what was just put there.
        any_.store(!entries_.empty(), std::memory_order_release);
        if (entries_.empty()) holds(false);
      }
    }
    if (host_part != nullptr) {
      Workers::instance().run(std::move(host_part));
      return round;
    }
    done->sync.remove();
    round.changed = true;
  }
}

HeldQueue::Turn HeldQueue::take_turn(Entry& entry) {
  QueueOperation& operation = *entry.operation;
  if (entry.phase == Phase::kRunning) return Turn::kLater;
  if (entry.phase == Phase::kIssued) return resume(operation) ? Turn::kDone : Turn::kSoon;
  if (const Status cause = fault(); !cause.ok()) return finish(entry, cause);
  if (entry.phase == Phase::kArriving) return Turn::kLater;
  if (entry.phase == Phase::kRan) {
    if (!entry.outcome.ok() || !operation.issues_after_run()) return finish(entry, entry.outcome);
  } else {
    if (entry.steps != nullptr && !entry.steps->failure.ok()) {
      return finish(entry, entry.steps->failure);
    }
    const auto action = [&](const HeldPoint& wait) { return action_for(operation, wait); };
    if (!entry.sync.worth_planning(action)) return Turn::kLater;
    if (operation.on_host()) return take_host_turn(entry);
  }
  Result<Turn> turn = issue(operation, entry.sync);
  if (!turn.ok()) return finish(entry, std::move(turn).status());
  if (*turn != Turn::kDone) return *turn;
  entry.sync.keep_promises();
  entry.phase = Phase::kIssued;
  return resume(operation) ? Turn::kDone : Turn::kSoon;
}

HeldQueue::Turn HeldQueue::take_host_turn(Entry& entry) {
  Result<Turn> turn = reach_host(*entry.operation, entry.sync, entry.id);
  if (!turn.ok()) return finish(entry, std::move(turn).status());
  if (*turn != Turn::kDone && *turn != Turn::kArrives) return *turn;
  entry.phase = Phase::kArriving;
  // Unless the driver calls arrived(), a thread of ours is to.
  return *turn == Turn::kDone ? Turn::kArrives : Turn::kLater;
}

HeldQueue::Turn HeldQueue::finish(Entry& entry, const Status& status) {
  if (!status.ok()) {
    entry.operation->cancel();
    if (entry.steps != nullptr) entry.steps->failure = status;
  }
  entry.sync.finish(status);
  return Turn::kDone;
}

bool HeldQueue::fail_all(const Status& cause) {
  if (std::exchange(failed_, true)) return false;
  for (const std::unique_ptr<Entry>& entry : entries_) {
    // What is on the device knows of itself.
    if (entry->phase == Phase::kIssued) continue;
    entry->operation->cancel();
    for (const HeldPoint& signal : entry->sync.signals()) signal.semaphore->fail_with(cause);
  }
  return true;
}

std::string HeldQueue::describe() {
  // Somebody who submits may be held up in the vendor's runtime.
  const std::unique_lock lock(order_, std::try_to_lock);
  if (!lock.owns_lock()) return "something is being submitted";
  if (entries_.empty()) return describe_held({}, false);
  const Entry& front = *entries_.front();
  return describe_held(front.operation->name(), front.phase == Phase::kRunning);
}

void HeldQueue::arrived(uint64_t id) {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(order_);
    // It is gone if the queue has been lost meanwhile.
    if (entries_.empty() || entries_.front()->id != id) return;
    entry = entries_.front().get();
    entry->phase = Phase::kRunning;
  }
  if (is_timed(entry->operation->facts())) entry->begin_ns = now_ns();
  host_observed();
  entry->operation->run(*entry);
}

void HeldQueue::ran(Entry& entry, const Status& outcome) {
  const std::shared_ptr<const void> keep_queue = entry.keep_queue;
  const Ref<Device> device = entry.device;
  host_observed();
  // Before anybody learns that it is done, and ends the profile.
  if (entry.begin_ns != 0 && !entry.operation->issues_after_run()) {
    add_time(entry.operation->facts(), entry.begin_ns, now_ns());
  }
  {
    const std::lock_guard lock(order_);
    entry.outcome = outcome;
    entry.phase = Phase::kRan;
  }
  changed();
}

}  // namespace halyard
