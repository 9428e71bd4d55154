// BufferImpl: memory of the device's or the host's, memory of somebody else's, or a view of part of
// such a buffer.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "drivers/hip/exported_memory.h"
#include "drivers/hip/memory.h"
#include "drivers/hip/reserved.h"
#include "hal/buffer.h"
#include "hal/contract/objects.h"
#include "hal/ref.h"
#include "plugins/sdk/host_maps.h"
#include "plugins/sdk/mapped_buffer.h"
#include "plugins/sdk/pool_lease.h"
#include "plugins/sdk/users.h"

namespace halyard::hip {

class BufferImpl final : public MappedBuffer {
 public:
  static Result<Ref<Buffer>> allocate(DeviceImpl& device, uint64_t size,
                                      const BufferOptions& options);
  // `size` in whole granules.
  static Result<Ref<Buffer>> reserve(DeviceImpl& device, uint64_t size);
  static Result<Ref<Buffer>> import(DeviceImpl& device, const ImportOptions& options);
  // Of a queue-ordered pool.
  static Ref<Buffer> of_pool(DeviceImpl& device, MemoryType type, uint64_t size,
                             const PoolBlock& block, std::shared_ptr<QueuePool> pool);

  void* at(uint64_t offset) const { return pointer_ + offset; }
  // For the host; null if it does not see the memory.
  std::byte* host_at(uint64_t offset) const { return host_ != nullptr ? host_ + offset : nullptr; }
  bool is_managed() const { return managed_; }
  // Of a reserved buffer and its views; else null.
  Reserved* reserved() const { return reserved_.get(); }
  // UNIMPLEMENTED if work of `user` cannot use the buffer: it is another device's, and reserved.
  static Status check_usable(const Buffer& buffer, const Device& user);
  bool on_host() const { return type() == MemoryType::kHost; }
  Users& users() { return users_; }

  // Where the buffer begins in the one that it is a view of.
  uint64_t offset_in_parent() const {
    return parent_ ? device_address() - parent_->device_address() : 0;
  }

  // What the buffer has of a pool; a view has nothing.
  PoolLease& lease() { return lease_; }
  // Whether the buffer, or the one that it is a view of, may be given back while it lives.
  static bool may_be_given_back(Buffer& buffer);
  // For another process. FAILED_PRECONDITION unless it is a whole allocation of device memory.
  Status export_ipc(ExportedHandle* handle);
  Status export_dmabuf(Dmabuf* exported);

 private:
  enum class Origin : uint8_t {
    kView,
    kAllocated,
    kReserved,
    kPool,
    kBorrowed,
    kRegistered,
    kIpc,
    kShared,
    kDmabuf
  };

  BufferImpl(DeviceImpl& device, MemoryType type, uint64_t size, void* pointer, Origin origin);
  ~BufferImpl() = default;
  void destroy() noexcept override;
  const HostWindow& window() const override;
  void give_back();

  static Result<BufferImpl*> import_host(DeviceImpl& device, const ImportOptions& options);
  static Result<BufferImpl*> import_pointer(DeviceImpl& device, const ImportOptions& options);
  static Result<BufferImpl*> import_ipc(DeviceImpl& device, const ImportOptions& options);
  static Result<BufferImpl*> import_dmabuf(DeviceImpl& device, const ImportOptions& options);
  // Of memory that this process has exported.
  static Result<BufferImpl*> import_shared(DeviceImpl& device, const ImportOptions& options,
                                           std::shared_ptr<ExportedMemory> memory);
  // What other processes may be given: a whole allocation of device memory.
  Status check_exportable(const char* operation) const;
  // find_allocation() finds it from now on, until it is destroyed.
  void be_found(AllocationOwner owner);

  Status do_map(uint64_t offset, uint64_t, MapAccess, void** pointer) override {
    return maps_.map(host_at(offset), pointer);
  }
  Status do_unmap(void* pointer) override { return maps_.unmap(pointer); }
  Status do_subspan(uint64_t offset, uint64_t length, Buffer** view) override;

  Users users_;
  Ref<Device> keep_alive_;
  Ref<Buffer> parent_;  // of a view; the others are then unused
  Origin origin_;
  std::byte* pointer_;         // as the device sees it
  std::byte* host_ = nullptr;  // as the host does; null: it does not
  Block block_;                // kAllocated
  bool managed_ = false;
  std::shared_ptr<Reserved> reserved_;  // kReserved, and views of it
  std::mutex export_mutex_;             // exported_, while others may export the buffer too
  // kAllocated: the same block, once it is exported; kShared: what was exported.
  std::shared_ptr<ExportedMemory> exported_;
  PoolLease lease_;                         // kPool
  PoolBlock pool_block_;                    // kPool
  void* imported_ = nullptr;                // kRegistered, kIpc, kDmabuf: what is to be undone
  hipExternalMemory_t external_ = nullptr;  // kDmabuf
  ReleaseFunction release_ = nullptr;       // of what is imported; may be null
  void* release_context_ = nullptr;
  HostMaps maps_;
};

inline BufferImpl& impl(Buffer& buffer) {
  return static_cast<BufferImpl&>(buffer);
}

}  // namespace halyard::hip
