// Feeds arbitrary bytes to the code-object reader, to the check before a vendor's loader and to
// presentation.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "hal/code_object.h"
#include "hal/code_object_check.h"
#include "hal/presentation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard;
  const Result<CodeObject> object = CodeObject::read(data, size);
  if (!object.ok()) {
    if (object.status().message().empty()) abort();
    return 0;
  }
  const Status check = check_code_object(data, size, *object, UINT64_MAX);
  if (!check.ok() && check.message().empty()) abort();
  // What loaders get is in order if it was made of what is.
  const auto opaque = present_opaque_arguments(data, size, 4096);
  if (check.ok() && opaque.ok()) {
    const Result<CodeObject> again = CodeObject::read(opaque->data(), opaque->size());
    if (!again.ok() ||
        !check_code_object(opaque->data(), opaque->size(), *again, UINT64_MAX).ok()) {
      abort();
    }
  }
  const TargetId device{"gfx900", Feature::kUnsupported, Feature::kAny};
  const auto presented = present_code_object(data, size, 5, device);
  if (presented.ok()) {
    CodeObject::read(presented->data(), presented->size()).status().ignore();
  }
  return 0;
}
