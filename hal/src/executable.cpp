#include "hal/executable.h"

#include <vector>

#include "dispatch_check.h"
#include "driver_call.h"
#include "function_name.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard {

ExecutableInfo Executable::info() const {
  ExecutableInfo info;
  contract()->functions->info(contract(), internal::to_contract(&info));
  internal::make_whole(&info);
  return info;
}

size_t Executable::function_count() const {
  return contract()->functions->function_count(contract());
}

const Function& Executable::function(size_t index) const {
  return *Function::from_contract(contract()->functions->function(contract(), index));
}

Result<const Function*> Executable::find(StringView name) const {
  const size_t count = function_count();
  std::vector<std::string_view> names;
  for (size_t i = 0; i < count; ++i) names.push_back(function(i).info().name.view());
  if (names.empty()) {
    return error(StatusCode::kNotFound,
                 "There is no function \"{}\" in the executable, which has no functions at all. "
                 "Check that the kernel is marked as one (amdgpu_kernel, __kernel, __global__).",
                 short_name(name));
  }
  HALYARD_ASSIGN_OR_RETURN(const size_t index, internal::find_function_name(
                                                   name.view(), names, "function", "executable"));
  const Function& found = function(index);
  if (!found.info().problem.empty()) return internal::unusable(found.info());
  return &found;
}

Result<GlobalInfo> Executable::global(StringView name) const {
  // A vendor's runtime would see another name, which ends there.
  if (name.view().find('\0') != std::string_view::npos) {
    return error(StatusCode::kInvalidArgument,
                 "Executable::global is given a name ({}) that contains a NUL character.",
                 short_name(name));
  }
  GlobalInfo info;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Executable::global", device(), contract()->functions,
                              &HalyardExecutableFunctions::global, *this, name, &info));
  return info;
}

}  // namespace halyard
