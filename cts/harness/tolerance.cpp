#include "cts/harness/tolerance.h"

#include <string>

namespace halyard::cts {

std::optional<Tolerance> configured_tolerance(const config::Settings& settings,
                                              std::string_view processor, std::string_view type) {
  const std::string path = "tolerances." + std::string(type);
  const config::Setting* const absolute = settings.of_processor(processor, path + ".absolute");
  const config::Setting* const relative = settings.of_processor(processor, path + ".relative");
  const auto is_configured = [](const config::Setting* setting) {
    return setting != nullptr && setting->value().origin.layer != config::Layer::kBuiltIn;
  };
  if (!is_configured(absolute) && !is_configured(relative)) return std::nullopt;
  const auto real = [](const config::Setting* setting) {
    return setting == nullptr ? 0 : setting->value().real;
  };
  return Tolerance{real(absolute), real(relative)};
}

}  // namespace halyard::cts
