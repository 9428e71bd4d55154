// Device: where memory, code and queues come from.
#ifndef HALYARD_CPP_DEVICE_HPP
#define HALYARD_CPP_DEVICE_HPP

#include <halyard/halyard.h>
#include <halyard/cpp/error.hpp>
#include <halyard/cpp/handle.hpp>
#include <halyard/cpp/kernel.hpp>
#include <halyard/cpp/memory.hpp>
#include <halyard/cpp/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halyard::host {

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

namespace internal {

// The C interface would see texts that end at a NUL.
inline Status check_texts(const OpenOptions& options) {
  std::string all = options.virtual_gpu.value_or("");
  for (const auto& [key, value] : options.options) all += key + value;
  if (all.find('\0') == std::string::npos) return {};
  return {HALYARD_INVALID_ARGUMENT,
          "Device::open is given an option or a profile that contains a NUL character."};
}

}  // namespace internal

// A method of a Device that was moved from fails with INVALID_ARGUMENT.
class Device {
 public:
  explicit Device(internal::DeviceHandle handle) noexcept : handle_(std::move(handle)) {}

  // "amdgpu", "hip:1", "amdgpu://GPU-0123456789abcdef?key=value". NOT_FOUND contains the outcome
  // for every driver.
  static Result<Device> try_open(const char* uri, const OpenOptions& options = {}) {
    HALYARD_HOST_TRY(internal::check_texts(options));
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
  Result<halyard_device_info> try_info() const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::info", "Device"));
    auto info = internal::with_size<halyard_device_info>();
    HALYARD_HOST_TRY(halyard_device_get_info(handle_.get(), &info));
    return info;
  }
  // OK while the device works.
  Status fault() const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::fault", "Device"));
    return Status(halyard_device_fault(handle_.get()));
  }

  // The number of GPUs of a logical device; 1 for any other device. Without exceptions 0 if the
  // Device was moved from.
  size_t gpu_count() const {
    internal::require(handle(), "Device::gpu_count", "Device");
    return halyard_device_gpu_count(handle_.get());
  }

  // `size` uninitialized elements. `gpu`: the GPU of a logical device whose memory is used.
  template <typename T>
  Result<Array<T>> try_array(size_t size, Memory memory = Memory::kDevice, uint32_t gpu = 0) const {
    auto options = internal::with_size<halyard_buffer_options>();
    options.type = static_cast<halyard_memory_type>(memory);
    options.gpu = gpu;
    return array_with<T>(size, options);
  }

  // Managed memory (Memory::kHost): one pointer for the host and the GPUs, whose pages the vendor's
  // runtime can move. UNIMPLEMENTED if halyard_device_info.managed_memory is false.
  template <typename T>
  Result<Array<T>> try_managed_array(size_t size) const {
    auto options = internal::with_size<halyard_buffer_options>();
    options.type = HALYARD_MEMORY_HOST;
    options.managed = true;
    return array_with<T>(size, options);
  }
  // Addresses of the device for `size` elements, without memory: commit() gives memory to parts, so
  // that the array grows without moving. Its bytes are a multiple of
  // halyard_device_info.commit_granule; UNIMPLEMENTED if that is 0.
  template <typename T>
  Result<Array<T>> try_reserved_array(size_t size) const {
    auto options = internal::with_size<halyard_buffer_options>();
    options.reserve = true;
    return array_with<T>(size, options);
  }
  // Memory for a reserved array's elements from `first` on, in whole granules. Work must only use
  // elements that have memory.
  template <typename T>
  Status try_commit(const Array<T>& array, size_t first, size_t count) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::commit", "Device"));
    HALYARD_HOST_TRY(internal::check_given(array.buffer().handle(), "Device::commit", "Array"));
    return Status(halyard_device_commit(handle_.get(), internal::elements(array, first, count)));
  }
  // Gives it back, in whole ranges of commit(). Work that uses it must be done.
  template <typename T>
  Status try_decommit(const Array<T>& array, size_t first, size_t count) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::decommit", "Device"));
    HALYARD_HOST_TRY(internal::check_given(array.buffer().handle(), "Device::decommit", "Array"));
    return Status(halyard_device_decommit(handle_.get(), internal::elements(array, first, count)));
  }
  // Advice on managed memory, for this device.
  template <typename T>
  Status try_advise(const Array<T>& array, halyard_memory_advice advice) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::advise", "Device"));
    HALYARD_HOST_TRY(internal::check_given(array.buffer().handle(), "Device::advise", "Array"));
    return Status(
        halyard_device_advise(handle_.get(), halyard_whole(array.buffer().handle()), advice));
  }

  // A file with kernels: a code object, an offload bundle, a program or library of hipcc's, an
  // archive or a folder of these.
  Result<Executable> try_load(const char* path) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::load", "Device"));
    internal::ModuleHandle module;
    HALYARD_HOST_TRY(halyard_module_open(path, nullptr, module.out()));
    internal::ExecutableHandle executable;
    HALYARD_HOST_TRY(halyard_device_load_module(handle_.get(), module.get(), executable.out()));
    return Executable(std::move(executable));
  }
  // The same for the bytes of such a file.
  Result<Executable> try_load(std::span<const std::byte> bytes) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::load", "Device"));
    internal::ExecutableHandle executable;
    HALYARD_HOST_TRY(halyard_device_load_executable(handle_.get(), bytes.data(), bytes.size(),
                                                    executable.out()));
    return Executable(std::move(executable));
  }

  // `gpu`: the GPU of a logical device that runs the queue's work.
  Result<Queue> try_queue(halyard_priority priority = HALYARD_PRIORITY_NORMAL,
                          uint32_t gpu = 0) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::queue", "Device"));
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
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::import_queue", "Device"));
    internal::QueueHandle queue;
    HALYARD_HOST_TRY(halyard_device_import_queue(handle_.get(), native_queue, queue.out()));
    return with_semaphore(std::move(queue));
  }
  // `size` elements of the vendor runtime's memory in this process (hipMalloc), which the caller
  // keeps and which must outlive the array.
  template <typename T>
  Result<Array<T>> try_import_memory(T* device_pointer, size_t size) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::import_memory", "Device"));
    auto options = internal::with_size<halyard_import_options>();
    options.kind = HALYARD_IMPORT_DEVICE_POINTER;
    options.pointer = device_pointer;
    options.size = size * sizeof(T);
    internal::BufferHandle buffer;
    HALYARD_HOST_TRY(halyard_device_import_buffer(handle_.get(), &options, buffer.out()));
    return Array<T>(Buffer(std::move(buffer)), size, nullptr);
  }

  Result<Pool> try_pool(const PoolOptions& options) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::pool", "Device"));
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
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::find_allocation", "Device"));
    auto info = internal::with_size<halyard_allocation_info>();
    HALYARD_HOST_TRY(halyard_device_find_allocation(handle_.get(), pointer, &info));
    return info;
  }
  // The device's and the host's clock at one moment.
  Result<halyard_clock_reading> try_read_clocks() const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::read_clocks", "Device"));
    auto reading = internal::with_size<halyard_clock_reading>();
    HALYARD_HOST_TRY(halyard_device_read_clocks(handle_.get(), &reading));
    return reading;
  }

  // The events of the operations that `work` submits to the device's queues; of some kinds
  // (HALYARD_PROFILE_DISPATCH), or of all by default. WAITS for them.
  template <typename Work>
  Result<std::vector<ProfileEvent>> try_profile(
      Work&& work, std::span<const halyard_profile_kind> kinds = {}) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::profile", "Device"));
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
  halyard_device_info info() const { return try_info().value(); }
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
#else
  // Of a Device that was moved from, all of it is 0.
  halyard_device_info info() const {
    Result<halyard_device_info> info = try_info();
    return info.ok() ? *info : halyard_device_info();
  }
#endif

 private:
  template <typename T>
  Result<Array<T>> array_with(size_t size, const halyard_buffer_options& options) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Device::array", "Device"));
    if (Status status = internal::check_array_size(size, sizeof(T)); !status.ok()) return status;
    internal::BufferHandle buffer;
    HALYARD_HOST_TRY(
        halyard_device_allocate(handle_.get(), size * sizeof(T), &options, buffer.out()));
    return internal::array_over<T>(std::move(buffer), size);
  }
  Result<Queue> with_semaphore(internal::QueueHandle queue) const {
    internal::SemaphoreHandle semaphore;
    HALYARD_HOST_TRY(halyard_device_create_semaphore(handle_.get(), 0, semaphore.out()));
    return Queue(std::move(queue), std::move(semaphore));
  }

  internal::DeviceHandle handle_;
};

}  // namespace halyard::host

#endif  // HALYARD_CPP_DEVICE_HPP
