// Calling a driver's functions (hal/contract/driver.h), and taking what they make.
#pragma once

#include <cstddef>

#include "hal/contract/contract.h"
#include "hal/error.h"
#include "hal/fork.h"
#include "hal/ref.h"
#include "hal/status.h"

namespace halyard::internal {

// An older driver has said that it filled in less; the rest has its defaults.
template <typename T>
void make_whole(const T&) noexcept {}
template <ASizedStruct T>
void make_whole(T* const& filled) noexcept {
  filled->struct_size = sizeof(T);
}

template <typename... P, typename... A>
Status call(HalyardStatus* (*function)(P...), const A&... given) {
  if (is_fork_of_user()) [[unlikely]]
    return check_fork();
  Status status = Status::adopt(function(to_contract(given)...));
  (make_whole(given), ...);
  return status;
}

// What a method answers whose function the device's driver does not have.
[[gnu::cold]] Status unimplemented(const char* operation, const Device& device);

// The function of an optional slot is called if it is there.
template <typename Functions, typename... P, typename... A>
Status call_optional(const char* operation, const Device& device, const Functions* functions,
                     HalyardStatus* (*Functions::*slot)(P...), const A&... given) {
  const auto function = optional(functions, slot);
  if (function == nullptr) [[unlikely]]
    return unimplemented(operation, device);
  return call(function, given...);
}

// Why what a driver has made cannot be used: a null object, or one whose table lacks a function
// that every table has. `functions` has `required` pointers behind its size. These are errors in
// the plugin.
[[gnu::cold]] Status bad_object(const char* operation, const char* why);
bool has_all(const void* functions, uint32_t struct_size, size_t required_end) noexcept;

// One after the last required slot of a table, in bytes.
template <typename C>
inline constexpr size_t kRequiredEnd = 0;
#define HALYARD_LAST_REQUIRED(C, slot)               \
  template <>                                        \
  inline constexpr size_t kRequiredEnd<Halyard##C> = \
      offsetof(Halyard##C##Functions, slot) + sizeof(void*);
HALYARD_LAST_REQUIRED(Buffer, subspan)
HALYARD_LAST_REQUIRED(CommandBuffer, finish)
HALYARD_LAST_REQUIRED(Device, fault)
HALYARD_LAST_REQUIRED(Driver, create_device)
HALYARD_LAST_REQUIRED(Executable, function)
HALYARD_LAST_REQUIRED(MemoryPool, trim)
HALYARD_LAST_REQUIRED(Queue, abandon)
HALYARD_LAST_REQUIRED(Semaphore, fail)
#undef HALYARD_LAST_REQUIRED

// Takes over what `operation` has made.
template <typename T, typename C>
Result<Ref<T>> take(const char* operation, C* object) {
  if (object == nullptr) return bad_object(operation, "OK but no object");
  if (object->functions == nullptr) return bad_object(operation, "an object without functions");
  if (!has_all(object->functions, object->functions->struct_size, kRequiredEnd<C>)) {
    return bad_object(operation, "an object that lacks a function that is required");
  }
  return Ref<T>::adopt(T::template from_contract<T>(object));
}

}  // namespace halyard::internal
