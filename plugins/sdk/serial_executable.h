// SerialExecutable: a code object that a vendor's runtime has loaded, and its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "plugins/sdk/loaded_executable.h"

namespace halyard {

class SerialDevice;

class SerialFunction final : public driver::FunctionBase {
 public:
  SerialFunction(Executable& executable, const FunctionInfo& info, uint64_t object,
                 uint32_t private_bytes)
      : FunctionBase(executable, info), object_(object), private_bytes_(private_bytes) {}
  SerialFunction(Executable& executable, const FunctionInfo& info)
      : SerialFunction(executable, info, 0, 0) {}
  ~SerialFunction() = default;
  static const SerialFunction& of(const Function& function) {
    return static_cast<const SerialFunction&>(function);
  }
  // What SerialExecutable::find_kernel has said.
  uint64_t object() const { return object_; }
  // Scratch per work-item.
  uint32_t private_bytes() const { return private_bytes_; }

 private:
  const uint64_t object_;
  const uint32_t private_bytes_;
};

class SerialExecutable : public LoadedExecutable<SerialFunction> {
 protected:
  // The runtime loads code objects of `newest_version` and before; a later one is presented to it
  // as of that version (hal/presentation.h).
  SerialExecutable(SerialDevice& device, CodeObject object, uint32_t newest_version);
  virtual ~SerialExecutable() = default;

 private:
  // Loads the code, in place of what was loaded before. The bytes stay where they are while this
  // lives. `doing` says in an error what failed.
  virtual Status give_to_loader(const std::vector<std::byte>& code, std::string_view doing) = 0;
  // What a launch needs of a kernel that is loaded, by its symbol.
  virtual Status find_kernel(const std::string& symbol, uint64_t* object) const = 0;

  // Operations in flight keep their executables, so nothing uses it any more.
  void destroy() noexcept final;
  Status load_code(const void* data, size_t size) final;
  Status make_function(const KernelInfo& kernel) final;
  Result<SharedMemory> allocate_shared(size_t bytes) final;

  SerialDevice& device_;
  const uint32_t newest_version_;
  std::vector<std::byte> code_;
};

}  // namespace halyard
