#include "drivers/amdgpu/edges.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/foreign.h"

namespace halyard::amdgpu {

Edges::~Edges() {
  for (const Edge& edge : edges_) core_.device().give_signal(edge.signal);
  for (const Edge& edge : passed_) core_.device().give_signal(edge.signal);
}

void Edges::count_locked() const {
  const Hsa& hsa = core_.device().hsa();
  const auto is_done = [&](const Edge& edge) {
    if (!released_) return hsa.hsa_signal_load_scacquire(edge.signal) == 0;
    if (edge.done) return true;
    if (hsa.hsa_signal_load_scacquire(edge.signal) == 0) return false;
    // Its packet was processed after all. A barrier-AND packet waits for 0, and nothing else.
    hsa.hsa_signal_store_screlease(edge.signal, 0);
    return true;
  };
  while (!edges_.empty() && is_done(edges_.front())) {
    passed_.push_back(std::move(edges_.front()));
    edges_.pop_front();
    done_.fetch_add(1, std::memory_order_acq_rel);
  }
  outstanding_.store(static_cast<uint32_t>(edges_.size()), std::memory_order_release);
}

uint64_t Edges::count() const {
  const std::lock_guard lock(mutex_);
  count_locked();
  return done_.load(std::memory_order_relaxed);
}

// A lost queue looks at nothing any more.
bool Edges::in_use(const Edge& edge) {
  return std::any_of(edge.users.begin(), edge.users.end(), [](const User& user) {
    return user.core->epoch().completed() <= user.packet && !user.core->loss().lost();
  });
}

void Edges::forget(const DeviceImpl& device) {
  const std::lock_guard lock(mutex_);
  const auto forget_users = [&](Edge& edge) {
    std::erase_if(edge.users, [&](const User& user) { return &user.core->device() == &device; });
  };
  std::for_each(edges_.begin(), edges_.end(), forget_users);
  std::for_each(passed_.begin(), passed_.end(), forget_users);
}

void Edges::recycle() {
  {
    const std::lock_guard lock(mutex_);
    if (edges_.size() + passed_.size() < recycle_at_) return;
  }
  const std::lock_guard users(Foreign::instance().users());
  std::vector<Edge> passed;
  {
    const std::lock_guard lock(mutex_);
    count_locked();
    passed.swap(passed_);
  }
  const auto left =
      std::partition(passed.begin(), passed.end(), [](const Edge& edge) { return !in_use(edge); });
  const std::lock_guard lock(mutex_);
  for (auto edge = passed.begin(); edge != left; ++edge) {
    unused_ = edge->users.empty() ? unused_ + 1 : 0;
    core_.device().give_signal(edge->signal);
  }
  passed_.insert(passed_.end(), std::make_move_iterator(left),
                 std::make_move_iterator(passed.end()));
  recycle_at_ = std::clamp(2 * (edges_.size() + passed_.size()), kFew, kMost);
  if (unused_ >= kUnused) want(false);
}

Edges::Edge* Edges::find(uint64_t index) const {
  const auto found =
      std::lower_bound(edges_.begin(), edges_.end(), index,
                       [](const Edge& edge, uint64_t wanted) { return edge.index < wanted; });
  return found != edges_.end() && found->index == index ? &*found : nullptr;
}

bool Edges::add(uint64_t index) {
  recycle();
  if (!core_.room().has_at(index + 1, 1)) return false;
  const std::lock_guard lock(mutex_);
  if (released_ || edges_.size() + passed_.size() >= kMost) return false;
  Result<hsa_signal_t> signal = core_.device().take_signal();
  if (!signal.ok()) return false;
  if (!core_.ring().reserve_behind(index)) {
    core_.device().give_signal(*signal);
    return false;
  }
  // In the ring's order, and known before its packet is.
  edges_.push_back({index, *signal, {}});
  outstanding_.store(static_cast<uint32_t>(edges_.size()), std::memory_order_release);
  write_barrier(core_, index + 1, false, packet_header(HSA_PACKET_TYPE_BARRIER_AND, kEdgeScopes),
                {.completion = *signal});
  core_.ring().ring_doorbell(index + 1);
  return true;
}

bool Edges::prepare(uint64_t index) {
  {
    const std::lock_guard lock(mutex_);
    unused_ = 0;
    if (find(index) != nullptr) return true;
  }
  if (add(index)) return true;
  want(true);
  return false;
}

hsa_signal_t Edges::use(uint64_t index, QueueCore& user, uint64_t by) {
  const std::lock_guard lock(mutex_);
  Edge* const edge = find(index);
  if (edge == nullptr) return {};  // it is done
  edge->users.push_back({&user, by});
  return edge->signal;
}

void Edges::release() {
  const Hsa& hsa = core_.device().hsa();
  const std::lock_guard lock(mutex_);
  count_locked();
  released_ = true;
  for (Edge& edge : edges_) {
    edge.done = hsa.hsa_signal_exchange_scacq_screl(edge.signal, 0) == 0;
  }
}

bool Edges::needs_looks() {
  if (outstanding_.load(std::memory_order_acquire) == 0) return false;
  std::vector<Edge> waited_for;
  const std::lock_guard users(Foreign::instance().users());
  {
    const std::lock_guard lock(mutex_);
    count_locked();
    waited_for.assign(edges_.begin(), edges_.end());
  }
  return std::any_of(waited_for.begin(), waited_for.end(), &in_use);
}

}  // namespace halyard::amdgpu
