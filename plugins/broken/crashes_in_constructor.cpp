// Reads memory that nobody has while it is opened.
#include <cstdint>

#include "tiny_driver.h"

HALYARD_TINY_PLUGIN("crashes_in_constructor", TinyDriver::Behaviour{})

namespace {
// Not null, which a sanitizer would report in its own way.
volatile uintptr_t nowhere = 64;

[[gnu::constructor]] void crash() {
  static_cast<void>(*reinterpret_cast<volatile char*>(nowhere));
}
}  // namespace
