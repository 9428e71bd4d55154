// SerialQueue: a queue whose operations are done one after the other.
#pragma once

#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/file_work.h"
#include "plugins/sdk/serial_core.h"

namespace halyard {

class SerialQueue final : public driver::QueueBase {
 public:
  SerialQueue(SerialDevice& device, SerialCore& core, QueuePlace place);

 private:
  ~SerialQueue() = default;
  void destroy() noexcept override;
  Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                 const Sync& sync) override;
  Status do_update(const BufferRange& target, const void* source, uint64_t size,
                   const Sync& sync) override;
  Status do_copy(const BufferRange& source, const BufferRange& target, const Sync& sync) override;
  Status do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                           const RectangleCopy& shape, const Sync& sync) override;
  Status do_dispatch(const Dispatch& dispatch, const Sync& sync) override;
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
  Status do_barrier(const Sync& sync) override {
    return core_.submit({.facts = facts_of(ProfileKind::kBarrier)}, sync);
  }
  Status do_fault() const override { return core_.fault(); }
  Status do_abandon() override;
  void* do_native_handle() const noexcept override { return core_.engine().native_handle(); }
  uint64_t do_id() const noexcept override { return id_; }

  Status submit_file(const FileWork& file, const Sync& sync);

  SerialDevice& device_;
  const Ref<Device> keep_alive_;
  const QueuePlace place_;
  SerialCore& core_;
  const uint64_t id_;
};

}  // namespace halyard
