// DispatchOperation: a kernel's launch that is not put into the ring at once: it waits, or is
// timed, or others are held back in front of it. QueueImpl::do_dispatch does all others.
#pragma once

#include <memory>
#include <vector>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/operation.h"
#include "hal/dispatch.h"
#include "hal/kernel_arguments.h"

namespace halyard::amdgpu {

// The queue is given what a launch uses: its code, and its buffers.
void give(const QueueCore& core, const Dispatch& dispatch);
// … what a held operation has kept.
inline void give(const QueueCore& core, const std::vector<Ref<Buffer>>& buffers) {
  for (const Ref<Buffer>& buffer : buffers) impl(*buffer).users().add(core.user_bit());
}

class DispatchOperation final : public Operation {
 public:
  // `dispatch` outlives this.
  DispatchOperation(const Dispatch& dispatch, const HiddenValues& hidden)
      : dispatch_(dispatch), hidden_(hidden) {}

  uint32_t packets() const override { return function().code().kernarg_blocks; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override {
    return facts_of(function(), dispatch_.grid, dispatch_.workgroup);
  }

 private:
  const FunctionImpl& function() const {
    return static_cast<const FunctionImpl&>(*dispatch_.function);
  }

  const Dispatch& dispatch_;
  const HiddenValues& hidden_;
};

}  // namespace halyard::amdgpu
