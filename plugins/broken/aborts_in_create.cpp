// Aborts while it makes its driver, as a vendor library does.
#include <cstdlib>

#include "hal/contract/plugin.h"
#include "hal/driver.h"

namespace {
halyard::Status create(halyard::Span<const halyard::Option>, halyard::Driver**) {
  std::abort();
}
}  // namespace

HALYARD_PLUGIN("aborts_in_create", "0.0", "aborts in create_driver", create)
