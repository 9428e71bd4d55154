// SerialSemaphore: a semaphore that only the host signals: its value is what has been signalled.
#pragma once

#include <cstdint>

#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/serial_progress.h"
#include "plugins/sdk/timeline.h"

namespace halyard {

class SerialSemaphore final : public Timeline {
 public:
  SerialSemaphore(Device& device, uint64_t initial_value) : Timeline(device, initial_value) {}

  PointState evaluate(uint64_t value) const override {
    if (has_reached(value)) return PointState::kReached;
    if (!has_failed()) return PointState::kPending;
    return has_reached(value) ? PointState::kReached : PointState::kFailed;
  }
  bool is_coming(uint64_t) const override { return false; }

 private:
  ~SerialSemaphore() = default;
  void destroy() noexcept override {
    end_sharing();
    delete this;
  }
  void settle() const override {}
  uint64_t least_pending() const override { return UINT64_MAX; }
  PointState wait_until(uint64_t value, Deadline deadline) const override {
    const auto& device = static_cast<const DriverDevice&>(this->device());
    return SerialProgress::instance().wait_until([&] { return evaluate(value); }, deadline,
                                                 device.options().wait_spin_ns);
  }
  void notify() const override { SerialProgress::instance().notify(); }
  void notify_under_lock() const override { notify(); }
};

}  // namespace halyard
