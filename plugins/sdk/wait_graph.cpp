#include "plugins/sdk/wait_graph.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard {

struct WaitGraph::Operation {
  const void* queue = nullptr;
  std::string name;
  std::vector<Point> waits;
  std::vector<Point> signals;
  Queue::iterator place;
  Operation* before = nullptr;  // on its queue
};

// Those that an operation depends on, and which of them can start. One that has to fail counts as
// started when it could: it keeps nobody waiting.
struct WaitGraph::Search {
  // A wait that has failed, or is for operations that are held back.
  struct Wait {
    Point point;
    bool failed = false;
    std::vector<size_t> signallers;  // any of them meets it
    std::vector<size_t> in_the_way;  // … and without all of these the host may
  };
  struct Node {
    const Operation* operation = nullptr;
    std::optional<size_t> before;
    std::vector<Wait> waits;
    bool starts = false;
    bool fails = false;  // … and fails what it signals
  };
  // Why one waits for the next.
  struct Step {
    size_t node = 0;
    const Wait* wait = nullptr;  // null: it comes behind it
  };

  const WaitGraph& graph;
  std::vector<Node> nodes;
  std::unordered_map<const Operation*, size_t> known;
  bool complete = true;

  size_t visit(const Operation* operation) {
    const auto [found, fresh] = known.emplace(operation, nodes.size());
    if (fresh) {
      nodes.emplace_back();
      nodes.back().operation = operation;
    }
    return found->second;
  }

  // Finds the nodes; the first is `start`.
  void collect(const Operation* start) {
    visit(start);
    for (size_t at = 0; at < nodes.size(); ++at) {
      if (nodes.size() > kMostLooks) {
        complete = false;
        return;
      }
      const Operation& operation = *nodes[at].operation;
      if (operation.before != nullptr) nodes[at].before = visit(operation.before);
      for (const Point& point : operation.waits) {
        const PointState state = graph.state_of_(point);
        if (state == PointState::kReached) continue;
        Wait wait;
        wait.point = point;
        wait.failed = state == PointState::kFailed;
        if (const auto all = graph.signallers_.find(point.semaphore);
            all != graph.signallers_.end()) {
          for (const auto& [value, signaller] : all->second) {
            const size_t node = visit(signaller);
            if (value >= point.value) wait.signallers.push_back(node);
            if (value <= point.value) wait.in_the_way.push_back(node);
          }
        }
        nodes[at].waits.push_back(std::move(wait));
      }
    }
  }

  bool starts(size_t node) const { return nodes[node].starts; }

  bool can_be_met(const Wait& wait) const {
    const auto start = [this](size_t node) { return starts(node); };
    return std::any_of(wait.signallers.begin(), wait.signallers.end(), start) ||
           std::all_of(wait.in_the_way.begin(), wait.in_the_way.end(), start);
  }

  // A failure of any operation that signals a semaphore is one of the semaphore.
  bool can_fail(const Wait& wait) const {
    const auto fail = [this](size_t node) { return nodes[node].fails; };
    return wait.failed || std::any_of(wait.signallers.begin(), wait.signallers.end(), fail) ||
           std::any_of(wait.in_the_way.begin(), wait.in_the_way.end(), fail);
  }

  // Then it does not wait for the others.
  bool has_a_wait_that_fails(const Node& node) const {
    return std::any_of(node.waits.begin(), node.waits.end(),
                       [this](const Wait& wait) { return can_fail(wait); });
  }

  void settle() {
    for (bool more = true; more;) {
      more = false;
      for (Node& node : nodes) {
        if (node.fails || (node.before && !starts(*node.before))) continue;
        const bool fails = has_a_wait_that_fails(node);
        const bool starts = fails || node.starts ||
                            std::all_of(node.waits.begin(), node.waits.end(),
                                        [this](const Wait& wait) { return can_be_met(wait); });
        more |= starts != node.starts || fails;
        node.starts = starts;
        node.fails = fails;
      }
    }
  }

  // The steps from the first node back to it, along what does not start; empty if there is no way.
  std::vector<Step> way_round() const {
    struct Arrival {
      size_t from = 0;
      const Wait* wait = nullptr;
    };
    std::unordered_map<size_t, Arrival> arrivals;
    std::vector<size_t> next = {0};
    for (size_t i = 0; i < next.size(); ++i) {
      const size_t from = next[i];
      const auto go = [&](size_t to, const Wait* wait) {
        if (starts(to) || !arrivals.emplace(to, Arrival{from, wait}).second) return;
        next.push_back(to);
      };
      const bool fails = has_a_wait_that_fails(nodes[from]);
      for (const Wait& wait : nodes[from].waits) {
        if (fails || can_be_met(wait)) continue;
        for (const size_t to : wait.signallers) go(to, &wait);
        for (const size_t to : wait.in_the_way) go(to, &wait);
      }
      if (nodes[from].before) go(*nodes[from].before, nullptr);
    }
    std::vector<Step> steps;
    if (!arrivals.contains(0)) return steps;
    for (size_t at = 0;;) {
      const Arrival& arrival = arrivals.at(at);
      steps.push_back({arrival.from, arrival.wait});
      at = arrival.from;
      if (at == 0) break;
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  // "this barrier comes behind a copy, which waits for the value 5 of a semaphore, …"
  std::string describe(const std::vector<Step>& steps) const {
    std::string text;
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool last = i + 1 == steps.size();
      const Operation& to = *nodes[last ? 0 : steps[i + 1].node].operation;
      const std::string name =
          last ? std::string("this operation") : fmt::format("\"{}\"", short_name(to.name));
      const std::string_view who = i == 0 ? "it" : ", which";
      if (steps[i].wait == nullptr) {
        text += fmt::format("{} comes behind {} on one queue", who, name);
        continue;
      }
      const Point& point = steps[i].wait->point;
      uint64_t value = 0;
      for (const Point& signal : to.signals) {
        if (signal.semaphore == point.semaphore) value = std::max(value, signal.value);
      }
      text += fmt::format("{} waits for the value {} of a semaphore that {} is to signal ({})", who,
                          point.value, name, value);
    }
    return text;
  }
};

// Whether an operation waits for what only the operation's signals stand for. Cheap, and mostly
// false.
bool WaitGraph::closes_a_cycle(const Operation& operation) const {
  return std::any_of(
      operation.signals.begin(), operation.signals.end(), [this](const Point& signal) {
        const auto found = waits_.find(signal.semaphore);
        return found != waits_.end() && found->second.rbegin()->first >= signal.value;
      });
}

Status WaitGraph::look(Operation& operation) const {
  if (!closes_a_cycle(operation)) return {};
  Search search{*this, {}, {}};
  search.collect(&operation);
  if (!search.complete) return {};
  search.settle();
  if (search.starts(0)) return {};
  const std::vector<Search::Step> steps = search.way_round();
  if (steps.empty()) return {};  // what keeps it from starting was there before
  return error(StatusCode::kFailedPrecondition,
               "The operation \"{}\" would wait for itself, and is not queued: {}. Submit what "
               "signals before what waits, or on another queue, or signal from the host.",
               short_name(operation.name), search.describe(steps));
}

void WaitGraph::insert(Operation& operation) {
  Queue& queue = queues_[operation.queue];
  operation.before = queue.empty() ? nullptr : queue.back();
  operation.place = queue.insert(queue.end(), &operation);
  for (const Point& point : operation.waits) {
    waits_[point.semaphore].emplace(point.value, &operation);
  }
  for (const Point& point : operation.signals) {
    signallers_[point.semaphore].emplace(point.value, &operation);
  }
}

void WaitGraph::erase(Operation& operation) {
  const auto drop = [&operation](auto& table, const std::vector<Point>& points) {
    for (const Point& point : points) {
      const auto found = table.find(point.semaphore);
      auto [first, last] = found->second.equal_range(point.value);
      for (; first != last; ++first) {
        if (first->second != &operation) continue;
        found->second.erase(first);
        break;
      }
      if (found->second.empty()) table.erase(found);
    }
  };
  drop(waits_, operation.waits);
  drop(signallers_, operation.signals);
  const auto queue = queues_.find(operation.queue);
  const auto next = queue->second.erase(operation.place);
  if (next != queue->second.end()) (*next)->before = operation.before;
  if (queue->second.empty()) queues_.erase(queue);
}

Status WaitGraph::add(const void* queue, std::string_view name, std::vector<Point> waits,
                      std::vector<Point> signals, Handle* handle) {
  auto operation = std::make_unique<Operation>();
  operation->queue = queue;
  operation->name = name;
  operation->waits = std::move(waits);
  operation->signals = std::move(signals);
  const std::lock_guard lock(mutex_);
  insert(*operation);
  if (Status status = look(*operation); !status.ok()) {
    erase(*operation);
    return status;
  }
  *handle = operation.release();
  return {};
}

void WaitGraph::remove(Handle operation) {
  if (operation == nullptr) return;
  const std::unique_ptr<Operation> owned(operation);
  const std::lock_guard lock(mutex_);
  erase(*operation);
}

}  // namespace halyard
