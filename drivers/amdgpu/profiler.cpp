#include "drivers/amdgpu/profiler.h"

#include <algorithm>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/held_queue.h"
#include "drivers/common/clock.h"
#include "hal/error.h"

namespace halyard::amdgpu {

void Profiler::set_timed(QueueCore& core, bool on) {
  device_.hsa().hsa_amd_profiling_set_profiler_enabled(core.native(), on ? 1 : 0);
  // Off the fast path, which times nothing.
  if (on) {
    core.add_slow_path();
  } else {
    core.remove_slow_path();
  }
}

void Profiler::watch(QueueCore& core) {
  if (!active()) return;
  const std::lock_guard lock(mutex_);
  if (std::find(timed_.begin(), timed_.end(), &core) != timed_.end()) return;
  timed_.push_back(&core);
  set_timed(core, true);
}

Status Profiler::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (active()) {
      return error(StatusCode::kFailedPrecondition,
                   "Device::begin_profile is called on {} while a profile is being taken. Call "
                   "Device::end_profile first.",
                   device_.info().name);
    }
    active_.store(true, std::memory_order_release);
  }
  std::vector<QueueCore*> cores;
  device_.list_cores(&cores);
  for (QueueCore* const core : cores) watch(*core);
  return {};
}

void Profiler::add_host(StringView name, uint64_t begin_ns, uint64_t end_ns) {
  const std::lock_guard lock(mutex_);
  Event& event = events_.emplace_back();
  event.name = std::string(name.view());
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
}

Status Profiler::issue(QueueCore& core, Operation& operation, const IssueContext& context) {
  Event event;
  event.name = std::string(operation.name().view());
  event.core = &core;
  HALYARD_ASSIGN_OR_RETURN(event.begin, device_.take_signal());
  Result<hsa_signal_t> end = device_.take_signal();
  if (!end.ok()) {
    device_.give_signal(event.begin);
    return std::move(end).status();
  }
  event.end = *end;
  // A packet that is done with `signal`, which counts only through the one behind it.
  const auto mark = [&core](const IssueContext& rest, hsa_signal_t signal, bool interrupt,
                            uint64_t* last) {
    const auto waits = static_cast<uint32_t>(rest.waits.size());
    const BatchLayout layout = {.packets = 1, .chunk = 2, .chunks = 1};
    const uint64_t first = core.reserve_batch(waits, layout, nullptr);
    *last = first + waits + 1;
    HALYARD_RETURN_IF_ERROR(core.wait_for_room(first, waits + 2));
    if (waits != 0) write_waits(core, first, *last, rest.waits, rest.signals);
    const FenceFacts facts = {.kind = PacketKind::kBarrier, .observed = true};
    core.write_barrier(*last, interrupt, facts);
    core.write_barrier(*last - 1, false, facts, {}, &signal);
    core.ring(*last);
    return Status();
  };
  uint64_t last = 0;
  HALYARD_RETURN_IF_ERROR(
      mark({.waits = context.waits, .signals = {}, .foreign = false}, event.begin, false, &last));
  const Status status =
      operation.issue(core, {.waits = {}, .signals = context.signals, .foreign = true});
  auto end_event = [this, mark, event, ok = status.ok()]() mutable {
    // The profile's end waits for it, and only an interrupt wakes those who wait. A queue that is
    // lost in between has run the operation or not; there is no event then.
    const Status marked = mark({}, event.end, true, &event.last);
    if (!ok || !marked.ok()) return;
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  };
  if (status.ok()) {
    operation.when_whole(end_event);
  } else {
    end_event();
  }
  return status;
}

uint64_t Profiler::noted_ns(hsa_signal_t signal) const {
  hsa_amd_profiling_dispatch_time_t time = {};
  if (device_.hsa().hsa_amd_profiling_get_dispatch_time(device_.agent(), signal, &time) !=
      HSA_STATUS_SUCCESS) {
    return 0;
  }
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<double>(time.end) * ns_per_tick_) +
                               offset_ns_);
}

Status Profiler::end(ProfileSink sink, void* context) {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    if (!active()) {
      return error(StatusCode::kFailedPrecondition,
                   "Device::end_profile is called on {} while no profile is being taken. Call "
                   "Device::begin_profile first.",
                   device_.info().name);
    }
  }
  // What is held back is timed when it is issued.
  std::vector<QueueCore*> cores;
  device_.list_cores(&cores);
  const auto idle = [&] {
    const bool busy = std::any_of(cores.begin(), cores.end(), [](QueueCore* core) {
      return !core->lost() && (core->held().any() || !core->idle());
    });
    return busy ? PointState::kPending : PointState::kReached;
  };
  device_.wait_until(idle, Deadline::infinite());

  const Hsa& hsa = device_.hsa();
  uint64_t frequency = 0;
  uint64_t ticks = 0;
  hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
  const uint64_t before = now_ns();
  hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
  const uint64_t after = now_ns();
  {
    const std::lock_guard lock(mutex_);
    active_.store(false, std::memory_order_release);
    for (QueueCore* const core : timed_) set_timed(*core, false);
    timed_.clear();
    events.swap(events_);
    ns_per_tick_ = frequency == 0 ? 1 : 1e9 / static_cast<double>(frequency);
    offset_ns_ = static_cast<int64_t>(before + (after - before) / 2) -
                 static_cast<int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }
  for (Event& event : events) {
    if (event.core != nullptr) {
      const bool done = event.core->state_of(event.last) == PointState::kReached;
      event.begin_ns = done ? noted_ns(event.begin) : 0;
      event.end_ns = done ? noted_ns(event.end) : 0;
      // Of a lost queue's the device may still write the signals: they are left alone.
      if (!done) continue;
      device_.give_signal(event.begin);
      device_.give_signal(event.end);
    }
    ProfileEvent result;
    result.name = event.name;
    result.begin_ns = event.begin_ns;
    result.end_ns = std::max(event.begin_ns, event.end_ns);
    sink(context, result);
  }
  return {};
}

}  // namespace halyard::amdgpu
