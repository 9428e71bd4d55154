// The names of types that a compiler keeps for a kernel's arguments (OpenCL's "float4*"), as
// element types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/values/element_type.h"

namespace halyard::runner {

struct SourceType {
  values::ElementType element = values::ElementType::kU8;
  uint32_t lanes = 1;  // of a vector type
  bool is_pointer = false;
};

// Nothing for a type that is no number, vector of numbers, or pointer to one: void*, structs.
std::optional<SourceType> source_type(std::string_view name);

// Whether elements of type `given` may stand where `declared` is: the same type, or integers of
// the same size, as their bits are the same.
bool is_compatible(values::ElementType given, values::ElementType declared) noexcept;

}  // namespace halyard::runner
