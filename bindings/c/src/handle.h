// The objects behind the handles of the C interface, and the common begin and end of each function.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "hal/device.h"
#include "hal/error.h"
#include "hal/module.h"
#include "halyard/halyard.h"
#include "registry/registry.h"

namespace halyard::c {

// The first word of every handle: tells kinds apart, and handles from most other memory.
enum class Kind : uint32_t {
  kReleased = 0,
  kRegistry = 0x48794c01,
  kLoadReport,
  kDriver,
  kDevice,
  kBuffer,
  kModule,
  kExecutable,
  kFunction,
  kSemaphore,
  kQueue,
  kCommandBuffer,
  kMemoryPool,
};

// Born with one reference, the caller's.
struct Handle {
  explicit Handle(Kind k) noexcept : kind(k) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Kind kind;
  std::atomic<uint32_t> references{1};
};

template <typename T>
bool is_a(const T* handle) noexcept {
  return handle != nullptr && reinterpret_cast<uintptr_t>(handle) % alignof(T) == 0 &&
         handle->kind == T::kKind;
}

template <typename T>
void retain(T* handle) noexcept {
  if (is_a(handle)) handle->references.fetch_add(1, std::memory_order_relaxed);
}

template <typename T>
void release(T* handle) noexcept {
  if (!is_a(handle)) return;
  if (handle->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  handle->kind = Kind::kReleased;
  delete handle;
}

// A reference that one handle holds of another.
template <typename T>
class Hold {
 public:
  explicit Hold(T* handle) noexcept : handle_(handle) { retain(handle); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { release(handle_); }
  T* get() const noexcept { return handle_; }

 private:
  T* handle_;
};

[[gnu::cold]] Status bad_handle(const char* function, const char* what, const void* handle);

template <typename T>
Status check(const char* function, const T* handle) {
  if (is_a(handle)) [[likely]]
    return {};
  return bad_handle(function, T::kName, handle);
}

// `what` names the output: "buffer".
inline Status check_output(const char* function, const char* what, const void* pointer) {
  if (pointer != nullptr) [[likely]]
    return {};
  return error(StatusCode::kInvalidArgument,
               "{} is given no place for its output (null) for the {}.", function, what);
}

// A text that the caller gives, which must not be null.
inline Status check_text(const char* function, const char* what, const char* text) {
  if (text != nullptr) [[likely]]
    return {};
  return error(StatusCode::kInvalidArgument, "{} is given no {} (null).", function, what);
}

// A list that the caller gives.
inline Status check_list(const char* function, const char* what, const void* list, size_t count) {
  if (list != nullptr || count == 0) [[likely]]
    return {};
  return error(StatusCode::kInvalidArgument, "{} is given {} {} at no address (null).", function,
               count, what);
}

// An error for the caller; null if OK.
halyard_error* to_error(const Status& status) noexcept;
// Takes over `error`, which may be null.
Status take_error(halyard_error* error);

// The body of a function that can fail: its Status, or exception, becomes the caller's error.
template <typename Work>
halyard_error* guarded(const char* function, Work&& work) noexcept {
  try {
    return to_error(work(function));
  } catch (const std::bad_alloc&) {
    return to_error(
        error(StatusCode::kResourceExhausted, "{} finds no host memory for its result.", function));
  } catch (const std::exception& e) {
    return to_error(error(StatusCode::kInternal, "{} failed: {}.", function, e.what()));
  } catch (...) {
    return to_error(
        error(StatusCode::kInternal, "{} failed with an exception of an unknown type.", function));
  }
}

// Text that belongs to a handle.
inline std::string text(StringView view) {
  return std::string(view.view());
}

}  // namespace halyard::c

struct halyard_registry : halyard::c::Handle {
  static constexpr auto kKind = halyard::c::Kind::kRegistry;
  static constexpr const char* kName = "registry";
  explicit halyard_registry(std::unique_ptr<halyard::Registry> r) noexcept
      : Handle(kKind), object(std::move(r)) {}
  std::unique_ptr<halyard::Registry> object;
};

struct halyard_load_report : halyard::c::Handle {
  static constexpr auto kKind = halyard::c::Kind::kLoadReport;
  static constexpr const char* kName = "load report";
  explicit halyard_load_report(halyard::LoadReport r)
      : Handle(kKind), object(std::move(r)), text(to_text(object)) {}
  halyard::LoadReport object;
  std::string text;
};

struct halyard_driver : halyard::c::Handle {
  static constexpr auto kKind = halyard::c::Kind::kDriver;
  static constexpr const char* kName = "driver";
  explicit halyard_driver(halyard::LoadedDriver driver);
  struct Summary {
    std::string name, uuid, target, pci_address;
  };
  halyard::LoadedDriver object;
  std::string library_name, library_path, library_version;
  std::vector<Summary> summaries;
};

struct halyard_device : halyard::c::Handle {
  static constexpr auto kKind = halyard::c::Kind::kDevice;
  static constexpr const char* kName = "device";
  explicit halyard_device(halyard::Ref<halyard::Device> d);
  halyard::Ref<halyard::Device> object;
  std::string driver, name, uuid, target, pci_address;
};

namespace halyard::c {

constexpr const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kBuffer:
      return "buffer";
    case Kind::kSemaphore:
      return "semaphore";
    case Kind::kQueue:
      return "queue";
    case Kind::kCommandBuffer:
      return "command buffer";
    case Kind::kMemoryPool:
      return "memory pool";
    case Kind::kExecutable:
      return "executable";
    default:
      return "handle";
  }
}

// An object of a device: it also holds the device's handle, for queries of its device.
template <typename T, Kind own_kind>
struct OfDevice : Handle {
  static constexpr Kind kKind = own_kind;
  static constexpr const char* kName = name_of(own_kind);
  OfDevice(halyard_device* d, Ref<T> o) noexcept
      : Handle(own_kind), device(d), object(std::move(o)) {}
  Hold<halyard_device> device;  // goes last
  Ref<T> object;
};

}  // namespace halyard::c

struct halyard_buffer : halyard::c::OfDevice<halyard::Buffer, halyard::c::Kind::kBuffer> {
  using OfDevice::OfDevice;
};
struct halyard_semaphore : halyard::c::OfDevice<halyard::Semaphore, halyard::c::Kind::kSemaphore> {
  using OfDevice::OfDevice;
};
struct halyard_queue : halyard::c::OfDevice<halyard::Queue, halyard::c::Kind::kQueue> {
  using OfDevice::OfDevice;
};
struct halyard_command_buffer
    : halyard::c::OfDevice<halyard::CommandBuffer, halyard::c::Kind::kCommandBuffer> {
  using OfDevice::OfDevice;
};
struct halyard_memory_pool
    : halyard::c::OfDevice<halyard::MemoryPool, halyard::c::Kind::kMemoryPool> {
  using OfDevice::OfDevice;
};

struct halyard_module : halyard::c::Handle {
  static constexpr auto kKind = halyard::c::Kind::kModule;
  static constexpr const char* kName = "module";
  explicit halyard_module(halyard::Module m);
  halyard::Module object;
  std::vector<std::string> targets;  // of the variants
};

// A part of its executable.
struct halyard_function : halyard::c::Handle {
  static constexpr auto kKind = halyard::c::Kind::kFunction;
  static constexpr const char* kName = "function";
  struct ArgumentText {
    std::string name, type_name, value_kind;
  };
  halyard_function(halyard_executable* e, const halyard::Function& f);
  halyard_executable* executable;
  const halyard::Function* object;
  std::string name;
  std::vector<ArgumentText> arguments, hidden;
};

struct halyard_executable
    : halyard::c::OfDevice<halyard::Executable, halyard::c::Kind::kExecutable> {
  halyard_executable(halyard_device* d, halyard::Ref<halyard::Executable> o);
  std::string target;
  std::vector<std::unique_ptr<halyard_function>> functions;
};
