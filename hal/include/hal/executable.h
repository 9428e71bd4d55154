// Executable: a code object that is loaded on a device, and its functions.
#pragma once

#include <cstdint>

#include "hal/object.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

class Device;
class Executable;

// The kind of a kernel argument, from the code object's metadata (LLVM AMDGPUUsage, "AMDHSA Code
// Object Kernel Argument Metadata Map", `.value_kind`). The driver fills the hidden ones; the
// caller gives the others, in order.
enum class ArgumentKind : uint32_t {
  kValue = 0,        // by_value: a scalar or a struct
  kBuffer = 1,       // global_buffer: an address of device memory
  kDynamicLds = 2,   // dynamic_shared_pointer: LDS whose size the dispatch chooses
  kUnsupported = 3,  // sampler, image, pipe, queue: a dispatch fails and names it
  kHiddenGlobalOffsetX = 16,
  kHiddenGlobalOffsetY,
  kHiddenGlobalOffsetZ,
  kHiddenNone,
  kHiddenBlockCountX,
  kHiddenBlockCountY,
  kHiddenBlockCountZ,
  kHiddenGroupSizeX,
  kHiddenGroupSizeY,
  kHiddenGroupSizeZ,
  kHiddenRemainderX,
  kHiddenRemainderY,
  kHiddenRemainderZ,
  kHiddenGridDims,
  kHiddenPrintfBuffer,
  kHiddenHostcallBuffer,
  kHiddenHeap,
  kHiddenDefaultQueue,
  kHiddenCompletionAction,
  kHiddenMultigridSync,
  kHiddenDynamicLdsSize,
  kHiddenPrivateBase,
  kHiddenSharedBase,
  kHiddenQueuePtr,
  kHiddenUnknown,
};
inline bool is_hidden(ArgumentKind kind) noexcept {
  return kind >= ArgumentKind::kHiddenGlobalOffsetX;
}

struct ArgumentInfo {
  uint32_t struct_size = sizeof(ArgumentInfo);
  ArgumentKind kind = ArgumentKind::kValue;
  uint32_t offset = 0;     // bytes from the start of the kernarg segment
  uint32_t size = 0;       // bytes
  uint32_t alignment = 0;  // kDynamicLds: bytes the LDS must be aligned to; otherwise 0
  StringView name;         // empty if the compiler kept none
  StringView type_name;    // as in the source ("float*"); empty if the compiler kept none
  StringView value_kind;   // as in the metadata ("by_value")
};

struct FunctionInfo {
  uint32_t struct_size = sizeof(FunctionInfo);
  StringView name;
  Span<const ArgumentInfo> arguments;  // the explicit ones, in order
  Span<const ArgumentInfo> hidden;     // those that the driver fills
  uint32_t kernarg_size = 0;           // bytes
  uint32_t kernarg_alignment = 0;      // bytes
  uint32_t group_segment_size = 0;     // bytes of static LDS per work-group
  uint32_t private_segment_size = 0;   // bytes of scratch per work-item
  bool uses_dynamic_stack = false;     // private_segment_size is only a lower bound
  uint32_t sgpr_count = 0;
  uint32_t vgpr_count = 0;
  uint32_t agpr_count = 0;
  uint32_t wavefront_size = 64;
  uint32_t max_workgroup_size = 1024;        // work-items (.max_flat_workgroup_size)
  Dim3 required_workgroup_size = {0, 0, 0};  // all 0: any
  // 1 + the index into `hidden` of an argument that the driver cannot provide: a dispatch fails,
  // and names it. 0: it provides all.
  uint32_t missing_hidden = 0;
  // Every dispatch needs whole work-groups (.uniform_work_group_size). Since 2.1.
  bool uniform_workgroups = false;
  // Why no dispatch of the function is possible, in sentences. Empty: dispatches are. Since 2.1.
  StringView problem;
};

// How many work-groups of one size the device can run at once.
struct Residency {
  uint32_t struct_size = sizeof(Residency);
  uint32_t workgroup_size = 0;           // work-items
  uint32_t groups_per_compute_unit = 0;  // 0 if not even one work-group fits
  uint32_t waves_per_simd = 0;           // rounded up
  uint32_t max_waves_per_simd = 0;       // of any function
  alignas(8) uint64_t groups = 0;        // on all compute units
};

// An entry point of an executable; lives as long as that. Immutable; any thread.
class Function : protected HalyardFunction {
 public:
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const FunctionInfo& info() const noexcept;
  Executable& executable() const noexcept;

  // For work-groups of `workgroup_size` work-items with this much dynamic LDS. Computed from the
  // metadata, for an otherwise idle compute unit. UNIMPLEMENTED for an unknown processor;
  // INVALID_ARGUMENT for a size that no dispatch can have.
  Result<Residency> residency(uint32_t workgroup_size, uint32_t dynamic_lds_bytes = 0) const;
  // The legal size, in whole waves, with the most resident work-items. If several are equal: the
  // smallest one that loads a compute unit's SIMDs equally. Errors as above; RESOURCE_EXHAUSTED if
  // no work-group fits.
  Result<Residency> suggest_workgroup_size(uint32_t dynamic_lds_bytes = 0) const;

  // For hal and the driver SDK: the function in the contract (hal/contract/driver.h), and back.
  HalyardFunction* contract() const noexcept { return const_cast<Function*>(this); }
  static Function* from_contract(const HalyardFunction* function) noexcept {
    return static_cast<Function*>(const_cast<HalyardFunction*>(function));
  }

 protected:
  Function() noexcept : HalyardFunction() {}  // by the driver SDK
  ~Function() = default;
};

struct ExecutableInfo {
  uint32_t struct_size = sizeof(ExecutableInfo);
  StringView target;  // "gfx900", "gfx90a:sramecc+:xnack-": what the file was built for
  uint32_t code_object_version = 0;  // 3 to 6
};

// A global variable of an executable.
struct GlobalInfo {
  uint32_t struct_size = sizeof(GlobalInfo);
  uint64_t device_address = 0;
  uint64_t size = 0;  // bytes
};

// Any thread may use any method.
class Executable : public Object<HalyardExecutable> {
 public:
  Device& device() const noexcept;
  ExecutableInfo info() const;
  size_t function_count() const;
  // `index` < function_count().
  const Function& function(size_t index) const;
  // NOT_FOUND lists the existing names and suggests one. FAILED_PRECONDITION has the reason if the
  // function cannot be dispatched (FunctionInfo::problem).
  Result<const Function*> find(StringView name) const;
  // For a logical device: the first GPU's.
  Result<GlobalInfo> global(StringView name) const;
  // The part of the executable for a GPU of a logical device: that GPU's variant, with its target
  // and its globals. Lives as long as this. FAILED_PRECONDITION if there is none for the GPU, with
  // the reason. For a device of one GPU, this.
  Result<Executable*> on_gpu(size_t index);

 protected:
  Executable() noexcept = default;  // by the driver SDK
  ~Executable() = default;
};

inline Executable& Function::executable() const noexcept {
  return *Executable::from_contract<Executable>(contract()->executable);
}

}  // namespace halyard
