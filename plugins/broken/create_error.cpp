// Cannot make its driver and says why, as a driver without its vendor library does.
#include "hal/contract/plugin.h"
#include "hal/driver.h"

namespace {
halyard::Status create(halyard::Span<const halyard::Option>, halyard::Driver**) {
  return halyard::Status(halyard::StatusCode::kUnavailable, "The vendor library is not found.");
}
}  // namespace

HALYARD_PLUGIN("create_error", "0.0", "create_driver fails", create)
