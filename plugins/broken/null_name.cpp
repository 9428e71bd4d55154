// Has no name.
#include "hal/contract/plugin.h"
#include "hal/driver.h"

namespace {
halyard::Status create(halyard::Span<const halyard::Option>, halyard::Driver**) {
  return {};
}
}  // namespace

HALYARD_PLUGIN(nullptr, "0.0", "has no name", create)
