// Every container that load_executable takes: what Module reads of it, which variants devices
// choose, and the code objects in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "hal/code_object.h"
#include "hal/kernel_code.h"
#include "hal/module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard;
  ModuleOptions options;
  options.max_decompressed_bytes = uint64_t{16} << 20;
  const Result<Module> module = Module::read(data, size, options);
  if (!module.ok()) {
    if (module.status().message().empty()) abort();
    return 0;
  }
  for (const char* device : {"gfx900:xnack-", "gfx90a:sramecc+:xnack-", "gfx1100"}) {
    LoaderFacts loader;
    loader.device = parse_target_id(device).value();
    const auto chosen = module->choose(loader);
    if (!chosen.ok() && chosen.status().message().empty()) abort();
  }
  for (const ModuleVariant& variant : module->variants()) {
    const Result<CodeObject> object = CodeObject::read(variant.bytes.data(), variant.bytes.size());
    if (!object.ok()) continue;
    for (const KernelInfo& kernel : object->kernels())
      kernel_code(variant.bytes, kernel).status().ignore();
  }
  return 0;
}
