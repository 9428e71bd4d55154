// Executable of the host_memory driver: takes any ELF file and finds no function in it.
#pragma once

#include "hal/contract/objects.h"
#include "hal/executable.h"

namespace host_memory {

class HostMemoryDevice;

class HostMemoryExecutable final : public halyard::driver::ExecutableBase {
 public:
  // INVALID_ARGUMENT if the data is not an ELF file.
  static halyard::Status load(HostMemoryDevice& device, const void* data, size_t size,
                              halyard::Executable** executable);

 private:
  explicit HostMemoryExecutable(HostMemoryDevice& device);
  ~HostMemoryExecutable() = default;
  void destroy() noexcept override;
  void do_info(halyard::ExecutableInfo* info) const override;
  size_t do_function_count() const override;
  const halyard::Function* do_function(size_t index) const override;
  halyard::Status do_global(halyard::StringView name, halyard::GlobalInfo* info) const override;

  halyard::Ref<halyard::Device> owner_;
};

}  // namespace host_memory
