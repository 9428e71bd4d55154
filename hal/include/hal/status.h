// Status: the outcome of an operation, with a message.
//
// One pointer wide and null for success, so that success costs a register. A failure has a code
// (Abseil's canonical ones) and a message. The payload frees itself, so the host can drop a Status
// that a plugin made, and the other way round.
//
// Messages are full sentences in the present tense, with the actual value in parentheses, the limit
// or the legal values beside it, and the remedy if one is known.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "hal/contract/driver.h"
#include "hal/types.h"

namespace halyard {

enum class StatusCode : int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT" and so on; "UNKNOWN" for a number that is not a code.
const char* to_string(StatusCode code) noexcept;

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;  // OK
  // `code` is not kOk. Copies the message. If there is no memory for it, the status still fails
  // with `code`, without a message.
  Status(StatusCode code, std::string_view message) noexcept;

  Status(const Status& other) noexcept;
  Status(Status&& other) noexcept : payload_(std::exchange(other.payload_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(payload_, other.payload_);
    return *this;
  }
  ~Status() {
    if (payload_ != nullptr) release();
  }

  bool ok() const noexcept { return payload_ == nullptr; }
  StatusCode code() const noexcept {
    return ok() ? StatusCode::kOk : static_cast<StatusCode>(payload_->code);
  }
  StringView message() const noexcept;
  // "INVALID_ARGUMENT: The grid …"
  std::string to_string() const;

  // The same failure with "context: " before its message. OK stays OK.
  Status with_context(std::string_view context) const;

  // For the contract (hal/contract/driver.h): takes over a reference, and passes it on.
  static Status adopt(HalyardStatus* status) noexcept {
    Status adopted;
    adopted.payload_ = status;
    return adopted;
  }
  HalyardStatus* leak() noexcept { return std::exchange(payload_, nullptr); }
  // The Status keeps its reference.
  HalyardStatus* contract() const noexcept { return payload_; }

  // Ignores a failure that does not matter here.
  void ignore() const noexcept {}

 private:
  void release() noexcept;
  // A payload whose message is `first` followed by `second`.
  static HalyardStatus* make(StatusCode code, std::string_view first,
                             std::string_view second) noexcept;
  static HalyardStatus* out_of_memory(StatusCode code) noexcept;

  HalyardStatus* payload_ = nullptr;
};

// A T, or the Status of the failure. Does not cross the plugin boundary.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) noexcept  // NOLINT(google-explicit-constructor)
      : status_(std::move(status)) {}
  Result(T value) noexcept : has_value_(true) {  // NOLINT(google-explicit-constructor)
    new (&value_) T(std::move(value));
  }
  Result(Result&& other) noexcept
      : status_(std::move(other.status_)), has_value_(other.has_value_) {
    if (has_value_) new (&value_) T(std::move(other.value_));
  }
  Result& operator=(Result&& other) noexcept {
    if (this != &other) {
      this->~Result();
      new (this) Result(std::move(other));
    }
    return *this;
  }
  ~Result() {
    if (has_value_) value_.~T();
  }

  bool ok() const noexcept { return has_value_; }
  const Status& status() const& noexcept { return status_; }
  Status status() && noexcept { return std::move(status_); }
  // Only if ok().
  T& value() & noexcept { return value_; }
  const T& value() const& noexcept { return value_; }
  T&& value() && noexcept { return std::move(value_); }
  T& operator*() noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

 private:
  Status status_;
  bool has_value_ = false;
  union {
    T value_;
  };
};

}  // namespace halyard

// Returns from the enclosing function if `expression`, a Status, is a failure.
#define HALYARD_RETURN_IF_ERROR(expression)                                                   \
  do {                                                                                        \
    if (::halyard::Status halyard_status_ = (expression); !halyard_status_.ok()) [[unlikely]] \
      return halyard_status_;                                                                 \
  } while (false)

// HALYARD_ASSIGN_OR_RETURN(auto x, f()): x is f()'s value; a failure returns from here.
#define HALYARD_ASSIGN_OR_RETURN(declaration, expression) \
  HALYARD_ASSIGN_OR_RETURN_2_(HALYARD_CONCAT_(halyard_result_, __LINE__), declaration, expression)
#define HALYARD_ASSIGN_OR_RETURN_2_(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) [[unlikely]]                                     \
    return std::move(result).status();                               \
  declaration = std::move(result).value()
#define HALYARD_CONCAT_(a, b) HALYARD_CONCAT_2_(a, b)
#define HALYARD_CONCAT_2_(a, b) a##b
