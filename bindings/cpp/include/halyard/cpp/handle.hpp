// Owners of the C interface's objects, for the other headers.
#ifndef HALYARD_CPP_HANDLE_HPP
#define HALYARD_CPP_HANDLE_HPP

#include <halyard/halyard.h>

#include <utility>

namespace halyard::host {

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

}  // namespace halyard::host

#endif  // HALYARD_CPP_HANDLE_HPP
