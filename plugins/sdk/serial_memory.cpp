#include "plugins/sdk/serial_memory.h"

#include "hal/error.h"
#include "plugins/sdk/dmabuf.h"
#include "plugins/sdk/ipc_handle.h"
#include "plugins/sdk/serial_core.h"
#include "plugins/sdk/serial_device.h"

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
  if (!wait.is_for_kernel) memory_.retired().collect();
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

namespace {

// Of the device's own.
SerialPlace place_of(const PoolBlock& block, MemoryType type) {
  auto* const at = reinterpret_cast<std::byte*>(block.address);
  return {at, type == MemoryType::kDevice ? nullptr : at, type};
}

}  // namespace

SerialBuffer::SerialBuffer(SerialDevice& device, uint64_t size, const SerialPlace& place)
    : BufferBase(device, place.type, size, reinterpret_cast<uint64_t>(place.device)),
      device_(device),
      keep_alive_(Ref<Device>::retain(&device)),
      place_(place) {}

void SerialBuffer::be_found(AllocationOwner owner) {
  AllocationInfo info;
  info.type = type();
  info.owner = owner;
  info.device_address = device_address();
  info.size = size();
  info.host_pointer = place_.host;
  device_.allocations().add(*this, info);
}

Result<Ref<Buffer>> SerialBuffer::allocate(SerialDevice& device, uint64_t size,
                                           const BufferOptions& options) {
  SerialHeap& heap = device.memory().heap(options.type);
  PoolBlock block;
  HALYARD_RETURN_IF_ERROR(heap.allocate(size, options.alignment, kMemoryWait, &block));
  auto* const buffer = new SerialBuffer(device, size, place_of(block, options.type));
  buffer->allocation_ = block.base;
  buffer->taken_ = block.taken;
  buffer->block_ = std::make_shared<SerialBlock>(SerialBlock{[&heap, block] { heap.free(block); }});
  buffer->be_found(AllocationOwner::kDevice);
  return Ref<Buffer>::adopt(buffer);
}

Result<Ref<Buffer>> SerialBuffer::from_pool(SerialDevice& device, uint64_t queue, uint64_t size,
                                            const PoolOptions& options, PoolPoint* after) {
  std::shared_ptr<QueuePool> pool = pool_for(options, device.pools(options.type));
  PoolBlock block;
  HALYARD_RETURN_IF_ERROR(pool->acquire(size, options.alignment, queue, &block, after));
  auto* const buffer = new SerialBuffer(device, size, place_of(block, options.type));
  buffer->taken_ = block.size;
  buffer->block_ =
      std::make_shared<SerialBlock>(SerialBlock{[pool, block] { pool->release_unused(block); }});
  buffer->lease_.begin(*buffer, block, std::move(pool), device.allocations());
  return Ref<Buffer>::adopt(buffer);
}

Result<Ref<Buffer>> SerialBuffer::import(SerialDevice& device, const ImportOptions& options) {
  using Kind = ImportOptions::Kind;
  if (options.kind == Kind::kDmabuf) return no_dmabufs("this driver does not import them");
  void* const pointer = const_cast<void*>(options.pointer);
  void* base = nullptr;
  uint64_t offset = 0;
  SerialAllocation memory;
  std::function<void()> let_go = [] {};
  if (options.kind == Kind::kHostMemory) {
    HALYARD_RETURN_IF_ERROR(device.pin_memory(pointer, options.size, &base));
    let_go = [&device, pointer] { device.unpin_memory(pointer); };
    memory = {SerialPlace::of(base, pointer, MemoryType::kHost), options.size};
  } else if (options.kind == Kind::kDevicePointer) {
    HALYARD_RETURN_IF_ERROR(device.find_memory(pointer, &memory));
    if (memory.size == 0) {
      return error(StatusCode::kInvalidArgument,
                   "Device::import_buffer is given a device pointer ({}) that is in no allocation "
                   "of the vendor's runtime. Import ordinary host memory with Kind::kHostMemory.",
                   pointer);
    }
    offset = static_cast<uint64_t>(static_cast<std::byte*>(pointer) - memory.base.device);
  } else {
    HALYARD_ASSIGN_OR_RETURN(const IpcHandle handle, IpcHandle::read(options));
    HALYARD_RETURN_IF_ERROR(device.attach_memory(handle, &base));
    let_go = [&device, base] { device.detach_memory(base); };
    offset = handle.offset;
    if (const Status found = device.find_memory(base, &memory); !found.ok()) {
      let_go();
      return found;
    }
  }
  if (offset > memory.size || options.size > memory.size - offset) {
    let_go();
    return error(StatusCode::kOutOfRange,
                 "Device::import_buffer is given {} bytes from byte {} on of an allocation that "
                 "has {} bytes, at {}.",
                 options.size, offset, memory.size, static_cast<void*>(memory.base.device));
  }
  auto* const buffer = new SerialBuffer(device, options.size, memory.base + offset);
  // The runtime lets go of the memory first: its owner may free it.
  buffer->block_ = std::make_shared<SerialBlock>(SerialBlock{
      [let_go = std::move(let_go), release = options.release, context = options.release_context] {
        let_go();
        if (release != nullptr) release(context);
      }});
  buffer->be_found(options.kind == Kind::kHostMemory ? AllocationOwner::kHostMemory
                                                     : AllocationOwner::kImported);
  return Ref<Buffer>::adopt(buffer);
}

Status SerialBuffer::export_to(ExportedHandle* exported) {
  constexpr const char* kName = "Device::export_buffer";
  if (parent_) return not_exportable(kName, *this, "a part of another buffer");
  if (type() != MemoryType::kDevice) return not_exportable(kName, *this, "not device memory");
  if (allocation_ == nullptr)
    return not_exportable(kName, *this, "imported, or from a queue's pool");
  IpcHandle handle = {};
  handle.allocation_size = taken_;
  handle.offset = device_address() - reinterpret_cast<uint64_t>(allocation_);
  handle.size = size();
  HALYARD_RETURN_IF_ERROR(device_.export_memory(allocation_, &handle));
  handle.write(exported);
  return {};
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
  return maps_.map(at(offset).host, pointer);
}

Status SerialBuffer::do_subspan(uint64_t offset, uint64_t length, Buffer** view) {
  auto* const made = new SerialBuffer(device_, length, at(offset));
  made->parent_ = Ref<Buffer>::retain(parent_ ? parent_.get() : this);
  of(*made->parent_).lease_.add_view(*made);
  *view = made;
  return {};
}

}  // namespace halyard
