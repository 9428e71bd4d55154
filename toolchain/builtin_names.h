// The names of OpenCL C's builtin functions, where compiler and device libraries are of different
// releases.
//
// A builtin's name has its parameters' types in it (Itanium C++ ABI, "Mangling"), and a pointer's
// type its address space, as a vendor's qualifier ("U3AS1" for the target's number 1). Clang up to
// 15 spells the generic one too ("PU3AS0f"); clang 22 leaves it out ("Pf"). Everything else is the
// same.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halyard::toolchain {

// The same name, with the generic address space spelled or not. Nothing for a name that is not made
// of a function's name and the types that builtins have.
std::optional<std::string> respelled(std::string_view name, bool spelled);

// The device libraries' own file of these functions (opencl.bc).
class BuiltinLibrary {
 public:
  explicit BuiltinLibrary(std::span<const std::byte> bitcode)
      : text_(reinterpret_cast<const char*>(bitcode.data()), bitcode.size()) {}

  // The library's name of the function, if it has it only in the other spelling.
  std::optional<std::string> other_name(std::string_view name) const;

 private:
  bool has(std::string_view name) const;

  std::string_view text_;
};

// Whether code that is not linked yet names functions that the library has in the other spelling.
bool needs_other_names(std::span<const std::byte> object, const BuiltinLibrary& library);

// LLVM IR as text, with the library's names for the functions that it declares.
std::string with_names_of(const BuiltinLibrary& library, std::string_view ir);

}  // namespace halyard::toolchain
