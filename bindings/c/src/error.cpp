// Errors of the C interface.
#include <cstdlib>
#include <cstring>

#include "handle.h"

// The message lies behind it.
struct halyard_error {
  halyard::StatusCode code;
  bool is_static;
};

namespace halyard::c {
namespace {

// For when there is no memory for another one; the second's first byte is the end of its message.
halyard_error no_memory[] = {{StatusCode::kResourceExhausted, true}, {}};

char* message_of(halyard_error* error) noexcept {
  return reinterpret_cast<char*>(error) + sizeof(halyard_error);
}

halyard_error* make(StatusCode code, std::string_view message) noexcept {
  auto* const made =
      static_cast<halyard_error*>(std::malloc(sizeof(halyard_error) + message.size() + 1));
  if (made == nullptr) return no_memory;
  made->code = code;
  made->is_static = false;
  std::memcpy(message_of(made), message.data(), message.size());
  message_of(made)[message.size()] = '\0';
  return made;
}

}  // namespace

halyard_error* to_error(const Status& status) noexcept {
  return status.ok() ? nullptr : make(status.code(), status.message());
}

Status take_error(halyard_error* error) {
  if (error == nullptr) return {};
  Status status(error->code, message_of(error));
  halyard_error_free(error);
  return status;
}

Status bad_handle(const char* function, const char* what, const void* handle) {
  if (handle == nullptr) {
    return error(StatusCode::kInvalidArgument, "{} is given no {} (null).", function, what);
  }
  return error(StatusCode::kInvalidArgument,
               "{} is given a pointer ({}) that is not the handle of a {}. Pass a handle that a "
               "function of the interface returned and that has not been released.",
               function, handle, what);
}

}  // namespace halyard::c

uint32_t halyard_c_version(void) {
  return uint32_t{HALYARD_C_MAJOR} << 16 | HALYARD_C_MINOR;
}

const char* halyard_code_name(halyard_code code) {
  return halyard::to_string(static_cast<halyard::StatusCode>(code));
}

halyard_code halyard_error_code(const halyard_error* error) {
  return error == nullptr ? HALYARD_OK : static_cast<halyard_code>(error->code);
}

const char* halyard_error_message(const halyard_error* error) {
  return error == nullptr ? "" : reinterpret_cast<const char*>(error) + sizeof(halyard_error);
}

halyard_error* halyard_error_create(halyard_code code, const char* message) {
  const bool is_failure = code > HALYARD_OK && code <= HALYARD_UNAUTHENTICATED;
  return halyard::c::make(
      is_failure ? static_cast<halyard::StatusCode>(code) : halyard::StatusCode::kUnknown,
      message == nullptr ? "" : message);
}

void halyard_error_free(halyard_error* error) {
  if (error != nullptr && !error->is_static) std::free(error);
}

void halyard_text_free(char* text) {
  std::free(text);
}

uint64_t halyard_deadline_after(uint64_t ns) {
  return halyard::Deadline::after_ns(ns).monotonic_ns;
}
