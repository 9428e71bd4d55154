#include "vgpu/isa/engine.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "vgpu/host_guard.h"
#include "vgpu/isa/fault_report.h"
#include "vgpu/isa/float_atomics.h"
#include "vgpu/isa/host_float_mode.h"
#include "vgpu/isa/job.h"
#include "vgpu/isa/program.h"
#include "vgpu/isa/wave_slots.h"
#include "vgpu/monotonic.h"

namespace halyard::vgpu::isa {
namespace {

constexpr uint32_t kMaximumGroup = 1024;
constexpr uint32_t kGroupsPerUnit = 16;  // that have more than one wave

// Dispatches' priorities, lowest first, are ranks from 0 on.
constexpr int kLowestPriority = -8;
constexpr uint32_t kRanks = 16;

uint32_t rank_of(int priority) {
  return static_cast<uint32_t>(std::clamp(priority - kLowestPriority, 0, int{kRanks} - 1));
}

// Other threads are woken for a dispatch once it is expected to keep its own thread busy for longer
// than waking them takes.
constexpr std::chrono::microseconds kWorthHelp{30};

// HW_ID's fields of a unit (Vega ISA 3.x): CU 11:8, SH 12, SE 14:13, work-group 19:16.
uint32_t place_in_hw_id(uint32_t unit) {
  return (unit & 15) << 8 | (unit >> 4 & 7) << 12 | (unit >> 7 & 15) << 16;
}

uint64_t monotonic(uint64_t hz) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(monotonic_ns()) * hz / 1000000000);
}

// No work-group of this thread makes progress: they wait for another thread, which may need this
// core.
class Backoff {
 public:
  void worked() { rounds_ = 0; }
  void idle() {
    ++rounds_;
    if (rounds_ < 16) return;
    if (rounds_ < 256) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  unsigned rounds_ = 0;
};

class EngineImpl final : public Engine, public WaveServices, public PlaceSource {
 public:
  EngineImpl(const EngineOptions& options, AddressSpace& memory, std::unique_ptr<Decoder> decoder)
      : options_(options),
        memory_(memory),
        target_(decoder->target()),
        program_(std::move(decoder), memory, !options.observers.empty()),
        slots_(options.compute_units, options.simds_per_unit,
               options.waves_per_unit / std::max(options.simds_per_unit, 1u)) {
    if (options_.wave_budget == 0) options_.wave_budget = 4096;
    if (options_.compute_units == 0) options_.compute_units = 1;
    options_.xccs = std::clamp(options_.xccs, 1u, kMaximumXccs);
    if (options_.waves_per_unit == 0) options_.waves_per_unit = 1;
    if (options_.workers == 0) options_.workers = std::max(1u, std::thread::hardware_concurrency());
  }

  ~EngineImpl() override {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  DispatchResult run(const Dispatch& dispatch, const volatile bool& cancel) override;

  UnitPlace take_place(const WorkGroup& group) override {
    return place_for(*group.context->dispatch, group.number, group.wave_count);
  }

  void invalidate_code() override { program_.invalidate(); }

  void raise_event(uint32_t payload) override {
    if (options_.raise_event) options_.raise_event(payload);
  }

  // As on hardware at its full clock, which is what the device's properties report.
  uint64_t shader_clock() override { return monotonic(options_.shader_clock_hz); }

  uint64_t reference_clock() override {
    if (options_.reference_clock) return options_.reference_clock();
    return monotonic(options_.clock_hz);
  }

 private:
  bool prepare(const Dispatch& dispatch, Job& job);
  UnitPlace place_on(uint32_t unit) const;
  uint32_t unit_at(const Dispatch& dispatch, uint64_t index) const;
  UnitPlace place_for(const Dispatch& dispatch, uint64_t number, uint32_t waves);
  void give_place(WorkGroup& group);
  void work(Job& job, bool owner);
  void fail(Job& job, const WorkGroup& group);
  void end_by_watchdog(Job& job, WorkGroup& group);
  void leave_room(Job& job);
  void publish(Job& job);
  void retire(Job& job);
  void help();
  void set_starting(Job& job, bool starting);
  // A dispatch of a higher rank goes first.
  bool held_back(const Job& job) const {
    return starting_ranks_.load(std::memory_order_relaxed) >> job.rank > 1;
  }
  bool all_started(const Job& job) const {
    return job.next.load(std::memory_order_relaxed) >= job.total;
  }
  bool has_work(const Job& job) const {
    return !held_back(job) && !job.stop.load(std::memory_order_relaxed) &&
           job.next.load(std::memory_order_relaxed) < job.total &&
           job.resident.load(std::memory_order_relaxed) < job.resident_limit;
  }
  std::unique_ptr<WorkGroup> take_group();
  void give_group(std::unique_ptr<WorkGroup> group);

  EngineOptions options_;
  AddressSpace& memory_;
  const Target target_;
  Program program_;
  WaveSlots slots_;

  std::atomic<uint64_t> executed_{0};  // instructions, as far as Schedule::until counts them
  std::atomic<uint32_t> idle_helpers_{0};
  std::atomic<uint32_t> starting_ranks_{0};  // bit r: starting_[r] is not 0

  std::mutex groups_mutex_;
  std::vector<std::unique_ptr<WorkGroup>> groups_;  // to start again

  std::mutex mutex_;  // all below, and Job::helpers
  std::condition_variable wake_;
  std::condition_variable left_;
  std::list<Job*> jobs_;  // that want helpers
  uint32_t starting_[kRanks] = {};
  std::vector<std::thread> threads_;
  bool quit_ = false;
};

std::unique_ptr<WorkGroup> EngineImpl::take_group() {
  {
    const std::lock_guard lock(groups_mutex_);
    if (!groups_.empty()) {
      auto group = std::move(groups_.back());
      groups_.pop_back();
      return group;
    }
  }
  return std::make_unique<WorkGroup>();
}

void EngineImpl::give_group(std::unique_ptr<WorkGroup> group) {
  // Enough for every thread to continue at once; the memory beyond that, from a burst of spinning
  // work-groups, is freed.
  const size_t keep = options_.workers * size_t{4} + 8;
  const std::lock_guard lock(groups_mutex_);
  if (groups_.size() < keep) groups_.push_back(std::move(group));
}

bool EngineImpl::prepare(const Dispatch& dispatch, Job& job) {
  Fault& fault = job.result.fault;
  const auto refuse = [&](Fault::Kind kind, std::string message) {
    fault.kind = kind;
    fault.message = std::move(message);
    return false;
  };
  const uint64_t items = uint64_t{dispatch.group[0]} * dispatch.group[1] * dispatch.group[2];
  if (items == 0 || items > kMaximumGroup) {
    return refuse(
        Fault::Kind::kWorkGroupSize,
        fmt::format("A work-group of ({}x{}x{}) work-items cannot run: it must have 1 to {}.",
                    dispatch.group[0], dispatch.group[1], dispatch.group[2], kMaximumGroup));
  }
  if (dispatch.grid[0] == 0 || dispatch.grid[1] == 0 || dispatch.grid[2] == 0) {
    return refuse(Fault::Kind::kWorkGroupSize,
                  fmt::format("A grid of ({}x{}x{}) work-items cannot run: no dimension may be 0.",
                              dispatch.grid[0], dispatch.grid[1], dispatch.grid[2]));
  }
  if (dispatch.group_segment_size > target_.lds_bytes) {
    return refuse(Fault::Kind::kGroupMemory,
                  fmt::format("A work-group cannot have ({}) bytes of LDS: a compute unit has {}.",
                              dispatch.group_segment_size, target_.lds_bytes));
  }
  if (!find_kernel(memory_, target_, dispatch, job.kernel, fault)) return false;

  job.context.dispatch = &dispatch;
  job.context.kernel = &job.kernel;
  job.context.target = &target_;
  job.context.program = &program_;
  job.context.memory = &memory_;
  job.context.services = this;
  job.context.places = this;
  job.context.first_xcc = options_.first_xcc;
  job.context.observers = options_.observers;
  job.context.float_atomics = options_.float_atomics;
  job.context.dropped_atomic = &options_.dropped_atomic;
  unsigned __int128 total = 1;
  for (unsigned d = 0; d < 3; ++d) {
    job.context.groups[d] = static_cast<uint32_t>(
        (uint64_t{dispatch.grid[d]} + dispatch.group[d] - 1) / dispatch.group[d]);
    total *= job.context.groups[d];
  }
  if (total >> 63) {
    return refuse(Fault::Kind::kWorkGroupSize,
                  fmt::format("A grid of ({}x{}x{}) work-items has too many work-groups.",
                              dispatch.grid[0], dispatch.grid[1], dispatch.grid[2]));
  }
  job.total = static_cast<uint64_t>(total);
  job.rank = rank_of(dispatch.priority);
  // As many work-groups as the device would hold at once: programs that synchronise across the grid
  // count on it.
  const auto waves = static_cast<uint32_t>((items + kLanes - 1) / kLanes);
  job.waves = waves;
  uint32_t per_unit = std::max(1u, options_.waves_per_unit / waves);
  if (waves > 1) per_unit = std::min(per_unit, kGroupsPerUnit);
  if (dispatch.group_segment_size)
    per_unit = std::min(per_unit, target_.lds_bytes / dispatch.group_segment_size);
  const std::vector<uint32_t>* const units = dispatch.units;
  const uint64_t unit_count = units != nullptr ? units->size() : options_.compute_units;
  job.resident_limit = unit_count * std::max(1u, per_unit);
  if (dispatch.registers == nullptr || dispatch.registers->scratch_wave_bytes == 0) return true;
  const uint32_t parts = dispatch.registers->scratch_waves / waves;
  if (parts == 0) {
    return refuse(Fault::Kind::kGroupMemory,
                  fmt::format("A work-group of ({}) waves cannot run: COMPUTE_TMPRING_SIZE has "
                              "private memory for ({}).",
                              waves, dispatch.registers->scratch_waves));
  }
  job.scratch_parts.limit(parts);
  job.resident_limit = std::min<uint64_t>(job.resident_limit, parts);
  return true;
}

DispatchResult EngineImpl::run(const Dispatch& dispatch, const volatile bool& cancel) {
  Job job;
  job.cancel = &cancel;
  if (!prepare(dispatch, job)) {
    job.result.report = fmt::format("{}\n  kernel object 0x{:x}\n", job.result.fault.message,
                                    dispatch.kernel_object);
    return std::move(job.result);
  }
  for (Observer* const observer : options_.observers) observer->begin(job.context);
  // A single work-group is started at once.
  if (job.total > 1) set_starting(job, true);
  work(job, true);
  retire(job);
  for (Observer* const observer : options_.observers) observer->end(job.context, job.result);
  return std::move(job.result);
}

UnitPlace EngineImpl::place_on(uint32_t unit) const {
  UnitPlace place;
  place.hw_id =
      unit < options_.unit_places.size() ? options_.unit_places[unit] : place_in_hw_id(unit);
  place.xcc = unit % options_.xccs;
  place.unit = unit;
  return place;
}

uint32_t EngineImpl::unit_at(const Dispatch& dispatch, uint64_t index) const {
  return static_cast<uint32_t>(dispatch.units != nullptr
                                   ? (*dispatch.units)[index % dispatch.units->size()]
                                   : index % options_.compute_units);
}

// A place that no other resident work-group has. If the work-group's unit is full, another one of
// its die is taken, or else one of another die. If all are full because of other dispatches, the
// work-group shares its places with one of theirs.
UnitPlace EngineImpl::place_for(const Dispatch& dispatch, uint64_t number, uint32_t waves) {
  const uint64_t count =
      dispatch.units != nullptr ? dispatch.units->size() : options_.compute_units;
  for (uint64_t die = 0; die < options_.xccs; ++die) {
    for (uint64_t n = 0; n < count; n += options_.xccs) {
      UnitPlace place = place_on(unit_at(dispatch, number + die + n));
      if (slots_.take(place.unit, waves, place.slots)) return place;
    }
  }
  return place_on(unit_at(dispatch, number));
}

void EngineImpl::give_place(WorkGroup& group) {
  if (group.place.slots.mask == 0) return;
  slots_.give(group.place.unit, group.place.slots);
  group.place.slots.mask = 0;
}

// Runs work-groups of `job` until none is left to start and all that this thread started have
// ended.
void EngineImpl::work(Job& job, bool owner) {
  std::vector<std::unique_ptr<WorkGroup>> running;
  std::unique_ptr<WorkGroup> spare;
  const HostFloatMode float_mode;
  PageCache pages(program_);
  Backoff backoff;
  Turns turns(options_.schedule, options_.wave_budget, job.context.dispatch->dispatch_id,
              executed_);
  bool published = !owner || options_.workers < 2 || options_.schedule.has_one_thread();
  const auto began = std::chrono::steady_clock::now();
  uint64_t finished = 0;

  const auto start_next = [&] {
    if (!has_work(job) || !job.reserve()) return;
    uint32_t scratch_part = 0;
    const bool has_part = job.scratch_parts.take(scratch_part);
    const uint64_t number = has_part ? job.next.fetch_add(1, std::memory_order_relaxed) : job.total;
    if (number >= job.total) {
      if (has_part) job.scratch_parts.give(scratch_part);
      job.resident.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    if (number + 1 == job.total && job.total > 1) set_starting(job, false);
    auto group = spare ? std::move(spare) : take_group();
    // Units are counted over the dies, which so take turns. Where there are several, a work-group
    // needs its die before it starts.
    const Dispatch& dispatch = *job.context.dispatch;
    const UnitPlace place = options_.xccs > 1 ? place_for(dispatch, number, job.waves)
                                              : place_on(unit_at(dispatch, number));
    if (!group->start(job.context, number, place, scratch_part)) {
      const std::lock_guard lock(job.mutex);
      job.result.fault.kind = Fault::Kind::kGroupMemory;
      job.result.fault.message = fmt::format(
          "The host has no memory for a work-group with ({}) bytes of private memory per "
          "work-item.",
          job.context.dispatch->private_segment_size);
      job.result.report = job.result.fault.message;
      job.stop.store(true, std::memory_order_relaxed);
    }
    running.push_back(std::move(group));
  };

  // The dispatch's own thread stays until all work-groups have been started: it may be held back
  // when it has none to run.
  const auto has_to_stay = [&] { return owner && !all_started(job); };

  for (size_t more = turns.first_starts(); more > 0; --more) start_next();
  while ((!running.empty() || has_to_stay()) && !job.stop.load(std::memory_order_relaxed)) {
    bool worked = false, ended = false;
    pages.rest();
    if (__atomic_load_n(job.cancel, __ATOMIC_RELAXED))
      job.stop.store(true, std::memory_order_relaxed);
    // As many turns as there are work-groups: each has one, or they are drawn.
    const Schedule::Kind kind = turns.kind();
    const bool is_drawn = kind == Schedule::Kind::kSeed;
    size_t n = 0;
    for (size_t left = running.size(); left > 0 && turns.kind() == kind; --left) {
      if (__atomic_load_n(job.cancel, __ATOMIC_RELAXED))
        job.stop.store(true, std::memory_order_relaxed);
      if (job.stop.load(std::memory_order_relaxed)) break;
      if (is_drawn) n = turns.draw(running.size());
      const Turn turn = running[n]->turn(pages, turns);
      if (turn == Turn::kFault) {
        fail(job, *running[n]);
        break;
      }
      worked = worked || turn != Turn::kIdle;
      if (turn != Turn::kFinished) {
        ++n;
        continue;
      }
      ended = true;
      ++finished;
      job.scratch_parts.give(running[n]->scratch_part);
      give_place(*running[n]);
      leave_room(job);
      if (spare) give_group(std::move(spare));
      spare = std::move(running[n]);
      spare->observers.clear();
      running.erase(running.begin() + static_cast<ptrdiff_t>(n));
    }
    if (job.stop.load(std::memory_order_relaxed)) break;
    if (options_.watchdog_ns != 0 && !running.empty() &&
        std::chrono::steady_clock::now() - began > std::chrono::nanoseconds(options_.watchdog_ns)) {
      end_by_watchdog(job, *running.front());
      break;
    }
    for (size_t more = turns.starts(running.size(), ended, worked); more > 0; --more) start_next();
    if (worked || ended) {
      backoff.worked();
    } else {
      backoff.idle();
    }
    if (!published && has_work(job)) {
      const auto spent = std::chrono::steady_clock::now() - began;
      const uint64_t remaining = job.total - job.next.load(std::memory_order_relaxed);
      if (spent * (remaining + 1) > kWorthHelp * (finished + 1)) {
        publish(job);
        published = true;
      }
    }
  }
  job.resident.fetch_sub(running.size(), std::memory_order_relaxed);
  for (auto& group : running) {
    group->observers.clear();
    give_place(*group);
    give_group(std::move(group));
  }
  if (spare) give_group(std::move(spare));
}

// A work-group has ended. Helpers that found the device full look again.
void EngineImpl::leave_room(Job& job) {
  const bool was_full = job.resident.fetch_sub(1, std::memory_order_relaxed) >= job.resident_limit;
  if (!was_full || all_started(job) || idle_helpers_.load(std::memory_order_relaxed) == 0) return;
  // A helper between its look and its sleep holds the lock.
  {
    const std::lock_guard lock(mutex_);
  }
  wake_.notify_one();
}

// Ends a dispatch that runs for too long, as a fault of the first wave of `group` that still runs.
void EngineImpl::end_by_watchdog(Job& job, WorkGroup& group) {
  group.faulted = 0;
  while (group.faulted + 1 < group.wave_count &&
         group.states[group.faulted] == WorkGroup::State::kDone)
    ++group.faulted;
  Wave& wave = group.waves[group.faulted];
  wave.fault = {};
  wave.fault.kind = Fault::Kind::kWatchdog;
  wave.fault.message = fmt::format(
      "The kernel has run for longer than the watchdog allows ({} ms); the profile's key "
      "engine.watchdog sets the limit.",
      options_.watchdog_ns / 1000000);
  fail(job, group);
}

void EngineImpl::fail(Job& job, const WorkGroup& group) {
  const Wave& wave = group.waves[group.faulted];
  const std::lock_guard lock(job.mutex);
  job.stop.store(true, std::memory_order_relaxed);
  if (job.result.fault.kind != Fault::Kind::kNone) return;
  job.result.fault = wave.fault;
  job.result.report = fault_report(job, group, memory_, program_.text(wave.pc));
}

// Asks the pool to help with `job`. The pool's threads start with the first dispatch that is worth
// it.
void EngineImpl::publish(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    try {
      while (threads_.size() + 1 < options_.workers) threads_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
      // No more helpers can be started. The queue's own thread also executes work-groups.
    }
    jobs_.push_back(&job);
  }
  wake_.notify_all();
}

// Waits until no helper has `job`, and takes it off the list.
void EngineImpl::retire(Job& job) {
  if (job.total > 1) set_starting(job, false);  // it may have been stopped before
  std::unique_lock lock(mutex_);
  jobs_.remove(&job);
  left_.wait(lock, [&] { return job.helpers == 0; });
}

// Records whether a dispatch has work-groups to start, which delays those of lower ranks.
void EngineImpl::set_starting(Job& job, bool starting) {
  const std::lock_guard lock(mutex_);
  if (job.starting == starting) return;
  job.starting = starting;
  uint32_t& count = starting_[job.rank];
  count = starting ? count + 1 : count - 1;
  if (count > 1 || (count == 1 && !starting)) return;
  const uint32_t bit = uint32_t{1} << job.rank;
  const uint32_t ranks = starting_ranks_.load(std::memory_order_relaxed);
  starting_ranks_.store(starting ? ranks | bit : ranks & ~bit, std::memory_order_relaxed);
  if (!starting && !jobs_.empty()) wake_.notify_all();
}

void EngineImpl::help() {
  pthread_setname_np(pthread_self(), "vgpu-helper");
  std::unique_lock lock(mutex_);
  while (true) {
    Job* job = nullptr;
    idle_helpers_.fetch_add(1, std::memory_order_relaxed);
    wake_.wait(lock, [&] {
      for (auto at = jobs_.begin(); at != jobs_.end(); ++at) {
        // Of those that wait for a higher rank none has work.
        if (!has_work(**at)) continue;
        job = *at;
        // The next helper looks at another dispatch first.
        jobs_.splice(jobs_.end(), jobs_, at);
        break;
      }
      return quit_ || job;
    });
    idle_helpers_.fetch_sub(1, std::memory_order_relaxed);
    if (!job) return;
    ++job->helpers;
    lock.unlock();
    work(*job, false);
    lock.lock();
    if (--job->helpers == 0) left_.notify_all();
  }
}

}  // namespace

std::unique_ptr<Engine> Engine::create(const EngineOptions& options, AddressSpace& memory,
                                       std::string& error) {
  auto decoder = Decoder::create(options.processor, options.features, error);
  if (!decoder) return nullptr;
  install_host_guard();
  return std::make_unique<EngineImpl>(options, memory, std::move(decoder));
}

}  // namespace halyard::vgpu::isa
