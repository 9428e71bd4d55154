#include "drivers/amdgpu/profiler.h"

#include <algorithm>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/program.h"
#include "hal/error.h"

namespace halyard::amdgpu {

void Profiler::set_timed(QueueCore& core, bool on) {
  device_.hsa().hsa_amd_profiling_set_profiler_enabled(core.ring().native(), on ? 1 : 0);
  // Off the fast path, which times nothing.
  if (on) {
    core.add_slow_path();
  } else {
    core.remove_slow_path();
  }
}

void Profiler::watch(QueueCore& core) {
  const std::lock_guard lock(mutex_);
  if (!active()) return;
  if (std::find(timed_.begin(), timed_.end(), &core) != timed_.end()) return;
  timed_.push_back(&core);
  set_timed(core, true);
}

void Profiler::begun() {
  std::vector<QueueCore*> cores;
  device_.list_cores(&cores);
  for (QueueCore* const core : cores) watch(*core);
}

void Profiler::ended() {
  const std::lock_guard lock(mutex_);
  for (QueueCore* const core : timed_) set_timed(*core, false);
  timed_.clear();
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
  const uint64_t execution = next_execution();
  for (uint32_t i = 0; i < signals.size();) {
    if (signals[i].handle == 0) {
      ++i;
      continue;
    }
    // The packets of a command lie together.
    const uint32_t command = program.command_index(i);
    PacketMarks marks = {.core = &core, .last = last, .signals = {}, .recorded = true};
    for (; i < signals.size() && program.command_index(i) == command; ++i) {
      if (signals[i].handle != 0) marks.signals.push_back(signals[i]);
    }
    add(ProfileNote(facts_of(program.command_of(i - 1)), core.queue_id(),
                    {.execution = execution, .command = command}),
        std::move(marks));
  }
}

Status Profiler::issue(QueueCore& core, Operation& operation, const IssueContext& context) {
  const OperationFacts facts = operation.facts();
  if (!wants(facts.kind)) return operation.issue(core, context);
  HALYARD_ASSIGN_OR_RETURN(const hsa_signal_t begin_mark, device_.take_signal());
  Result<hsa_signal_t> end_mark = device_.take_signal();
  if (!end_mark.ok()) {
    device_.give_signal(begin_mark);
    return std::move(end_mark).status();
  }
  PacketMarks marks = {
      .core = &core, .last = 0, .signals = {begin_mark, *end_mark}, .recorded = false};
  // A packet that is done with `signal`, which counts only through the one behind it.
  const auto mark = [&core](const IssueContext& rest, hsa_signal_t signal, bool interrupt,
                            uint64_t* last) {
    const auto waits = static_cast<uint32_t>(rest.waits.size());
    const BatchLayout layout = {.packets = 1, .chunk = 2, .chunks = 1};
    const uint64_t first = core.epoch().reserve_batch(waits, layout, nullptr);
    *last = first + waits + 1;
    HALYARD_RETURN_IF_ERROR(core.room().wait(first, waits + 2));
    if (waits != 0) write_waits(core, first, *last, rest.waits, rest.signals);
    const FenceFacts facts = {.kind = PacketKind::kBarrier, .observed = true};
    write_barrier(core, *last, interrupt, facts);
    write_barrier(core, *last - 1, false, facts, {.completion = signal});
    core.ring().ring_doorbell(*last);
    return Status();
  };
  uint64_t last = 0;
  HALYARD_RETURN_IF_ERROR(
      mark({.waits = context.waits, .signals = {}, .foreign = false}, begin_mark, false, &last));
  const Status status =
      operation.issue(core, {.waits = {}, .signals = context.signals, .foreign = true});
  auto end_event = [this, mark, note = ProfileNote(facts, core.queue_id()), marks,
                    ok = status.ok()]() mutable {
    // The profile's end waits for it, and only an interrupt wakes those who wait. A queue that is
    // lost in between has run the operation or not; there is no event then.
    const Status marked = mark({}, marks.signals[1], true, &marks.last);
    if (ok && marked.ok()) add(std::move(note), std::move(marks));
  };
  if (status.ok()) {
    operation.when_whole(end_event);
  } else {
    end_event();
  }
  return status;
}

void Profiler::wait_for_work() {
  std::vector<QueueCore*> cores;
  device_.list_cores(&cores);
  const auto none_is_held = [&] {
    const bool held = std::any_of(cores.begin(), cores.end(), [](QueueCore* core) {
      return !core->loss().lost() && core->held().any();
    });
    return held ? PointState::kPending : PointState::kReached;
  };
  device_.wait_until(none_is_held, Deadline::infinite());
  // Only what is timed raises an interrupt at its end in any case, and would end this wait.
  std::vector<QueuePoint> ends;
  visit([&](const PacketMarks& marks) { ends.push_back({marks.core, marks.last}); });
  const auto all_are_done = [&] {
    const bool pending = std::any_of(ends.begin(), ends.end(), [](const QueuePoint& end) {
      return end.core->epoch().state_of(end.index) == PointState::kPending;
    });
    return pending ? PointState::kPending : PointState::kReached;
  };
  device_.wait_until(all_are_done, Deadline::infinite());
}

TimeSpan Profiler::noted(const SystemClock& clock, hsa_signal_t signal) const {
  hsa_amd_profiling_dispatch_time_t time = {};
  if (device_.hsa().hsa_amd_profiling_get_dispatch_time(device_.agent(), signal, &time) !=
      HSA_STATUS_SUCCESS) {
    return {};
  }
  return {clock.to_host_ns(time.start), clock.to_host_ns(time.end)};
}

TimeSpan Profiler::span_of(const SystemClock& clock, const PacketMarks& marks) const {
  TimeSpan span = noted(clock, marks.signals[0]);
  if (!marks.recorded) return {span.end_ns, noted(clock, marks.signals[1]).end_ns};
  for (const hsa_signal_t signal : marks.signals) {
    const TimeSpan part = noted(clock, signal);
    span.begin_ns = std::min(span.begin_ns, part.begin_ns);
    span.end_ns = std::max(span.end_ns, part.end_ns);
  }
  return span;
}

Status Profiler::read(std::vector<Event>* events) {
  const SystemClock clock(device_.clock_source());
  for (Event& event : *events) {
    const PacketMarks& marks = event.marks;
    // Of a lost queue's the device may still write the signals: they are left alone.
    if (event.has_span || marks.core->epoch().state_of(marks.last) != PointState::kReached)
      continue;
    event.span = span_of(clock, marks);
    event.has_span = true;
    give_signals(marks.signals);
  }
  return {};
}

}  // namespace halyard::amdgpu
