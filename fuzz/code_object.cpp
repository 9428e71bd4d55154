// Feeds arbitrary bytes to the code-object reader and to presentation.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "hal/code_object.h"
#include "hal/presentation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard;
  const Result<CodeObject> object = CodeObject::read(data, size);
  if (!object.ok()) {
    if (object.status().message().empty()) abort();
    return 0;
  }
  const TargetId device{"gfx900", Feature::kUnsupported, Feature::kAny};
  const auto presented = present_code_object(data, size, 5, device);
  if (presented.ok()) {
    CodeObject::read(presented->data(), presented->size()).status().ignore();
  }
  return 0;
}
