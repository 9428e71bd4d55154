#include "argument_plan.h"
#include "hal/contract/objects.h"
#include "hal/error.h"

namespace halyard::driver {

Status left_out(const char* method) {
  return error(StatusCode::kUnimplemented, "The device's driver does not implement {}.", method);
}

FunctionBase::FunctionBase(Executable& executable, const FunctionInfo& info) noexcept
    : info_(info), plan_(ArgumentPlan::make(info)) {
  HalyardFunction& object = *contract();
  object.executable = executable.contract();
  object.info = internal::to_contract(info_);
  if (plan_ != nullptr) info_.missing_hidden = plan_->refused_hidden + 1;
}

void FunctionBase::give_hidden_buffer(ArgumentKind kind, uint64_t address) noexcept {
  if (plan_ == nullptr) return;
  plan_->give(info_, kind, address);
  info_.missing_hidden = plan_->refused_hidden + 1;
}

FunctionBase::~FunctionBase() {
  if (HalyardHostState* const host = contract()->host; host != nullptr) host->destroy(host);
  ArgumentPlan::destroy(plan_);
}

}  // namespace halyard::driver
