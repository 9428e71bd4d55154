// What the device does for a queue: one packet, or one copy, at a time, with one signal.
#pragma once

#include "device.h"
#include "plugins/sdk/serial_core.h"

namespace halyard::skeleton {

class Engine final : public SerialEngine {
 public:
  Engine(const DeviceImpl& device, SerialCore& core)
      : device_(device), hsa_(device.hsa()), core_(core) {}
  ~Engine() override;
  Status open();

 private:
  static void on_error(hsa_status_t status, hsa_queue_t*, void* engine);

  Status launch(const SerialLaunch& launch) override;
  Status copy(const SerialCopy& copy) override;
  Result<bool> is_done() override;
  bool launch_ticks(uint64_t* begin, uint64_t* end) override;
  HiddenValues hidden_values() const override;
  void* native_handle() const override { return queue_; }

  const DeviceImpl& device_;
  const Hsa& hsa_;
  SerialCore& core_;
  hsa_queue_t* queue_ = nullptr;
  hsa_signal_t signal_ = {};  // 1 while something is in flight
};

}  // namespace halyard::skeleton
