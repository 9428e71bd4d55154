#include "text.h"

#include <pybind11/stl.h>

#include <string>

namespace halyard::python {

py::object to_str(const char* text) {
  const std::string_view view = text == nullptr ? std::string_view() : std::string_view(text);
  PyObject* const made =
      PyUnicode_DecodeUTF8(view.data(), static_cast<Py_ssize_t>(view.size()), "surrogateescape");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

py::object to_message(const std::string& text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

std::string describe(py::handle value) {
  const py::object text = py::module_::import("halyard._checks").attr("describe")(value);
  const py::bytes bytes = text.attr("encode")("utf-8", "backslashreplace");
  return bytes;
}

uint64_t whole(const char* what, py::handle value, uint64_t most) {
  const auto refuse = [&](bool is_type, const std::string& shown, const char* how) {
    fail(HALYARD_INVALID_ARGUMENT,
         std::string("The ") + what + " (" + shown + ") is " + how + ". Legal are 0 to " +
             std::to_string(most) + ".",
         is_type);
  };
  PyObject* const index = PyNumber_Index(value.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    refuse(true, describe(value), "not a whole number");
  }
  const auto number = py::reinterpret_steal<py::object>(index);
  const uint64_t converted = PyLong_AsUnsignedLongLong(number.ptr());
  const bool fits = PyErr_Occurred() == nullptr && converted <= most;
  PyErr_Clear();
  if (!fits) refuse(false, describe(number), "out of range");
  return converted;
}

}  // namespace halyard::python

namespace pybind11::detail {

bool type_caster<halyard::python::Text>::load(handle source, bool) {
  object bytes = reinterpret_borrow<object>(source);
  if (PyUnicode_Check(source.ptr()) != 0) {
    bytes = reinterpret_steal<object>(
        PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
    if (!bytes) {
      PyErr_Clear();
      halyard::python::fail(
          HALYARD_INVALID_ARGUMENT,
          "The text (" + halyard::python::describe(source) +
              ") contains half of a character (a surrogate), which no encoding has.");
    }
  }
  if (PyBytes_Check(bytes.ptr()) == 0) return false;
  value.value.assign(PyBytes_AS_STRING(bytes.ptr()),
                     static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  if (value.value.find('\0') != std::string::npos) {
    halyard::python::fail(
        HALYARD_INVALID_ARGUMENT,
        "The text (" + halyard::python::describe(source) +
            ") contains a NUL character. Names, paths, URIs and options have none.");
  }
  return true;
}

handle type_caster<halyard::python::Text>::cast(const halyard::python::Text& text,
                                                return_value_policy, handle) {
  return halyard::python::to_str(text.c_str()).release();
}

}  // namespace pybind11::detail
