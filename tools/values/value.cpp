#include "tools/values/value.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace halyard::values {

uint64_t Value::bytes() const noexcept {
  switch (kind) {
    case Kind::kScalar:
    case Kind::kBuffer:
      return type.bytes();
    case Kind::kBytes:
      return data.size();
    case Kind::kLds:
      return lds_bytes;
    case Kind::kNumber:
    case Kind::kNull:
      return 0;
  }
  return 0;
}

std::string Value::describe() const {
  switch (kind) {
    case Kind::kScalar:
      return fmt::format("a scalar ({})", type.to_string());
    case Kind::kBuffer:
      return fmt::format("a buffer ({})", type.to_string());
    case Kind::kBytes:
      return pointers.empty() ? fmt::format("a block of {} untyped bytes", data.size())
                              : fmt::format("a struct of {} bytes with pointers", data.size());
    case Kind::kLds:
      return fmt::format("LDS ({} bytes)", lds_bytes);
    case Kind::kNumber:
      return fmt::format("a number without a type ({})", text);
    case Kind::kNull:
      return "a null pointer";
  }
  return {};
}

Tensor Value::to_tensor() const {
  Tensor tensor{type, {}};
  if (contents == Contents::kData) {
    tensor.data = data;
    return tensor;
  }
  tensor.data.resize(bytes());
  if (contents == Contents::kSplat) {
    for (size_t offset = 0; offset < tensor.data.size(); offset += data.size()) {
      std::memcpy(tensor.data.data() + offset, data.data(), data.size());
    }
  }
  return tensor;
}

}  // namespace halyard::values
