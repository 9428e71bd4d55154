#include "drivers/amdgpu/buffer.h"

#include <algorithm>

#include "drivers/amdgpu/access.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/managed.h"
#include "drivers/amdgpu/reserved.h"
#include "hal/error.h"

namespace halyard::amdgpu {

BufferImpl::BufferImpl(DeviceImpl& device, Backing backing)
    : MappedBuffer(device, backing.type, backing.size, reinterpret_cast<uint64_t>(backing.device)),
      origin_(backing.origin),
      keep_alive_(Ref<Device>::retain(&device)),
      backing_(std::move(backing)) {}

Ref<Buffer> BufferImpl::adopt(DeviceImpl& device, Backing backing) {
  auto buffer = Ref<Buffer>::adopt(new BufferImpl(device, std::move(backing)));
  const Backing& kept = impl(*buffer).backing_;
  AllocationInfo info;
  info.type = buffer->type();
  info.owner = kept.owner;
  info.device_address = buffer->device_address();
  info.size = buffer->size();
  if (buffer->type() != MemoryType::kDevice) info.host_pointer = kept.host;
  device.allocations().add(*buffer, info);
  return buffer;
}

Result<Ref<Buffer>> BufferImpl::allocate(DeviceImpl& device, uint64_t size,
                                         const BufferOptions& options) {
  if (options.managed) {
    HALYARD_ASSIGN_OR_RETURN(Backing managed, allocate_managed(device, size, options));
    return adopt(device, std::move(managed));
  }
  if (options.reserve) {
    HALYARD_ASSIGN_OR_RETURN(Backing reserved, reserve(device, size));
    return adopt(device, std::move(reserved));
  }
  Memory& memory = device.memory();
  Backing backing;
  backing.type = options.type;
  backing.origin = origin_of(options.type);
  backing.size = size;
  Allocation made;
  HALYARD_RETURN_IF_ERROR(
      memory.allocate(options.type, size, options.alignment, kMemoryWait, &made));
  backing.release = [&memory, type = options.type, base = made.base, taken = made.taken] {
    memory.free(type, base, taken);
  };
  backing.allocation = made.base;
  backing.device = made.pointer;
  backing.host = backing.device;
  backing.allocation_size = made.taken;
  backing.released_bytes = made.taken;
  return adopt(device, std::move(backing));
}

Result<Ref<Buffer>> BufferImpl::from_pool(QueueCore& core, uint64_t size,
                                          const PoolOptions& options, PoolPoint* after) {
  DeviceImpl& device = core.device();
  PoolBlock block;
  std::shared_ptr<QueuePool> pool = pool_for(options, device.pools(options.type));
  HALYARD_RETURN_IF_ERROR(
      pool->acquire(size, options.alignment, Pools::id_of(core), &block, after));
  Backing backing;
  backing.release = [pool, block] { pool->release_unused(block); };
  backing.type = options.type;
  backing.origin = origin_of(options.type);
  backing.size = size;
  backing.device = reinterpret_cast<void*>(block.address);
  backing.host = backing.device;
  backing.released_bytes = block.size;
  auto made = Ref<Buffer>::adopt(new BufferImpl(device, std::move(backing)));
  BufferImpl& buffer = impl(*made);
  buffer.lease_.begin(buffer, block, std::move(pool), device.allocations());
  // Work that used the block before may be in flight: on this queue, or on the one that it waits
  // for.
  buffer.users_.add(core.user_bit());
  if (after->queue != 0) {
    buffer.users_.add(reinterpret_cast<const QueueCore*>(after->queue)->user_bit());
  }
  return made;
}

bool BufferImpl::may_be_given_back(Buffer& buffer) {
  BufferImpl& own = impl(buffer);
  return own.parent_ ? may_be_given_back(*own.parent_) : own.lease_.is_of_pool();
}

std::function<void()> BufferImpl::take_release() {
  std::function<void()> release = backing_.release.take();
  if (lease_.is_of_pool() && !lease_.ends_with_block()) return {};
  if (tell_owner_ == nullptr) return release;
  // The runtime lets go of the memory first: its owner may free it.
  return [let_go = std::move(release), tell = tell_owner_, context = owner_context_] {
    if (let_go) let_go();
    tell(context);
  };
}

void BufferImpl::destroy() noexcept {
  // Work in flight may use the memory still; the device outlives that.
  const Ref<Device> device = keep_alive_;
  if (parent_) {
    impl(*parent_).users_.add(users_.bits());
    impl(*parent_).lease_.remove_view(*this);
  } else if (!lease_.is_of_pool()) {
    static_cast<DeviceImpl*>(device.get())->allocations().remove(*this);
  }
  if (std::function<void()> release = take_release()) {
    static_cast<DeviceImpl*>(device.get())
        ->memory()
        .retire(users_.bits(), std::move(release),
                {type(), backing_.released_bytes, type() == MemoryType::kDevice},
                std::move(peers_));
  }
  delete this;
}

Status BufferImpl::share_with(DeviceImpl& peer) {
  if (parent_) return impl(*parent_).share_with(peer);
  const auto& own = static_cast<const DeviceImpl&>(device());
  if (backing_.reserved != nullptr) return reserved_by_another(own, peer);
  const std::lock_guard lock(mutex_);
  const auto is_peer = [&peer](const Ref<Device>& known) { return known.get() == &peer; };
  if (std::any_of(peers_.begin(), peers_.end(), is_peer)) return {};
  if (!backing_.is_visible_to_peers) {
    const bool host = type() != MemoryType::kDevice;
    HALYARD_RETURN_IF_ERROR(give_access(
        own.hsa(), backing_.device, peer.agent(), host ? own.host_agent() : hsa_agent_t{},
        fmt::format("Giving {} ({}) access to a buffer of {} ({})", peer.info().name,
                    peer.info().uuid, own.info().name, own.info().uuid)));
  }
  peers_.push_back(Ref<Device>::retain(&peer));
  return {};
}

void BufferImpl::mark_exported() {
  const std::lock_guard lock(mutex_);
  backing_.unheard.hold();
}

Status BufferImpl::share(const BufferRange& range, DeviceImpl& user) {
  if (range.buffer == nullptr || &range.buffer->device() == &user) return {};
  return impl(*range.buffer).share_with(user);
}

const HostWindow& BufferImpl::window() const {
  return static_cast<const DeviceImpl&>(device()).facts().window;
}

Status BufferImpl::do_subspan(uint64_t offset, uint64_t length, Buffer** view) {
  Backing part;
  part.type = type();
  part.origin = origin_;
  part.managed = backing_.managed;
  part.reserved = backing_.reserved;
  part.device = at(offset);
  part.host = host_at(offset);
  part.size = length;
  auto* const made = new BufferImpl(static_cast<DeviceImpl&>(device()), std::move(part));
  made->parent_ = Ref<Buffer>::retain(parent_ ? parent_.get() : this);
  impl(*made->parent_).lease_.add_view(*made);
  *view = made;
  return {};
}

}  // namespace halyard::amdgpu
