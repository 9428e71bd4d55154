#include "drivers/amdgpu/library_operation.h"

#include "drivers/amdgpu/buffer.h"

namespace halyard::amdgpu {

Status LibraryOperation::issue(QueueCore& core, const IssueContext& context) {
  if (first_ != nullptr) impl(*first_).users().add(core.user_bit());
  if (second_ != nullptr) impl(*second_).users().add(core.user_bit());
  return emit(core, 1, context, [&](uint64_t index, bool interrupt) {
    write_library_launch(core, index, interrupt, function_, launch_,
                         reads_foreign_ || context.foreign);
  });
}

Result<std::unique_ptr<Operation>> LibraryOperation::hold() {
  auto copy = std::make_unique<LibraryOperation>(facts_, function_, launch_, reads_foreign_, first_,
                                                 second_);
  if (first_ != nullptr) copy->keep_first_ = Ref<Buffer>::retain(first_);
  if (second_ != nullptr) copy->keep_second_ = Ref<Buffer>::retain(second_);
  return std::unique_ptr<Operation>(std::move(copy));
}

}  // namespace halyard::amdgpu
