// What a kernel launch consists of: a function, a shape and arguments.
#pragma once

#include <cstdint>
#include <type_traits>

#include "hal/buffer.h"
#include "hal/executable.h"
#include "hal/types.h"

namespace halyard {

// One explicit kernel argument. Refers to the caller's value or buffer; both are read before the
// call that takes the argument returns.
struct Argument {
  enum class Kind : uint32_t { kValue, kBuffer, kDynamicLds };

  Kind kind = Kind::kValue;
  uint32_t size = 0;            // kValue: bytes; kDynamicLds: bytes of LDS
  const void* value = nullptr;  // kValue
  BufferRange range;            // kBuffer; also a slot, in a CommandBuffer

  Argument() noexcept = default;
  Argument(Buffer& buffer) noexcept  // NOLINT(google-explicit-constructor)
      : kind(Kind::kBuffer), range(buffer) {}
  Argument(const Ref<Buffer>& buffer) noexcept  // NOLINT(google-explicit-constructor)
      : kind(Kind::kBuffer), range(buffer) {}
  Argument(const BufferRange& r) noexcept  // NOLINT(google-explicit-constructor)
      : kind(Kind::kBuffer), range(r) {}

  // A scalar or a struct, passed by value; its size is checked against the metadata. Only refers to
  // `v`: a temporary, as in of(7), is gone at the end of the statement and so has to be in the call
  // itself.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  static Argument of(const T& v) noexcept {
    return bytes(&v, sizeof(T));
  }
  static Argument bytes(const void* data, uint32_t size) noexcept {
    Argument argument;
    argument.value = data;
    argument.size = size;
    return argument;
  }
  // `size` bytes of LDS for a kernel argument that points into LDS (OpenCL's __local).
  static Argument dynamic_lds(uint32_t size) noexcept {
    Argument argument;
    argument.kind = Kind::kDynamicLds;
    argument.size = size;
    return argument;
  }
};

// A kernel launch. The shape is AQL's (HSA System Architecture 2.9.6): the grid counts work-items,
// not work-groups, and need not be a multiple of the work-group; the last one is then partial.
struct Dispatch {
  uint32_t struct_size = sizeof(Dispatch);
  const Function* function = nullptr;
  Dim3 grid = {};       // work-items
  Dim3 workgroup = {};  // work-items
  uint32_t dynamic_lds_bytes =
      0;  // on top of static LDS and of LDS arguments (HIP's extern __shared__)
  Span<const Argument> arguments = {};  // one for each of FunctionInfo::arguments, in order
};

}  // namespace halyard
