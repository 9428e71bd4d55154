// ROCTX, AMD's interface for ranges and marks of a program (roctx.h of roctracer): what the
// drivers' plugins, the vendor's libraries and tools inside of this process call. `halyard` has the
// functions itself, so that they find them here and not in libroctx64, to which each call is passed
// on if it is there. Those that look libroctx64 up by its name find a library of Halyard's, which
// leads here too (roctx_library.cpp). halyard run --profile shows the ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard::cli {

// What one thread pushed and popped, or what was started and stopped by its number, or a mark.
struct RoctxEvent {
  enum class Kind : uint8_t { kNested, kStarted, kMark };
  Kind kind = Kind::kMark;
  std::string text;
  uint64_t id = 0;        // of kStarted: what roctxRangeStartA returned
  int thread = 0;         // that began it, as gettid() names it
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;    // as begin_ns for a mark
};

// From here on until take_roctx_events() they are kept. Ranges that are open already are, too.
// Opens Halyard's libroctx64, so it comes before plugins are loaded. NOT_FOUND if the installation
// has none.
Status keep_roctx_events();
// Those that began so far, in the order of their beginnings. A range that is open ends now.
std::vector<RoctxEvent> take_roctx_events();

}  // namespace halyard::cli
