#include "bindings/mlir/memref.h"

#include "hal/error.h"

namespace halyard::mlir {
namespace {

Status check_shape(int64_t rank, const MemRef<char>* descriptor, int64_t element_bytes) {
  if (descriptor == nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  "The memref descriptor is null. A memref's descriptor is needed.");
  }
  if (rank < 0) {
    return error(StatusCode::kInvalidArgument,
                 "The memref's rank ({}) is negative. Ranks start at 0.", rank);
  }
  if (element_bytes <= 0) {
    return error(StatusCode::kInvalidArgument,
                 "The memref's element size ({} bytes) must be at least 1.", element_bytes);
  }
  return {};
}

Status too_large() {
  return Status(StatusCode::kInvalidArgument,
                "The memref covers more memory than the address space has. Its sizes or strides "
                "are probably uninitialised.");
}

}  // namespace

Result<MemoryRange> covered_memory(int64_t rank, const MemRef<char>* descriptor,
                                   int64_t element_bytes) {
  HALYARD_RETURN_IF_ERROR(check_shape(rank, descriptor, element_bytes));
  const int64_t* const sizes = &descriptor->size;
  const int64_t* const strides = sizes + rank;
  bool is_empty = false;
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0) {
      return error(StatusCode::kInvalidArgument,
                   "The memref's size in dimension {} ({}) is negative. Sizes start at 0.", i,
                   sizes[i]);
    }
    is_empty = is_empty || sizes[i] == 0;
  }
  if (is_empty) return MemoryRange{descriptor->aligned, 0};

  // Elements relative to `aligned`.
  int64_t first = descriptor->offset;
  int64_t last = descriptor->offset;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t reach = 0;
    int64_t& end = strides[i] < 0 ? first : last;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      return too_large();
    }
  }
  int64_t elements = 0;
  int64_t bytes = 0;
  int64_t start = 0;
  if (__builtin_sub_overflow(last, first, &elements) ||
      __builtin_add_overflow(elements, 1, &elements) ||
      __builtin_mul_overflow(elements, element_bytes, &bytes) ||
      __builtin_mul_overflow(first, element_bytes, &start)) {
    return too_large();
  }
  return MemoryRange{descriptor->aligned + start, static_cast<uint64_t>(bytes)};
}

}  // namespace halyard::mlir
