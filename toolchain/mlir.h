// From MLIR to LLVM bitcode, with mlir-opt: the GPU modules of a file, and what becomes one
// (gpu.launch, linalg on buffers), lowered through the rocdl dialect.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"
#include "toolchain/commands.h"

namespace halyard::toolchain {

struct MlirCompilation {
  std::string mlir_opt;
  std::string input;
  TargetId target;
  uint32_t code_object_version = 5;
  // A folder in which amdgcn/bitcode has the device libraries. Without blanks or braces.
  std::string toolkit;
  std::vector<std::string> options;
};

// To a file of MLIR whose gpu.binary operations hold bitcode. Arguments of kernels that are
// memrefs, of static shape, become pointers.
Command mlir_to_bitcode(const MlirCompilation& compilation, const std::string& output);

// The bitcode in the gpu.binary operations of such a file, one for each GPU module. DATA_LOSS if
// an operation is not as mlir-opt writes it.
Result<std::vector<std::vector<std::byte>>> bitcode_in(std::string_view text);

}  // namespace halyard::toolchain
