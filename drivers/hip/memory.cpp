#include "drivers/hip/memory.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/registrations.h"
#include "hal/error.h"
#include "plugins/sdk/workers.h"

namespace halyard::hip {

namespace {

constexpr uint64_t kGranule = 4096;
// What hipMalloc and hipHostMalloc align to.
constexpr uint64_t kAlignment = 4096;
// Parked memory above this is freed at once, whatever hipFree then waits for.
constexpr uint64_t kMostParkedPart = 4;  // of the device's memory
// Free memory that a queue-ordered pool keeps.
constexpr uint64_t kPoolKeeps = 64ull << 20;

uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size)
                               : UINT64_MAX;
}

}  // namespace

Memory::Memory(DeviceImpl& device)
    : device_(device), host_bytes_(physical_memory()), collector_(std::make_shared<Collector>()) {
  collector_->memory = this;
  sources_.reserve(kTypes);
  for (size_t i = 0; i < kTypes; ++i) {
    sources_.emplace_back(*this, static_cast<MemoryType>(i));
    pools_[i] = std::make_unique<PoolGroup>(sources_[i],
                                            device_.options().pool_keep_bytes.value_or(kPoolKeeps),
                                            device_.options().pool_limit_bytes);
  }
}

Memory::~Memory() {
  {
    const std::lock_guard lock(collector_->mutex);
    collector_->memory = nullptr;
  }
  for (auto& pool : pools_) pool.reset();
  for (void* const block : staging_.take_all()) {
    raw_free(MemoryType::kHost, {block, SpareStaging::kBlock});
  }
  const std::lock_guard lock(parked_mutex_);
  free_parked_at_once();
}

void Memory::open() {
  heaps_ = {MemoryType::kDevice, MemoryType::kHost};
  if (device_.facts().figures.maps_device_memory) heaps_.push_back(MemoryType::kDeviceMapped);
}

uint64_t Memory::heap_size(MemoryType type) const {
  return type == MemoryType::kHost ? host_bytes_ : device_.facts().figures.memory_bytes;
}

HeapInfo Memory::info(MemoryType type) const {
  HeapInfo info;
  info.type = type;
  info.size = heap_size(type);
  info.max_allocation = info.size;
  info.granule = kGranule;
  if (type != MemoryType::kHost) {
    info.clock_mhz = device_.facts().memory_clock_mhz;
    info.bus_bits = device_.facts().memory_bus_bits;
  }
  return info;
}

HeapStatistics Memory::statistics(MemoryType type) const {
  const_cast<Memory*>(this)->collect();
  return usage(type).statistics();
}

bool Memory::unpark(MemoryType type, uint64_t size, void** base) {
  const std::lock_guard lock(parked_mutex_);
  const auto found = std::find_if(parked_.begin(), parked_.end(), [&](const auto& parked) {
    return parked.type == type && parked.block.size == size && !parked.is_managed;
  });
  if (found == parked_.end()) return false;
  *base = found->block.base;
  parked_bytes_ -= size;
  parked_.erase(found);
  return true;
}

hipError_t Memory::raw_allocate(MemoryType type, uint64_t size, void** base, bool is_for_kernel) {
  // Who holds the lock may be in a hipFree that waits for the kernel.
  if (!is_for_kernel && unpark(type, size, base)) return hipSuccess;
  const Hip& hip = device_.hip();
  const CurrentDevice current(hip, device_.facts().device);
  const auto attempt = [&] {
    switch (type) {
      case MemoryType::kHost:
        return hip.hipHostMalloc(
            base, size, hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent);
      case MemoryType::kDeviceMapped:
        return hip.hipExtMallocWithFlags(base, size, hipDeviceMallocFinegrained);
      default:
        return hip.hipMalloc(base, size);
    }
  };
  const hipError_t result = attempt();
  if (result == hipSuccess || is_for_kernel) return result;
  {
    // Also for what another thread is freeing just now.
    const std::lock_guard lock(parked_mutex_);
    free_parked();
  }
  return attempt();
}

void Memory::raw_free(MemoryType type, const Block& block, bool is_managed) {
  const std::lock_guard lock(parked_mutex_);
  parked_.push_back({type, block, Streams::instance().busy(), is_managed});
  parked_bytes_ += block.size;
  if (parked_bytes_ > device_.facts().figures.memory_bytes / kMostParkedPart) {
    free_parked();
  } else if (Streams::instance().all_idle()) {
    free_parked_at_once();
  }
}

// HIP waits for the device, or, for memory that all devices see, for all of them; a lost one never
// comes. What would wait for it stays, for an allocation of as much.
bool Memory::blocks(MemoryType type) const {
  Streams& streams = Streams::instance();
  return type == MemoryType::kDevice ? streams.blocks(device_.facts().device)
                                     : streams.any_blocks();
}

bool Memory::can_free(const Parked& parked) const {
  if (blocks(parked.type)) return false;
  return std::all_of(parked.before.begin(), parked.before.end(),
                     [](const StreamPoint& point) { return !point.stream->may_use(point.number); });
}

void Memory::free_block(const Parked& parked) const {
  const Hip& hip = device_.hip();
  if (parked.type == MemoryType::kHost && !parked.is_managed) {
    hip.hipHostFree(parked.block.base);
  } else {
    hip.hipFree(parked.block.base);
  }
}

void Memory::free_parked() {
  if (parked_.empty()) return;
  lingering_ = Streams::instance().kept();
  std::erase_if(parked_, [&](const Parked& parked) {
    if (!can_free(parked)) return false;
    free_block(parked);
    parked_bytes_ -= parked.block.size;
    return true;
  });
}

// A thread that put a kernel on a stream meanwhile, and then frees or allocates memory, would wait
// for this thread, which waits for the kernel, which may wait for that thread.
void Memory::free_parked_at_once() {
  if (parked_.empty()) return;
  Streams& streams = Streams::instance();
  const bool all_may_block = streams.any_blocks();
  const bool device_may_block = all_may_block && streams.blocks(device_.facts().device);
  lingering_ = streams.kept();
  auto still = streams.hold_still({});
  const bool all = still.has_value();
  if (!all) still = streams.hold_still(device_.facts().device);
  if (!still.has_value()) return;
  std::erase_if(parked_, [&](const Parked& parked) {
    const bool of_device = parked.type == MemoryType::kDevice;
    if (of_device ? device_may_block : all_may_block || !all) return false;
    free_block(parked);
    parked_bytes_ -= parked.block.size;
    return true;
  });
}

bool Memory::lingers() {
  {
    const std::lock_guard lock(parked_mutex_);
    bool comes = false;
    for (const Parked& parked : parked_) {
      if (blocks(parked.type)) continue;
      // The next attempt frees it.
      if (can_free(parked)) retired_.returned(parked.type);
      comes = true;
    }
    if (comes) return true;
    if (lingering_.empty()) return false;
    std::erase_if(lingering_,
                  [](const StreamPoint& point) { return point.stream->let_go(point.number); });
    if (!lingering_.empty()) return true;
  }
  for (const MemoryType type : heaps_) retired_.returned(type);
  return false;
}

Status Memory::try_allocate(MemoryType type, uint64_t size, uint64_t rounded, Block* block,
                            bool is_for_kernel) {
  HALYARD_RETURN_IF_ERROR(usage(type).take(info(type), device_.info().name, size, rounded));
  const hipError_t result = raw_allocate(type, rounded, &block->base, is_for_kernel);
  if (result != hipSuccess) {
    const uint64_t in_use = usage(type).untake(rounded);
    return error(code_for(result),
                 "The allocation of {} bytes of {} memory on {} fails: {}. The heap has {} bytes, "
                 "of which {} are in use through this device.",
                 size, to_string(type), device_.info().name, describe(device_.hip(), result),
                 heap_size(type), in_use);
  }
  block->size = rounded;
  usage(type).add_buffer();
  return {};
}

// What RetiredList::find_memory needs.
struct Memory::Search {
  Memory& memory;
  MemoryType type;
  uint64_t size, rounded;
  Block* block;

  Status attempt() const { return memory.try_allocate(type, size, rounded, block, false); }
  void reclaim() const {
    memory.collect();
    memory.pools(type).trim_all();
  }
  HeapRoom room() const {
    const uint64_t live = memory.usage(type).live_bytes();
    const QueuePool::Spare spare = memory.pools(type).spare();
    const bool lingers = memory.lingers();
    return {memory.heap_size(type), live, spare.bytes, spare.has_unused, lingers};
  }
  template <typename Evaluate>
  PointState wait(const Evaluate& evaluate, Deadline deadline) const {
    return Progress::instance().wait_until(evaluate, deadline);
  }
};

Status Memory::allocate(MemoryType type, uint64_t size, uint64_t alignment, const MemoryWait& wait,
                        Block* block, void** pointer) {
  // HIP aligns to its own measure; what is asked for beyond that is made room for.
  const uint64_t rounded = round_up(size, alignment, kAlignment, kGranule).bytes;
  if (wait.is_for_kernel) {
    HALYARD_RETURN_IF_ERROR(try_allocate(type, size, rounded, block, true));
  } else {
    collect();
    const Search search{*this, type, size, rounded, block};
    HALYARD_RETURN_IF_ERROR(retired_.find_memory(type, rounded, wait, search));
  }
  *pointer = align_up(block->base, alignment);
  return {};
}

Status Memory::allocate_managed(uint64_t size, uint64_t alignment, Block* block, void** pointer) {
  const Hip& hip = device_.hip();
  const CurrentDevice current(hip, device_.facts().device);
  block->size = round_up(size, alignment, kAlignment, kGranule).bytes;
  collect();
  HALYARD_RETURN_IF_ERROR(check(hip,
                                hip.hipMallocManaged(&block->base, block->size, hipMemAttachGlobal),
                                fmt::format("The allocation of {} bytes of managed memory on {}",
                                            size, device_.info().name)));
  *pointer = align_up(block->base, alignment);
  return {};
}

void Memory::free_managed(const Block& block) {
  raw_free(MemoryType::kHost, block, true);
}

Status Memory::allocate_piece(uint64_t size, hipMemGenericAllocationHandle_t* piece) {
  constexpr MemoryType kType = MemoryType::kDevice;
  const Hip& hip = device_.hip();
  hipMemAllocationProp properties;
  properties.location.id = device_.facts().device;
  const auto attempt = [&]() -> Status {
    HALYARD_RETURN_IF_ERROR(usage(kType).take(info(kType), device_.info().name, size, size));
    const hipError_t result = hip.hipMemCreate(piece, size, &properties, 0);
    if (result == hipSuccess) return {};
    usage(kType).untake(size);
    return check(
        hip, result,
        fmt::format("Allocating {} bytes for a reserved buffer on {}", size, device_.info().name));
  };
  collect();
  Status status = attempt();
  if (status.code() != StatusCode::kResourceExhausted) return status;
  pools(kType).trim_all();
  {
    const std::lock_guard lock(parked_mutex_);
    free_parked_at_once();
  }
  return attempt();
}

void Memory::free_piece(uint64_t size, hipMemGenericAllocationHandle_t piece) {
  device_.hip().hipMemRelease(piece);
  usage(MemoryType::kDevice).untake(size);
  retired_.returned(MemoryType::kDevice);
}

void Memory::free(MemoryType type, const Block& block) {
  raw_free(type, block);
  usage(type).free_buffer(block.size);
  retired_.returned(type);
}

Result<Block> Memory::take_staging(uint64_t size) {
  Block block = {staging_.take(size), SpareStaging::size_for(size, kGranule)};
  if (block.base != nullptr) return block;
  HALYARD_RETURN_IF_ERROR(check(device_.hip(),
                                raw_allocate(MemoryType::kHost, block.size, &block.base),
                                fmt::format("Staging {} bytes", size)));
  return block;
}

void Memory::tidy() {
  constexpr size_t kMuch = 32;
  if (retired_.size() >= kMuch) collect();
}

void Memory::return_staging(const Block& block) {
  if (!staging_.keep(block.base, block.size)) raw_free(MemoryType::kHost, block);
}

void Memory::give_staging(const Block& block, Stream& stream) {
  // The operation is counted when it is whole.
  Retired retired;
  retired.use.points.push_back({&stream, stream.number() + 1});
  retired.release = [this, block] { return_staging(block); };
  retired_.add(std::move(retired));
}

void Memory::retire(uint64_t users, MemoryType type, uint64_t bytes,
                    std::function<void()> release) {
  Retired retired;
  retired.use.points = Streams::instance().busy(users);
  retired.release = std::move(release);
  retired.heap = type;
  retired.bytes = bytes;
  keep(std::move(retired));
}

void Memory::retire(uint64_t users, MemoryType type, const Block& block) {
  retire(users, type, block.size, [this, type, block] { free(type, block); });
}

void Memory::retire(uint64_t users, MemoryType type, const PoolBlock& block,
                    std::shared_ptr<QueuePool> pool) {
  retire(users, type, block.size, [pool = std::move(pool), block] { pool->release_unused(block); });
}

void Memory::retire(uint64_t users, std::function<void()> release) {
  retire(users, MemoryType::kDevice, 0, std::move(release));
}

void Memory::retire_when_let_go(uint64_t users, std::function<void()> release) {
  Retired retired;
  retired.use = {Streams::instance().kept(users), true};
  retired.release = std::move(release);
  keep(std::move(retired));
}

void Memory::keep(Retired retired) {
  // HIP has destroyed what it had.
  if (Hip::process_ends()) return;
  std::erase_if(retired.use.points, [&](const StreamPoint& point) {
    return retired.use.let_go ? point.stream->let_go(point.number)
                              : point.stream->known_done(point.number);
  });
  if (retired.use.points.empty()) {
    retired_.release(retired);
  } else {
    retired_.add(std::move(retired));
  }
}

bool Memory::Use::in_use() const {
  return std::any_of(points.begin(), points.end(), [&](const StreamPoint& point) {
    return let_go ? !point.stream->let_go(point.number) : point.stream->may_use(point.number);
  });
}

void Memory::collect() {
  retired_.collect();
  Registrations::instance().collect(device_.hip());
  const std::lock_guard lock(parked_mutex_);
  if (!parked_.empty() && Streams::instance().all_idle()) free_parked_at_once();
}

void Memory::collect_in_time() {
  {
    const std::lock_guard lock(collector_->mutex);
    if (retired_.size() == 0 || collector_->running) return;
    collector_->running = true;
  }
  Workers::instance().run([collector = collector_] {
    constexpr auto kPause = std::chrono::milliseconds(1);
    for (;; std::this_thread::sleep_for(kPause)) {
      const std::lock_guard lock(collector->mutex);
      Memory* const memory = collector->memory;
      if (memory == nullptr || Hip::process_ends()) return;
      memory->retired_.collect();
      collector->running = memory->retired_.size() != 0;
      if (!collector->running) return;
    }
  });
}

bool Memory::release_all() {
  retired_.collect();
  Registrations::instance().collect(device_.hip());
  const std::lock_guard lock(parked_mutex_);
  free_parked_at_once();
  if (retired_.size() != 0) return false;
  return parked_.empty() || Streams::instance().any_blocks();
}

Status Memory::Source::allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                                PoolBlock* block) {
  Block made;
  void* pointer = nullptr;
  HALYARD_RETURN_IF_ERROR(memory_.allocate(type_, size, alignment, wait, &made, &pointer));
  block->base = made.base;
  block->address = reinterpret_cast<uint64_t>(pointer);
  block->size = size;
  block->alignment = std::max(alignment, kAlignment);
  return {};
}

PointState Memory::Source::wait_until(const std::function<PointState()>& evaluate,
                                      Deadline deadline) {
  return Progress::instance().wait_until(evaluate, deadline);
}

void Memory::Source::free(const PoolBlock& block) {
  memory_.free(type_,
               {block.base, round_up(block.size, block.alignment, kAlignment, kGranule).bytes});
}

bool Memory::Source::reached(const PoolPoint& point) {
  return reinterpret_cast<Stream*>(point.queue)->known_done(point.index);
}

bool Memory::Source::reached_if_asked(const PoolPoint& point) {
  auto& stream = *reinterpret_cast<Stream*>(point.queue);
  return stream.settled_state_of(point.index) == PointState::kReached;
}

bool Memory::Source::comes(const PoolPoint& point) {
  return !reinterpret_cast<const Stream*>(point.queue)->abandoned();
}

}  // namespace halyard::hip
