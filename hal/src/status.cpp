#include "hal/status.h"

#include <cstdlib>
#include <cstring>

namespace halyard {

const char* to_string(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kUnknown:
      return "UNKNOWN";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    case StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case StatusCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case StatusCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case StatusCode::kAborted:
      return "ABORTED";
    case StatusCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case StatusCode::kInternal:
      return "INTERNAL";
    case StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case StatusCode::kDataLoss:
      return "DATA_LOSS";
    case StatusCode::kUnauthenticated:
      return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

// One block holds the payload and, from payload + struct_size on, the message: a side with a later,
// larger HalyardStatus still finds it. malloc and free are libc's on both sides; `destroy` is still
// a pointer, for payloads that were not allocated.
HalyardStatus* Status::make(StatusCode code, std::string_view first,
                            std::string_view second) noexcept {
  if (code == StatusCode::kOk) code = StatusCode::kInternal;  // a failure that claims to be none
  const size_t message_size = first.size() + second.size();
  void* block = std::malloc(sizeof(HalyardStatus) + message_size);
  if (block == nullptr) return out_of_memory(code);
  HalyardStatus* payload = new (block) HalyardStatus{
      .struct_size = sizeof(HalyardStatus),
      .code = static_cast<int32_t>(code),
      .references = 1,
      .message_size = message_size,
      .destroy = [](HalyardStatus* dead) { std::free(dead); },
  };
  char* message = static_cast<char*>(block) + sizeof(HalyardStatus);
  if (!first.empty()) std::memcpy(message, first.data(), first.size());
  if (!second.empty()) std::memcpy(message + first.size(), second.data(), second.size());
  return payload;
}

HalyardStatus* Status::out_of_memory(StatusCode code) noexcept {
  // One for each code, never freed: a count that drops to zero here does nothing.
  static HalyardStatus payloads[17] = {};
  static const bool ready = [] {
    for (int32_t i = 0; i < 17; ++i) {
      payloads[i] = {.struct_size = sizeof(HalyardStatus),
                     .code = i,
                     .references = 1,
                     .message_size = 0,
                     .destroy = [](HalyardStatus*) {}};
    }
    return true;
  }();
  (void)ready;
  const int32_t index = static_cast<int32_t>(code);
  const bool known = index > 0 && index < 17;
  HalyardStatus* payload = &payloads[known ? index : static_cast<int32_t>(StatusCode::kUnknown)];
  __atomic_fetch_add(&payload->references, 1, __ATOMIC_RELAXED);
  return payload;
}

Status::Status(StatusCode code, std::string_view message) noexcept
    : payload_(make(code, message, {})) {}

Status::Status(const Status& other) noexcept : payload_(other.payload_) {
  if (payload_ != nullptr) __atomic_fetch_add(&payload_->references, 1, __ATOMIC_RELAXED);
}

void Status::release() noexcept {
  if (__atomic_fetch_sub(&payload_->references, 1, __ATOMIC_ACQ_REL) == 1) {
    payload_->destroy(payload_);
  }
  payload_ = nullptr;
}

StringView Status::message() const noexcept {
  if (payload_ == nullptr) return {};
  return {reinterpret_cast<const char*>(payload_) + payload_->struct_size, payload_->message_size};
}

std::string Status::to_string() const {
  std::string text = halyard::to_string(code());
  if (const StringView why = message(); !why.empty()) text.append(": ").append(why.view());
  return text;
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return {};
  if (context.empty()) return *this;
  std::string prefix(context);
  prefix += ": ";
  Status status;
  status.payload_ = make(code(), prefix, message().view());
  return status;
}

}  // namespace halyard
