// HeldSync: what an operation that is held back waits for, and what it is to signal.
#pragma once

#include <utility>
#include <vector>

#include "hal/queue.h"
#include "hal/status.h"
#include "plugins/sdk/met_waits.h"
#include "plugins/sdk/timeline.h"
#include "plugins/sdk/wait_graph.h"
#include "plugins/sdk/wait_plan.h"

namespace halyard {

class HeldSync {
 public:
  HeldSync() = default;
  // Of the operation `name`, behind all that `queue` holds back already. Keeps the semaphores alive
  // and promises the signals. FAILED_PRECONDITION if the operation would wait for itself.
  static Result<HeldSync> add(const void* queue, StringView name, const Sync& sync);
  // Of steps that stand for one operation, the first waits and the last keeps the rest.
  HeldSync split_waits();

  const std::vector<HeldPoint>& waits() const { return waits_; }
  const std::vector<HeldPoint>& signals() const { return signals_; }

  // Whether the waits have to be planned again: all are met, or something has failed. `plan(wait)`
  // is the WaitAction for one. Looks at few of them, however many there are (met_waits.h).
  template <typename Plan>
  bool worth_planning(Plan&& plan) {
    bool failed = false;
    const auto met = [&](size_t i) {
      const WaitAction action = plan(waits_[i]);
      failed |= action == WaitAction::kFail;
      return action != WaitAction::kHost;
    };
    return met_.worth_a_look(waits_.size(), Timeline::failures(), met) || failed;
  }

  // The signals become true, or fail.
  void finish(const Status& outcome);
  // The operation is on the device's queue, with points for its signals.
  void keep_promises();
  // The operation is no longer held back. Before this is destroyed, without the queue's lock.
  void remove();

 private:
  std::vector<HeldPoint> waits_;
  std::vector<HeldPoint> signals_;
  WaitGraph::Handle node_ = nullptr;
  MetWaits met_;
};

}  // namespace halyard
