#include "hal/executable.h"

#include <vector>

#include "argument_plan.h"
#include "function_name.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard {

Function::Function(Executable& executable, const FunctionInfo& info) noexcept
    : executable_(&executable), plan_(ArgumentPlan::make(info)), info_(info) {}

Function::~Function() {
  ArgumentPlan::destroy(plan_);
}

ExecutableInfo Executable::info() const {
  ExecutableInfo info;
  do_info(&info);
  return info;
}

size_t Executable::function_count() const {
  return do_function_count();
}

const Function& Executable::function(size_t index) const {
  return *do_function(index);
}

Result<const Function*> Executable::find(StringView name) const {
  const size_t count = do_function_count();
  std::vector<std::string_view> names;
  for (size_t i = 0; i < count; ++i) names.push_back(do_function(i)->info().name.view());
  if (names.empty()) {
    return error(StatusCode::kNotFound,
                 "There is no function \"{}\" in the executable, which has no functions at all. "
                 "Check that the kernel is marked as one (amdgpu_kernel, __kernel, __global__).",
                 short_name(name));
  }
  HALYARD_ASSIGN_OR_RETURN(const size_t index, internal::find_function_name(
                                                   name.view(), names, "function", "executable"));
  return do_function(index);
}

Result<GlobalInfo> Executable::global(StringView name) const {
  GlobalInfo info;
  HALYARD_RETURN_IF_ERROR(do_global(name, &info));
  return info;
}

}  // namespace halyard
