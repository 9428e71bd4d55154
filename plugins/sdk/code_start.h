// CodeStart: what a loader does beside placing a code object in memory. Managed variables get their
// memory, kernels of kind init run before the executable is used, and those of kind fini before it
// goes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hal/code_object.h"
#include "hal/contract/objects.h"
#include "hal/status.h"
#include "plugins/sdk/driver_device.h"

namespace halyard {

// Part of an executable.
class CodeStart {
 public:
  struct Kernel {
    KernelKind kind;
    const driver::FunctionBase* function;
  };
  // Where the loaded code object has a global variable.
  using AddressOf = std::function<Status(const std::string& name, uint64_t* address)>;

  // HIP's compiler makes two variables of a managed one: x.managed is its initial value, and x is a
  // pointer, which the loader points to a copy in memory that host and device share. Called once
  // the code is loaded.
  Status place_managed_variables(DriverDevice& device, const CodeObject& object,
                                 const AddressOf& address_of);
  // Runs the init kernels, in the metadata's order; the first failure is the result.
  Status run_init(DriverDevice& device, const std::vector<Kernel>& kernels);
  // Whether there are fini kernels, and all of run_init() has succeeded.
  bool has_fini() const { return !fini_.empty(); }
  // Runs the fini kernels, the last one first. On a thread that may wait for the device. There is
  // nobody to give a failure to: it is printed to standard error. A device that is lost runs none;
  // a kernel that takes more than kReleaseGraceNs is not waited for.
  void run_fini(DriverDevice& device);

  // The memory of a managed variable, by the name of its pointer. Null if there is none.
  const Buffer* managed(std::string_view name) const;

 private:
  std::map<std::string, Ref<Buffer>, std::less<>> managed_;
  std::vector<const driver::FunctionBase*> fini_;
};

}  // namespace halyard
