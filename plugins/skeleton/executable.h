// Code objects, loaded by the runtime.
#pragma once

#include <string>

#include "device.h"
#include "plugins/sdk/serial_executable.h"

namespace halyard::skeleton {

class ExecutableImpl final : public SerialExecutable {
 public:
  ExecutableImpl(DeviceImpl& device, CodeObject object);

 private:
  ~ExecutableImpl() override { unload(); }
  Status give_to_loader(const std::vector<std::byte>& code, std::string_view doing) override;
  Status find_kernel(const std::string& symbol, uint64_t* object) const override {
    return look_up(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, object);
  }
  Status global_address(const std::string& name, uint64_t* address) const override {
    return look_up(name, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, address);
  }
  Status look_up(const std::string& name, hsa_executable_symbol_info_t what, uint64_t* value) const;
  void unload();

  const Hsa& hsa_;
  const hsa_agent_t agent_;
  hsa_code_object_reader_t reader_ = {};
  hsa_executable_t executable_ = {};
};

}  // namespace halyard::skeleton
