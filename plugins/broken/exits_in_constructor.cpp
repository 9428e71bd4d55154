// Calls exit() while it is opened.
#include <cstdlib>

#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("exits_in_constructor", TinyDriver::Behaviour{})

namespace {
[[gnu::constructor]] void leave() {
  std::exit(3);
}
}  // namespace
