#include "fault.h"

namespace faulty {
namespace {

constexpr struct {
  const char* name;
  Fault fault;
} kFaults[] = {
    {"none", Fault::kNone},
    {"lost-signal", Fault::kLostSignal},
    {"half-signal", Fault::kHalfSignal},
    {"early-signal", Fault::kEarlySignal},
    {"ignored-wait", Fault::kIgnoredWait},
    {"off-by-one-fill", Fault::kOffByOneFill},
    {"short-pattern", Fault::kShortPattern},
    {"short-copy", Fault::kShortCopy},
    {"copy-offset", Fault::kCopyOffset},
    {"stale-kernarg", Fault::kStaleKernarg},
    {"swapped-dimensions", Fault::kSwappedDimensions},
    {"lost-lds", Fault::kLostLds},
    {"rough-roots", Fault::kRoughRoots},
    {"stale-bindings", Fault::kStaleBindings},
    {"lost-barrier-command", Fault::kLostBarrierCommand},
    {"eager-host-call", Fault::kEagerHostCall},
    {"file-offset", Fault::kFileOffset},
    {"wrong-index", Fault::kWrongIndex},
    {"heap-leak", Fault::kHeapLeak},
    {"copied-import", Fault::kCopiedImport},
    {"ignored-capacity", Fault::kIgnoredCapacity},
};

}  // namespace

bool find_fault(std::string_view name, Fault* fault) {
  for (const auto& known : kFaults) {
    if (name != known.name) continue;
    *fault = known.fault;
    return true;
  }
  return false;
}

std::string fault_names() {
  std::string names;
  for (const auto& known : kFaults) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

}  // namespace faulty
