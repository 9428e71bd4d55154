#include "drivers/hip/memory.h"

#include <unistd.h>

#include <algorithm>

#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"
#include "hal/error.h"

namespace halyard::hip {

namespace {

constexpr uint64_t kGranule = 4096;
// What hipMalloc and hipHostMalloc align to.
constexpr uint64_t kAlignment = 4096;
// Parked memory above this is freed at once, whatever hipFree then waits for.
constexpr uint64_t kMostParkedPart = 4;  // of the device's memory
// Free memory that a queue-ordered pool keeps.
constexpr uint64_t kPoolKeeps = 64ull << 20;
// An allocation that finds no memory waits as long for what work in flight still uses. That work
// may wait for the caller in turn, who is to hear of it then.
constexpr uint64_t kLongestWaitNs = 10'000'000'000;

uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size)
                               : UINT64_MAX;
}

}  // namespace

Memory::Memory(DeviceImpl& device) : device_(device), host_bytes_(physical_memory()) {
  sources_.reserve(kTypes);
  for (size_t i = 0; i < kTypes; ++i) {
    sources_.emplace_back(*this, static_cast<MemoryType>(i));
    pools_[i] = std::make_unique<QueuePool>(sources_[i], kPoolKeeps);
  }
}

Memory::~Memory() {
  for (auto& pool : pools_) pool.reset();
  for (const Block& block : staging_) raw_free(MemoryType::kHost, block);
  const std::lock_guard lock(parked_mutex_);
  free_parked();
}

void Memory::open() {
  heaps_ = {MemoryType::kDevice, MemoryType::kHost};
  if (device_.facts().maps_device_memory) heaps_.push_back(MemoryType::kDeviceMapped);
}

uint64_t Memory::heap_size(MemoryType type) const {
  return type == MemoryType::kHost ? host_bytes_ : device_.facts().memory_bytes;
}

HeapInfo Memory::info(MemoryType type) const {
  HeapInfo info;
  info.type = type;
  info.size = heap_size(type);
  info.max_allocation = info.size;
  info.granule = kGranule;
  return info;
}

HeapStatistics Memory::statistics(MemoryType type) {
  collect();
  const Usage& used = usage(type);
  HeapStatistics statistics;
  statistics.live_bytes = used.live_bytes.load(std::memory_order_relaxed);
  statistics.live_buffers = used.live_buffers.load(std::memory_order_relaxed);
  statistics.peak_bytes = used.peak_bytes.load(std::memory_order_relaxed);
  return statistics;
}

Status Memory::take(MemoryType type, uint64_t size, uint64_t rounded) {
  const uint64_t heap = heap_size(type);
  Usage& used = usage(type);
  uint64_t before = used.live_bytes.load(std::memory_order_relaxed);
  do {
    if (rounded < size || rounded > heap || before > heap - rounded) {
      return error(StatusCode::kResourceExhausted,
                   "The allocation of {} bytes of {} memory does not fit on {}: of {} bytes {} are "
                   "in use.",
                   size, to_string(type), device_.info().name, heap, before);
    }
  } while (!used.live_bytes.compare_exchange_weak(before, before + rounded));
  uint64_t peak = used.peak_bytes.load(std::memory_order_relaxed);
  while (peak < before + rounded &&
         !used.peak_bytes.compare_exchange_weak(peak, before + rounded)) {
  }
  return {};
}

bool Memory::unpark(MemoryType type, uint64_t size, void** base) {
  const std::lock_guard lock(parked_mutex_);
  const auto found = std::find_if(parked_.begin(), parked_.end(), [&](const auto& parked) {
    return parked.first == type && parked.second.size == size;
  });
  if (found == parked_.end()) return false;
  *base = found->second.base;
  parked_bytes_ -= size;
  parked_.erase(found);
  return true;
}

hipError_t Memory::raw_allocate(MemoryType type, uint64_t size, void** base) {
  if (unpark(type, size, base)) return hipSuccess;
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
  if (result == hipSuccess) return result;
  {
    const std::lock_guard lock(parked_mutex_);
    if (parked_.empty()) return result;
    free_parked();
  }
  return attempt();
}

void Memory::raw_free(MemoryType type, const Block& block) {
  const std::lock_guard lock(parked_mutex_);
  parked_.emplace_back(type, block);
  parked_bytes_ += block.size;
  if (Streams::instance().all_idle() ||
      parked_bytes_ > device_.facts().memory_bytes / kMostParkedPart) {
    free_parked();
  }
}

// HIP waits for the device, or, for memory that all devices see, for all of them; a lost one never
// comes. What would wait for it stays, for whoever allocates as much.
void Memory::free_parked() {
  const Hip& hip = device_.hip();
  const bool lost = !Streams::instance().fault_of(device_.facts().device).ok();
  const bool any_lost = lost || Streams::instance().any_lost();
  std::erase_if(parked_, [&](const auto& parked) {
    const auto& [type, block] = parked;
    if (type == MemoryType::kDevice ? lost : any_lost) return false;
    if (type == MemoryType::kHost) {
      hip.hipHostFree(block.base);
    } else {
      hip.hipFree(block.base);
    }
    parked_bytes_ -= block.size;
    return true;
  });
}

Status Memory::try_allocate(MemoryType type, uint64_t size, uint64_t rounded, Block* block) {
  HALYARD_RETURN_IF_ERROR(take(type, size, rounded));
  const hipError_t result = raw_allocate(type, rounded, &block->base);
  if (result != hipSuccess) {
    const uint64_t in_use = usage(type).live_bytes.fetch_sub(rounded) - rounded;
    return error(code_for(result),
                 "The allocation of {} bytes of {} memory on {} fails: {}. The heap has {} bytes, "
                 "of which {} are in use through this device.",
                 size, to_string(type), device_.info().name, describe(device_.hip(), result),
                 heap_size(type), in_use);
  }
  block->size = rounded;
  usage(type).live_buffers.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status Memory::allocate(MemoryType type, uint64_t size, uint64_t alignment, Block* block,
                        void** pointer) {
  // HIP aligns to its own measure; what is asked for beyond that is made room for.
  const uint64_t slack = alignment > kAlignment ? alignment - kAlignment : 0;
  const uint64_t rounded = (size + slack + kGranule - 1) / kGranule * kGranule;
  for (;;) {
    collect();
    Status status = try_allocate(type, size, rounded, block);
    if (status.ok()) break;
    if (status.code() != StatusCode::kResourceExhausted) return status;
    const PointState due = Progress::instance().wait_until(
        [&](bool* on_device) {
          *on_device = true;
          return relief(type, rounded);
        },
        Deadline::after_ns(kLongestWaitNs));
    if (due != PointState::kReached) return status;
  }
  const uint64_t align = std::max<uint64_t>(alignment, 1);
  const auto address = reinterpret_cast<uint64_t>(block->base);
  *pointer = reinterpret_cast<void*>((address + align - 1) / align * align);
  return {};
}

void Memory::free(MemoryType type, const Block& block) {
  usage(type).live_bytes.fetch_sub(block.size, std::memory_order_relaxed);
  usage(type).live_buffers.fetch_sub(1, std::memory_order_relaxed);
  raw_free(type, block);
}

Result<Block> Memory::take_staging(uint64_t size) {
  const bool small = size <= kStagingBlock;
  Block block;
  const auto take_kept = [&] {
    const std::lock_guard lock(staging_mutex_);
    if (staging_.empty()) return false;
    block = staging_.back();
    staging_.pop_back();
    return true;
  };
  if (small && take_kept()) return block;
  block.size = small ? kStagingBlock : (size + kGranule - 1) / kGranule * kGranule;
  HALYARD_RETURN_IF_ERROR(check(device_.hip(),
                                raw_allocate(MemoryType::kHost, block.size, &block.base),
                                fmt::format("Staging {} bytes", size)));
  return block;
}

void Memory::tidy() {
  constexpr size_t kMuch = 32;
  {
    const std::lock_guard lock(retired_mutex_);
    if (retired_.size() < kMuch) return;
  }
  collect();
}

void Memory::return_staging(const Block& block) {
  {
    const std::lock_guard lock(staging_mutex_);
    if (block.size == kStagingBlock && staging_.size() < kStagingKept) {
      staging_.push_back(block);
      return;
    }
  }
  raw_free(MemoryType::kHost, block);
}

void Memory::give_staging(const Block& block, Stream& stream) {
  // The operation is counted when it is whole.
  const std::lock_guard lock(retired_mutex_);
  retired_.push_back({{{&stream, stream.number() + 1}}, [this, block] { return_staging(block); }});
}

void Memory::retire(MemoryType type, const Block& block) {
  keep({Streams::instance().busy(), [this, type, block] { free(type, block); }, type, block.size});
}

void Memory::retire(std::function<void()> release) {
  retire_after(Streams::instance().busy(), std::move(release));
}

void Memory::retire_after(std::vector<StreamPoint> points, std::function<void()> release) {
  keep({std::move(points), std::move(release)});
}

void Memory::retire_when_let_go(std::function<void()> release) {
  Retired retired{Streams::instance().kept(), std::move(release)};
  retired.let_go = true;
  keep(std::move(retired));
}

void Memory::keep(Retired retired) {
  std::erase_if(retired.in_use, [&](const StreamPoint& point) {
    return retired.let_go ? point.stream->let_go(point.number)
                          : point.stream->known_done(point.number);
  });
  if (retired.in_use.empty()) return retired.release();
  const std::lock_guard lock(retired_mutex_);
  retired_.push_back(std::move(retired));
}

bool Memory::in_use(const Retired& retired) {
  return std::any_of(retired.in_use.begin(), retired.in_use.end(), [&](const StreamPoint& point) {
    return retired.let_go ? !point.stream->let_go(point.number)
                          : point.stream->settled_state_of(point.number) == PointState::kPending;
  });
}

PointState Memory::relief(MemoryType type, uint64_t bytes) {
  uint64_t retired_bytes = 0;
  const std::lock_guard lock(retired_mutex_);
  for (const Retired& retired : retired_) {
    if (retired.type != type || retired.bytes == 0) continue;
    retired_bytes += retired.bytes;
    if (!in_use(retired)) return PointState::kReached;
  }
  const uint64_t heap = heap_size(type);
  const uint64_t live = usage(type).live_bytes.load(std::memory_order_relaxed);
  // What is live counts the retired ones; more may be live elsewhere.
  const bool enough = bytes <= heap && live - std::min(live, retired_bytes) <= heap - bytes;
  return retired_bytes != 0 && enough ? PointState::kPending : PointState::kFailed;
}

void Memory::collect() {
  std::vector<Retired> due;
  {
    const std::lock_guard lock(retired_mutex_);
    const auto first_due = std::partition(retired_.begin(), retired_.end(), in_use);
    due.assign(std::make_move_iterator(first_due), std::make_move_iterator(retired_.end()));
    retired_.erase(first_due, retired_.end());
  }
  for (Retired& retired : due) retired.release();
  const std::lock_guard lock(parked_mutex_);
  if (!parked_.empty() && Streams::instance().all_idle()) free_parked();
}

bool Memory::all_collected() {
  const std::lock_guard lock(retired_mutex_);
  return retired_.empty();
}

Status Memory::Source::allocate(uint64_t size, uint64_t alignment, PoolBlock* block) {
  Block made;
  void* pointer = nullptr;
  HALYARD_RETURN_IF_ERROR(memory_.allocate(type_, size, alignment, &made, &pointer));
  block->base = made.base;
  block->address = reinterpret_cast<uint64_t>(pointer);
  block->size = size;
  block->alignment = std::max(alignment, kAlignment);
  return {};
}

void Memory::Source::free(const PoolBlock& block) {
  // What was asked for beyond HIP's own alignment.
  const uint64_t slack = block.alignment > kAlignment ? block.alignment - kAlignment : 0;
  memory_.free(type_, {block.base, (block.size + slack + kGranule - 1) / kGranule * kGranule});
}

bool Memory::Source::reached(const PoolPoint& point) {
  return reinterpret_cast<Stream*>(point.queue)->known_done(point.index);
}

}  // namespace halyard::hip
