#include "drivers/amdgpu/dispatch_operation.h"

#include <cstring>

#include "drivers/amdgpu/launch.h"

namespace halyard::amdgpu {

void give(const QueueCore& core, const Dispatch& dispatch) {
  static_cast<const FunctionImpl&>(*dispatch.function).users().add(core.user_bit());
  for (const Argument& argument : dispatch.arguments) {
    if (!argument.has_range()) continue;
    impl(*argument.range.buffer).users().add(core.user_bit());
  }
}

namespace {

// Whether a launch may read foreign memory through its arguments.
bool reads_foreign(const Dispatch& dispatch, const KernelCode& code) {
  const Device& device = dispatch.function->executable().device();
  bool foreign = code.may_read_foreign;
  for (const Argument& argument : dispatch.arguments) {
    foreign |=
        argument.has_range() && is_foreign(BufferImpl::origin_for(device, *argument.range.buffer));
    foreign |= argument.kind == Argument::Kind::kAddress;
  }
  return foreign;
}

// A launch that waits for its turn, with its arguments packed.
class HeldDispatch final : public Operation {
 public:
  HeldDispatch(const Dispatch& dispatch, const HiddenValues& hidden)
      : executable_(Ref<Executable>::retain(&dispatch.function->executable())),
        function_(static_cast<const FunctionImpl&>(*dispatch.function)),
        grid_(dispatch.grid),
        workgroup_(dispatch.workgroup),
        foreign_(reads_foreign(dispatch, function_.code())),
        kernarg_(function_.info().kernarg_size) {
    lds_bytes_ = pack_kernel_arguments(dispatch, hidden, kernarg_.data());
    for (const Argument& argument : dispatch.arguments) {
      if (!argument.has_range()) continue;
      buffers_.push_back(Ref<Buffer>::retain(argument.range.buffer));
    }
  }

  uint32_t packets() const override { return function_.code().kernarg_blocks; }
  Status issue(QueueCore& core, const IssueContext& context) override {
    const Launch launch = {function_, grid_, workgroup_, foreign_ || context.foreign};
    function_.users().add(core.user_bit());
    give(core, buffers_);
    return emit(core, packets(), context, [&](uint64_t index, bool observed) {
      write_launch(core, index, observed, launch, [&](void* kernarg) {
        if (!kernarg_.empty()) std::memcpy(kernarg, kernarg_.data(), kernarg_.size());
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

Status DispatchOperation::issue(QueueCore& core, const IssueContext& context) {
  give(core, dispatch_);
  const Launch launch = {function(), dispatch_.grid, dispatch_.workgroup,
                         reads_foreign(dispatch_, function().code()) || context.foreign};
  return emit(core, packets(), context, [&](uint64_t index, bool observed) {
    write_launch(core, index, observed, launch,
                 [&](void* kernarg) { return pack_kernel_arguments(dispatch_, hidden_, kernarg); });
  });
}

Result<std::unique_ptr<Operation>> DispatchOperation::hold() {
  return std::unique_ptr<Operation>(std::make_unique<HeldDispatch>(dispatch_, hidden_));
}

}  // namespace halyard::amdgpu
