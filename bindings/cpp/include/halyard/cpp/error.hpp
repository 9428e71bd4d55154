// Status, Error and Result: how the functions of halyard/halyard.hpp fail.
#ifndef HALYARD_CPP_ERROR_HPP
#define HALYARD_CPP_ERROR_HPP

#include <halyard/halyard.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#if defined(__cpp_exceptions)
#define HALYARD_HOST_EXCEPTIONS 1
#endif

namespace halyard::host {

// The outcome of an operation: OK, or a code and a message.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(halyard_code code, std::string message) : code_(code), message_(std::move(message)) {}
  // Takes over the C interface's error, which may be null.
  explicit Status(halyard_error* error) {
    if (error == nullptr) return;
    code_ = halyard_error_code(error);
    message_ = halyard_error_message(error);
    halyard_error_free(error);
  }

  bool ok() const noexcept { return code_ == HALYARD_OK; }
  halyard_code code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  // "INVALID_ARGUMENT: The grid …"
  std::string to_string() const {
    return ok() ? "OK" : std::string(halyard_code_name(code_)) + ": " + message_;
  }

 private:
  halyard_code code_ = HALYARD_OK;
  std::string message_;
};

#if defined(HALYARD_HOST_EXCEPTIONS)
class Error : public std::runtime_error {
 public:
  explicit Error(Status status)
      : std::runtime_error(status.to_string()), status_(std::move(status)) {}
  halyard_code code() const noexcept { return status_.code(); }
  const std::string& message() const noexcept { return status_.message(); }
  const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

inline void check(Status status) {
  if (!status.ok()) throw Error(std::move(status));
}
#endif

namespace internal {

// INVALID_ARGUMENT if `handle` is null: the object that `method` is called on, a `type`, is empty.
inline Status check_object(const void* handle, const char* method, const char* type) {
  if (handle != nullptr) [[likely]]
    return {};
  return {HALYARD_INVALID_ARGUMENT,
          std::string(method) + " is called on an empty " + type +
              ": it was moved from, or never had a value. Use the object that it was moved to."};
}
// The same of an object that `method` is given.
inline Status check_given(const void* handle, const char* method, const char* type) {
  if (handle != nullptr) [[likely]]
    return {};
  return {HALYARD_INVALID_ARGUMENT,
          std::string(method) + " is given an empty " + type +
              ": it was moved from, or never had a value. Pass the object that it was moved to."};
}
// For a method that returns a plain value: throws that Status. Without exceptions the method
// returns what its comment says.
inline void require([[maybe_unused]] const void* handle, [[maybe_unused]] const char* method,
                    [[maybe_unused]] const char* type) {
#if defined(HALYARD_HOST_EXCEPTIONS)
  check(check_object(handle, method, type));
#endif
}

}  // namespace internal

// A T, or the Status of the failure.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return value_.has_value(); }
  const Status& status() const noexcept { return status_; }
  // Only if ok().
  T& operator*() & noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  T* operator->() noexcept { return &*value_; }
#if defined(HALYARD_HOST_EXCEPTIONS)
  T value() && {
    check(status_);
    return *std::move(value_);
  }
#endif

 private:
  Status status_;
  std::optional<T> value_;
};

// Returns from the enclosing function if the C function that `call` calls fails.
#define HALYARD_HOST_TRY(call)                                                  \
  do {                                                                          \
    if (::halyard::host::Status halyard_status_{(call)}; !halyard_status_.ok()) \
      return halyard_status_;                                                   \
  } while (false)

}  // namespace halyard::host

#endif  // HALYARD_CPP_ERROR_HPP
