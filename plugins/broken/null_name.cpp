// Has no name.
#include "hal/driver.h"
#include "plugins/plugin.h"

namespace {
halyard::Status create(halyard::Span<const halyard::Option>, halyard::Driver**) {
  return {};
}
}  // namespace

HALYARD_PLUGIN(nullptr, "0.0", "has no name", create)
