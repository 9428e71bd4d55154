// The faults that the faulty driver knows, one at a time: --device=faulty?fault=lost-signal.
#pragma once

#include <string>
#include <string_view>

namespace faulty {

enum class Fault {
  kNone,
  kLostSignal,          // an operation signals nothing
  kHalfSignal,          // only the first of several points is signalled
  kEarlySignal,         // signals come before the work is done
  kIgnoredWait,         // an operation does not wait
  kOffByOneFill,        // a fill leaves its last pattern out
  kShortPattern,        // of a pattern of 16 bytes the first 8 are repeated
  kShortCopy,           // a copy of an odd number of bytes leaves the last one out
  kCopyOffset,          // a copy reads from the start of its source buffer
  kStaleKernarg,        // a dispatch has the values of the one before of the same function
  kSwappedDimensions,   // x and y of a launch change places
  kLostLds,             // dynamic LDS is not allocated
  kRoughRoots,          // square roots in f64 are some units in the last place too large
  kStaleBindings,       // a command buffer keeps the bindings of its first execution
  kLostBarrierCommand,  // what is recorded behind the second barrier is not executed
  kEagerHostCall,       // host functions are called when they are submitted
  kFileOffset,          // files are read from their start
  kWrongIndex,          // a wait for any always says that it was the first
  kHeapLeak,            // statistics never go down
  kCopiedImport,        // an import is a copy of the memory
  kIgnoredCapacity,     // a queue has the capacity that the driver likes
};

// The fault of that name, or false.
bool find_fault(std::string_view name, Fault* fault);
// All names, separated by commas.
std::string fault_names();

}  // namespace faulty
