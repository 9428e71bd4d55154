// QueueImpl: the interface's queue over a QueueCore.
#pragma once

#include "drivers/amdgpu/queue_core.h"
#include "hal/contract/objects.h"
#include "hal/queue.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/file_work.h"

namespace halyard::amdgpu {

class QueueImpl final : public driver::QueueBase {
 public:
  QueueImpl(DeviceImpl& device, QueueCore& core, QueuePlace place);

  // For tests.
  QueueCore& core() { return core_; }

 private:
  friend struct driver::QueueTable<QueueImpl>;

  ~QueueImpl() = default;
  void destroy() noexcept override;

  Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                 const Sync& sync) override;
  Status do_update(const BufferRange& target, const void* source, uint64_t size,
                   const Sync& sync) override;
  Status do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) override;
  // Inlined into the table's function.
  [[gnu::always_inline]] inline Status do_dispatch(const Dispatch& dispatch,
                                                   const Sync& sync) override;
  Status do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                              const Sync& sync) override;
  Status do_execute(CommandBuffer& commands, Span<const BufferRange> bindings,
                    const Sync& sync) override;
  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                   Buffer** buffer) override;
  Status do_dealloca(Buffer& buffer, const Sync& sync) override;
  Status do_read(const FileRange& source, const BufferRange& target, const Sync& sync) override;
  Status do_write(const BufferRange& source, const FileRange& target, const Sync& sync) override;
  Status do_host_call(const HostCall& call, const Sync& sync) override;
  Status do_prefetch(const BufferRange& range, PrefetchTarget to, const Sync& sync) override;
  Status do_barrier(const Sync& sync) override;
  void* do_native_handle() const noexcept override { return core_.ring().native(); }
  Status do_fault() const override;
  Status do_abandon() override;
  Status do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                           const RectangleCopy& shape, const Sync& sync) override;
  uint64_t do_id() const noexcept override { return id_; }

  // Buffers of other devices are let in before this one's work uses them.
  Status share(Buffer& buffer);
  Status share_arguments(const Dispatch& dispatch);
  Status submit_file(const FileWork& work, const Sync& sync);

  Ref<Device> keep_alive_;
  const QueuePlace place_;
  QueueCore& core_;
  const uint64_t id_;
};

}  // namespace halyard::amdgpu
