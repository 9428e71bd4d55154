// QueueImpl: the interface's queue over a QueueCore.
#pragma once

#include <memory>
#include <optional>

#include "drivers/hip/queue_core.h"
#include "hal/contract/objects.h"
#include "hal/queue.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/file_work.h"

namespace halyard::hip {

class QueueImpl final : public driver::QueueBase {
 public:
  // `place`: of a queue that is not the vendor's.
  QueueImpl(DeviceImpl& device, std::shared_ptr<QueueCore> core, std::optional<QueuePlace> place);

  // For tests.
  QueueCore& core() { return *core_; }

 private:
  ~QueueImpl() = default;
  // What is in flight or held back goes on without us.
  void destroy() noexcept override { delete this; }

#define HALYARD_QUEUE_OPERATION(name, need, arguments, ...) Status do_##name(__VA_ARGS__) override;
#include "hal/contract/operations.inl"
  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                   Buffer** buffer) override;
  Status do_dealloca(Buffer& buffer, const Sync& sync) override;
  void* do_native_handle() const noexcept override {
    core_->stream().share();
    return core_->stream().handle();
  }
  Status do_fault() const override;
  Status do_abandon() override;
  uint64_t do_id() const noexcept override { return core_->queue_id(); }

  // OK if work of this queue can use the buffers.
  Status check_usable(const Buffer& buffer) const;
  Status check_usable(const Dispatch& dispatch) const;
  Status submit_file(const FileWork& work, const Sync& sync);

  Ref<Device> keep_alive_;
  const std::optional<QueuePlace> place_;
  std::shared_ptr<QueueCore> core_;
};

}  // namespace halyard::hip
