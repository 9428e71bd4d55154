#include "drivers/common/serial_memory.h"

#include "drivers/common/serial_core.h"
#include "drivers/common/serial_device.h"

namespace halyard {

SerialHeap::SerialHeap(SerialMemory& memory, SerialDevice& device, const SerialHeapInfo& info)
    : memory_(memory),
      device_(device),
      info_(info),
      pools_(*this, device.options().pool_keep_bytes.value_or(info.size / 4),
             device.options().pool_limit_bytes) {}

Status SerialHeap::allocate(uint64_t size, uint64_t alignment, const MemoryWait& wait,
                            PoolBlock* block) {
  const RoundedSize rounded = round_up(size, alignment, info_.alignment, info_.granule);
  // What RetiredList::find_memory needs.
  struct Search {
    SerialHeap& heap;
    const uint64_t size;
    const RoundedSize rounded;
    void* base = nullptr;

    Status attempt() {
      HALYARD_RETURN_IF_ERROR(
          heap.usage_.take(heap.info_, heap.device_.info().name, size, rounded.bytes));
      const Status status =
          heap.device_.allocate_memory(heap.info_.type, size + rounded.slack, &base);
      if (!status.ok()) heap.usage_.untake(rounded.bytes);
      return status;
    }
    void reclaim() {
      heap.memory_.retired().collect();
      heap.pools_.trim_all();
    }
    HeapRoom room() {
      const QueuePool::Spare spare = heap.pools_.spare();
      return {heap.info_.size, heap.usage_.live_bytes(), spare.bytes, spare.has_unused};
    }
    PointState wait(const std::function<PointState()>& evaluate, Deadline deadline) {
      return heap.wait_until(evaluate, deadline);
    }
  } search{*this, size, rounded};
  memory_.retired().collect();
  HALYARD_RETURN_IF_ERROR(memory_.retired().find_memory(info_.type, rounded.bytes, wait, search));
  usage_.add_buffer();
  *block = {search.base, reinterpret_cast<uint64_t>(align_up(search.base, alignment)), size,
            alignment, rounded.bytes};
  return {};
}

void SerialHeap::free(const PoolBlock& block) {
  device_.free_memory(block.base);
  usage_.free_buffer(block.taken);
  memory_.retired().returned(info_.type);
  SerialProgress::instance().notify();
}

bool SerialHeap::reached(const PoolPoint& point) {
  return reinterpret_cast<const SerialCore*>(point.queue)->completed() > point.index;
}

bool SerialHeap::comes(const PoolPoint& point) {
  return !reinterpret_cast<const SerialCore*>(point.queue)->is_lost();
}

void SerialMemory::add(const SerialHeapInfo& info) {
  heaps_of_[static_cast<size_t>(info.type)] = std::make_unique<SerialHeap>(*this, device_, info);
  heaps_.push_back(info.type);
}

void SerialMemory::close() {
  retired_.collect();
  for (std::unique_ptr<SerialHeap>& heap : heaps_of_) heap.reset();
}

void SerialMemory::retire(std::shared_ptr<SerialBlock> block, MemoryType type, uint64_t bytes) {
  std::function<void()> release = std::move(block->release);
  retired_.add({{std::move(block)}, std::move(release), type, bytes});
  retired_.collect();
  SerialProgress::instance().notify();
}

SerialBuffer::SerialBuffer(SerialDevice& device, MemoryType type, uint64_t size, uint64_t address)
    : BufferBase(device, type, size, address),
      device_(device),
      keep_alive_(Ref<Device>::retain(&device)) {}

Result<Ref<Buffer>> SerialBuffer::allocate(SerialDevice& device, uint64_t size,
                                           const BufferOptions& options) {
  SerialHeap& heap = device.memory().heap(options.type);
  PoolBlock block;
  HALYARD_RETURN_IF_ERROR(heap.allocate(size, options.alignment, kMemoryWait, &block));
  auto* const buffer = new SerialBuffer(device, options.type, size, block.address);
  buffer->taken_ = block.taken;
  buffer->block_ = std::make_shared<SerialBlock>(SerialBlock{[&heap, block] { heap.free(block); }});
  AllocationInfo info;
  info.type = options.type;
  info.device_address = block.address;
  info.size = size;
  if (options.type != MemoryType::kDevice) info.host_pointer = buffer->at(0);
  device.allocations().add(*buffer, info);
  return Ref<Buffer>::adopt(buffer);
}

Result<Ref<Buffer>> SerialBuffer::from_pool(SerialDevice& device, uint64_t queue, uint64_t size,
                                            const PoolOptions& options, PoolPoint* after) {
  std::shared_ptr<QueuePool> pool = pool_for(options, device.pools(options.type));
  PoolBlock block;
  HALYARD_RETURN_IF_ERROR(pool->acquire(size, options.alignment, queue, &block, after));
  auto* const buffer = new SerialBuffer(device, options.type, size, block.address);
  buffer->taken_ = block.size;
  buffer->block_ =
      std::make_shared<SerialBlock>(SerialBlock{[pool, block] { pool->release_unused(block); }});
  buffer->lease_.begin(*buffer, block, std::move(pool), device.allocations());
  return Ref<Buffer>::adopt(buffer);
}

void SerialBuffer::destroy() noexcept {
  const Ref<Device> device = keep_alive_;
  if (parent_) {
    of(*parent_).lease_.remove_view(*this);
  } else if (!lease_.is_of_pool()) {
    device_.allocations().remove(*this);
  }
  if (!parent_ && (!lease_.is_of_pool() || lease_.ends_with_block())) {
    device_.memory().retire(std::move(block_), type(), taken_);
  }
  delete this;
}

Status SerialBuffer::do_map(uint64_t offset, uint64_t, MapAccess, void** pointer) {
  return maps_.map(type() == MemoryType::kDevice ? nullptr : at(offset), pointer);
}

Status SerialBuffer::do_subspan(uint64_t offset, uint64_t length, Buffer** view) {
  auto* const made = new SerialBuffer(device_, type(), length, device_address() + offset);
  made->parent_ = Ref<Buffer>::retain(parent_ ? parent_.get() : this);
  of(*made->parent_).lease_.add_view(*made);
  *view = made;
  return {};
}

}  // namespace halyard
