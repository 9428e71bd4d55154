// ExecutableImpl: a code object, loaded by the HIP runtime; and its functions.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "drivers/common/users.h"
#include "drivers/hip/hip.h"
#include "hal/code_object.h"
#include "hal/executable.h"
#include "hal/ref.h"

namespace halyard::hip {

class DeviceImpl;

class FunctionImpl final : public Function {
 public:
  FunctionImpl(Executable& executable, const FunctionInfo& info, hipFunction_t handle)
      : Function(executable, info), handle_(handle) {}
  ~FunctionImpl() = default;

  hipFunction_t handle() const { return handle_; }

 private:
  hipFunction_t handle_;
};

class ExecutableImpl final : public Executable {
 public:
  static Result<Ref<Executable>> load(DeviceImpl& device, const void* data, size_t size);

  Users& users() { return users_; }

 private:
  ExecutableImpl(DeviceImpl& device, CodeObject object);
  ~ExecutableImpl();
  void destroy() noexcept override;

  Status load_code(const void* data, size_t size);
  Status make_functions();

  void do_info(ExecutableInfo* info) const override;
  size_t do_function_count() const override;
  const Function* do_function(size_t index) const override;
  Status do_global(StringView name, GlobalInfo* info) const override;

  Users users_;
  Ref<Device> keep_alive_;
  const Hip& hip_;
  const int device_number_;
  CodeObject object_;
  std::string target_;
  std::vector<std::byte> code_;  // the runtime may look at it while the module lives
  hipModule_t module_ = nullptr;
  std::deque<FunctionImpl> functions_;
};

}  // namespace halyard::hip
