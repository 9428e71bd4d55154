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

#define HALYARD_QUEUE_OPERATION(name, need, arguments, ...) Status do_##name(__VA_ARGS__) override;
#include "hal/contract/operations.inl"
  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                   Buffer** buffer) override;
  Status do_dealloca(Buffer& buffer, const Sync& sync) override;
  void* do_native_handle() const noexcept override { return core_.ring().native(); }
  Status do_fault() const override;
  Status do_abandon() override;
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
