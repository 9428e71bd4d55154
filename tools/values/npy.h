// NumPy's .npy files (NEP 1, and numpy.lib.format for versions 2 and 3).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hal/status.h"
#include "tools/values/tensor.h"

namespace halyard::values {

// Whether the bytes begin like an .npy file, regardless of the file's name.
bool is_npy(std::span<const std::byte> file) noexcept;

// Whether they begin as an .npz file does: an archive (a zip file) whose first member is an .npy
// file, or that has none.
bool is_npz(std::span<const std::byte> file) noexcept;

// Little endian, C order. INVALID_ARGUMENT names the mistake; Fortran order, big endian and
// unsupported types are refused by name. The messages do not name the file. With `used`, another
// array can follow, and `used` gets its offset, in bytes.
Result<Tensor> read_npy(std::span<const std::byte> file, size_t* used = nullptr);

// What stands in front of the data, version 1.0. INVALID_ARGUMENT for bf16, 8-bit floats and
// halves of bytes, which .npy does not have.
Result<std::string> npy_header(const TensorType& type);

}  // namespace halyard::values
