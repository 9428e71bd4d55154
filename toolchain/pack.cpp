#include "toolchain/pack.h"

#include <utility>

#include "hal/bundle_writer.h"

namespace halyard::toolchain {

std::vector<std::byte> pack(std::vector<CompiledObject> objects) {
  if (objects.size() == 1) return std::move(objects.front().bytes);
  std::vector<BundleInput> inputs;
  for (const CompiledObject& object : objects) {
    inputs.push_back({bundle_entry_id(object.target), object.bytes});
  }
  return write_bundle(inputs);
}

}  // namespace halyard::toolchain
