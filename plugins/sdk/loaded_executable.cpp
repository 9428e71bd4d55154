#include "plugins/sdk/loaded_executable.h"

#include <string_view>
#include <vector>

#include "hal/code_object_check.h"
#include "hal/error.h"
#include "hal/text.h"
#include "plugins/sdk/loadable_bytes.h"

namespace halyard {

Result<CodeObject> read_for_device(const void* data, size_t size, const TargetId& device_target,
                                   uint64_t device_bytes) {
  HALYARD_ASSIGN_OR_RETURN(CodeObject object, CodeObject::read(data, size));
  HALYARD_RETURN_IF_ERROR(check_target(object, device_target));
  HALYARD_RETURN_IF_ERROR(check_code_object(data, size, object, loadable_bytes(device_bytes)));
  return object;
}

Result<GlobalSymbol> find_global(const CodeObject& object, StringView name) {
  std::vector<std::string_view> names;
  for (const GlobalSymbol& global : object.globals()) {
    if (global.name.view() == name.view()) return global;
    names.push_back(global.name);
  }
  return error(StatusCode::kNotFound, "The executable has no global variable ({}). It has: {}.{}",
               name, list_of(names), did_you_mean_clause(name.view(), names));
}

}  // namespace halyard
