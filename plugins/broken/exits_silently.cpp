// Calls _exit() while it is opened, which nothing in the process can see.
#include <unistd.h>

#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("exits_silently", TinyDriver::Behaviour{})

namespace {
[[gnu::constructor]] void leave() {
  _exit(0);
}
}  // namespace
