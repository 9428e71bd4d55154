#include "drivers/hip/buffer.h"

#include <cstring>

#include "drivers/hip/device.h"
#include "drivers/hip/registrations.h"
#include "hal/error.h"

namespace halyard::hip {

BufferImpl::BufferImpl(DeviceImpl& device, MemoryType type, uint64_t size, void* pointer,
                       Origin origin)
    : MappedBuffer(device, type, size, reinterpret_cast<uint64_t>(pointer)),
      keep_alive_(Ref<Device>::retain(&device)),
      origin_(origin),
      pointer_(static_cast<std::byte*>(pointer)) {
  // The two have one address; only imported host memory may have two.
  if (type != MemoryType::kDevice) host_ = pointer_;
}

Result<Ref<Buffer>> BufferImpl::allocate(DeviceImpl& device, uint64_t size,
                                         const BufferOptions& options) {
  if (options.reserve) return reserve(device, size);
  Block block;
  void* pointer = nullptr;
  Memory& memory = device.memory();
  HALYARD_RETURN_IF_ERROR(
      options.managed
          ? memory.allocate_managed(size, options.alignment, &block, &pointer)
          : memory.allocate(options.type, size, options.alignment, kMemoryWait, &block, &pointer));
  auto* const buffer = new BufferImpl(device, options.type, size, pointer, Origin::kAllocated);
  buffer->block_ = block;
  buffer->managed_ = options.managed;
  buffer->be_found(AllocationOwner::kDevice);
  return Ref<Buffer>::adopt(buffer);
}

Result<Ref<Buffer>> BufferImpl::reserve(DeviceImpl& device, uint64_t size) {
  HALYARD_ASSIGN_OR_RETURN(std::shared_ptr<Reserved> reserved, Reserved::make(device, size));
  auto* const buffer =
      new BufferImpl(device, MemoryType::kDevice, size, reserved->begin(), Origin::kReserved);
  buffer->reserved_ = std::move(reserved);
  buffer->be_found(AllocationOwner::kDevice);
  return Ref<Buffer>::adopt(buffer);
}

Status BufferImpl::check_usable(const Buffer& buffer, const Device& user) {
  const auto& own = static_cast<const BufferImpl&>(buffer);
  if (own.reserved_ == nullptr || &buffer.device() == &user) [[likely]]
    return {};
  return reserved_by_another(buffer.device(), user);
}

Ref<Buffer> BufferImpl::of_pool(DeviceImpl& device, MemoryType type, uint64_t size,
                                const PoolBlock& block, std::shared_ptr<QueuePool> pool) {
  auto* const buffer =
      new BufferImpl(device, type, size, reinterpret_cast<void*>(block.address), Origin::kPool);
  buffer->pool_block_ = block;
  buffer->lease_.begin(*buffer, block, std::move(pool), device.allocations());
  return Ref<Buffer>::adopt(buffer);
}

void BufferImpl::be_found(AllocationOwner owner) {
  AllocationInfo info;
  info.type = type();
  info.owner = owner;
  info.device_address = device_address();
  info.size = size();
  info.host_pointer = type() != MemoryType::kDevice ? host_ : nullptr;
  static_cast<DeviceImpl&>(*keep_alive_).allocations().add(*this, info);
}

bool BufferImpl::may_be_given_back(Buffer& buffer) {
  BufferImpl& own = impl(buffer);
  return own.parent_ ? may_be_given_back(*own.parent_) : own.lease_.is_of_pool();
}

void BufferImpl::destroy() noexcept {
  const Ref<Device> device = keep_alive_;
  give_back();
  delete this;
}

// Work in flight may use the memory still; the device outlives that.
void BufferImpl::give_back() {
  auto& device = static_cast<DeviceImpl&>(*keep_alive_);
  Memory& memory = device.memory();
  const Hip& hip = device.hip();
  const uint64_t users = users_.bits();
  if (parent_) {
    impl(*parent_).users_.add(users);
    impl(*parent_).lease_.remove_view(*this);
  } else if (!lease_.is_of_pool()) {
    device.allocations().remove(*this);
  }
  // The runtime lets go of imported memory first: its owner may free it.
  const auto tell_owner = [release = release_, context = release_context_] {
    if (release != nullptr) release(context);
  };
  switch (origin_) {
    case Origin::kAllocated:
      if (managed_) {
        memory.retire(users, [&memory, block = block_] { memory.free_managed(block); });
      } else if (exported_) {
        exported_->add_users(users);
      } else {
        memory.retire(users, type(), block_);
      }
      break;
    case Origin::kReserved:
      // With its last reference it gives everything back.
      memory.retire_when_let_go(users, [kept = std::move(reserved_)]() mutable { kept.reset(); });
      break;
    case Origin::kPool:
      if (lease_.ends_with_block()) memory.retire(users, type(), pool_block_, lease_.pool());
      break;
    case Origin::kRegistered:
      memory.retire(users, [&hip, imported = imported_, tell_owner] {
        Registrations::instance().remove(hip, imported);
        tell_owner();
      });
      break;
    case Origin::kIpc:
      // HIP 5.2.3 counts references: while a command has one, closing leaves an entry in its map of
      // memory, which points to nothing once that command is gone (Device::IpcDetach of ROCclr).
      memory.retire_when_let_go(
          users, [&hip, number = device.facts().device, imported = imported_, tell_owner] {
            if (Streams::instance().blocks(number)) return;
            const CurrentDevice current(hip, number);
            hip.hipIpcCloseMemHandle(imported);
            tell_owner();
          });
      break;
    case Origin::kDmabuf:
      memory.retire_when_let_go(users, [&hip, number = device.facts().device, imported = imported_,
                                        external = external_, tell_owner] {
        if (Streams::instance().blocks(number)) return;
        const CurrentDevice current(hip, number);
        hip.hipFree(imported);
        hip.hipDestroyExternalMemory(external);
        tell_owner();
      });
      break;
    case Origin::kShared:
      exported_->add_users(users);
      [[fallthrough]];
    case Origin::kBorrowed:
      if (release_ != nullptr) memory.retire(users, tell_owner);
      break;
    case Origin::kView:
      break;
  }
  // Somebody waits for it, and nothing else may ask what is done.
  if (release_ != nullptr) memory.collect_in_time();
}

const HostWindow& BufferImpl::window() const {
  return static_cast<const DeviceImpl&>(device()).facts().window;
}

Status BufferImpl::do_subspan(uint64_t offset, uint64_t length, Buffer** view) {
  auto* const part =
      new BufferImpl(static_cast<DeviceImpl&>(device()), type(), length, at(offset), Origin::kView);
  part->parent_ = Ref<Buffer>::retain(parent_ ? parent_.get() : this);
  if (host_ != nullptr) part->host_ = host_ + offset;
  part->managed_ = managed_;
  part->reserved_ = reserved_;
  impl(*part->parent_).lease_.add_view(*part);
  *view = part;
  return {};
}

}  // namespace halyard::hip
