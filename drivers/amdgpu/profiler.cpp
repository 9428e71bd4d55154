#include "drivers/amdgpu/profiler.h"

#include <algorithm>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/program.h"
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

Status Profiler::begin(uint64_t kinds) {
  {
    const std::lock_guard lock(mutex_);
    if (active()) {
      return error(StatusCode::kFailedPrecondition,
                   "Device::begin_profile is called on {} while a profile is being taken. Call "
                   "Device::end_profile first.",
                   device_.info().name);
    }
    kinds_.store(kinds, std::memory_order_release);
  }
  std::vector<QueueCore*> cores;
  device_.list_cores(&cores);
  for (QueueCore* const core : cores) watch(*core);
  return {};
}

void Profiler::add_host(const OperationFacts& facts, const QueueCore& core, uint64_t begin_ns,
                        uint64_t end_ns) {
  const std::lock_guard lock(mutex_);
  Event& event = events_.emplace_back();
  event.note = ProfileNote(facts, core.queue_id());
  event.span = {begin_ns, end_ns};
}

Status Profiler::take_signals(const Program& program, std::vector<hsa_signal_t>* signals) {
  const auto count = static_cast<uint32_t>(program.packets().size());
  std::vector<bool> timed(count);
  for (uint32_t i = 0; i < count; ++i) {
    const bool takes_no_time =
        (program.packets()[i].words[0] & 0xff) == HSA_PACKET_TYPE_BARRIER_AND;
    timed[i] = !takes_no_time && wants(facts_of(program.command_of(i)).kind);
  }
  // Of an indirect dispatch the kernel is timed, and not what puts the counts into its packet.
  for (const IndirectPatch& patch : program.indirect()) timed[patch.packet] = false;
  if (std::find(timed.begin(), timed.end(), true) == timed.end()) return {};
  signals->assign(count, {});
  for (uint32_t i = 0; i < count; ++i) {
    if (!timed[i]) continue;
    Result<hsa_signal_t> taken = device_.take_signal();
    if (!taken.ok()) {
      give_signals(*signals);
      signals->clear();
      return std::move(taken).status();
    }
    (*signals)[i] = *taken;
  }
  return {};
}

void Profiler::give_signals(const std::vector<hsa_signal_t>& signals) {
  for (const hsa_signal_t signal : signals) {
    if (signal.handle != 0) device_.give_signal(signal);
  }
}

void Profiler::add_execution(QueueCore& core, uint64_t last, const Program& program,
                             const std::vector<hsa_signal_t>& signals) {
  const uint64_t execution = next_execution_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  uint32_t command = UINT32_MAX;
  for (uint32_t i = 0; i < signals.size(); ++i) {
    if (signals[i].handle == 0) continue;
    // The packets of a command lie together.
    if (program.command_index(i) != command) {
      command = program.command_index(i);
      Event& event = events_.emplace_back();
      event.note = ProfileNote(facts_of(program.command_of(i)), core.queue_id(),
                               {.execution = execution, .command = command});
      event.core = &core;
      event.last = last;
      event.recorded = true;
    }
    events_.back().signals.push_back(signals[i]);
  }
}

Status Profiler::issue(QueueCore& core, Operation& operation, const IssueContext& context) {
  const OperationFacts facts = operation.facts();
  if (!wants(facts.kind)) return operation.issue(core, context);
  Event event;
  event.note = ProfileNote(facts, core.queue_id());
  event.core = &core;
  HALYARD_ASSIGN_OR_RETURN(const hsa_signal_t begin_mark, device_.take_signal());
  Result<hsa_signal_t> end_mark = device_.take_signal();
  if (!end_mark.ok()) {
    device_.give_signal(begin_mark);
    return std::move(end_mark).status();
  }
  event.signals = {begin_mark, *end_mark};
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
      mark({.waits = context.waits, .signals = {}, .foreign = false}, begin_mark, false, &last));
  const Status status =
      operation.issue(core, {.waits = {}, .signals = context.signals, .foreign = true});
  auto end_event = [this, mark, event, ok = status.ok()]() mutable {
    // The profile's end waits for it, and only an interrupt wakes those who wait. A queue that is
    // lost in between has run the operation or not; there is no event then.
    const Status marked = mark({}, event.signals[1], true, &event.last);
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

Profiler::Span Profiler::noted(hsa_signal_t signal) const {
  hsa_amd_profiling_dispatch_time_t time = {};
  if (device_.hsa().hsa_amd_profiling_get_dispatch_time(device_.agent(), signal, &time) !=
      HSA_STATUS_SUCCESS) {
    return {};
  }
  const auto to_ns = [this](uint64_t ticks) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<double>(ticks) * ns_per_tick_) +
                                 offset_ns_);
  };
  return {to_ns(time.start), to_ns(time.end)};
}

Profiler::Span Profiler::span_of(const Event& event) const {
  if (event.core == nullptr) return event.span;
  if (!event.recorded) return {noted(event.signals[0]).end_ns, noted(event.signals[1]).end_ns};
  Span span = noted(event.signals[0]);
  for (const hsa_signal_t signal : event.signals) {
    const Span part = noted(signal);
    span.begin_ns = std::min(span.begin_ns, part.begin_ns);
    span.end_ns = std::max(span.end_ns, part.end_ns);
  }
  return span;
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
  const auto none_is_held = [&] {
    const bool held = std::any_of(cores.begin(), cores.end(), [](QueueCore* core) {
      return !core->lost() && core->held().any();
    });
    return held ? PointState::kPending : PointState::kReached;
  };
  device_.wait_until(none_is_held, Deadline::infinite());
  // Only what is timed raises an interrupt at its end in any case, and would end this wait.
  std::vector<QueuePoint> ends;
  {
    const std::lock_guard lock(mutex_);
    for (const Event& event : events_) {
      if (event.core != nullptr) ends.push_back({event.core, event.last});
    }
  }
  const auto all_are_done = [&] {
    const bool pending = std::any_of(ends.begin(), ends.end(), [](const QueuePoint& end) {
      return end.core->state_of(end.index) == PointState::kPending;
    });
    return pending ? PointState::kPending : PointState::kReached;
  };
  device_.wait_until(all_are_done, Deadline::infinite());

  const Hsa& hsa = device_.hsa();
  uint64_t frequency = 0;
  uint64_t ticks = 0;
  hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
  const uint64_t before = now_ns();
  hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
  const uint64_t after = now_ns();
  {
    const std::lock_guard lock(mutex_);
    kinds_.store(0, std::memory_order_release);
    for (QueueCore* const core : timed_) set_timed(*core, false);
    timed_.clear();
    events.swap(events_);
    ns_per_tick_ = frequency == 0 ? 1 : 1e9 / static_cast<double>(frequency);
    offset_ns_ = static_cast<int64_t>(before + (after - before) / 2) -
                 static_cast<int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }
  for (const Event& event : events) {
    // Of a lost queue's the device may still write the signals: they are left alone.
    if (event.core != nullptr && event.core->state_of(event.last) != PointState::kReached) continue;
    const Span span = span_of(event);
    give_signals(event.signals);
    sink(context, event.note.event(span.begin_ns, span.end_ns));
  }
  return {};
}

}  // namespace halyard::amdgpu
