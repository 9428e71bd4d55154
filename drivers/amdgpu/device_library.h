// DeviceLibrary: the driver's own kernels on one device. Filling, copying, indirect dispatch and
// timestamps; device/abi.h says what each does and takes.
//
// A kernel of the library is launched like any other, in the order of a queue and without the host:
//
//   HALYARD_ASSIGN_OR_RETURN(const FunctionImpl* const fill,
//                            device.library().function(LibraryKernel::kFill));
//   const LibraryLaunch launch = fill_launch(target, size, pattern, pattern_size, compute_units);
//
// then either LibraryOperation (library_operation.h), which goes through submit(), or, where slots
// are reserved already, write_library_launch(core, index, interrupt, *fill, launch, reads_foreign).
// The arguments do not depend on where the memory lies, so that a recording may keep them and add
// an address to `target` or `source` later.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/executable.h"
#include "hal/ref.h"
#include "hal/selection.h"
#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard::amdgpu {

class DeviceImpl;

enum class LibraryKernel : uint8_t {
  kFill,
  kCopy,
  kCopyRectangle,
  kPatchDispatch,
  kCollectTimestamps,
};
inline constexpr size_t kLibraryKernelCount = 5;

struct LibraryKernelInfo {
  const char* name;
  uint32_t arguments_size;  // bytes
};
const LibraryKernelInfo& info_of(LibraryKernel kernel);

// Which of the code objects runs on `device`, best first: its processor with its features, its
// processor, its generic target. NOT_FOUND says what there is, why none of
// it fits, and how to build one that does.
Result<size_t> choose_device_binary(const std::vector<VariantFacts>& binaries,
                                    const TargetId& device);

// Any thread may use any method.
class DeviceLibrary {
 public:
  explicit DeviceLibrary(DeviceImpl& device) : device_(device) {}

  // The first call loads the library; should that fail, every later one says so too. Lives as long
  // as the device.
  Result<const FunctionImpl*> function(LibraryKernel kernel) {
    std::call_once(once_, [this] { status_ = load_now(); });
    HALYARD_RETURN_IF_ERROR(status_);
    return functions_[static_cast<size_t>(kernel)];
  }
  // For a test, before the first call: there is no library, and this is why.
  void take_away(const Status& why) {
    std::call_once(once_, [&] { status_ = why; });
  }

 private:
  Status load_now();

  DeviceImpl& device_;
  std::once_flag once_;
  Status status_;
  Ref<Executable> executable_;
  std::array<const FunctionImpl*, kLibraryKernelCount> functions_{};
};

}  // namespace halyard::amdgpu
