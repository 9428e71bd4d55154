// create_driver says that all is well and gives nothing.
#include "hal/contract/plugin.h"
#include "hal/driver.h"

namespace {
halyard::Status create(halyard::Span<const halyard::Option>, halyard::Driver**) {
  return {};
}
}  // namespace

HALYARD_PLUGIN("null_driver", "0.0", "gives no driver", create)
