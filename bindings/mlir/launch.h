// What a launch of MLIR's says, as a dispatch of Halyard's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hal/dispatch.h"
#include "hal/executable.h"
#include "hal/status.h"

namespace halyard::mlir {

// Counts as the caller gives them; the grid counts work-groups.
struct LaunchShape {
  int64_t grid[3] = {1, 1, 1};
  int64_t block[3] = {1, 1, 1};
  int32_t lds_bytes = 0;

  // Not one work-item: an empty loop nest that was mapped to a launch.
  bool is_empty() const;
};

// The grid and work-group of a Dispatch. INVALID_ARGUMENT for negative counts, and for more
// work-items than a dimension of 32 bits holds; limits of the device are Queue::dispatch's to
// check.
Status set_shape(const LaunchShape& shape, Dispatch* dispatch);

// Where an address lies, for a kernel: a range from there to the end of a buffer. None: not known.
using FindMemory = std::function<Result<std::optional<BufferRange>>(uint64_t address)>;

struct LaunchArguments {
  std::vector<Argument> arguments;
  // Pointers that are not null and that FindMemory does not know: "argument 2 (0x7f…)", ….
  std::vector<std::string> unknown;
};

// `params[i]` points at the i-th value, which is as long as the function's metadata says; the
// arguments refer to them. INVALID_ARGUMENT if there are more or fewer than the function takes.
Result<LaunchArguments> read_arguments(const FunctionInfo& function, void* const* params,
                                       size_t count, const FindMemory& find);

}  // namespace halyard::mlir
