// Calls with arguments that fit no definition of a function: an error of Halyard's, not pybind11's.
#include <cstdlib>
#include <cstring>
#include <string>

#include "core.h"

namespace halyard::python {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
}

// "(value: int)" of "signal(self: halyard._core.Semaphore, value: int) -> None\n…".
std::string parameters_of(const std::string& documentation) {
  const std::string line = documentation.substr(0, documentation.find('\n'));
  const size_t begin = line.find('(');
  const size_t end = line.rfind(") ->");
  if (begin == std::string::npos || end == std::string::npos) return "()";
  std::string parameters = line.substr(begin + 1, end - begin - 1);
  if (parameters.rfind("self: ", 0) == 0) {
    const size_t next = parameters.find(", ");
    parameters = next == std::string::npos ? "" : parameters.substr(next + 2);
  }
  replace_all(parameters, "halyard._core.Memory", "Array");
  replace_all(parameters, "halyard._core.", "");
  return "(" + parameters + ")";
}

std::string list_of(const py::args& arguments, const py::kwargs& named, bool is_method) {
  std::string text;
  for (size_t i = is_method ? 1 : 0; i < arguments.size(); ++i) {
    text += (text.empty() ? "" : ", ") + describe(arguments[i]);
  }
  for (const auto& [name, value] : named) {
    text += (text.empty() ? "" : ", ") + py::str(name).cast<std::string>() + "=" + describe(value);
  }
  return "(" + text + ")";
}

// Adds a last definition of the function, which takes anything.
void refuse_other_calls_of(const py::handle& scope, const char* name, const std::string& qualified,
                           const py::object& function) {
  const bool is_method = PyType_Check(scope.ptr()) != 0;
  const py::handle bare = py::detail::get_function(function);
  if (PyCFunction_Check(bare.ptr()) == 0) return;
  PyMethodDef* const definition = reinterpret_cast<PyCFunctionObject*>(bare.ptr())->m_ml;
  const std::string documentation = definition->ml_doc == nullptr ? "" : definition->ml_doc;
  const std::string parameters = parameters_of(documentation);
  const auto refuse = [qualified, parameters, is_method](const py::args& arguments,
                                                         const py::kwargs& named) -> py::object {
    fail(HALYARD_INVALID_ARGUMENT,
         qualified + " takes " + parameters + "; the call gives " +
             list_of(arguments, named, is_method) + ".",
         true);
  };
  const py::object last =
      is_method
          ? py::cpp_function(refuse, py::name(name), py::is_method(scope), py::sibling(function))
          : py::cpp_function(refuse, py::name(name), py::scope(scope), py::sibling(function));
  scope.attr(name) = last;
  // pybind11 describes both definitions; help() shows the first one, as before.
  std::free(const_cast<char*>(definition->ml_doc));
  definition->ml_doc = strdup(documentation.c_str());
}

}  // namespace

void refuse_other_calls(py::module_& module) {
  const py::dict members = py::reinterpret_borrow<py::dict>(PyModule_GetDict(module.ptr()));
  for (const auto& [name, member] :
       py::list(members.attr("items")()).cast<std::vector<std::pair<std::string, py::object>>>()) {
    if (PyCFunction_Check(member.ptr()) != 0) {
      refuse_other_calls_of(module, name.c_str(), name, member);
      continue;
    }
    if (PyType_Check(member.ptr()) == 0) continue;
    const py::dict own(member.attr("__dict__"));
    for (const auto& [method_name, method] :
         py::list(own.attr("items")()).cast<std::vector<std::pair<std::string, py::object>>>()) {
      if (method_name.rfind("__", 0) == 0 || !py::isinstance<py::function>(method)) continue;
      const std::string shown = (name == "Memory" ? "Array" : name) + "." + method_name;
      refuse_other_calls_of(member, method_name.c_str(), shown, method);
    }
  }
}

}  // namespace halyard::python
