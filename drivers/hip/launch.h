// Kernel launches: a packed kernarg segment goes to HIP as one block.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "drivers/hip/buffer.h"
#include "drivers/hip/executable.h"
#include "drivers/hip/operation.h"
#include "drivers/hip/queue_core.h"
#include "hal/dispatch.h"
#include "hal/kernel_arguments.h"

namespace halyard::hip {

// What only the hardware queue would know is filled in by HIP (present_opaque_arguments).
inline constexpr HiddenValues kNoHiddenValues = {};

struct Launch {
  const FunctionImpl& function;
  const Dim3& grid;  // work-items
  const Dim3& workgroup;
  uint32_t lds_bytes;  // static and dynamic
  void* kernarg;       // FunctionInfo::kernarg_size bytes
  RecordedPlace place = {};
};

// What goes onto the queue's stream next was given the buffer.
inline void use(const QueueCore& core, Buffer& buffer) {
  impl(buffer).users().add(core.stream().user_bit());
}

// Puts the launch onto the queue's stream, and times it if somebody asks for that.
Status launch(QueueCore& core, const Launch& launch);

// `dispatch` outlives this.
class DispatchOperation final : public Operation {
 public:
  explicit DispatchOperation(const Dispatch& dispatch) : dispatch_(dispatch) {}
  OperationFacts facts() const override {
    return facts_of(*dispatch_.function, dispatch_.grid, dispatch_.workgroup);
  }
  bool timed_as_a_whole() const override { return false; }
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  const Dispatch& dispatch_;
};

// A launch that refers to nothing of the caller's.
class HeldLaunch final : public Operation {
 public:
  explicit HeldLaunch(const Dispatch& dispatch);
  OperationFacts facts() const override { return facts_of(function_, grid_, workgroup_); }
  bool timed_as_a_whole() const override { return false; }
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  const FunctionImpl& function_;
  Dim3 grid_;
  Dim3 workgroup_;
  uint32_t lds_bytes_ = 0;
  std::vector<std::byte> kernarg_;
  Ref<Executable> keep_executable_;
  std::vector<Ref<Buffer>> keep_buffers_;
};

}  // namespace halyard::hip
