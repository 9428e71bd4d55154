// Queues, the ends of their work, semaphores and host functions.
#include <algorithm>

#include "core.h"

namespace halyard::python {
namespace {

struct Future {
  Point point;
};

struct Semaphore {
  HeldDevice device;
  HeldSemaphore handle;
};

struct Lds {
  uint32_t bytes = 0;
};

// A function of an executable, which it keeps.
struct Function {
  HeldExecutable executable;
  halyard_function* handle = nullptr;
};

// What an operation uses of Python's objects.
struct Operands {
  std::vector<Memory*> memory;
};

class Queue {
 public:
  Queue(const HeldDevice& device, HeldQueue queue) : device_(device), queue_(std::move(queue)) {
    check(halyard_device_create_semaphore(device.get(), 0, semaphore_.out()));
  }

  // Submits with the next point of this queue's own timeline as its signal; without the GIL, as the
  // queue may be full of work whose host functions want it.
  template <typename Operation>
  Future submit(const std::vector<Memory*>& operands, const py::object& after,
                Operation&& operation) {
    std::vector<halyard_point> waits;
    std::vector<Point> waited;
    if (!after.is_none()) {
      for (const py::handle item : after) waited.push_back(item.cast<const Future&>().point);
    }
    for (const Point& point : waited) waits.push_back({point.semaphore.get(), point.value});
    Future future = {{semaphore_.handle(), 0}};
    unlocked([&]() -> halyard_error* {
      std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock.owns_lock()) {
        // In a child of fork() the lock's owner may not exist: then this is an error.
        if (halyard_error* const error = halyard_queue_fault(queue_.get())) return error;
        lock.lock();
      }
      const halyard_point signal = {semaphore_.get(), last_ + 1};
      const halyard_sync sync = {waits.data(), waits.size(), &signal, 1};
      halyard_error* const error = operation(queue_.get(), &sync);
      if (error == nullptr) future.point.value = ++last_;
      return error;
    });
    for (Memory* memory : operands) memory->note(future.point);
    reap();
    return future;
  }

  halyard_queue* get() const { return queue_.get(); }
  const HeldDevice& device() const { return device_; }

 private:
  HeldDevice device_;
  HeldQueue queue_;
  HeldSemaphore semaphore_;
  std::mutex mutex_;
  uint64_t last_ = 0;
};

using Extent = std::array<uint32_t, 3>;

// `arguments`: for each of the function's a Memory, bytes (a value), an int (an address) or Lds.
// `uses`: each Memory that the kernel reaches through an address in a value.
Future launch(Queue& queue, const Function& function, const Extent& grid, const Extent& block,
              uint32_t lds, const py::list& arguments, const std::vector<Memory*>& uses,
              const py::object& after) {
  std::vector<halyard_argument> list;
  std::vector<halyard_range> used;
  std::vector<Memory*> operands;
  for (const py::handle argument : arguments) {
    if (py::isinstance<Memory>(argument)) {
      auto* const memory = argument.cast<Memory*>();
      operands.push_back(memory);
      list.push_back(halyard_buffer_argument(halyard_whole(memory->buffer.get())));
    } else if (py::isinstance<py::bytes>(argument)) {
      list.push_back(halyard_value(PyBytes_AS_STRING(argument.ptr()),
                                   static_cast<uint32_t>(PyBytes_GET_SIZE(argument.ptr()))));
    } else if (py::isinstance<Lds>(argument)) {
      list.push_back(halyard_dynamic_lds(argument.cast<const Lds&>().bytes));
    } else {
      list.push_back(halyard_address(argument.cast<uint64_t>()));
    }
  }
  for (Memory* const memory : uses) {
    operands.push_back(memory);
    used.push_back(halyard_whole(memory->buffer.get()));
  }
  auto dispatch = host::internal::with_size<halyard_dispatch>();
  dispatch.function = function.handle;
  dispatch.grid = {grid[0], grid[1], grid[2]};
  dispatch.workgroup = {block[0], block[1], block[2]};
  dispatch.dynamic_lds_bytes = lds;
  dispatch.arguments = list.data();
  dispatch.argument_count = list.size();
  dispatch.uses = used.data();
  dispatch.use_count = used.size();
  return queue.submit(operands, after, [&](halyard_queue* handle, const halyard_sync* sync) {
    return halyard_queue_dispatch(handle, &dispatch, sync);
  });
}

// The functions below call Python. pthread_exit may end them there (gil.h), so nothing in their
// frames needs a destructor but the last object.

PyObject* call_function(PyObject* function) {
  SleepsIfUnwound frame;
  PyObject* const result = PyObject_CallObject(function, nullptr);
  Py_XDECREF(result);
  frame.returned();
  return result;  // null, or not: the object may be gone
}

// The text of the exception, which is over then; null if there is none.
PyObject* take_exception() {
  SleepsIfUnwound frame;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  PyObject* const errors = PyImport_ImportModule("halyard._errors");
  PyObject* text = nullptr;
  if (errors != nullptr) text = PyObject_CallMethod(errors, "describe_exception", "O", value);
  PyErr_Clear();
  Py_XDECREF(errors);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  frame.returned();
  return text;
}

halyard_error* run(PyObject* function) {
  if (call_function(function) != nullptr) return nullptr;
  PyObject* const text = take_exception();
  const char* const words = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
  PyErr_Clear();
  halyard_error* const error = halyard_error_create(
      HALYARD_UNKNOWN, words != nullptr ? words : "The function raises an exception.");
  Py_XDECREF(text);
  return error;
}

// A Python function in queue order. `context` is borrowed: the queue's end of it is kept.
void call_python(void* context, halyard_completion* completion) {
  const HostCall call(completion);
  halyard_error* error = nullptr;
  {
    const AcquiredGil gil;
    error = gil.entered() ? run(static_cast<PyObject*>(context)) : python_has_ended();
  }
  halyard_completion_complete(completion, error);
}

Future host_call(Queue& queue, const py::object& function, const py::object& after) {
  Future future = queue.submit({}, after, [&](halyard_queue* handle, const halyard_sync* sync) {
    return halyard_queue_host_call_deferred(handle, &call_python, function.ptr(), sync);
  });
  keep({}, function, {future.point});
  return future;
}

py::dict argument_info(const halyard_argument_info& info) {
  py::dict dict;
  dict["kind"] = static_cast<int>(info.kind);
  dict["offset"] = info.offset;
  dict["size"] = info.size;
  dict["name"] = to_str(info.name);
  dict["type_name"] = to_str(info.type_name);
  dict["value_kind"] = to_str(info.value_kind);
  return dict;
}

py::dict function_info(const Function& function) {
  const auto info = read<halyard_function_info>(&halyard_function_get_info, function.handle);
  py::list arguments;
  for (uint32_t i = 0; i < info.argument_count; ++i) {
    const auto argument =
        read<halyard_argument_info>(&halyard_function_argument, function.handle, i);
    arguments.append(argument_info(argument));
  }
  py::dict dict;
  dict["name"] = to_str(info.name);
  dict["arguments"] = arguments;
  dict["kernarg_size"] = info.kernarg_size;
  dict["group_segment_size"] = info.group_segment_size;
  dict["private_segment_size"] = info.private_segment_size;
  dict["sgpr_count"] = info.sgpr_count;
  dict["vgpr_count"] = info.vgpr_count;
  dict["agpr_count"] = info.agpr_count;
  dict["wavefront_size"] = info.wavefront_size;
  dict["max_workgroup_size"] = info.max_workgroup_size;
  dict["required_workgroup_size"] =
      py::make_tuple(info.required_workgroup_size.x, info.required_workgroup_size.y,
                     info.required_workgroup_size.z);
  return dict;
}

// With `group` 0 of the group with which most work-items run at once.
py::dict residency(const Function& function, uint32_t group, uint32_t lds) {
  auto found = host::internal::with_size<halyard_residency>();
  check(group == 0 ? halyard_function_suggest_workgroup_size(function.handle, lds, &found)
                   : halyard_function_residency(function.handle, group, lds, &found));
  py::dict dict;
  dict["workgroup_size"] = found.workgroup_size;
  dict["groups_per_compute_unit"] = found.groups_per_compute_unit;
  dict["waves_per_simd"] = found.waves_per_simd;
  dict["max_waves_per_simd"] = found.max_waves_per_simd;
  dict["groups"] = found.groups;
  return dict;
}

py::bytes export_semaphore(const Semaphore& semaphore) {
  const auto exported = read_unlocked<halyard_exported_semaphore>(
      &halyard_device_export_semaphore, semaphore.device.get(), semaphore.handle.get());
  return py::bytes(reinterpret_cast<const char*>(exported.ipc), sizeof exported.ipc);
}

// Memory of the pool for work of the queue behind this.
std::unique_ptr<Memory> allocate(Queue& queue, const Pool& pool, uint64_t size) {
  auto options = host::internal::with_size<halyard_buffer_options>();
  options.pool = pool.handle.get();
  HeldBuffer buffer;
  queue.submit({}, py::none(), [&](halyard_queue* handle, const halyard_sync* sync) {
    return halyard_queue_alloca(handle, size, &options, sync, buffer.out());
  });
  return make_memory(queue.device(), std::move(buffer), pool.memory_type != HALYARD_MEMORY_DEVICE,
                     py::object());
}

}  // namespace

py::object make_queue(const HeldDevice& device, HeldQueue queue) {
  return py::cast(std::make_unique<Queue>(device, std::move(queue)));
}

py::object make_semaphore(const HeldDevice& device, HeldSemaphore semaphore) {
  auto made = std::make_unique<Semaphore>();
  made->device = HeldDevice(device);
  made->handle = std::move(semaphore);
  return py::cast(std::move(made));
}

void define_queue(py::module_& module) {
  py::class_<Lds>(module, "Lds", "LDS for a kernel argument that points into it (OpenCL's local).")
      .def(py::init([](const py::object& bytes) {
             const uint64_t size = whole("number of bytes of LDS", bytes, UINT32_MAX);
             return Lds{static_cast<uint32_t>(size)};
           }),
           py::arg("bytes"))
      .def(py::init([](const py::args&, const py::kwargs&) -> Lds {
        fail(HALYARD_INVALID_ARGUMENT, "Lds takes (bytes: int).", true);
      }))
      .def_readonly("bytes", &Lds::bytes, "Bytes of LDS.");

  py::class_<Future>(module, "Future",
                     "The end of an operation of a queue, and of all that came before it. Dropping "
                     "it waits for nothing.")
      .def(py::init([](const py::args&, const py::kwargs&) -> Future {
        fail(HALYARD_INVALID_ARGUMENT,
             "A Future is not constructed: an operation of a queue returns it.", true);
      }))
      .def(
          "wait", [](const Future& f, const py::object& timeout) { wait(f.point, timeout); },
          py::arg("timeout") = py::none(),
          "Waits until the work is done, without the GIL; Ctrl-C ends the wait. timeout: seconds, "
          "or None for ever. Raises the work's Error, or DeadlineExceeded.")
      .def_property_readonly(
          "done", [](const Future& f) { return f.point.is_over(); },
          "Whether the work is done, or has failed. Does not wait.");

  py::class_<Semaphore>(module, "Semaphore",
                        "A timeline: a 64-bit value that only grows. Queues and the host wait for "
                        "values, and signal them.")
      .def(py::init([](const py::args&, const py::kwargs&) -> std::unique_ptr<Semaphore> {
        fail(HALYARD_INVALID_ARGUMENT,
             "A Semaphore is not constructed: Device.semaphore() returns it.", true);
      }))
      .def_property_readonly(
          "value",
          [](const Semaphore& s) {
            uint64_t value = 0;
            check(halyard_semaphore_query(s.handle.get(), &value));
            return value;
          },
          "The value reached so far. Raises the failure, if the semaphore has failed.")
      .def(
          "signal",
          [](const Semaphore& s, const py::object& value) {
            const uint64_t number = whole("value of a semaphore", value);
            unlocked([&] { return halyard_semaphore_signal(s.handle.get(), number); });
          },
          py::arg("value"), "Reaches a value, from the host.")
      .def(
          "fail",
          [](const Semaphore& s, const Text& message) {
            unlocked([&] {
              return halyard_semaphore_fail(s.handle.get(), HALYARD_ABORTED, message.c_str());
            });
          },
          py::arg("message"), "Fails for good: each wait gets an Error with this message.")
      .def(
          "at",
          [](const Semaphore& s, const py::object& value) {
            return Future{{s.handle.handle(), whole("value of a semaphore", value)}};
          },
          py::arg("value"), "A Future that is done when the value is reached.")
      .def(
          "wait",
          [](const Semaphore& s, const py::object& value, const py::object& timeout) {
            wait({s.handle.handle(), whole("value of a semaphore", value)}, timeout);
          },
          py::arg("value"), py::arg("timeout") = py::none(),
          "Waits for a value, as Future.wait does.")
      .def("export", &export_semaphore,
           "A handle of 64 bytes for another process: Device.import_semaphore. Each process has a "
           "semaphore of its own then, of one timeline.");

  py::class_<Function>(module, "Function")
      .def_property_readonly("info", &function_info)
      .def("residency", &residency);

  py::class_<HeldExecutable>(module, "Executable")
      .def_property_readonly("names",
                             [](const HeldExecutable& e) {
                               py::list names;
                               const size_t count = halyard_executable_function_count(e.get());
                               for (size_t i = 0; i < count; ++i) {
                                 halyard_function* function = nullptr;
                                 check(halyard_executable_function(e.get(), i, &function));
                                 const auto info = read<halyard_function_info>(
                                     &halyard_function_get_info, function);
                                 names.append(to_str(info.name));
                               }
                               return names;
                             })
      .def_property_readonly("info",
                             [](const HeldExecutable& e) {
                               const auto info = read<halyard_executable_info>(
                                   &halyard_executable_get_info, e.get());
                               return py::make_tuple(to_str(info.target), info.code_object_version);
                             })
      .def("find",
           [](const HeldExecutable& e, const Text& name) {
             Function function = {HeldExecutable(e), nullptr};
             check(halyard_executable_find(e.get(), name.c_str(), &function.handle));
             return function;
           })
      .def("global_variable", [](const HeldExecutable& e, const Text& name) {
        const auto info =
            read<halyard_global_info>(&halyard_executable_global, e.get(), name.c_str());
        return py::make_tuple(info.device_address, info.size);
      });

  py::class_<Queue>(module, "Queue")
      .def("launch", &launch)
      .def("allocate", &allocate)
      .def_property_readonly("id", [](const Queue& queue) { return halyard_queue_id(queue.get()); })
      .def("host_call", &host_call)
      .def("update",
           [](Queue& queue, Memory& target, const py::buffer& source, const py::object& after) {
             const py::buffer_info info = source.request();
             const auto size = static_cast<uint64_t>(info.size * info.itemsize);
             const std::vector<Memory*> operands = {&target};
             return queue.submit(
                 operands, after, [&](halyard_queue* handle, const halyard_sync* sync) {
                   return halyard_queue_update(handle, halyard_part(target.buffer.get(), 0, size),
                                               info.ptr, size, sync);
                 });
           })
      .def(
          "copy",
          [](Queue& queue, Memory& source, Memory& target, uint64_t size, const py::object& after) {
            const std::vector<Memory*> operands = {&source, &target};
            return queue.submit(
                operands, after, [&](halyard_queue* handle, const halyard_sync* sync) {
                  return halyard_queue_copy(handle, halyard_part(source.buffer.get(), 0, size),
                                            halyard_part(target.buffer.get(), 0, size), sync);
                });
          })
      .def("fill",
           [](Queue& queue, Memory& target, const std::string& pattern, uint64_t size,
              const py::object& after) {
             const std::vector<Memory*> operands = {&target};
             return queue.submit(
                 operands, after, [&](halyard_queue* handle, const halyard_sync* sync) {
                   return halyard_queue_fill(handle, halyard_part(target.buffer.get(), 0, size),
                                             pattern.data(), static_cast<uint32_t>(pattern.size()),
                                             sync);
                 });
           })
      .def("prefetch",
           [](Queue& queue, Memory& memory, bool to_host, const py::object& after) {
             const std::vector<Memory*> operands = {&memory};
             return queue.submit(
                 operands, after, [&](halyard_queue* handle, const halyard_sync* sync) {
                   return halyard_queue_prefetch(
                       handle, halyard_whole(memory.buffer.get()),
                       to_host ? HALYARD_PREFETCH_TO_HOST : HALYARD_PREFETCH_TO_DEVICE, sync);
                 });
           })
      .def("barrier",
           [](Queue& queue, const py::object& after) {
             return queue.submit({}, after, [](halyard_queue* handle, const halyard_sync* sync) {
               return halyard_queue_barrier(handle, sync);
             });
           })
      .def("abandon",
           [](Queue& queue) { unlocked([&] { return halyard_queue_abandon(queue.get()); }); })
      .def("fault",
           [](Queue& queue) { unlocked([&] { return halyard_queue_fault(queue.get()); }); })
      .def_property_readonly("native_handle", [](const Queue& queue) {
        return reinterpret_cast<uintptr_t>(halyard_queue_native_handle(queue.get()));
      });
}

}  // namespace halyard::python
