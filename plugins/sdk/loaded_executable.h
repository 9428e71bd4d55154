// LoadedExecutable: the part of an executable that comes from its code object: target, functions
// and the names of its global variables.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/code_object.h"
#include "hal/contract/objects.h"
#include "hal/executable.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/sdk/code_start.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/print_services.h"
#include "plugins/sdk/remains.h"
#include "plugins/sdk/service_thread.h"

namespace halyard {

// What is in `data`. INVALID_ARGUMENT, or as the checks have it, if the code object is not for
// `device_target` or is not one that a vendor's loader may be given (code_object_check.h). A device
// has `device_bytes` of memory.
Result<CodeObject> read_for_device(const void* data, size_t size, const TargetId& device_target,
                                   uint64_t device_bytes);

// NOT_FOUND lists the global variables that there are.
Result<GlobalSymbol> find_global(const CodeObject& object, StringView name);

// For LoadedExecutable::finish_first, in a driver whose `memory` has retire(users, release) and
// collect(), and outlives what is returned: whether what `users` (Users) have in flight now is not
// done.
template <typename Memory>
std::function<bool()> in_flight(uint64_t users, Memory& memory) {
  const auto idle = std::make_shared<std::atomic<bool>>(false);
  memory.retire(users, [idle] { idle->store(true); });
  return [&memory, idle] {
    if (!idle->load()) memory.collect();
    return !idle->load();
  };
}

// FunctionType is the driver's Function. Its functions stay where they are.
// FunctionType(executable, info) makes one that cannot be dispatched.
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

  // Loads the code, describes its functions, gives them what they print through, and runs what
  // initializes variables. Once, before anybody else has the executable.
  Status load_all(const void* data, size_t size) {
    HALYARD_RETURN_IF_ERROR(load_code(data, size));
    make_functions();
    std::vector<driver::FunctionBase*> functions;
    std::vector<CodeStart::Kernel> kernels;
    for (FunctionType& function : functions_) {
      kernels.push_back({object_.kernels()[functions.size()].kind, &function});
      functions.push_back(&function);
    }
    DriverDevice& device = driver_device();
    HALYARD_RETURN_IF_ERROR(services_.start(
        device, functions, data, size, [this](size_t bytes) { return allocate_shared(bytes); }));
    if (!runtime_places_managed_variables()) {
      HALYARD_RETURN_IF_ERROR(start_.place_managed_variables(
          device, object_, [this](const std::string& name, uint64_t* address) {
            return global_address(name, address);
          }));
    }
    return start_.run_init(device, kernels);
  }

 protected:
  // `keep_alive` is null if the device owns this.
  LoadedExecutable(Device& device, Ref<Device> keep_alive, CodeObject object)
      : ExecutableBase(device),
        keep_alive_(std::move(keep_alive)),
        object_(std::move(object)),
        target_(object_.target_name()) {}
  ~LoadedExecutable() = default;

  // For destroy(). Whether the release has something to run before the code goes: finish_first() is
  // called then, and nothing else done.
  bool has_fini() const { return start_.has_fini(); }
  // Has the fini kernels run once `is_in_use` says that no kernel of this is in flight, and then
  // destroy() called again. Waits some seconds at most (kReleaseGraceNs); what takes longer another
  // thread does.
  void finish_first(const std::function<bool()>& is_in_use) noexcept {
    // Whoever runs the kernels has this reference.
    const auto self = std::make_shared<Ref<Executable>>(Ref<Executable>::retain(this));
    // A lost device's work may never end, and nothing runs behind it.
    const auto is_ready = [this, is_in_use] {
      return !is_in_use() || !driver_device().do_fault().ok();
    };
    const auto finish = [this, self, is_ready] {
      if (!is_ready()) return false;
      start_.run_fini(driver_device());
      return true;
    };
    const bool waits = !is_service_thread();
    if (!waits || !wait_for_release(is_ready) || !finish()) Remains::instance().keep(finish);
  }

  DriverDevice& driver_device() { return static_cast<DriverDevice&>(this->device()); }

  Ref<Device> keep_alive_;
  const CodeObject object_;
  const std::string target_;
  std::deque<FunctionType> functions_;

 private:
  // A function that cannot be used does not keep others from being used: it has the reason.
  void make_functions() {
    for (const KernelInfo& kernel : object_.kernels()) {
      const FunctionInfo& info = kernel.function;
      StringView problem = info.problem;
      if (problem.empty()) {
        const Status made = make_function(kernel);
        if (made.ok()) continue;
        problem = problems_.emplace_back(made.message().view());
      }
      functions_.emplace_back(*this, info).refuse(problem);
    }
  }

  std::deque<std::string> problems_;  // of functions
  PrintServices services_;
  CodeStart start_;

  // Gives the code to the vendor's loader.
  virtual Status load_code(const void* data, size_t size) = 0;
  // Adds one to functions_, when the code is loaded; none if it fails.
  virtual Status make_function(const KernelInfo& kernel) = 0;
  // Whether the vendor's loader does what CodeStart would do for managed variables.
  virtual bool runtime_places_managed_variables() const { return false; }
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
    if (const Buffer* const managed = start_.managed(name.view()); managed != nullptr) {
      info->size = managed->size();
      info->device_address = managed->device_address();
      return {};
    }
    info->size = global.size;
    return global_address(std::string(name.view()), &info->device_address);
  }
};

}  // namespace halyard
