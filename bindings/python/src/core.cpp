#include "core.h"

#include <cmath>

namespace halyard::python {

void check(halyard_error* error) {
  if (error == nullptr) return;
  CodeError thrown = {halyard_error_code(error), halyard_error_message(error)};
  halyard_error_free(error);
  throw thrown;
}

bool Point::is_over() const {
  halyard_error* const error = halyard_semaphore_wait(semaphore.get(), value, HALYARD_POLL);
  const bool is_over = halyard_error_code(error) != HALYARD_DEADLINE_EXCEEDED;
  halyard_error_free(error);
  return is_over;
}

namespace {

struct Kept {
  host::internal::BufferHandle buffer;
  py::object owner;
  std::vector<Point> points;
};

// Never destroyed: at the end of the process work may be in flight.
std::vector<Kept>& all_kept() {
  static auto* const kept = new std::vector<Kept>;
  return *kept;
}

}  // namespace

void keep(host::internal::BufferHandle buffer, py::object owner, std::vector<Point> points) {
  all_kept().push_back({std::move(buffer), std::move(owner), std::move(points)});
  reap();
}

void reap() {
  std::vector<Kept> over;
  std::vector<Kept>& kept = all_kept();
  for (size_t i = 0; i < kept.size();) {
    bool is_over = true;
    for (const Point& point : kept[i].points) is_over = is_over && point.is_over();
    if (!is_over) {
      ++i;
      continue;
    }
    over.push_back(std::move(kept[i]));
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // An owner's end may run Python, which may come back here: the list is in order by now.
  for (Kept& entry : over) {
    {
      const Held<host::internal::BufferHandle> buffer(std::move(entry.buffer));
    }
    entry.owner = py::object();
  }
}

void wait(const Point& point, const py::object& timeout) {
  constexpr uint64_t kSlice = 50'000'000;  // ns between two looks for signals
  uint64_t deadline = HALYARD_FOREVER;
  if (!timeout.is_none()) {
    const double seconds = PyFloat_AsDouble(timeout.ptr());
    const bool is_number = PyErr_Occurred() == nullptr;
    PyErr_Clear();
    if (!is_number || std::isnan(seconds)) {
      fail(HALYARD_INVALID_ARGUMENT,
           "The timeout (" + describe(timeout) +
               ") is not a number of seconds. Legal are numbers, and None to wait for "
               "ever.",
           !is_number);
    }
    // Half of the clock's range is for ever, too.
    if (!(seconds > 0)) {
      deadline = HALYARD_POLL;
    } else if (seconds < 9e9) {
      deadline = halyard_deadline_after(static_cast<uint64_t>(seconds * 1e9));
    }
  }
  while (true) {
    const uint64_t slice = std::min(deadline, halyard_deadline_after(kSlice));
    halyard_error* error = nullptr;
    {
      const ReleasedGil released;
      error = halyard_semaphore_wait(point.semaphore.get(), point.value, slice);
    }
    if (halyard_error_code(error) != HALYARD_DEADLINE_EXCEEDED || slice == deadline) {
      reap();
      check(error);
      return;
    }
    halyard_error_free(error);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

}  // namespace halyard::python

PYBIND11_MODULE(_core, module) {
  namespace python = halyard::python;
  module.doc() = "What the package halyard needs of Halyard's C interface. Use halyard instead.";
  // pybind11 wants a function of this very type.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  pybind11::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const python::CodeError& e) {
      const pybind11::module_ errors = pybind11::module_::import("halyard._errors");
      const pybind11::object message = python::to_message(e.message);
      const pybind11::object error =
          e.is_type ? errors.attr("WrongType")(message)
                    : errors.attr("make_error")(static_cast<int>(e.code), message);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    }
  });
  python::define_memory(module);
  python::define_queue(module);
  python::define_device(module);
  module.def("end", &python::end_acquisitions);
  python::refuse_other_calls(module);
}
