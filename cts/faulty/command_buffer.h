// A recording with a fault in front. Its device is the inner one, so that buffers fit.
#pragma once

#include <vector>

#include "fault.h"
#include "hal/command_buffer.h"
#include "hal/contract/objects.h"
#include "hal/device.h"

namespace faulty {

class FaultyCommandBuffer final : public halyard::driver::CommandBufferBase {
 public:
  FaultyCommandBuffer(halyard::Ref<halyard::Device> device,
                      halyard::Ref<halyard::CommandBuffer> inner, Fault fault)
      : CommandBufferBase(*device),
        owner_(std::move(device)),
        inner_(std::move(inner)),
        fault_(fault) {}

  halyard::CommandBuffer& inner() { return *inner_; }
  // For kStaleBindings: those of the first execution, which are kept.
  std::vector<halyard::BufferRange> first_bindings;
  std::vector<halyard::Ref<halyard::Buffer>> first_buffers;

 private:
  ~FaultyCommandBuffer() = default;
  void destroy() noexcept override { delete this; }

  halyard::Status do_fill(const halyard::BufferRange& target, const void* pattern,
                          uint32_t pattern_size) override;
  halyard::Status do_update(const halyard::BufferRange& target, const void* source,
                            uint64_t size) override;
  halyard::Status do_copy(const halyard::BufferRange& source,
                          const halyard::BufferRange& target) override;
  halyard::Status do_dispatch(const halyard::Dispatch& dispatch) override;
  halyard::Status do_dispatch_indirect(const halyard::Dispatch& dispatch,
                                       const halyard::BufferRange& group_counts) override;
  halyard::Status do_barrier() override;
  halyard::Status do_begin_debug_group(halyard::StringView label) override;
  halyard::Status do_end_debug_group() override;
  halyard::Status do_finish() override;
  halyard::Status do_copy_rectangle(const halyard::BufferRange& source,
                                    const halyard::BufferRange& target,
                                    const halyard::RectangleCopy& shape) override;

  bool lost() const { return fault_ == Fault::kLostBarrierCommand && barriers_ >= 2; }

  halyard::Ref<halyard::Device> owner_;
  halyard::Ref<halyard::CommandBuffer> inner_;
  Fault fault_;
  uint32_t barriers_ = 0;
};

}  // namespace faulty
