// Kernel and Executable, and what a launch gives to a kernel.
#ifndef HALYARD_CPP_KERNEL_HPP
#define HALYARD_CPP_KERNEL_HPP

#include <halyard/halyard.h>
#include <halyard/cpp/error.hpp>
#include <halyard/cpp/handle.hpp>
#include <halyard/cpp/memory.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace halyard::host {

// Kernel arguments that are neither a value nor an Array or Buffer.
struct DeviceAddress {
  uint64_t value = 0;  // not checked; the memory is not kept alive
};
struct Lds {
  uint32_t bytes = 0;  // for an argument that points into LDS (OpenCL's local)
};

// A value with addresses of memory in it (Array::device_address), such as a struct that a kernel
// takes by value. The memory lives until the work is done. Made by with_memory, for one launch.
template <typename T, size_t N>
  requires std::is_trivially_copyable_v<T>
struct ValueWithMemory {
  const T& value;
  std::array<halyard_range, N> uses;
};
namespace internal {
template <typename T>
halyard_range whole_of(const Array<T>& array) noexcept {
  return halyard_whole(array.buffer().handle());
}
inline halyard_range whole_of(const Buffer& buffer) noexcept {
  return halyard_whole(buffer.handle());
}
}  // namespace internal
// queue.launch(kernel, {n}, {64}, with_memory(descriptor, array, buffer), n)
template <typename T, typename... Memories>
ValueWithMemory<T, sizeof...(Memories)> with_memory(const T& value, const Memories&... memory) {
  return {value, {internal::whole_of(memory)...}};
}

// A number of work-items in up to three dimensions: {n}, {width, height}.
struct Extent {
  uint64_t x = 1;
  uint64_t y = 1;
  uint64_t z = 1;
  template <std::integral X, std::integral Y = uint32_t, std::integral Z = uint32_t>
  Extent(X x_size, Y y_size = 1, Z z_size = 1) noexcept  // NOLINT(google-explicit-constructor)
      : x(static_cast<uint64_t>(x_size)),
        y(static_cast<uint64_t>(y_size)),
        z(static_cast<uint64_t>(z_size)) {}
};

// A function of an Executable, with its arguments as in the metadata. A default-constructed or
// moved-from Kernel is empty.
class Kernel {
 public:
  struct Parameter {
    halyard_argument_kind kind = HALYARD_ARGUMENT_VALUE;
    uint32_t size = 0;      // bytes
    std::string name;       // empty if the compiler kept none
    std::string type_name;  // "float*"; empty if the compiler kept none
  };

  // INVALID_ARGUMENT if empty; without exceptions no name and no parameters.
  const std::string& name() const {
    internal::require(facts_.get(), "Kernel::name", "Kernel");
    return facts().name;
  }
  const std::vector<Parameter>& parameters() const {
    internal::require(facts_.get(), "Kernel::parameters", "Kernel");
    return facts().parameters;
  }
  // Null if empty.
  halyard_function* handle() const noexcept {
    return facts_ != nullptr ? facts_->function : nullptr;
  }

  // How many groups of `group` work-items with `lds` bytes of dynamic LDS the device can run at
  // once. UNIMPLEMENTED for an unknown processor.
  Result<halyard_residency> try_residency(uint32_t group, uint32_t lds = 0) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Kernel::residency", "Kernel"));
    auto residency = internal::with_size<halyard_residency>();
    HALYARD_HOST_TRY(halyard_function_residency(handle(), group, lds, &residency));
    return residency;
  }
  // The same for the group size with the most resident work-items.
  Result<halyard_residency> try_suggest_group(uint32_t lds = 0) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Kernel::suggest_group", "Kernel"));
    auto residency = internal::with_size<halyard_residency>();
    HALYARD_HOST_TRY(halyard_function_suggest_workgroup_size(handle(), lds, &residency));
    return residency;
  }
#if defined(HALYARD_HOST_EXCEPTIONS)
  halyard_residency residency(uint32_t group, uint32_t lds = 0) const {
    return try_residency(group, lds).value();
  }
  halyard_residency suggest_group(uint32_t lds = 0) const { return try_suggest_group(lds).value(); }
#endif

 private:
  friend class Executable;
  struct Facts {
    internal::ExecutableHandle executable;  // which the function is a part of
    halyard_function* function = nullptr;
    std::string name;
    std::vector<Parameter> parameters;
  };
  const Facts& facts() const {
    static const Facts nothing;
    return facts_ != nullptr ? *facts_ : nothing;
  }
  std::shared_ptr<const Facts> facts_;
};

class Executable {
 public:
  explicit Executable(internal::ExecutableHandle handle) noexcept : handle_(std::move(handle)) {}

  // NOT_FOUND lists the existing names.
  Result<Kernel> try_kernel(const char* name) const {
    HALYARD_HOST_TRY(internal::check_object(handle(), "Executable::kernel", "Executable"));
    auto facts = std::make_shared<Kernel::Facts>();
    facts->executable = handle_;
    HALYARD_HOST_TRY(halyard_executable_find(handle_.get(), name, &facts->function));
    auto info = internal::with_size<halyard_function_info>();
    HALYARD_HOST_TRY(halyard_function_get_info(facts->function, &info));
    facts->name = info.name;
    for (uint32_t i = 0; i < info.argument_count; ++i) {
      auto argument = internal::with_size<halyard_argument_info>();
      HALYARD_HOST_TRY(halyard_function_argument(facts->function, i, &argument));
      facts->parameters.push_back(
          {argument.kind, argument.size, argument.name, argument.type_name});
    }
    Kernel kernel;
    kernel.facts_ = std::move(facts);
    return kernel;
  }
  // INVALID_ARGUMENT if the Executable was moved from; without exceptions no names.
  std::vector<std::string> kernel_names() const {
    internal::require(handle(), "Executable::kernel_names", "Executable");
    std::vector<std::string> names;
    const size_t count = halyard_executable_function_count(handle_.get());
    for (size_t i = 0; i < count; ++i) {
      halyard_function* function = nullptr;
      auto info = internal::with_size<halyard_function_info>();
      if (!Status(halyard_executable_function(handle_.get(), i, &function)).ok()) break;
      if (!Status(halyard_function_get_info(function, &info)).ok()) break;
      names.emplace_back(info.name);
    }
    return names;
  }
  halyard_executable* handle() const noexcept { return handle_.get(); }
#if defined(HALYARD_HOST_EXCEPTIONS)
  Kernel kernel(const char* name) const { return try_kernel(name).value(); }
#endif

 private:
  internal::ExecutableHandle handle_;
};

namespace internal {

// A launch's argument for the C interface; refers to `value`.
template <typename T>
halyard_argument to_argument(const T& value) {
  static_assert(!std::is_pointer_v<T>,
                "A kernel cannot use a host pointer: give an Array, a Buffer, or a DeviceAddress.");
  static_assert(
      std::is_trivially_copyable_v<T>,
      "A kernel argument is an Array, a Buffer, a DeviceAddress, Lds, nullptr, or a value "
      "of a trivially copyable type.");
  return halyard_value(&value, sizeof(T));
}
template <typename T>
halyard_argument to_argument(const Array<T>& array) {
  return halyard_buffer_argument(halyard_whole(array.buffer().handle()));
}
inline halyard_argument to_argument(const Buffer& buffer) {
  return halyard_buffer_argument(halyard_whole(buffer.handle()));
}
inline halyard_argument to_argument(const DeviceAddress& address) {
  return halyard_address(address.value);
}
inline halyard_argument to_argument(const std::nullptr_t&) {
  return halyard_address(0);
}
inline halyard_argument to_argument(const Lds& lds) {
  return halyard_dynamic_lds(lds.bytes);
}
template <typename T, size_t N>
halyard_argument to_argument(const ValueWithMemory<T, N>& argument) {
  return halyard_value(&argument.value, sizeof(T));
}

// Adds the memory that an argument has the address of.
template <typename T>
void add_uses(const T&, std::vector<halyard_range>&) {}
template <typename T, size_t N>
void add_uses(const ValueWithMemory<T, N>& argument, std::vector<halyard_range>& uses) {
  uses.insert(uses.end(), argument.uses.begin(), argument.uses.end());
}

inline const char* name_of(halyard_argument_kind kind) {
  switch (kind) {
    case HALYARD_ARGUMENT_VALUE:
      return "a value";
    case HALYARD_ARGUMENT_BUFFER:
      return "memory (an Array, a Buffer, a DeviceAddress or nullptr)";
    case HALYARD_ARGUMENT_DYNAMIC_LDS:
      return "Lds";
    default:
      return "something that a launch cannot give";
  }
}

// Checks the arguments against the kernel's metadata: their number, kinds and sizes.
inline Status check_arguments(const Kernel& kernel, std::span<const halyard_argument> arguments) {
  HALYARD_HOST_TRY(check_given(kernel.handle(), "Queue::launch", "Kernel"));
  const auto& parameters = kernel.parameters();
  if (arguments.size() != parameters.size()) {
    return {HALYARD_INVALID_ARGUMENT,
            "Kernel \"" + kernel.name() + "\" takes " + std::to_string(parameters.size()) +
                " arguments; the launch gives " + std::to_string(arguments.size()) + "."};
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Kernel::Parameter& parameter = parameters[i];
    const halyard_argument& argument = arguments[i];
    const bool is_sized = argument.kind == HALYARD_ARGUMENT_VALUE;
    if (argument.kind == HALYARD_ARGUMENT_BUFFER && !argument.is_address &&
        argument.range.buffer == nullptr) {
      return {HALYARD_INVALID_ARGUMENT,
              "Queue::launch is given an empty Array or Buffer for argument " + std::to_string(i) +
                  " of kernel \"" + kernel.name() +
                  "\": it was moved from, or never had a value. Pass the object that it was moved "
                  "to, or nullptr for a null pointer."};
    }
    if (argument.kind == parameter.kind && (!is_sized || argument.size == parameter.size)) continue;
    std::string which = "Argument " + std::to_string(i);
    if (!parameter.name.empty()) which += " (" + parameter.name + ")";
    which += " of kernel \"" + kernel.name() + "\" is " + name_of(parameter.kind);
    if (parameter.kind == HALYARD_ARGUMENT_VALUE)
      which += " of " + std::to_string(parameter.size) + " bytes";
    if (!parameter.type_name.empty()) which += " (" + parameter.type_name + ")";
    which += std::string("; the launch gives ") + name_of(argument.kind);
    if (is_sized) which += " of " + std::to_string(argument.size) + " bytes";
    return {HALYARD_INVALID_ARGUMENT, which + "."};
  }
  return {};
}

inline Status to_dim3(const char* what, const Extent& extent, halyard_dim3* converted) {
  if (extent.x <= UINT32_MAX && extent.y <= UINT32_MAX && extent.z <= UINT32_MAX) {
    *converted = {static_cast<uint32_t>(extent.x), static_cast<uint32_t>(extent.y),
                  static_cast<uint32_t>(extent.z)};
    return {};
  }
  return {HALYARD_INVALID_ARGUMENT,
          std::string("The ") + what + " (" + std::to_string(extent.x) + " × " +
              std::to_string(extent.y) + " × " + std::to_string(extent.z) +
              ") is too large: a dimension has at most 4294967295 work-items."};
}

}  // namespace internal

}  // namespace halyard::host

#endif  // HALYARD_CPP_KERNEL_HPP
