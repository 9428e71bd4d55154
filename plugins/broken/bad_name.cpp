// Has a name that cannot stand in a device URI.
#include "hal/contract/plugin.h"
#include "hal/driver.h"

namespace {
halyard::Status create(halyard::Span<const halyard::Option>, halyard::Driver**) {
  return {};
}
}  // namespace

HALYARD_PLUGIN("Bad:Name", "0.0", "has a bad name", create)
