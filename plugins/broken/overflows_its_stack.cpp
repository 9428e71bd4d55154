// Uses up the stack of the thread that opens it, so that a handler for the fault needs another one.
#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("overflows_its_stack", TinyDriver::Behaviour{})

namespace {
// NOLINTNEXTLINE(misc-no-recursion): that is the point
int descend(volatile char* above) {
  volatile char here[4096];
  here[0] = *above;
  if (here[0] == 0) return 0;  // it never is, but the compiler must not know
  return descend(here) + here[0];
}

volatile int result = 0;

[[gnu::constructor]] void overflow() {
  volatile char start = 1;
  result = descend(&start);
}
}  // namespace
