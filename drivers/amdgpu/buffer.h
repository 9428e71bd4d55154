// BufferImpl: a run of memory that the device sees. Its own, a pool's, or somebody else's that was
// imported (import.h); or a view of part of such a buffer.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/foreign.h"
#include "drivers/amdgpu/memory.h"
#include "drivers/amdgpu/release.h"
#include "drivers/amdgpu/visibility.h"
#include "hal/buffer.h"
#include "hal/contract/objects.h"
#include "hal/ref.h"
#include "plugins/sdk/host_maps.h"
#include "plugins/sdk/mapped_buffer.h"
#include "plugins/sdk/pool_lease.h"
#include "plugins/sdk/reserved_memory.h"
#include "plugins/sdk/users.h"

namespace halyard::amdgpu {

// Where a buffer's memory is, and what becomes of it.
struct Backing {
  MemoryType type = MemoryType::kDevice;
  Origin origin = Origin::kOwn;
  AllocationOwner owner = AllocationOwner::kDevice;
  void* device = nullptr;                    // its address for the device
  void* host = nullptr;                      // … and for the host; the same, unless it was imported
  uint64_t size = 0;                         // bytes
  bool managed = false;                      // managed.h
  std::shared_ptr<ReservedMemory> reserved;  // of a reserved buffer, and of its views
  // Whether all devices that can be given access have it already.
  bool is_visible_to_peers = false;
  // Of the memory, when all work that uses it is done; empty if it is not ours. The device lives
  // until then.
  Release release;
  uint64_t released_bytes = 0;  // that it gives back to the heap
  // The runtime's own allocation, for exporting it: what it returned, and its size.
  void* allocation = nullptr;
  uint64_t allocation_size = 0;  // bytes
  // Held if others write the memory with queues of their own.
  Foreign::UnheardMemory unheard;
};

// Of memory that the device itself allocates.
constexpr Origin origin_of(MemoryType type) {
  return type == MemoryType::kDevice ? Origin::kOwn : Origin::kHost;
}

class BufferImpl final : public MappedBuffer {
 public:
  static Result<Ref<Buffer>> allocate(DeviceImpl& device, uint64_t size,
                                      const BufferOptions& options);
  // For work of `core` that is submitted from now on, and waits for `*after` if that has a queue.
  static Result<Ref<Buffer>> from_pool(QueueCore& core, uint64_t size, const PoolOptions& options,
                                       PoolPoint* after);
  // A buffer that is an allocation of its own, or an import.
  static Ref<Buffer> adopt(DeviceImpl& device, Backing backing);

  // For the device, and for the host (only if it can see the memory).
  void* at(uint64_t offset) const { return static_cast<std::byte*>(backing_.device) + offset; }
  void* host_at(uint64_t offset) const { return static_cast<std::byte*>(backing_.host) + offset; }
  const Backing& backing() const { return backing_; }
  // Of Device::commit. Null: the buffer is not a reserved one.
  ReservedMemory* reserved() const { return backing_.reserved.get(); }
  // ImportOptions::release. Before anybody else has the buffer.
  void tell_owner(ReleaseFunction function, void* context) {
    tell_owner_ = function;
    owner_context_ = context;
  }
  // Where the buffer begins in the one that it is a view of.
  uint64_t offset_in_parent() const {
    return parent_ ? device_address() - parent_->device_address() : 0;
  }
  // For work of `user`.
  Origin origin_for(const Device& user) const { return seen_from(origin_, &device() == &user); }
  static Origin origin_for(const Device& user, const Buffer& buffer) {
    return static_cast<const BufferImpl&>(buffer).origin_for(user);
  }
  // Another process may open the memory from now on, and write it.
  void mark_exported();
  bool is_view() const { return parent_.get() != nullptr; }
  Users& users() { return users_; }

  // What the buffer has of a pool; a view has nothing.
  PoolLease& lease() { return lease_; }
  // Whether the buffer, or the one that it is a view of, may be given back while it lives.
  static bool may_be_given_back(Buffer& buffer);

  // Lets work of `peer` use the memory. Any thread.
  Status share_with(DeviceImpl& peer);
  // The same of `user`, if the memory of `range` is another device's. A slot has none.
  static Status share(const BufferRange& range, DeviceImpl& user);

 private:
  BufferImpl(DeviceImpl& device, Backing backing);
  ~BufferImpl() = default;
  void destroy() noexcept override;
  // Empty if there is nothing to do.
  std::function<void()> take_release();
  const HostWindow& window() const override;

  Status do_map(uint64_t offset, uint64_t, MapAccess, void** pointer) override {
    const bool visible = type() != MemoryType::kDevice;
    return maps_.map(visible ? static_cast<std::byte*>(host_at(offset)) : nullptr, pointer);
  }
  Status do_unmap(void* pointer) override { return maps_.unmap(pointer); }
  Status do_subspan(uint64_t offset, uint64_t length, Buffer** view) override;

  const Origin origin_;  // next to what Buffer has, as each dispatch looks at it
  // Beside what else a dispatch looks at.
  Users users_;
  Ref<Device> keep_alive_;
  Ref<Buffer> parent_;  // of a view
  Backing backing_;
  ReleaseFunction tell_owner_ = nullptr;
  void* owner_context_ = nullptr;
  PoolLease lease_;
  std::mutex mutex_;
  std::vector<Ref<Device>> peers_;  // under mutex_: that it is shared with
  HostMaps maps_;
};

inline BufferImpl& impl(Buffer& buffer) {
  return static_cast<BufferImpl&>(buffer);
}

}  // namespace halyard::amdgpu
