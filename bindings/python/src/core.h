// halyard._core: what Python needs of C. The package halyard is Python over it, and what users see.
//
// The interpreter's lock (GIL) is released around every call that may wait: for a device, for a
// file, or for a lock that a thread holds whose host function wants the GIL.
#pragma once

#include <halyard/halyard.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <halyard/halyard.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gil.h"
#include "text.h"

namespace halyard::python {

namespace py = pybind11;

// Throws a CodeError unless `error` is null. With or without the GIL.
void check(halyard_error* error);

// `call`, without the GIL.
template <typename Call>
void unlocked(Call&& call) {
  halyard_error* error = nullptr;
  {
    const ReleasedGil released;
    error = call();
  }
  check(error);
}

// A struct of the C interface that `function` fills in: its last argument, behind `arguments`.
template <typename T, typename... Parameters, typename... Arguments>
T read(halyard_error* (*function)(Parameters...), Arguments... arguments) {
  auto filled = host::internal::with_size<T>();
  check(function(arguments..., &filled));
  return filled;
}
// The same without the GIL.
template <typename T, typename... Parameters, typename... Arguments>
T read_unlocked(halyard_error* (*function)(Parameters...), Arguments... arguments) {
  auto filled = host::internal::with_size<T>();
  unlocked([&] { return function(arguments..., &filled); });
  return filled;
}

// The object that `function` makes, without the GIL. Its handle is the function's last argument.
template <typename Made, typename... Parameters, typename... Arguments>
Made made(halyard_error* (*function)(Parameters...), Arguments... arguments) {
  Made object;
  unlocked([&] { return function(arguments..., object.out()); });
  return object;
}

// A handle that is released without the GIL, because the release can wait for work whose host
// functions need it.
template <typename Handle>
class Held {
 public:
  Held() = default;
  explicit Held(Handle handle) : handle_(std::move(handle)) {}
  Held(Held&&) noexcept = default;
  Held(const Held&) = default;
  Held& operator=(Held&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (handle_.get() == nullptr) return;
    if (PyGILState_Check() == 0) return;  // ~Handle
    const ReleasedGil released;
    handle_ = Handle();
  }
  auto* get() const { return handle_.get(); }
  auto** out() { return handle_.out(); }
  const Handle& handle() const { return handle_; }

 private:
  Handle handle_;
};

using HeldBuffer = Held<host::internal::BufferHandle>;
using HeldDevice = Held<host::internal::DeviceHandle>;
using HeldExecutable = Held<host::internal::ExecutableHandle>;
using HeldQueue = Held<host::internal::QueueHandle>;
using HeldSemaphore = Held<host::internal::SemaphoreHandle>;

// A memory pool of a device.
struct Pool {
  HeldDevice device;
  Held<host::internal::PoolHandle> handle;
  int memory_type = HALYARD_MEMORY_DEVICE;
};

// A value of a semaphore that work reaches when it is done.
struct Point {
  host::internal::SemaphoreHandle semaphore;
  uint64_t value = 0;

  bool is_over() const;  // reached, or failed
};

// Keeps `owner`, and the buffer over its memory, until all points are over. With the GIL.
void keep(host::internal::BufferHandle buffer, py::object owner, std::vector<Point> points);
// Releases finished objects. With the GIL.
void reap();

// A buffer with the shape that Python sees. The elements lie one behind the other, the last index
// first.
struct Memory {
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  HeldBuffer buffer;
  HeldDevice device;
  void* host = nullptr;  // where the host sees it; null: it does not
  bool is_mapped = false;
  py::object owner;           // of imported memory
  std::vector<Point> points;  // of work that uses imported memory
  std::string format;         // of an element, as the struct module writes it
  py::ssize_t item_size = 1;  // bytes
  std::vector<py::ssize_t> shape;
  std::vector<py::ssize_t> strides;  // bytes

  uint64_t bytes() const;
  // Work that ends at `point` uses it.
  void note(const Point& point);
};

// Waits for the point, and lets Python handle signals meanwhile. `timeout` in seconds; none:
// infinite.
void wait(const Point& point, const py::object& timeout);

void define_device(py::module_& module);
void define_memory(py::module_& module);
void define_queue(py::module_& module);
// After the others: a call that fits none of a function's definitions raises halyard.WrongType.
void refuse_other_calls(py::module_& module);

// Of queue.cpp, for device.cpp.
py::object make_queue(const HeldDevice& device, HeldQueue queue);
py::object make_semaphore(const HeldDevice& device, HeldSemaphore semaphore);
// Of memory.cpp.
std::unique_ptr<Memory> make_memory(const HeldDevice& device, HeldBuffer buffer, bool map,
                                    py::object owner);

}  // namespace halyard::python
