#include "bindings/mlir/launch.h"

#include <cstring>
#include <utility>

#include "hal/error.h"

namespace halyard::mlir {
namespace {

constexpr const char* kDimensions[3] = {"x", "y", "z"};

Status check_count(const char* what, size_t dimension, int64_t count) {
  if (count >= 0 && count <= INT64_C(0xffffffff)) return {};
  return error(StatusCode::kInvalidArgument,
               "The number of {} in {} ({}) is out of range. Legal are 0 to 4294967295.", what,
               kDimensions[dimension], count);
}

}  // namespace

bool LaunchShape::is_empty() const {
  for (size_t i = 0; i < 3; ++i) {
    if (grid[i] == 0 || block[i] == 0) return true;
  }
  return false;
}

Status set_shape(const LaunchShape& shape, Dispatch* dispatch) {
  uint32_t groups[3] = {};
  uint32_t items[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    HALYARD_RETURN_IF_ERROR(check_count("work-groups", i, shape.grid[i]));
    HALYARD_RETURN_IF_ERROR(check_count("work-items of a work-group", i, shape.block[i]));
    const uint64_t total =
        static_cast<uint64_t>(shape.grid[i]) * static_cast<uint64_t>(shape.block[i]);
    if (total > UINT32_MAX) {
      return error(StatusCode::kInvalidArgument,
                   "The launch has {} work-groups of {} work-items in {}, which is {} work-items. "
                   "At most 4294967295 are possible.",
                   shape.grid[i], shape.block[i], kDimensions[i], total);
    }
    groups[i] = static_cast<uint32_t>(total);
    items[i] = static_cast<uint32_t>(shape.block[i]);
  }
  if (shape.lds_bytes < 0) {
    return error(StatusCode::kInvalidArgument, "The launch's dynamic LDS ({} bytes) is negative.",
                 shape.lds_bytes);
  }
  dispatch->grid = {groups[0], groups[1], groups[2]};
  dispatch->workgroup = {items[0], items[1], items[2]};
  dispatch->dynamic_lds_bytes = static_cast<uint32_t>(shape.lds_bytes);
  return {};
}

Result<LaunchArguments> read_arguments(const FunctionInfo& function, void* const* params,
                                       size_t count, const FindMemory& find) {
  if (count != function.arguments.size()) {
    return error(
        StatusCode::kInvalidArgument,
        "The launch passes {} arguments, but the kernel \"{}\" takes {}. Host and kernel "
        "must use one convention for memrefs: set both use-bare-ptr-memref-call-conv of "
        "convert-gpu-to-rocdl and use-bare-pointers-for-kernels of gpu-to-llvm, or neither.",
        count, function.name, function.arguments.size());
  }
  if (count != 0 && params == nullptr) {
    return error(StatusCode::kInvalidArgument,
                 "The array of arguments is null, but the kernel \"{}\" takes {}.", function.name,
                 count);
  }
  LaunchArguments result;
  result.arguments.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const ArgumentInfo& info = function.arguments[i];
    if (params[i] == nullptr) {
      return error(StatusCode::kInvalidArgument,
                   "The pointer to the value of argument {} of the kernel \"{}\" is null.", i,
                   function.name);
    }
    uint64_t address = 0;
    if (info.kind != ArgumentKind::kBuffer || info.size != sizeof address) {
      result.arguments.push_back(Argument::bytes(params[i], info.size));
      continue;
    }
    std::memcpy(&address, params[i], sizeof address);
    HALYARD_ASSIGN_OR_RETURN(const std::optional<BufferRange> range, find(address));
    if (range) {
      result.arguments.emplace_back(*range);
      continue;
    }
    if (address != 0) result.unknown.push_back(fmt::format("argument {} ({:#x})", i, address));
    result.arguments.push_back(Argument::address(address));
  }
  return result;
}

}  // namespace halyard::mlir
