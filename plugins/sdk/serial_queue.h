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
#define HALYARD_QUEUE_OPERATION(name, need, arguments, ...) Status do_##name(__VA_ARGS__) override;
#include "hal/contract/operations.inl"
  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync& sync,
                   Buffer** buffer) override;
  Status do_dealloca(Buffer& buffer, const Sync& sync) override;
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
