#include "vgpu/isa/work_group.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "vgpu/host_guard.h"
#include "vgpu/isa/fault.h"
#include "vgpu/isa/program.h"

namespace halyard::vgpu::isa {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint32_t kScratchGranule = 16;  // 256 dwords a wave are 16 bytes a lane

template <class T>
constexpr T round_up(T value, T granule) {
  return (value + granule - 1) / granule * granule;
}

// HW_ID of a wave. Without slots, it shares bits 5:0 with others.
uint32_t hw_id_of(const UnitPlace& place, uint32_t wave) {
  if (place.slots.mask != 0) return place.hw_id | place.slots.slot[wave];
  return place.hw_id | ((wave / 4) & 15) | (wave & 3) << 4;
}

}  // namespace

Arena::~Arena() {
  if (data_) munmap(data_, size_);
}

uint8_t* Arena::reserve(uint64_t bytes) {
  if (bytes <= size_ && data_) return data_;
  const uint64_t size = round_up(std::max(bytes, kPage), kPage);
  if (data_) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
  void* const fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  data_ = static_cast<uint8_t*>(fresh);
  size_ = size;
  return data_;
}

bool WorkGroup::start(const GroupContext& group_context, uint64_t group_number,
                      const UnitPlace& unit, uint32_t part) {
  context = &group_context;
  scratch_part = part;
  xcc = unit.xcc;
  place = unit;
  number = group_number;
  is_settled = unit.slots.mask != 0;
  const Dispatch& dispatch = *group_context.dispatch;
  const Kernel& kernel = *group_context.kernel;
  id[0] = static_cast<uint32_t>(group_number % group_context.groups[0]);
  id[1] = static_cast<uint32_t>(group_number / group_context.groups[0] % group_context.groups[1]);
  id[2] = static_cast<uint32_t>(group_number / group_context.groups[0] / group_context.groups[1]);
  WavePlace wave_place;
  uint32_t items = 1;
  for (unsigned d = 0; d < 3; ++d) {
    const uint32_t size = dispatch.group[d];
    wave_place.extent[d] = std::min(size, dispatch.grid[d] - id[d] * size);
    items *= wave_place.extent[d];
    id[d] += dispatch.first_group[d];
    wave_place.group[d] = id[d];
  }
  wave_count = (items + kLanes - 1) / kLanes;
  wave_place.wave_count = wave_count;
  alive = wave_count;
  at_barrier = 0;

  const uint64_t file = kernel.registers();
  uint8_t* const registers = registers_.reserve(file * wave_count * sizeof(VectorRegister));
  const uint32_t lds_size =
      round_up(dispatch.group_segment_size, group_context.target->lds_granule);
  uint8_t* const lds = lds_.reserve(lds_size);
  const uint64_t lane_scratch = round_up<uint64_t>(dispatch.private_segment_size, kScratchGranule);
  const uint64_t wave_scratch = lane_scratch * kLanes;
  const KernelRegisters* const program = dispatch.registers;
  const uint32_t program_scratch = program != nullptr ? program->scratch_wave_bytes : 0;
  uint8_t* const scratch = wave_scratch ? scratch_.reserve(wave_scratch * wave_count) : nullptr;
  if (!registers || !lds || (wave_scratch && !scratch)) return false;
  // Contents are undefined on hardware; zeros make every run the same.
  std::memset(lds, 0, lds_size);

  if (waves.size() < wave_count) {
    waves.resize(wave_count);
    states.resize(wave_count);
    rested_.resize(wave_count);
  }
  for (uint32_t n = 0; n < wave_count; ++n) {
    Wave& wave = waves[n];
    wave.group = this;
    wave.program = group_context.program;
    wave.memory = group_context.memory;
    wave.services = group_context.services;
    wave.index_in_group = n;
    wave.vgpr = reinterpret_cast<VectorRegister*>(registers) + file * n;
    wave.agpr = wave.vgpr + kernel.vgprs;
    wave.lds = lds;
    wave.lds_size = lds_size;
    wave.scratch_base = reinterpret_cast<uintptr_t>(scratch) + wave_scratch * n;
    wave.scratch_bytes_per_lane = static_cast<uint32_t>(std::min<uint64_t>(lane_scratch, ~0u));
    wave.program_scratch_bytes_per_lane = program_scratch / kLanes;
    wave_place.scratch_offset = (part * wave_count + n) * program_scratch;
    wave_place.scratch_base = program_scratch != 0
                                  ? program->scratch_base[unit.xcc] + wave_place.scratch_offset
                                  : wave.scratch_base;
    wave.hw_id = hw_id_of(unit, n);
    wave.xcc_id = group_context.first_xcc + unit.xcc;
    wave.range_epoch = ~uint64_t{0};
    wave_place.wave = n;
    start_wave(kernel, *group_context.target, dispatch, wave_place, wave);
    states[n] = State::kReady;
  }
  for (Observer* const observer : group_context.observers) {
    if (auto watching = observer->watch(*this, group_context))
      observers.push_back(std::move(watching));
  }
  return true;
}

void WorkGroup::settle() {
  if (is_settled || context == nullptr || context->places == nullptr) return;
  is_settled = true;
  place = context->places->take_place(*this);
  for (uint32_t n = 0; n < wave_count; ++n) waves[n].hw_id = hw_id_of(place, n);
}

bool WorkGroup::release_barrier() {
  // A wave that has ended counts as arrived.
  if (at_barrier == 0 || at_barrier != alive) return false;
  at_barrier = 0;
  for (const auto& observer : observers) observer->barrier();
  for (uint32_t n = 0; n < wave_count; ++n) {
    if (states[n] == State::kBarrier) states[n] = State::kReady;
  }
  return true;
}

Turn WorkGroup::turn(PageCache& pages, Turns& turns) {
  Turn turn = Turn::kFault;
  HostFault gone;
  if (guarded([&] { turn = run_turn(pages, turns); }, gone)) return turn;
  faulted = running_;
  Wave& wave = waves[faulted];
  const Instruction* const instruction = context->program->instruction(wave.pc);
  fault_unmapped(wave, instruction ? name_of(*instruction) : "an instruction", gone);
  return Turn::kFault;
}

Turn WorkGroup::run_turn(PageCache& pages, Turns& turns) {
  switch (turns.kind()) {
    case Schedule::Kind::kEvery:
      return run_shares(pages, turns);
    case Schedule::Kind::kSeed:
      return run_drawn_wave(pages, turns);
    default:
      return run_budgets(pages, turns);
  }
}

Stop WorkGroup::visit(uint32_t n, uint32_t& share, bool stop_at_waits, PageCache& pages,
                      Turns& turns) {
  running_ = n;
  const uint32_t given = share;
  const Stop stop = run_wave(waves[n], *context->program, pages, share, stop_at_waits);
  const Schedule::Kind kind = turns.kind();
  turns.ran(given - share);
  if (turns.kind() != kind) {
    for (const auto& observer : observers) observer->order_ends(waves[n]);
  }
  switch (stop) {
    case Stop::kBarrier:
      states[n] = State::kBarrier;
      ++at_barrier;
      break;
    case Stop::kEnd:
      states[n] = State::kDone;
      --alive;
      break;
    case Stop::kFault:
      faulted = n;
      break;
    default:
      break;
  }
  return stop;
}

// Each wave runs until something stops it. With kWaits, an s_waitcnt does, and the wave goes on
// when the others have had their turn.
Turn WorkGroup::run_budgets(PageCache& pages, Turns& turns) {
  std::fill_n(rested_.begin(), wave_count, uint8_t{0});
  const Schedule::Kind kind = turns.kind();
  uint64_t left = uint64_t{turns.wave_budget()} * alive;
  bool worked = false;
  bool again = true;
  while (again && left > 0) {
    again = false;
    for (uint32_t n = 0; n < wave_count; ++n) {
      if (states[n] != State::kReady || rested_[n]) continue;
      const auto given = static_cast<uint32_t>(std::min<uint64_t>(turns.share(), left));
      if (given == 0) break;
      uint32_t share = given;
      const bool has_others = alive - at_barrier > 1;
      const Stop stop = visit(n, share, has_others && kind == Schedule::Kind::kWaits, pages, turns);
      left -= given - share;
      if (stop == Stop::kFault) return Turn::kFault;
      rested_[n] = stop == Stop::kBudget || stop == Stop::kYield;
      again = again || stop == Stop::kWait;
      worked = worked || stop != Stop::kYield;
      // The order changes: from the first wave of the first work-group on.
      if (turns.kind() != kind) left = 0;
    }
    if (alive == 0) return Turn::kFinished;
    if (release_barrier()) again = true;
  }
  return worked ? Turn::kBusy : Turn::kIdle;
}

// Each wave runs for its share of instructions.
Turn WorkGroup::run_shares(PageCache& pages, Turns& turns) {
  bool worked = false;
  for (uint32_t n = 0; n < wave_count && turns.kind() == Schedule::Kind::kEvery; ++n) {
    if (states[n] != State::kReady) continue;
    uint32_t share = turns.share();
    const Stop stop = visit(n, share, false, pages, turns);
    if (stop == Stop::kFault) return Turn::kFault;
    worked = worked || stop != Stop::kYield;
  }
  if (alive == 0) return Turn::kFinished;
  release_barrier();
  return worked ? Turn::kBusy : Turn::kIdle;
}

// One of the waves that can run has a turn.
Turn WorkGroup::run_drawn_wave(PageCache& pages, Turns& turns) {
  uint64_t before = turns.draw(alive - at_barrier);
  uint32_t n = 0;
  while (states[n] != State::kReady || before-- > 0) ++n;
  uint32_t share = turns.share();
  const Stop stop = visit(n, share, false, pages, turns);
  if (stop == Stop::kFault) return Turn::kFault;
  if (alive == 0) return Turn::kFinished;
  release_barrier();
  return stop == Stop::kYield ? Turn::kIdle : Turn::kBusy;
}

}  // namespace halyard::vgpu::isa
