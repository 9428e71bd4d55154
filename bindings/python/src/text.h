// Text and numbers that Python gives to the C interface, and text that comes back.
#pragma once

#include <halyard/halyard.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>

namespace halyard::python {

namespace py = pybind11;

// Becomes halyard.Error, or the subclass of it that fits the code.
struct CodeError {
  halyard_code code;
  std::string message;
  bool is_type = false;  // halyard.WrongType
};

[[noreturn]] inline void fail(halyard_code code, std::string message, bool is_type = false) {
  throw CodeError{code, std::move(message), is_type};
}

// Text for the C interface, as a function's parameter: str (surrogates stand for bytes that are not
// UTF-8, as in os.fsdecode), or the bytes of a path. Without NUL, where C ends a text.
struct Text {
  std::string value;
  const char* c_str() const { return value.c_str(); }
};

// Text of the C interface for Python; bytes that are not UTF-8 become surrogates, so that the way
// back gives the same bytes.
py::object to_str(const char* text);
// A message, which is only to be read: such bytes become \xNN.
py::object to_message(const std::string& text);

// What a caller gave, for a message: "'x' (str)".
std::string describe(py::handle value);
// A whole number from 0 to `most`. `what` names it in a message.
uint64_t whole(const char* what, py::handle value, uint64_t most = UINT64_MAX);

}  // namespace halyard::python

template <>
struct pybind11::detail::type_caster<halyard::python::Text> {
  PYBIND11_TYPE_CASTER(halyard::python::Text, const_name("str"));
  bool load(handle source, bool convert);
  static handle cast(const halyard::python::Text& text, return_value_policy policy, handle parent);
};
