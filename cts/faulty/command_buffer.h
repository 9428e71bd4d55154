// A recording with a fault in front. Its device is the inner one, so that buffers fit.
#pragma once

#include <vector>

#include "fault.h"
#include "hal/command_buffer.h"
#include "hal/contract/forwarding.h"
#include "hal/device.h"

namespace faulty {

class FaultyCommandBuffer final
    : public halyard::driver::ForwardingCommandBuffer<FaultyCommandBuffer> {
 public:
  FaultyCommandBuffer(halyard::Ref<halyard::Device> device,
                      halyard::Ref<halyard::CommandBuffer> inner, Fault fault)
      : ForwardingCommandBuffer(*device),
        owner_(std::move(device)),
        inner_(std::move(inner)),
        fault_(fault) {}

  halyard::CommandBuffer& inner() { return *inner_; }
  // For kStaleBindings: those of the first execution, which are kept.
  std::vector<halyard::BufferRange> first_bindings;
  std::vector<halyard::Ref<halyard::Buffer>> first_buffers;

  template <typename Record>
  halyard::Status forward(Record record) {
    return lost() ? halyard::Status() : record(*inner_, 0);
  }

 private:
  ~FaultyCommandBuffer() = default;
  void destroy() noexcept override { delete this; }

  halyard::Status do_dispatch_indirect(const halyard::Dispatch& dispatch,
                                       const halyard::BufferRange& group_counts) override {
    return inner_->dispatch_indirect(dispatch, group_counts);
  }
  halyard::Status do_barrier() override {
    ++barriers_;
    return inner_->barrier();
  }
  halyard::Status do_finish() override { return inner_->finish(); }

  bool lost() const { return fault_ == Fault::kLostBarrierCommand && barriers_ >= 2; }

  halyard::Ref<halyard::Device> owner_;
  halyard::Ref<halyard::CommandBuffer> inner_;
  Fault fault_;
  uint32_t barriers_ = 0;
};

}  // namespace faulty
