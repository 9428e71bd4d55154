#include "tools/runner/arguments.h"

#include <fmt/format.h>

#include <optional>

#include "hal/error.h"
#include "hal/text.h"
#include "tools/runner/source_type.h"

namespace halyard::runner {
namespace {

using values::ElementType;
using values::Value;

// "buffer (float*)", "4 bytes by value (int)".
std::string describe(const ArgumentInfo& argument) {
  std::string text;
  switch (argument.kind) {
    case ArgumentKind::kBuffer:
      text = "buffer";
      break;
    case ArgumentKind::kDynamicLds:
      text = "LDS of a size of your choice, lds=BYTES";
      break;
    case ArgumentKind::kValue:
      text = fmt::format("{} bytes by value", argument.size);
      break;
    default:
      text = fmt::format("{}, which is not supported", argument.value_kind);
      break;
  }
  if (!argument.type_name.empty()) text += fmt::format(" ({})", argument.type_name);
  return text;
}

// The form of a value for the argument, for an error.
std::string example(const ArgumentInfo& argument) {
  const auto type = source_type(argument.type_name);
  if (argument.kind == ArgumentKind::kDynamicLds) return "lds=4096";
  if (argument.kind == ArgumentKind::kBuffer) {
    return fmt::format("4x{0}=0 or &4x{0}", to_string(type ? type->element : ElementType::kF32));
  }
  if (type && type->lanes == 1 && byte_size(type->element) == argument.size) {
    return fmt::format("{}=1", to_string(type->element));
  }
  switch (argument.size) {
    case 1:
      return "i8=1";
    case 2:
      return "i16=1 or f16=1";
    case 4:
      return "i32=1 or f32=1";
    case 8:
      return "i64=1 or f64=1";
    default:
      return "{i32=1 f32=2}, bytes=0x… or @file.bin";
  }
}

Status wrong_kind(const std::string& label, const ArgumentInfo& argument, const Value& value) {
  return error(StatusCode::kInvalidArgument,
               "The kernel's argument {} wants {}{}, but {} is given. Write it as {}.", label,
               argument.kind == ArgumentKind::kBuffer ? "a " : "", describe(argument),
               value.describe(), example(argument));
}

Status wrong_type(const std::string& label, const ArgumentInfo& argument, const Value& value,
                  ElementType declared) {
  return error(StatusCode::kInvalidArgument,
               "The kernel's argument {} has the type {}, which takes {}, but {} is given.", label,
               argument.type_name, to_string(declared), value.describe());
}

Status bind_buffer(const std::string& label, const ArgumentInfo& argument, Value& value) {
  const auto declared = source_type(argument.type_name);
  if (value.kind == Value::Kind::kBytes && value.pointers.empty()) {
    const ElementType element = declared ? declared->element : ElementType::kI8;
    const bool divides = value.data.size() % byte_size(element) == 0;
    value.type.element = divides ? element : ElementType::kI8;
    value.type.shape = {value.data.size() / byte_size(value.type.element)};
    value.kind = Value::Kind::kBuffer;
    return {};
  }
  if (value.kind == Value::Kind::kNull) return {};
  if (value.kind != Value::Kind::kBuffer) return wrong_kind(label, argument, value);
  // An .npy file with no dimensions holds one number.
  if (value.type.shape.empty()) value.type.shape = {1};
  if (declared && declared->is_pointer && !is_compatible(value.type.element, declared->element)) {
    return wrong_type(label, argument, value, declared->element);
  }
  return {};
}

// A number without a type is of the argument's. An integer can stand for a float only where the
// compiler kept the type, because its bits would mean something else.
Status bind_number(const std::string& label, const ArgumentInfo& argument, Value& value) {
  const auto declared = source_type(argument.type_name);
  std::optional<ElementType> type;
  if (declared && declared->lanes == 1 && !declared->is_pointer) type = declared->element;
  const bool is_integer = value.text.find_first_not_of("+-0123456789") == std::string::npos;
  if (argument.type_name.empty() && !is_integer && value.text.find('x') == std::string::npos) {
    if (argument.size == 4) type = ElementType::kF32;
    if (argument.size == 8) type = ElementType::kF64;
  }
  if (!type || byte_size(*type) != argument.size) {
    return error(StatusCode::kInvalidArgument,
                 "The kernel's argument {} wants {}, and the file does not say of which type: the "
                 "number ({}) needs one. Write it as {}.",
                 label, describe(argument), value.text, example(argument));
  }
  value.data.resize(argument.size);
  if (const auto trouble = values::parse_element(*type, value.text, value.data.data())) {
    return error(StatusCode::kInvalidArgument, "The kernel's argument {} wants {}: {}.", label,
                 describe(argument), *trouble);
  }
  value.kind = Value::Kind::kScalar;
  value.type = {*type, {}};
  return {};
}

Status bind_value(const std::string& label, const ArgumentInfo& argument, Value& value) {
  if (value.kind == Value::Kind::kNumber) return bind_number(label, argument, value);
  // The one number of an .npy file without dimensions.
  if (value.kind == Value::Kind::kBuffer && value.type.shape.empty())
    value.kind = Value::Kind::kScalar;
  if (value.kind != Value::Kind::kScalar && value.kind != Value::Kind::kBytes) {
    return wrong_kind(label, argument, value);
  }
  if (value.bytes() != argument.size) {
    return error(
        StatusCode::kInvalidArgument,
        "The kernel's argument {} wants {}, but {} is given, which has {} bytes. Write it as "
        "{}.",
        label, describe(argument), value.describe(), value.bytes(), example(argument));
  }
  const auto declared = source_type(argument.type_name);
  if (value.kind == Value::Kind::kBytes || !declared || declared->is_pointer) return {};
  if (declared->lanes != 1 || !is_compatible(value.type.element, declared->element)) {
    return wrong_type(label, argument, value, declared->element);
  }
  return {};
}

}  // namespace

std::string argument_label(const FunctionInfo& function, size_t index) {
  const ArgumentInfo& argument = function.arguments[index];
  return argument.name.empty() ? fmt::format("[{}]", index)
                               : fmt::format("[{}] {}", index, short_name(argument.name));
}

std::string describe_arguments(const FunctionInfo& function) {
  std::string text;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    if (i != 0) text += '\n';
    text += fmt::format("  {}: {}", argument_label(function, i), describe(function.arguments[i]));
  }
  return text;
}

Status bind_arguments(const FunctionInfo& function, std::vector<Value>& values) {
  const size_t count = function.arguments.size();
  if (values.size() != count) {
    return error(StatusCode::kInvalidArgument,
                 "The kernel {} takes {} argument{}, but {} {} given: too {}. Its arguments{}{}",
                 short_name(function.name), count, count == 1 ? "" : "s", values.size(),
                 values.size() == 1 ? "is" : "are", values.size() < count ? "few" : "many",
                 count == 0 ? ": none." : ":\n", describe_arguments(function));
  }
  for (size_t i = 0; i < count; ++i) {
    const ArgumentInfo& argument = function.arguments[i];
    const std::string label = argument_label(function, i);
    switch (argument.kind) {
      case ArgumentKind::kBuffer:
        HALYARD_RETURN_IF_ERROR(bind_buffer(label, argument, values[i]));
        break;
      case ArgumentKind::kValue:
        HALYARD_RETURN_IF_ERROR(bind_value(label, argument, values[i]));
        break;
      case ArgumentKind::kDynamicLds:
        if (values[i].kind != Value::Kind::kLds) return wrong_kind(label, argument, values[i]);
        break;
      default:
        return error(StatusCode::kUnimplemented,
                     "The kernel's argument {} is of the kind {}, which is not supported.", label,
                     argument.value_kind);
    }
  }
  return {};
}

}  // namespace halyard::runner
