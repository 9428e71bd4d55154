// Halyard for C++20 programs: a header over the C interface (halyard/halyard.h).
//
//     using namespace halyard::host;
//     Device device = Device::open("amdgpu");
//     Kernel vadd = device.load("vadd.hipfb").kernel("vadd");
//     Queue queue = device.queue();
//     Array<float> a = device.array<float>(n), b = device.array<float>(n);
//     queue.upload(numbers, a);
//     queue.launch(vadd, {n}, {256}, a, a, b, n);
//     queue.download(b, sums);
//
// Errors: every function that can fail throws Error, which has a code and a message. The function
// with the prefix try_ returns a Result or Status instead, and throws only std::bad_alloc. With
// -fno-exceptions only that one exists.
//
// Cost: a function copies or waits only if its comment says so. Objects are handles: copies refer
// to the same object. handle() returns the C handle, for operations that this header does not have.
//
// Threads: as the C interface. Only one thread at a time may copy or assign an object.
//
// The namespace differs from that of the C++ headers in hal/, so a program can use both.
#ifndef HALYARD_HALYARD_HPP
#define HALYARD_HALYARD_HPP

#include <halyard/halyard.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions)
#define HALYARD_HOST_EXCEPTIONS 1
#endif

namespace halyard::host {

// ---- Errors

// The outcome of an operation: OK, or a code and a message.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(halyard_code code, std::string message) : code_(code), message_(std::move(message)) {}
  // Takes over the C interface's error, which may be null.
  explicit Status(halyard_error* error) {
    if (error == nullptr) return;
    code_ = halyard_error_code(error);
    message_ = halyard_error_message(error);
    halyard_error_free(error);
  }

  bool ok() const noexcept { return code_ == HALYARD_OK; }
  halyard_code code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  // "INVALID_ARGUMENT: The grid …"
  std::string to_string() const {
    return ok() ? "OK" : std::string(halyard_code_name(code_)) + ": " + message_;
  }

 private:
  halyard_code code_ = HALYARD_OK;
  std::string message_;
};

#if defined(HALYARD_HOST_EXCEPTIONS)
class Error : public std::runtime_error {
 public:
  explicit Error(Status status)
      : std::runtime_error(status.to_string()), status_(std::move(status)) {}
  halyard_code code() const noexcept { return status_.code(); }
  const std::string& message() const noexcept { return status_.message(); }
  const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

inline void check(Status status) {
  if (!status.ok()) throw Error(std::move(status));
}
#endif

// A T, or the Status of the failure.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return value_.has_value(); }
  const Status& status() const noexcept { return status_; }
  // Only if ok().
  T& operator*() & noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  T* operator->() noexcept { return &*value_; }
#if defined(HALYARD_HOST_EXCEPTIONS)
  T value() && {
    check(status_);
    return *std::move(value_);
  }
#endif

 private:
  Status status_;
  std::optional<T> value_;
};

namespace internal {

// An owning pointer to an object of the C interface.
template <typename T, void (*kRetain)(T*), void (*kRelease)(T*)>
class Handle {
 public:
  Handle() noexcept = default;
  // Takes over a reference.
  explicit Handle(T* object) noexcept : object_(object) {}
  Handle(const Handle& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) kRetain(object_);
  }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) kRelease(object_);
  }
  T* get() const noexcept { return object_; }
  // The output parameter for an object of this empty handle.
  T** out() noexcept { return &object_; }

 private:
  T* object_ = nullptr;
};

using RegistryHandle =
    Handle<halyard_registry, &halyard_registry_retain, &halyard_registry_release>;
using DeviceHandle = Handle<halyard_device, &halyard_device_retain, &halyard_device_release>;
using BufferHandle = Handle<halyard_buffer, &halyard_buffer_retain, &halyard_buffer_release>;
using ModuleHandle = Handle<halyard_module, &halyard_module_retain, &halyard_module_release>;
using ExecutableHandle =
    Handle<halyard_executable, &halyard_executable_retain, &halyard_executable_release>;
using SemaphoreHandle =
    Handle<halyard_semaphore, &halyard_semaphore_retain, &halyard_semaphore_release>;
using QueueHandle = Handle<halyard_queue, &halyard_queue_retain, &halyard_queue_release>;
using PoolHandle =
    Handle<halyard_memory_pool, &halyard_memory_pool_retain, &halyard_memory_pool_release>;

template <typename T>
T with_size() {
  T value = {};
  value.struct_size = sizeof(T);
  return value;
}

}  // namespace internal

// Returns from the enclosing function if the C function that `call` calls fails.
#define HALYARD_HOST_TRY(call)                                                  \
  do {                                                                          \
    if (::halyard::host::Status halyard_status_{(call)}; !halyard_status_.ok()) \
      return halyard_status_;                                                   \
  } while (false)

// ---- Memory

enum class Memory {
  kDevice = HALYARD_MEMORY_DEVICE,              // the fastest for kernels; upload and download
  kHost = HALYARD_MEMORY_HOST,                  // the host's, coherent: Array::span
  kDeviceMapped = HALYARD_MEMORY_DEVICE_MAPPED  // the device's own, mapped; not on every device
};

// Contiguous memory that the device can access. It is released with the last copy of this object,
// when no work uses it any longer.
class Buffer {
 public:
  Buffer() noexcept = default;
  explicit Buffer(internal::BufferHandle handle) noexcept : handle_(std::move(handle)) {}

  uint64_t size() const noexcept { return halyard_buffer_size(handle_.get()); }  // bytes
  uint64_t device_address() const noexcept { return halyard_buffer_device_address(handle_.get()); }
  Memory memory() const noexcept { return static_cast<Memory>(halyard_buffer_type(handle_.get())); }
  halyard_buffer* handle() const noexcept { return handle_.get(); }

 private:
  internal::BufferHandle handle_;
};

// `size()` elements of a trivially copyable type in a Buffer.
template <typename T>
  requires std::is_trivially_copyable_v<T>
class Array {
 public:
  Array() noexcept = default;
  // `host` is the host pointer to all of it, or null; it is unmapped with the last copy.
  Array(Buffer buffer, size_t size, T* host) : buffer_(std::move(buffer)), size_(size) {
    if (host == nullptr) return;
    host_ = std::shared_ptr<T>(host, [buffer = buffer_](T* pointer) {
      halyard_error_free(halyard_buffer_unmap(buffer.handle(), pointer));
    });
  }

  size_t size() const noexcept { return size_; }  // elements
  const Buffer& buffer() const noexcept { return buffer_; }
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
    auto statistics = internal::with_size<halyard_pool_statistics>();
    HALYARD_HOST_TRY(halyard_memory_pool_statistics(handle_.get(), &statistics));
    return statistics;
  }
  // Frees unused memory until the pool has at most `keep` bytes of it.
  Status try_trim(uint64_t keep) const {
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

// ---- Kernels

// Kernel arguments that are neither a value nor an Array or Buffer.
struct DeviceAddress {
  uint64_t value = 0;  // not checked; the memory is not kept alive
};
struct Lds {
  uint32_t bytes = 0;  // for an argument that points into LDS (OpenCL's local)
};

// A number of work-items in up to three dimensions: {n}, {width, height}.
struct Extent {
  uint64_t x = 1;
  uint64_t y = 1;
  uint64_t z = 1;
  template <std::integral X, std::integral Y = uint32_t, std::integral Z = uint32_t>
  Extent(X x_size, Y y_size = 1, Z z_size = 1) noexcept  // NOLINT(google-explicit-constructor)
      : x(static_cast<uint64_t>(x_size)),
        y(static_cast<uint64_t>(y_size)),
        z(static_cast<uint64_t>(z_size)) {}
};

// A function of an Executable, with its arguments as in the metadata.
class Kernel {
 public:
  struct Parameter {
    halyard_argument_kind kind = HALYARD_ARGUMENT_VALUE;
    uint32_t size = 0;      // bytes
    std::string name;       // empty if the compiler kept none
    std::string type_name;  // "float*"; empty if the compiler kept none
  };

  const std::string& name() const noexcept { return facts_->name; }
  const std::vector<Parameter>& parameters() const noexcept { return facts_->parameters; }
  halyard_function* handle() const noexcept { return function_; }

  // How many groups of `group` work-items with `lds` bytes of dynamic LDS the device can run at
  // once. UNIMPLEMENTED for an unknown processor.
  Result<halyard_residency> try_residency(uint32_t group, uint32_t lds = 0) const {
    auto residency = internal::with_size<halyard_residency>();
    HALYARD_HOST_TRY(halyard_function_residency(function_, group, lds, &residency));
    return residency;
  }
  // The same for the group size with the most resident work-items.
  Result<halyard_residency> try_suggest_group(uint32_t lds = 0) const {
    auto residency = internal::with_size<halyard_residency>();
    HALYARD_HOST_TRY(halyard_function_suggest_workgroup_size(function_, lds, &residency));
    return residency;
  }
#if defined(HALYARD_HOST_EXCEPTIONS)
  halyard_residency residency(uint32_t group, uint32_t lds = 0) const {
    return try_residency(group, lds).value();
  }
  halyard_residency suggest_group(uint32_t lds = 0) const { return try_suggest_group(lds).value(); }
#endif

 private:
  friend class Executable;
  struct Facts {
    std::string name;
    std::vector<Parameter> parameters;
  };
  internal::ExecutableHandle executable_;
  halyard_function* function_ = nullptr;
  std::shared_ptr<const Facts> facts_;
};

class Executable {
 public:
  explicit Executable(internal::ExecutableHandle handle) noexcept : handle_(std::move(handle)) {}

  // NOT_FOUND lists the existing names.
  Result<Kernel> try_kernel(const char* name) const {
    Kernel kernel;
    kernel.executable_ = handle_;
    HALYARD_HOST_TRY(halyard_executable_find(handle_.get(), name, &kernel.function_));
    auto info = internal::with_size<halyard_function_info>();
    HALYARD_HOST_TRY(halyard_function_get_info(kernel.function_, &info));
    auto facts = std::make_shared<Kernel::Facts>();
    facts->name = info.name;
    for (uint32_t i = 0; i < info.argument_count; ++i) {
      auto argument = internal::with_size<halyard_argument_info>();
      HALYARD_HOST_TRY(halyard_function_argument(kernel.function_, i, &argument));
      facts->parameters.push_back(
          {argument.kind, argument.size, argument.name, argument.type_name});
    }
    kernel.facts_ = std::move(facts);
    return kernel;
  }
  std::vector<std::string> kernel_names() const {
    std::vector<std::string> names;
    const size_t count = halyard_executable_function_count(handle_.get());
    for (size_t i = 0; i < count; ++i) {
      halyard_function* function = nullptr;
      auto info = internal::with_size<halyard_function_info>();
      if (!Status(halyard_executable_function(handle_.get(), i, &function)).ok()) break;
      if (!Status(halyard_function_get_info(function, &info)).ok()) break;
      names.emplace_back(info.name);
    }
    return names;
  }
  halyard_executable* handle() const noexcept { return handle_.get(); }
#if defined(HALYARD_HOST_EXCEPTIONS)
  Kernel kernel(const char* name) const { return try_kernel(name).value(); }
#endif

 private:
  internal::ExecutableHandle handle_;
};

namespace internal {

// A launch's argument for the C interface; refers to `value`.
template <typename T>
halyard_argument to_argument(const T& value) {
  static_assert(!std::is_pointer_v<T>,
                "A kernel cannot use a host pointer: give an Array, a Buffer, or a DeviceAddress.");
  static_assert(
      std::is_trivially_copyable_v<T>,
      "A kernel argument is an Array, a Buffer, a DeviceAddress, Lds, nullptr, or a value "
      "of a trivially copyable type.");
  return halyard_value(&value, sizeof(T));
}
template <typename T>
halyard_argument to_argument(const Array<T>& array) {
  return halyard_buffer_argument(halyard_whole(array.buffer().handle()));
}
inline halyard_argument to_argument(const Buffer& buffer) {
  return halyard_buffer_argument(halyard_whole(buffer.handle()));
}
inline halyard_argument to_argument(const DeviceAddress& address) {
  return halyard_address(address.value);
}
inline halyard_argument to_argument(const std::nullptr_t&) {
  return halyard_address(0);
}
inline halyard_argument to_argument(const Lds& lds) {
  return halyard_dynamic_lds(lds.bytes);
}

inline const char* name_of(halyard_argument_kind kind) {
  switch (kind) {
    case HALYARD_ARGUMENT_VALUE:
      return "a value";
    case HALYARD_ARGUMENT_BUFFER:
      return "memory (an Array, a Buffer, a DeviceAddress or nullptr)";
    case HALYARD_ARGUMENT_DYNAMIC_LDS:
      return "Lds";
    default:
      return "something that a launch cannot give";
  }
}

// Checks the arguments against the kernel's metadata: their number, kinds and sizes.
inline Status check_arguments(const Kernel& kernel, std::span<const halyard_argument> arguments) {
  const auto& parameters = kernel.parameters();
  if (arguments.size() != parameters.size()) {
    return {HALYARD_INVALID_ARGUMENT,
            "Kernel \"" + kernel.name() + "\" takes " + std::to_string(parameters.size()) +
                " arguments; the launch gives " + std::to_string(arguments.size()) + "."};
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Kernel::Parameter& parameter = parameters[i];
    const halyard_argument& argument = arguments[i];
    const bool is_sized = argument.kind == HALYARD_ARGUMENT_VALUE;
    if (argument.kind == parameter.kind && (!is_sized || argument.size == parameter.size)) continue;
    std::string which = "Argument " + std::to_string(i);
    if (!parameter.name.empty()) which += " (" + parameter.name + ")";
    which += " of kernel \"" + kernel.name() + "\" is " + name_of(parameter.kind);
    if (parameter.kind == HALYARD_ARGUMENT_VALUE)
      which += " of " + std::to_string(parameter.size) + " bytes";
    if (!parameter.type_name.empty()) which += " (" + parameter.type_name + ")";
    which += std::string("; the launch gives ") + name_of(argument.kind);
    if (is_sized) which += " of " + std::to_string(argument.size) + " bytes";
    return {HALYARD_INVALID_ARGUMENT, which + "."};
  }
  return {};
}

inline Status to_dim3(const char* what, const Extent& extent, halyard_dim3* converted) {
  if (extent.x <= UINT32_MAX && extent.y <= UINT32_MAX && extent.z <= UINT32_MAX) {
    *converted = {static_cast<uint32_t>(extent.x), static_cast<uint32_t>(extent.y),
                  static_cast<uint32_t>(extent.z)};
    return {};
  }
  return {HALYARD_INVALID_ARGUMENT,
          std::string("The ") + what + " (" + std::to_string(extent.x) + " × " +
              std::to_string(extent.y) + " × " + std::to_string(extent.z) +
              ") is too large: a dimension has at most 4294967295 work-items."};
}

}  // namespace internal

// ---- Queues

// The end of an operation of a Queue, and of all earlier ones. The destructor does not
// wait.
class Future {
 public:
  Future() noexcept = default;
  Future(internal::SemaphoreHandle semaphore, uint64_t value) noexcept
      : semaphore_(std::move(semaphore)), value_(value) {}

  // Waits until the work is done. Returns the work's failure.
  Status try_wait() const {
    return Status(halyard_semaphore_wait(semaphore_.get(), value_, HALYARD_FOREVER));
  }
  // Also DEADLINE_EXCEEDED.
  Status try_wait_for(std::chrono::nanoseconds time) const {
    const auto ns = static_cast<uint64_t>(time.count() > 0 ? time.count() : 0);
    return Status(halyard_semaphore_wait(semaphore_.get(), value_, halyard_deadline_after(ns)));
  }
  // Does not wait. Failed work counts as done.
  bool done() const {
    const Status status(halyard_semaphore_wait(semaphore_.get(), value_, HALYARD_POLL));
    return status.code() != HALYARD_DEADLINE_EXCEEDED;
  }
  // For the C interface.
  halyard_point point() const noexcept { return {semaphore_.get(), value_}; }
#if defined(HALYARD_HOST_EXCEPTIONS)
  void wait() const { check(try_wait()); }
  // Whether the work was done before the deadline.
  bool wait_for(std::chrono::nanoseconds time) const {
    Status status = try_wait_for(time);
    if (status.code() == HALYARD_DEADLINE_EXCEEDED) return false;
    check(std::move(status));
    return true;
  }
#endif

 private:
  internal::SemaphoreHandle semaphore_;
  uint64_t value_ = 0;
};

// Takes a device's work, and runs it in order. Every operation returns a Future at once, unless its
// comment says otherwise. The first operation that fails makes every later Future fail with its
// message: then create another queue.
class Queue {
 public:
  Queue(internal::QueueHandle queue, internal::SemaphoreHandle semaphore)
      : state_(std::make_shared<State>(std::move(queue), std::move(semaphore))) {}

  // Launches `kernel` with `grid` work-items in groups of `group`. Checks the arguments against the
  // kernel's metadata: INVALID_ARGUMENT names the wrong one.
  template <typename... Arguments>
  Result<Future> try_launch(const Kernel& kernel, Extent grid, Extent group,
                            const Arguments&... arguments) {
    return try_launch_with_lds(0, kernel, grid, group, arguments...);
  }
  // The same with `bytes` of dynamic LDS (HIP's extern __shared__).
  template <typename... Arguments>
  Result<Future> try_launch_with_lds(uint32_t bytes, const Kernel& kernel, Extent grid,
                                     Extent group, const Arguments&... arguments) {
    const std::array<halyard_argument, sizeof...(Arguments)> list = {
        internal::to_argument(arguments)...};
    if (Status status = internal::check_arguments(kernel, list); !status.ok()) return status;
    auto dispatch = internal::with_size<halyard_dispatch>();
    dispatch.function = kernel.handle();
    dispatch.dynamic_lds_bytes = bytes;
    dispatch.arguments = list.data();
    dispatch.argument_count = list.size();
    if (Status status = internal::to_dim3("grid", grid, &dispatch.grid); !status.ok())
      return status;
    if (Status status = internal::to_dim3("work-group", group, &dispatch.workgroup); !status.ok())
      return status;
    return submit([&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_dispatch(queue, &dispatch, sync);
    });
  }

  // Copies host memory to the array. The elements are read before the call returns, so `source` can
  // change then. INVALID_ARGUMENT unless the sizes are equal.
  template <typename T>
  Result<Future> try_upload(std::span<const T> source, const Array<T>& target) {
    if (Status status = check_sizes(source.size(), target.size()); !status.ok()) return status;
    return submit([&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_update(queue, halyard_whole(target.buffer().handle()), source.data(),
                                  source.size_bytes(), sync);
    });
  }
  // Copies the array to host memory. WAITS for the queue's earlier work and for the copy.
  template <typename T>
  Status try_download(const Array<T>& source, std::span<T> target) {
    if (Status status = check_sizes(source.size(), target.size()); !status.ok()) return status;
    return download_bytes(source.buffer(), target.data(), target.size_bytes());
  }
  // Copies one array to another, of equal size.
  template <typename T>
  Result<Future> try_copy(const Array<T>& source, const Array<T>& target) {
    if (Status status = check_sizes(source.size(), target.size()); !status.ok()) return status;
    return submit([&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_copy(queue, halyard_whole(source.buffer().handle()),
                                halyard_whole(target.buffer().handle()), sync);
    });
  }
  // Sets every element; sizeof(T) is at most 256.
  template <typename T>
  Result<Future> try_fill(const Array<T>& target, const std::type_identity_t<T>& value) {
    static_assert(sizeof(T) <= 256);
    return submit([&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_fill(queue, halyard_whole(target.buffer().handle()), &value, sizeof(T),
                                sync);
    });
  }
  // Moves the pages of managed memory (Device::try_managed_array) to the queue's GPU, or to the
  // host: a hint.
  template <typename T>
  Result<Future> try_prefetch(const Array<T>& array, bool to_host = false) {
    return submit([&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_prefetch(queue, halyard_whole(array.buffer().handle()),
                                    to_host ? HALYARD_PREFETCH_TO_HOST : HALYARD_PREFETCH_TO_DEVICE,
                                    sync);
    });
  }
  // Later work waits for `future`, which may be another queue's.
  Result<Future> try_after(const Future& future) {
    const halyard_point wait = future.point();
    return submit([&](halyard_queue* queue, const halyard_sync* sync) {
      halyard_sync both = *sync;
      both.wait = &wait;
      both.wait_count = 1;
      return halyard_queue_barrier(queue, &both);
    });
  }
  // The end of all work submitted so far.
  Result<Future> try_future() {
    return submit([](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_barrier(queue, sync);
    });
  }
  // WAITS for all work submitted so far.
  Status try_wait() {
    Result<Future> future = try_future();
    return future.ok() ? future->try_wait() : future.status();
  }
  // `size` elements of the pool's memory, for work of this queue, and of others that wait for it.
  // The host can use them (Memory::kHost) when the queue has reached this point. They return to the
  // pool when the array's last copy is gone and no work uses them. RESOURCE_EXHAUSTED beyond the
  // pool's limit.
  template <typename T>
  Result<Array<T>> try_array(size_t size, const Pool& pool) {
    if (Status status = internal::check_array_size(size, sizeof(T)); !status.ok()) return status;
    auto options = internal::with_size<halyard_buffer_options>();
    options.pool = pool.handle();
    internal::BufferHandle buffer;
    Result<Future> allocated = submit([&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_alloca(queue, size * sizeof(T), &options, sync, buffer.out());
    });
    if (!allocated.ok()) return allocated.status();
    return internal::array_over<T>(std::move(buffer), size);
  }
  // The queue's number in profiles.
  uint64_t id() const noexcept { return halyard_queue_id(state_->queue.get()); }
  // OK while the queue accepts work.
  Status fault() const { return Status(halyard_queue_fault(state_->queue.get())); }
  halyard_queue* handle() const noexcept { return state_->queue.get(); }

#if defined(HALYARD_HOST_EXCEPTIONS)
  template <typename... Arguments>
  Future launch(const Kernel& kernel, Extent grid, Extent group, const Arguments&... arguments) {
    return try_launch(kernel, grid, group, arguments...).value();
  }
  template <typename... Arguments>
  Future launch_with_lds(uint32_t bytes, const Kernel& kernel, Extent grid, Extent group,
                         const Arguments&... arguments) {
    return try_launch_with_lds(bytes, kernel, grid, group, arguments...).value();
  }
  template <typename T>
  Future upload(std::span<const std::type_identity_t<T>> source, const Array<T>& target) {
    return try_upload(source, target).value();
  }
  template <typename T>
  void download(const Array<T>& source, std::span<std::type_identity_t<T>> target) {
    check(try_download(source, target));
  }
  template <typename T>
  Future copy(const Array<T>& source, const Array<T>& target) {
    return try_copy(source, target).value();
  }
  template <typename T>
  Future fill(const Array<T>& target, const std::type_identity_t<T>& value) {
    return try_fill(target, value).value();
  }
  template <typename T>
  Future prefetch(const Array<T>& array, bool to_host = false) {
    return try_prefetch(array, to_host).value();
  }
  template <typename T>
  Array<T> array(size_t size, const Pool& pool) {
    return try_array<T>(size, pool).value();
  }
  Future after(const Future& future) { return try_after(future).value(); }
  Future future() { return try_future().value(); }
  void wait() { check(try_wait()); }
#endif

 private:
  struct State {
    State(internal::QueueHandle q, internal::SemaphoreHandle s) noexcept
        : queue(std::move(q)), semaphore(std::move(s)) {}
    internal::QueueHandle queue;
    internal::SemaphoreHandle semaphore;
    // The semaphore's values are signalled in the order of the operations.
    std::mutex mutex;
    uint64_t last = 0;
  };

  template <typename Operation>
  Result<Future> submit(Operation&& operation) {
    const std::lock_guard lock(state_->mutex);
    const halyard_point signal = {state_->semaphore.get(), state_->last + 1};
    halyard_sync sync = {};
    sync.signal = &signal;
    sync.signal_count = 1;
    HALYARD_HOST_TRY(operation(state_->queue.get(), &sync));
    return Future(state_->semaphore, ++state_->last);
  }

  static Status check_sizes(size_t source, size_t target) {
    if (source == target) return {};
    return {HALYARD_INVALID_ARGUMENT, "A copy has a source of " + std::to_string(source) +
                                          " elements and a target of " + std::to_string(target) +
                                          "; they must be equal."};
  }

  Status download_bytes(const Buffer& source, void* target, uint64_t size) {
    if (size == 0) return try_wait();
    internal::BufferHandle staging;
    auto options = internal::with_size<halyard_buffer_options>();
    options.type = HALYARD_MEMORY_HOST;
    HALYARD_HOST_TRY(
        halyard_device_allocate(halyard_queue_device(handle()), size, &options, staging.out()));
    Result<Future> copied = submit([&](halyard_queue* queue, const halyard_sync* sync) {
      return halyard_queue_copy(queue, halyard_whole(source.handle()), halyard_whole(staging.get()),
                                sync);
    });
    if (!copied.ok()) return copied.status();
    if (Status status = copied->try_wait(); !status.ok()) return status;
    void* bytes = nullptr;
    HALYARD_HOST_TRY(halyard_buffer_map(staging.get(), 0, size, HALYARD_MAP_READ, &bytes));
    std::memcpy(target, bytes, size);
    return Status(halyard_buffer_unmap(staging.get(), bytes));
  }

  std::shared_ptr<State> state_;
};

// ---- Devices

// One operation, in nanoseconds of CLOCK_MONOTONIC.
struct ProfileEvent {
  std::string name;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  halyard_profile_kind kind = HALYARD_PROFILE_UNKNOWN;
  uint64_t queue = 0;      // Queue::id()
  uint64_t bytes = 0;      // that a transfer writes
  uint64_t execution = 0;  // of a recording; 0: not in a recording
  uint32_t command = 0;    // its position in the recording
  // For a launch, in work-items; the grid is 0 x 0 x 0 if only the device knows it.
  halyard_dim3 grid = {0, 0, 0};
  halyard_dim3 group = {0, 0, 0};
};

struct OpenOptions {
  // The profile of the virtual GPU ("gfx90a", or "" for the default), which needs no hardware. Only
  // the process's first device can select it.
  std::optional<std::string> virtual_gpu = {};
  // Options of the device, which override the URI's: {"key", "value"}.
  std::vector<std::pair<std::string, std::string>> options = {};
};

class Device {
 public:
  explicit Device(internal::DeviceHandle handle) noexcept : handle_(std::move(handle)) {}

  // "amdgpu", "hip:1", "amdgpu://GPU-0123456789abcdef?key=value". NOT_FOUND contains the outcome
  // for every driver.
  static Result<Device> try_open(const char* uri, const OpenOptions& options = {}) {
    if (options.virtual_gpu) {
      HALYARD_HOST_TRY(halyard_load_virtual_gpu(options.virtual_gpu->c_str(), nullptr));
    }
    internal::RegistryHandle registry;
    HALYARD_HOST_TRY(halyard_registry_default(registry.out()));
    std::vector<halyard_option> list;
    for (const auto& [key, value] : options.options) list.push_back({key.c_str(), value.c_str()});
    internal::DeviceHandle device;
    HALYARD_HOST_TRY(
        halyard_registry_open_device(registry.get(), uri, list.data(), list.size(), device.out()));
    return Device(std::move(device));
  }

  // The facts and limits; its texts live as long as the device.
  halyard_device_info info() const {
    auto info = internal::with_size<halyard_device_info>();
    halyard_error_free(halyard_device_get_info(handle_.get(), &info));
    return info;
  }
  // OK while the device works.
  Status fault() const { return Status(halyard_device_fault(handle_.get())); }

  // The number of GPUs of a logical device; 1 for any other device.
  size_t gpu_count() const noexcept { return halyard_device_gpu_count(handle_.get()); }

  // `size` uninitialized elements. `gpu`: the GPU of a logical device whose memory is used.
  template <typename T>
  Result<Array<T>> try_array(size_t size, Memory memory = Memory::kDevice, uint32_t gpu = 0) const {
    if (Status status = internal::check_array_size(size, sizeof(T)); !status.ok()) return status;
    internal::BufferHandle buffer;
    auto options = internal::with_size<halyard_buffer_options>();
    options.type = static_cast<halyard_memory_type>(memory);
    options.gpu = gpu;
    HALYARD_HOST_TRY(
        halyard_device_allocate(handle_.get(), size * sizeof(T), &options, buffer.out()));
    return internal::array_over<T>(std::move(buffer), size);
  }

  // Managed memory (Memory::kHost): one pointer for the host and the GPUs, whose pages the vendor's
  // runtime can move. UNIMPLEMENTED if halyard_device_info.managed_memory is false.
  template <typename T>
  Result<Array<T>> try_managed_array(size_t size) const {
    if (Status status = internal::check_array_size(size, sizeof(T)); !status.ok()) return status;
    internal::BufferHandle buffer;
    auto options = internal::with_size<halyard_buffer_options>();
    options.type = HALYARD_MEMORY_HOST;
    options.managed = true;
    HALYARD_HOST_TRY(
        halyard_device_allocate(handle_.get(), size * sizeof(T), &options, buffer.out()));
    return internal::array_over<T>(std::move(buffer), size);
  }
  // Addresses of the device for `size` elements, without memory: commit() gives memory to parts, so
  // that the array grows without moving. Its bytes are a multiple of
  // halyard_device_info.commit_granule; UNIMPLEMENTED if that is 0.
  template <typename T>
  Result<Array<T>> try_reserved_array(size_t size) const {
    if (Status status = internal::check_array_size(size, sizeof(T)); !status.ok()) return status;
    internal::BufferHandle buffer;
    auto options = internal::with_size<halyard_buffer_options>();
    options.reserve = true;
    HALYARD_HOST_TRY(
        halyard_device_allocate(handle_.get(), size * sizeof(T), &options, buffer.out()));
    return internal::array_over<T>(std::move(buffer), size);
  }
  // Memory for a reserved array's elements from `first` on, in whole granules. Work must only use
  // elements that have memory.
  template <typename T>
  Status try_commit(const Array<T>& array, size_t first, size_t count) const {
    return Status(halyard_device_commit(handle_.get(), internal::elements(array, first, count)));
  }
  // Gives it back, in whole ranges of commit(). Work that uses it must be done.
  template <typename T>
  Status try_decommit(const Array<T>& array, size_t first, size_t count) const {
    return Status(halyard_device_decommit(handle_.get(), internal::elements(array, first, count)));
  }
  // Advice on managed memory, for this device.
  template <typename T>
  Status try_advise(const Array<T>& array, halyard_memory_advice advice) const {
    return Status(
        halyard_device_advise(handle_.get(), halyard_whole(array.buffer().handle()), advice));
  }

  // A file with kernels: a code object, an offload bundle, a program or library of hipcc's, an
  // archive or a folder of these.
  Result<Executable> try_load(const char* path) const {
    internal::ModuleHandle module;
    HALYARD_HOST_TRY(halyard_module_open(path, nullptr, module.out()));
    internal::ExecutableHandle executable;
    HALYARD_HOST_TRY(halyard_device_load_module(handle_.get(), module.get(), executable.out()));
    return Executable(std::move(executable));
  }
  // The same for the bytes of such a file.
  Result<Executable> try_load(std::span<const std::byte> bytes) const {
    internal::ExecutableHandle executable;
    HALYARD_HOST_TRY(halyard_device_load_executable(handle_.get(), bytes.data(), bytes.size(),
                                                    executable.out()));
    return Executable(std::move(executable));
  }

  // `gpu`: the GPU of a logical device that runs the queue's work.
  Result<Queue> try_queue(halyard_priority priority = HALYARD_PRIORITY_NORMAL,
                          uint32_t gpu = 0) const {
    internal::QueueHandle queue;
    auto options = internal::with_size<halyard_queue_options>();
    options.priority = priority;
    options.gpu = gpu;
    HALYARD_HOST_TRY(halyard_device_create_queue(handle_.get(), &options, queue.out()));
    return with_semaphore(std::move(queue));
  }
  // Over a queue of the vendor runtime (hipStream_t), which the caller keeps and which must outlive
  // it.
  Result<Queue> try_import_queue(void* native_queue) const {
    internal::QueueHandle queue;
    HALYARD_HOST_TRY(halyard_device_import_queue(handle_.get(), native_queue, queue.out()));
    return with_semaphore(std::move(queue));
  }
  // `size` elements of the vendor runtime's memory in this process (hipMalloc), which the caller
  // keeps and which must outlive the array.
  template <typename T>
  Result<Array<T>> try_import_memory(T* device_pointer, size_t size) const {
    auto options = internal::with_size<halyard_import_options>();
    options.kind = HALYARD_IMPORT_DEVICE_POINTER;
    options.pointer = device_pointer;
    options.size = size * sizeof(T);
    internal::BufferHandle buffer;
    HALYARD_HOST_TRY(halyard_device_import_buffer(handle_.get(), &options, buffer.out()));
    return Array<T>(Buffer(std::move(buffer)), size, nullptr);
  }

  Result<Pool> try_pool(const PoolOptions& options) const {
    auto info = internal::with_size<halyard_memory_pool_info>();
    info.type = static_cast<halyard_memory_type>(options.memory);
    info.limit_bytes = options.limit;
    info.keep_bytes = options.keep;
    internal::PoolHandle pool;
    HALYARD_HOST_TRY(halyard_device_create_memory_pool(handle_.get(), &info, pool.out()));
    return Pool(std::move(pool));
  }
  // Finds the buffer that contains an address of the device or the host. NOT_FOUND if there is
  // none.
  Result<halyard_allocation_info> try_find_allocation(const void* pointer) const {
    auto info = internal::with_size<halyard_allocation_info>();
    HALYARD_HOST_TRY(halyard_device_find_allocation(handle_.get(), pointer, &info));
    return info;
  }
  // The device's and the host's clock at one moment.
  Result<halyard_clock_reading> try_read_clocks() const {
    auto reading = internal::with_size<halyard_clock_reading>();
    HALYARD_HOST_TRY(halyard_device_read_clocks(handle_.get(), &reading));
    return reading;
  }

  // The events of the operations that `work` submits to the device's queues; of some kinds
  // (HALYARD_PROFILE_DISPATCH), or of all by default. WAITS for them.
  template <typename Work>
  Result<std::vector<ProfileEvent>> try_profile(
      Work&& work, std::span<const halyard_profile_kind> kinds = {}) const {
    uint64_t bits = 0;
    for (const halyard_profile_kind kind : kinds) bits |= uint64_t{1} << kind;
    HALYARD_HOST_TRY(halyard_device_begin_profile_of(handle_.get(), bits));
    struct End {
      halyard_device* device;
      ~End() {
        if (device == nullptr) return;
        halyard_error_free(halyard_device_end_profile(
            device, [](void*, const halyard_profile_event*) {}, nullptr));
      }
    } end = {handle_.get()};
    work();
    end.device = nullptr;
    std::vector<ProfileEvent> events;
    HALYARD_HOST_TRY(halyard_device_end_profile(
        handle_.get(),
        [](void* context, const halyard_profile_event* event) {
          static_cast<std::vector<ProfileEvent>*>(context)->push_back(
              {event->name, event->begin_ns, event->end_ns, event->kind, event->queue, event->bytes,
               event->execution, event->command, event->grid, event->workgroup});
        },
        &events));
    return events;
  }

  halyard_device* handle() const noexcept { return handle_.get(); }

#if defined(HALYARD_HOST_EXCEPTIONS)
  static Device open(const char* uri, const OpenOptions& options = {}) {
    return try_open(uri, options).value();
  }
  template <typename T>
  Array<T> managed_array(size_t size) const {
    return try_managed_array<T>(size).value();
  }
  template <typename T>
  Array<T> reserved_array(size_t size) const {
    return try_reserved_array<T>(size).value();
  }
  template <typename T>
  void commit(const Array<T>& array, size_t first, size_t count) const {
    check(try_commit(array, first, count));
  }
  template <typename T>
  void decommit(const Array<T>& array, size_t first, size_t count) const {
    check(try_decommit(array, first, count));
  }
  template <typename T>
  void advise(const Array<T>& array, halyard_memory_advice advice) const {
    check(try_advise(array, advice));
  }
  template <typename T>
  Array<T> array(size_t size, Memory memory = Memory::kDevice, uint32_t gpu = 0) const {
    return try_array<T>(size, memory, gpu).value();
  }
  Executable load(const char* path) const { return try_load(path).value(); }
  Executable load(std::span<const std::byte> bytes) const { return try_load(bytes).value(); }
  Queue queue(halyard_priority priority = HALYARD_PRIORITY_NORMAL, uint32_t gpu = 0) const {
    return try_queue(priority, gpu).value();
  }
  Queue import_queue(void* native_queue) const { return try_import_queue(native_queue).value(); }
  template <typename T>
  Array<T> import_memory(T* device_pointer, size_t size) const {
    return try_import_memory(device_pointer, size).value();
  }
  Pool pool(const PoolOptions& options) const { return try_pool(options).value(); }
  halyard_allocation_info find_allocation(const void* pointer) const {
    return try_find_allocation(pointer).value();
  }
  halyard_clock_reading read_clocks() const { return try_read_clocks().value(); }
  template <typename Work>
  std::vector<ProfileEvent> profile(Work&& work,
                                    std::span<const halyard_profile_kind> kinds = {}) const {
    return try_profile(std::forward<Work>(work), kinds).value();
  }
#endif

 private:
  Result<Queue> with_semaphore(internal::QueueHandle queue) const {
    internal::SemaphoreHandle semaphore;
    HALYARD_HOST_TRY(halyard_device_create_semaphore(handle_.get(), 0, semaphore.out()));
    return Queue(std::move(queue), std::move(semaphore));
  }

  internal::DeviceHandle handle_;
};

}  // namespace halyard::host

#undef HALYARD_HOST_TRY

#endif  // HALYARD_HALYARD_HPP
