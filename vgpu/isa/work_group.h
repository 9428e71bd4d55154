// One resident work-group: its waves, their registers, LDS and scratch, and barriers.
//
// The object is kept and started again for the next work-group, so that a dispatch allocates
// nothing once it is under way. One thread at a time runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/isa/interpreter.h"
#include "vgpu/isa/kernel.h"
#include "vgpu/isa/observer.h"
#include "vgpu/isa/schedule.h"
#include "vgpu/isa/wave_slots.h"

namespace halyard::vgpu::isa {

// Memory that only grows. Anonymous pages: untouched ones cost nothing.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // At least `bytes`, page-aligned; its contents are lost if it has to grow. Null if the host has
  // no memory.
  uint8_t* reserve(uint64_t bytes);

 private:
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

struct DroppedAtomic;
class PlaceSource;

// What all work-groups of a dispatch have in common.
struct GroupContext {
  const Dispatch* dispatch = nullptr;
  const Kernel* kernel = nullptr;
  const Target* target = nullptr;
  Program* program = nullptr;
  AddressSpace* memory = nullptr;
  WaveServices* services = nullptr;
  uint32_t groups[3] = {};  // the grid's size in work-groups
  uint32_t first_xcc = 0;
  PlaceSource* places = nullptr;
  std::span<Observer* const> observers;
  // As EngineOptions has them.
  const AddressSpace* float_atomics = nullptr;
  const std::function<void(const DroppedAtomic&)>* dropped_atomic = nullptr;
};

enum class Turn : uint8_t {
  kBusy,      // did something, and has more to do
  kIdle,      // every wave that could run went to sleep at once
  kFinished,  // all waves have ended
  kFault,
};

// Where on the device a work-group runs.
struct UnitPlace {
  uint32_t hw_id = 0;  // as HW_ID says it
  uint32_t xcc = 0;    // the die, counted from 0
  uint32_t unit = 0;
  TakenSlots slots;  // none if the unit has more waves than HW_ID can tell apart
};

// Gives work-groups places that no other resident one has.
class PlaceSource {
 public:
  virtual ~PlaceSource() = default;
  virtual UnitPlace take_place(const WorkGroup& group) = 0;
};

struct WorkGroup {
  enum class State : uint8_t { kReady, kBarrier, kDone };

  // Starts work-group number `number` (x fastest). False if the host has no memory for it.
  // `part`: which part of the program's private memory its waves get, if it has some.
  bool start(const GroupContext& group_context, uint64_t number, const UnitPlace& unit,
             uint32_t part = 0);

  // Runs waves for a while, as the schedule says: each of them, or a drawn one. After kFault,
  // `faulted` is the wave. Memory that the host does not have is a fault like any other.
  Turn turn(PageCache& pages, Turns& turns);

  // Before the first look at a wave's HW_ID: gives its waves places of their own. Few kernels look,
  // and the others need not pay for it.
  void settle();

  const GroupContext* context = nullptr;  // of the dispatch that it belongs to
  uint64_t number = 0;                    // in the dispatch
  uint32_t id[3] = {};
  uint32_t xcc = 0;  // the die that it runs on, counted from 0
  uint32_t scratch_part = 0;
  UnitPlace place;
  bool is_settled = false;
  std::vector<Wave> waves;  // `wave_count` of them are in use
  std::vector<State> states;
  uint32_t wave_count = 0;
  uint32_t alive = 0;
  uint32_t at_barrier = 0;
  uint32_t faulted = 0;
  std::vector<std::unique_ptr<GroupObserver>> observers;

 private:
  Turn run_turn(PageCache& pages, Turns& turns);
  Turn run_budgets(PageCache& pages, Turns& turns);
  Turn run_shares(PageCache& pages, Turns& turns);
  Turn run_drawn_wave(PageCache& pages, Turns& turns);
  // Runs wave `n` for up to `share` instructions, takes those it executed off it, and records how
  // the wave stopped.
  Stop visit(uint32_t n, uint32_t& share, bool stop_at_waits, PageCache& pages, Turns& turns);
  bool release_barrier();

  uint32_t running_ = 0;         // the wave that is being run
  std::vector<uint8_t> rested_;  // this turn: has had its share, or sleeps
  Arena registers_;
  Arena lds_;
  Arena scratch_;
};

}  // namespace halyard::vgpu::isa
