// LoadedExecutable: the part of an executable that comes from its code object: target, functions
// and the names of its global variables.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/common/print_services.h"
#include "hal/code_object.h"
#include "hal/executable.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/objects.h"

namespace halyard {

// What is in `data`. INVALID_ARGUMENT, or as the checks have it, if the code object is not for
// `device_target` or is not one that a vendor's loader may be given (code_object_check.h). A device
// has `device_bytes` of memory.
Result<CodeObject> read_for_device(const void* data, size_t size, const TargetId& device_target,
                                   uint64_t device_bytes);

// NOT_FOUND lists the global variables that there are.
Result<GlobalSymbol> find_global(const CodeObject& object, StringView name);

// FunctionType is the driver's Function. Its functions stay where they are.
template <typename FunctionType>
class LoadedExecutable : public driver::ExecutableBase {
 public:
  // Null if there is none of that name.
  const FunctionType* function_named(std::string_view name) const {
    for (const FunctionType& function : functions_) {
      if (function.info().name.view() == name) return &function;
    }
    return nullptr;
  }

  // Loads the code, describes its functions, and gives them what they print through. Once, before
  // anybody else has the executable.
  Status load_all(const void* data, size_t size) {
    HALYARD_RETURN_IF_ERROR(load_code(data, size));
    HALYARD_RETURN_IF_ERROR(make_functions());
    std::vector<driver::FunctionBase*> functions;
    for (FunctionType& function : functions_) functions.push_back(&function);
    return services_.start(functions, data, size,
                           [this](size_t bytes) { return allocate_shared(bytes); });
  }

 protected:
  // `keep_alive` is null if the device owns this.
  LoadedExecutable(Device& device, Ref<Device> keep_alive, CodeObject object)
      : ExecutableBase(device),
        keep_alive_(std::move(keep_alive)),
        object_(std::move(object)),
        target_(object_.target_name()) {}
  ~LoadedExecutable() = default;

  Ref<Device> keep_alive_;
  const CodeObject object_;
  const std::string target_;
  std::deque<FunctionType> functions_;

 private:
  PrintServices services_;

  // Gives the code to the vendor's loader.
  virtual Status load_code(const void* data, size_t size) = 0;
  // Fills functions_, when the code is loaded.
  virtual Status make_functions() = 0;
  // Of the host, for what kernels print; the device sees it at the same address.
  virtual Result<SharedMemory> allocate_shared(size_t bytes) = 0;
  // Where the loaded code object has a global variable.
  virtual Status global_address(const std::string& name, uint64_t* address) const = 0;

  void do_info(ExecutableInfo* info) const final {
    info->target = target_;
    info->code_object_version = object_.version();
  }
  size_t do_function_count() const final { return functions_.size(); }
  const Function* do_function(size_t index) const final { return &functions_[index]; }
  Status do_global(StringView name, GlobalInfo* info) const final {
    HALYARD_ASSIGN_OR_RETURN(const GlobalSymbol global, find_global(object_, name));
    info->size = global.size;
    return global_address(std::string(name.view()), &info->device_address);
  }
};

}  // namespace halyard
