// Failures with a formatted message, for code on either side of the boundary.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "hal/status.h"
#include "hal/types.h"

namespace halyard {

// error(StatusCode::kNotFound, "There is no file {} …", path). Never throws: if there is no
// memory for the message, the failure has none. Cold, to keep it away from the code of the
// success path.
template <typename... Arguments>
[[gnu::cold, gnu::noinline]] Status error(StatusCode code, fmt::format_string<Arguments...> format,
                                          Arguments&&... arguments) noexcept {
  try {
    return Status(code, fmt::vformat(format, fmt::make_format_args(arguments...)));
  } catch (...) {
    return Status(code, {});
  }
}

}  // namespace halyard

template <>
struct fmt::formatter<halyard::StringView> : fmt::formatter<fmt::string_view> {
  template <typename Context>
  auto format(halyard::StringView text, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(fmt::string_view(text.data(), text.size()),
                                                    context);
  }
};
// "4×2×1"
template <>
struct fmt::formatter<halyard::Dim3> : fmt::formatter<fmt::string_view> {
  template <typename Context>
  auto format(const halyard::Dim3& d, Context& context) const {
    return fmt::format_to(context.out(), "{}×{}×{}", d.x, d.y, d.z);
  }
};
