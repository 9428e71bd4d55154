// Buffer, Array and Pool: memory that a device can access.
#ifndef HALYARD_CPP_MEMORY_HPP
#define HALYARD_CPP_MEMORY_HPP

#include <halyard/halyard.h>
#include <halyard/cpp/error.hpp>
#include <halyard/cpp/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace halyard::host {

enum class Memory {
  kDevice = HALYARD_MEMORY_DEVICE,              // the fastest for kernels; upload and download
  kHost = HALYARD_MEMORY_HOST,                  // the host's, coherent: Array::span
  kDeviceMapped = HALYARD_MEMORY_DEVICE_MAPPED  // the device's own, mapped; not on every device
};

// Contiguous memory that the device can access. It is released with the last copy of this object,
// when no work uses it any longer. A default-constructed or moved-from Buffer is empty.
class Buffer {
 public:
  Buffer() noexcept = default;
  explicit Buffer(internal::BufferHandle handle) noexcept : handle_(std::move(handle)) {}

  // Bytes; 0 if empty.
  uint64_t size() const noexcept { return halyard_buffer_size(handle_.get()); }
  // INVALID_ARGUMENT if empty; without exceptions 0 and Memory::kDevice.
  uint64_t device_address() const {
    internal::require(handle_.get(), "Buffer::device_address", "Buffer");
    return halyard_buffer_device_address(handle_.get());
  }
  Memory memory() const {
    internal::require(handle_.get(), "Buffer::memory", "Buffer");
    return static_cast<Memory>(halyard_buffer_type(handle_.get()));
  }
  halyard_buffer* handle() const noexcept { return handle_.get(); }

 private:
  internal::BufferHandle handle_;
};

// `size()` elements of a trivially copyable type in a Buffer. A default-constructed or moved-from
// Array is empty: it has no elements, and an operation that is given one fails.
template <typename T>
  requires std::is_trivially_copyable_v<T>
class Array {
 public:
  Array() noexcept = default;
  Array(const Array&) = default;
  Array(Array&& other) noexcept
      : buffer_(std::move(other.buffer_)),
        size_(std::exchange(other.size_, 0)),
        host_(std::move(other.host_)) {}
  Array& operator=(Array other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(size_, other.size_);
    std::swap(host_, other.host_);
    return *this;
  }
  ~Array() = default;
  // `host` is the host pointer to all of it, or null; it is unmapped with the last copy.
  Array(Buffer buffer, size_t size, T* host) : buffer_(std::move(buffer)), size_(size) {
    if (host == nullptr) return;
    host_ = std::shared_ptr<T>(host, [buffer = buffer_](T* pointer) {
      halyard_error_free(halyard_buffer_unmap(buffer.handle(), pointer));
    });
  }

  size_t size() const noexcept { return size_; }  // elements
  const Buffer& buffer() const noexcept { return buffer_; }
  // For a struct that a kernel takes by value: with_memory. INVALID_ARGUMENT if empty; without
  // exceptions 0.
  uint64_t device_address() const {
    internal::require(buffer_.handle(), "Array::device_address", "Array");
    return halyard_buffer_device_address(buffer_.handle());
  }
  // The elements themselves, if the host can access this memory; otherwise empty. A kernel's writes
  // are visible when its Future is done. For Memory::kDeviceMapped, call halyard_buffer_flush and
  // halyard_buffer_invalidate if info().coherent_map is false.
  std::span<T> span() const noexcept {
    return host_ != nullptr ? std::span<T>(host_.get(), size_) : std::span<T>();
  }

 private:
  Buffer buffer_;
  size_t size_ = 0;
  std::shared_ptr<T> host_;
};

namespace internal {

inline Status check_array_size(size_t size, size_t element) {
  if (size <= SIZE_MAX / element) return {};
  return {HALYARD_RESOURCE_EXHAUSTED, "An array of " + std::to_string(size) + " elements of " +
                                          std::to_string(element) +
                                          " bytes does not fit any memory."};
}

template <typename T>
halyard_range elements(const Array<T>& array, size_t first, size_t count) noexcept {
  halyard_range range = halyard_whole(array.buffer().handle());
  range.offset = uint64_t{first} * sizeof(T);
  range.length = uint64_t{count} * sizeof(T);
  return range;
}

// Mapped, if the host can access the buffer.
template <typename T>
Result<Array<T>> array_over(BufferHandle buffer, size_t size) {
  void* host = nullptr;
  if (halyard_buffer_type(buffer.get()) != HALYARD_MEMORY_DEVICE) {
    HALYARD_HOST_TRY(
        halyard_buffer_map(buffer.get(), 0, HALYARD_TO_END, HALYARD_MAP_READ_WRITE, &host));
  }
  return Array<T>(Buffer(std::move(buffer)), size, static_cast<T*>(host));
}

}  // namespace internal

// The options of Device::pool.
struct PoolOptions {
  Memory memory = Memory::kDevice;
  uint64_t limit = 0;  // the most bytes of the heap; 0: no limit
  // Unused bytes that the pool keeps; 0: as the device's own pools, HALYARD_KEEP_NONE: none.
  uint64_t keep = 0;
};

// Memory in queue order, with its own limit: Queue::array. Its arrays keep it alive.
class Pool {
 public:
  explicit Pool(internal::PoolHandle handle) noexcept : handle_(std::move(handle)) {}

  Result<halyard_pool_statistics> try_statistics() const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Pool::statistics", "Pool"));
    auto statistics = internal::with_size<halyard_pool_statistics>();
    HALYARD_HOST_TRY(halyard_memory_pool_statistics(handle_.get(), &statistics));
    return statistics;
  }
  // Frees unused memory until the pool has at most `keep` bytes of it.
  Status try_trim(uint64_t keep) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Pool::trim", "Pool"));
    return Status(halyard_memory_pool_trim(handle_.get(), keep));
  }
  halyard_memory_pool* handle() const noexcept { return handle_.get(); }
#if defined(HALYARD_HOST_EXCEPTIONS)
  halyard_pool_statistics statistics() const { return try_statistics().value(); }
  void trim(uint64_t keep) const { check(try_trim(keep)); }
#endif

 private:
  internal::PoolHandle handle_;
};

}  // namespace halyard::host

#endif  // HALYARD_CPP_MEMORY_HPP
