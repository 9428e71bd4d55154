// Executables: code objects, loaded by the runtime, and their functions.
#pragma once

#include <string>
#include <vector>

#include "drivers/common/loaded_executable.h"
#include "hsa.h"

namespace halyard::skeleton {

class DeviceImpl;

class FunctionImpl final : public driver::FunctionBase {
 public:
  FunctionImpl(Executable& executable, const FunctionInfo& info, uint64_t object,
               uint32_t private_bytes)
      : FunctionBase(executable, info), object_(object), private_bytes_(private_bytes) {}
  ~FunctionImpl() = default;
  static const FunctionImpl& of(const Function& function) {
    return static_cast<const FunctionImpl&>(function);
  }
  // For the packet: where the kernel descriptor is, and scratch per work-item.
  uint64_t object() const { return object_; }
  uint32_t private_bytes() const { return private_bytes_; }

 private:
  const uint64_t object_;
  const uint32_t private_bytes_;
};

class ExecutableImpl final : public LoadedExecutable<FunctionImpl> {
 public:
  static Result<Ref<Executable>> load(DeviceImpl& device, const void* data, size_t size);

 private:
  ExecutableImpl(DeviceImpl& device, CodeObject object);
  ~ExecutableImpl() { unload(); }
  // Operations in flight keep their executables, so nothing uses it any more.
  void destroy() noexcept override;
  hsa_status_t try_load(const void* data, size_t size);
  void unload();
  Status make_functions();
  Status look_up(const std::string& name, hsa_executable_symbol_info_t what, uint64_t* value) const;
  Status global_address(const std::string& name, uint64_t* address) const override {
    return look_up(name, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, address);
  }

  DeviceImpl& device_;
  const Hsa& hsa_;
  std::vector<std::byte> code_;  // the runtime may look at it while the executable lives
  hsa_code_object_reader_t reader_ = {};
  hsa_executable_t executable_ = {};
};

}  // namespace halyard::skeleton
