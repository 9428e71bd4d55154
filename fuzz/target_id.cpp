// Target IDs and every other name of a GPU.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hal/target_id.h"
#include "hal/target_map.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<NamedTarget> named = resolve_target_name(text);
  if (named.ok() ? named->targets.empty() : named.status().message().empty()) abort();
  const Result<TargetId> target = parse_target_id(text);
  if (!target.ok()) {
    if (target.status().message().empty()) abort();
    return 0;
  }
  const Result<TargetId> again = parse_target_id(to_string(*target));
  if (!again.ok() || !(*again == *target)) abort();
  return 0;
}
