// Never comes back from being opened.
#include <unistd.h>

#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("hangs_in_constructor", TinyDriver::Behaviour{})

namespace {
[[gnu::constructor]] void wait() {
  while (true) pause();
}
}  // namespace
