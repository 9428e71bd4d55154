// Value: what a kernel argument is given on the command line, and the text that it is written as.
//
//   4xf32=1 2 3 4              a buffer: shape, element type, elements
//   2x2xi32=[[1 2][3 4]]       the same nested; commas may stand between elements
//   2x2xi32=[1 2][3 4]         the same as IREE prints it
//   4xf32                      a buffer of zeros
//   1024xf32=0                 one number for all elements
//   4x4xf32=@file.bin          a buffer from a file: raw bytes, or an .npy of this type and shape
//   @file.npy                  a buffer whose type and shape the file says: any file that begins as
//                              NumPy's do, whatever its name
//   @file.bin                  untyped bytes: a buffer, or an argument that is passed by value
//   &1024xf32                  an output-only buffer, which starts as zeros
//   i32=7                      a scalar, passed by value
//   7                          the same, if the compiler kept the argument's type
//   null                       a null pointer
//   {i32=7 2xi8=[1 2] {f64=1}} a struct, passed by value, laid out as C does on AMDGPU
//   {ptr=%a ptr=%a+64 i64=0}   a struct with addresses of named buffers, and bytes past them; or
//                              ptr=null
//   bytes=0x0a0b               the same as bytes, in memory order
//   lds=4096                   bytes of LDS for an argument that points into it
//
// Element types: i1 i4 i8 i16 i32 i64 (or si8 …) u4 u8 u16 u32 u64 (or ui8 …) f16 bf16 f32 f64
// f8E5M2 f8E4M3FN f8E5M2FNUZ f8E4M3FNUZ f8E8M0FNU cf64 cf128 (or complex<f32> …).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "tools/values/tensor.h"

namespace halyard::values {

// The address of a named buffer in a struct.
struct ValuePointer {
  size_t at = 0;        // where its 8 bytes are in Value::data
  std::string buffer;   // "%a"
  uint64_t offset = 0;  // bytes that are added
  friend bool operator==(const ValuePointer&, const ValuePointer&) = default;
};

struct Value {
  enum class Kind : uint8_t {
    kScalar,  // one element, of type.element
    kBuffer,
    kBytes,  // no type: for a buffer, or for an argument that is passed by value
    kLds,
    kNumber,  // `text` is a number whose type the argument has
    kNull,    // a null pointer
  };
  enum class Contents : uint8_t {
    kData,   // `data` is all of it
    kSplat,  // `data` is one element, for all of them: nothing is allocated for a huge buffer
    kZero,   // output-only: `data` is empty
  };

  Kind kind = Kind::kScalar;
  Contents contents = Contents::kData;
  TensorType type = {};
  std::vector<std::byte> data = {};
  std::vector<ValuePointer> pointers = {};  // kBytes
  std::string text = {};
  uint64_t lds_bytes = 0;

  // What the value takes: of memory for a buffer, of the kernel's arguments otherwise.
  uint64_t bytes() const noexcept;
  // "a buffer (4xf32)", "a scalar (i32)", "a block of 8 untyped bytes", "LDS (4096 bytes)".
  std::string describe() const;
  // All elements of a buffer, splats and zeros written out. Allocates bytes().
  Tensor to_tensor() const;
};

// Reads a value, and the file that it names. INVALID_ARGUMENT names the mistake and its column,
// with the text and a mark below the place; errors of a file keep their code and name the file.
Result<Value> parse_value(std::string_view text);

}  // namespace halyard::values
