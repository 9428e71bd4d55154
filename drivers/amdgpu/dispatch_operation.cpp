#include "drivers/amdgpu/dispatch_operation.h"
#include "plugins/objects.h"

#include <cstring>

namespace halyard::amdgpu {

void give(const QueueCore& core, const Dispatch& dispatch, const FunctionImpl& function) {
  function.users().add(core.user_bit());
  for (const Argument& argument : dispatch.arguments) {
    if (argument.kind != Argument::Kind::kBuffer) continue;
    impl(*argument.range.buffer).users().add(core.user_bit());
  }
}

namespace {

// A launch that waits for its turn, with its arguments packed.
class HeldDispatch final : public Operation {
 public:
  HeldDispatch(const Dispatch& dispatch, const HiddenValues& hidden)
      : executable_(Ref<Executable>::retain(&dispatch.function->executable())),
        function_(static_cast<const FunctionImpl&>(*dispatch.function)),
        grid_(dispatch.grid),
        workgroup_(dispatch.workgroup),
        foreign_(reads_foreign(dispatch, function_.code())),
        kernarg_(driver::info_of(*dispatch.function).kernarg_size) {
    lds_bytes_ = pack_kernel_arguments(dispatch, hidden, kernarg_.data());
    for (const Argument& argument : dispatch.arguments) {
      if (argument.kind != Argument::Kind::kBuffer) continue;
      buffers_.push_back(Ref<Buffer>::retain(argument.range.buffer));
    }
  }

  uint32_t packets() const override { return function_.code().kernarg_blocks; }
  Status issue(QueueCore& core, const IssueContext& context) override {
    const Launch launch = {function_, grid_, workgroup_, foreign_ || context.foreign};
    function_.users().add(core.user_bit());
    use(core, buffers_);
    return emit(core, packets(), context, [&](uint64_t index, bool interrupt) {
      write_launch(core, index, interrupt, launch, [&](void* kernarg) {
        std::memcpy(kernarg, kernarg_.data(), kernarg_.size());
        return lds_bytes_;
      });
    });
  }
  OperationFacts facts() const override { return facts_of(function_, grid_, workgroup_); }
  // It is held already.
  Result<std::unique_ptr<Operation>> hold() override { return std::unique_ptr<Operation>(); }

 private:
  Ref<Executable> executable_;
  const FunctionImpl& function_;
  Dim3 grid_;
  Dim3 workgroup_;
  bool foreign_;
  std::vector<std::byte> kernarg_;
  uint32_t lds_bytes_ = 0;
  std::vector<Ref<Buffer>> buffers_;
};

}  // namespace

Result<std::unique_ptr<Operation>> DispatchOperation::hold() {
  return std::unique_ptr<Operation>(std::make_unique<HeldDispatch>(dispatch_, hidden_));
}

}  // namespace halyard::amdgpu
