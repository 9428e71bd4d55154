// Throws from create_driver, and not even a std::exception.
#include "hal/driver.h"
#include "plugins/plugin.h"

namespace {
halyard::Status create(const halyard::Span<const halyard::Option>*, halyard::Driver**) {
  throw 42;
}
}  // namespace

HALYARD_PLUGIN("create_throws", "0.0", "throws from create_driver", create)
