// A kernel launch: a function, a shape and arguments.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hal/buffer.h"
#include "hal/executable.h"
#include "hal/types.h"

namespace halyard {

// One explicit kernel argument, or memory that the kernel uses without one (`uses`). It contains
// small values. It refers to large values and buffers, which are read before the call returns.
struct Argument {
  enum class Kind : uint32_t { kValue, kBuffer, kDynamicLds, kAddress, kUse };

  Kind kind = Kind::kValue;
  uint32_t size = 0;            // kValue: bytes; kDynamicLds: bytes of LDS
  const void* value = nullptr;  // kValue: its address; null: in `immediate`
  union {
    // kBuffer: in a CommandBuffer also a slot. kAddress: no buffer; the offset is the address.
    // kUse: a buffer.
    BufferRange range;
    unsigned char immediate[sizeof(BufferRange)];
  };

  Argument() noexcept : range() {}
  Argument(Buffer& buffer) noexcept  // NOLINT(google-explicit-constructor)
      : kind(Kind::kBuffer), range(buffer) {}
  Argument(const Ref<Buffer>& buffer) noexcept  // NOLINT(google-explicit-constructor)
      : kind(Kind::kBuffer), range(buffer) {}
  Argument(const BufferRange& r) noexcept  // NOLINT(google-explicit-constructor)
      : kind(Kind::kBuffer), range(r) {}

  // A scalar or a struct, passed by value; its size is checked against the metadata.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  static Argument of(const T& v) noexcept {
    if constexpr (sizeof(T) > sizeof(immediate)) {
      return bytes(&v, sizeof(T));
    } else {
      Argument argument;
      argument.size = sizeof(T);
      std::memcpy(argument.immediate, &v, sizeof(T));
      return argument;
    }
  }
  // A large value is not copied, so it must not be a temporary.
  template <typename T>
    requires(std::is_trivially_copyable_v<T> && !std::is_reference_v<T> &&
             sizeof(T) > sizeof(BufferRange))
  static Argument of(const T&& v) = delete;

  static Argument bytes(const void* data, uint32_t size) noexcept {
    Argument argument;
    argument.value = data;
    argument.size = data != nullptr ? size : 0;
    return argument;
  }
  // An address of device memory, or null, for a pointer parameter. The address is not checked, and
  // the memory is not kept alive, unless the dispatch also `uses` it.
  static Argument address(uint64_t device_address) noexcept {
    Argument argument;
    argument.kind = Kind::kAddress;
    argument.range.offset = device_address;
    return argument;
  }
  // No argument of the kernel's: memory that it reaches through an address in other data, such as a
  // struct that is passed by value (Buffer::device_address). Any number stand behind the kernel's
  // arguments. Each counts as used: it lives until the work is done, and the device can access it.
  static Argument uses(const BufferRange& r) noexcept {
    Argument argument(r);
    argument.kind = Kind::kUse;
    return argument;
  }
  // `size` bytes of LDS for a kernel argument that points into LDS (OpenCL's __local).
  static Argument dynamic_lds(uint32_t size) noexcept {
    Argument argument;
    argument.kind = Kind::kDynamicLds;
    argument.size = size;
    return argument;
  }

  // Whether `range` is memory that the launch uses.
  bool has_range() const noexcept { return kind == Kind::kBuffer || kind == Kind::kUse; }
  // kValue: its bytes, `size` of them.
  const void* data() const noexcept { return value != nullptr ? value : immediate; }
};

// A kernel launch. The shape is AQL's (HSA System Architecture 2.9.6): the grid counts work-items,
// not work-groups, and need not be a multiple of the work-group; the last one is then partial.
struct Dispatch {
  uint32_t struct_size = sizeof(Dispatch);
  const Function* function = nullptr;
  Dim3 grid = {};       // work-items
  Dim3 workgroup = {};  // work-items
  // In addition to static LDS and LDS arguments (HIP's extern __shared__).
  uint32_t dynamic_lds_bytes = 0;
  // One for each of FunctionInfo::arguments, in order; then those of Kind::kUse.
  Span<const Argument> arguments = {};
};

}  // namespace halyard
