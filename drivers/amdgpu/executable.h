// ExecutableImpl: a code object, loaded by the HSA runtime; and its functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drivers/amdgpu/hsa.h"
#include "hal/contract/objects.h"
#include "hal/ref.h"
#include "plugins/sdk/loaded_executable.h"
#include "plugins/sdk/users.h"

namespace halyard::amdgpu {

class DeviceImpl;

// What a dispatch needs of a kernel beyond its arguments.
struct KernelCode {
  uint64_t object = 0;          // address of the kernel descriptor, for the packet
  uint32_t private_bytes = 0;   // scratch per work-item
  uint32_t kernarg_blocks = 1;  // slots of the ring (ring.h)
  // An argument passed by value may hold an address of anything, also of host memory.
  bool may_read_foreign = false;
  // Where in the arguments the work-group counts in x, y and z lie, if they do.
  uint32_t block_counts = kNoBlockCounts;
  static constexpr uint32_t kNoBlockCounts = UINT32_MAX;
  static constexpr uint32_t kScatteredBlockCounts = UINT32_MAX - 1;  // not one behind the other
};

class FunctionImpl final : public driver::FunctionBase {
 public:
  FunctionImpl(Executable& executable, const FunctionInfo& info, const KernelCode& code)
      : FunctionBase(executable, info), code_(code) {}
  FunctionImpl(Executable& executable, const FunctionInfo& info) : FunctionBase(executable, info) {}
  ~FunctionImpl() = default;

  const KernelCode& code() const { return code_; }
  // Those of its executable, as far as they launch this.
  Users& users() const { return users_; }

 private:
  KernelCode code_;
  mutable Users users_;
};

class ExecutableImpl final : public LoadedExecutable<FunctionImpl> {
 public:
  static Result<Ref<Executable>> load(DeviceImpl& device, const void* data, size_t size);
  // The device's own, which does not keep the device alive and goes with it.
  static Result<Ref<Executable>> load_builtin(DeviceImpl& device, const void* data, size_t size);

 private:
  ExecutableImpl(DeviceImpl& device, Ref<Device> keep_alive, CodeObject object);
  ~ExecutableImpl();
  void destroy() noexcept override;
  // Of the queues that have launched a function of this.
  uint64_t users() const;

  static Result<Ref<Executable>> load(DeviceImpl& device, Ref<Device> keep_alive, const void* data,
                                      size_t size);
  Status load_code(const void* data, size_t size) override;
  // What a first attempt has made is undone.
  hsa_status_t try_load(const void* data, size_t size, const char** step);
  void unload();
  Status make_function(const KernelInfo& kernel) override;
  Result<SharedMemory> allocate_shared(size_t bytes) override;
  Result<KernelCode> code_of(const KernelInfo& kernel) const;

  Status global_address(const std::string& name, uint64_t* address) const override;

  const Hsa& hsa_;
  const hsa_agent_t agent_;
  std::vector<std::byte> code_;  // the runtime may look at it while the executable lives
  hsa_code_object_reader_t reader_ = {};
  hsa_executable_t executable_ = {};
};

}  // namespace halyard::amdgpu
