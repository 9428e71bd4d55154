// ExecutableImpl: a code object, loaded by the HIP runtime; and its functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drivers/hip/hip.h"
#include "hal/contract/objects.h"
#include "hal/ref.h"
#include "plugins/sdk/loaded_executable.h"
#include "plugins/sdk/users.h"

namespace halyard::hip {

class DeviceImpl;

class FunctionImpl final : public driver::FunctionBase {
 public:
  FunctionImpl(Executable& executable, const FunctionInfo& info, hipFunction_t handle = nullptr)
      : FunctionBase(executable, info), handle_(handle) {}
  ~FunctionImpl() = default;

  hipFunction_t handle() const { return handle_; }

 private:
  hipFunction_t handle_;
};

class ExecutableImpl final : public LoadedExecutable<FunctionImpl> {
 public:
  static Result<Ref<Executable>> load(DeviceImpl& device, const void* data, size_t size);

  Users& users() { return users_; }

 private:
  ExecutableImpl(DeviceImpl& device, CodeObject object);
  ~ExecutableImpl();
  void destroy() noexcept override;

  Status load_code(const void* data, size_t size) override;
  Status make_function(const KernelInfo& kernel) override;
  bool runtime_places_managed_variables() const override { return true; }
  Result<SharedMemory> allocate_shared(size_t bytes) override;

  Status global_address(const std::string& name, uint64_t* address) const override;

  Users users_;
  const Hip& hip_;
  const int device_number_;
  std::vector<std::byte> code_;  // the runtime may look at it while the module lives
  hipModule_t module_ = nullptr;
};

}  // namespace halyard::hip
