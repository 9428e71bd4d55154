#include "plugins/sdk/held_sync.h"

namespace halyard {

namespace {

std::vector<WaitGraph::Point> nodes(Span<const SemaphorePoint> points) {
  std::vector<WaitGraph::Point> result;
  result.reserve(points.size());
  for (const SemaphorePoint& point : points) result.push_back({&timeline(point), point.value});
  return result;
}

// Of all queues of the driver, as devices share semaphores. Never destroyed.
WaitGraph& wait_graph() {
  static auto* const graph = new WaitGraph([](const WaitGraph::Point& point) {
    const auto& semaphore = *static_cast<const Timeline*>(point.semaphore);
    const PointState state = semaphore.evaluate(point.value);
    if (state != PointState::kPending || !semaphore.is_coming(point.value)) return state;
    return PointState::kReached;
  });
  return *graph;
}

}  // namespace

Result<HeldSync> HeldSync::add(const void* queue, StringView name, const Sync& sync) {
  HeldSync held;
  HALYARD_RETURN_IF_ERROR(
      wait_graph().add(queue, name, nodes(sync.wait), nodes(sync.signal), &held.node_));
  held.waits_ = retain(sync.wait);
  held.signals_ = retain(sync.signal);
  for (const HeldPoint& signal : held.signals_) signal.semaphore->promise(signal.value);
  return held;
}

HeldSync HeldSync::split_waits() {
  HeldSync first;
  first.waits_.swap(waits_);
  return first;
}

void HeldSync::finish(const Status& outcome) {
  for (const HeldPoint& signal : signals_) {
    if (outcome.ok()) {
      signal.semaphore->reach(signal.value);
    } else {
      signal.semaphore->fail_with(outcome);
    }
    signal.semaphore->keep_promise(signal.value);
  }
}

void HeldSync::keep_promises() {
  for (const HeldPoint& signal : signals_) signal.semaphore->keep_promise(signal.value);
}

void HeldSync::remove() {
  wait_graph().remove(std::exchange(node_, nullptr));
}

}  // namespace halyard
