// WaitGraph: what operations that are held back wait for and what they are to signal, so that one
// that would wait for itself is refused when it is submitted.
//
// An operation that is held back starts when the one in front of it on its queue has, and each of
// its waits can be met: the value is reached, or work in flight will reach it, or another operation
// that is held back signals it, or the host does. The host may signal only values below all that
// queued work will signal, so an operation that is to signal a value stands in the way of the host.
// If one of its waits fails it will not run, and waits for none of the others: it is over as soon
// as the one in front of it has started, and what it is to signal fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hal/status.h"
#include "plugins/sdk/point_state.h"

namespace halyard {

// Any thread may use any method.
class WaitGraph {
 public:
  // A semaphore, by its address, and a value of it.
  struct Point {
    const void* semaphore = nullptr;
    uint64_t value = 0;
  };
  struct Operation;
  using Handle = Operation*;

  // kPending: the point needs another operation, or the host. kReached: it is reached, or work in
  // flight will reach it. Called under the graph's lock.
  using StateOf = PointState (*)(const Point& point);
  explicit WaitGraph(StateOf state_of) : state_of_(state_of) {}

  // An operation that is held back on `queue`, behind those that were added before. The semaphores
  // live until it is removed. FAILED_PRECONDITION if it could never start, as it would wait for
  // itself; names the way round, and nothing is added. What would take too long to find out is not
  // refused.
  Status add(const void* queue, std::string_view name, std::vector<Point> waits,
             std::vector<Point> signals, Handle* handle);
  // It has been put into its queue, or is over. Null: nothing happens.
  void remove(Handle operation);

  // So many operations are looked at to find out whether one would wait for itself.
  static constexpr size_t kMostLooks = 1024;

 private:
  using Queue = std::list<Handle>;
  // The operations that are to signal a semaphore, by value.
  using Signallers = std::multimap<uint64_t, Handle>;
  struct Search;

  bool closes_a_cycle(const Operation& operation) const;
  Status look(Operation& operation) const;
  void insert(Operation& operation);
  void erase(Operation& operation);

  const StateOf state_of_;
  std::mutex mutex_;
  std::unordered_map<const void*, Queue> queues_;                           // under mutex_
  std::unordered_map<const void*, Signallers> signallers_;                  // under mutex_
  std::unordered_map<const void*, std::multimap<uint64_t, Handle>> waits_;  // under mutex_
};

}  // namespace halyard
