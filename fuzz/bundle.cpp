// What the bundle writer writes is what the reader reads, plain and compressed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "hal/bundle_writer.h"
#include "hal/module.h"

namespace {

using namespace halyard;

void expect_same(std::span<const std::byte> bundle, const std::vector<BundleInput>& inputs) {
  const Result<Module> module = Module::read(bundle.data(), bundle.size());
  if (!module.ok()) abort();
  size_t found = 0;
  for (const ModuleVariant& variant : module->variants()) {
    const auto input = std::find_if(inputs.begin(), inputs.end(), [&](const BundleInput& entry) {
      return entry.id == variant.entry;
    });
    if (input == inputs.end()) continue;
    ++found;
    if (!std::equal(variant.bytes.begin(), variant.bytes.end(), input->bytes.begin(),
                    input->bytes.end())) {
      abort();
    }
  }
  if (found != inputs.size()) abort();
}

}  // namespace

// The first byte says how many parts the rest is cut into, the second how they are aligned.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 6) return 0;
  const char* const targets[] = {"gfx900", "gfx906:xnack-", "gfx90a:sramecc+:xnack+",
                                 "gfx11-generic"};
  const size_t parts = 1 + data[0] % 4;
  const uint64_t alignment = uint64_t{1} << (data[1] % 13);
  const std::span<const std::byte> rest = std::as_bytes(std::span(data + 2, size - 2));
  std::vector<std::vector<std::byte>> bytes(parts);
  std::vector<BundleInput> inputs;
  for (size_t i = 0; i < parts; ++i) {
    const size_t begin = rest.size() * i / parts;
    const size_t end = rest.size() * (i + 1) / parts;
    // The reader looks into what begins as one of its formats: these do not.
    bytes[i].assign(1, std::byte{'x'});
    bytes[i].insert(bytes[i].end(), rest.begin() + static_cast<ptrdiff_t>(begin),
                    rest.begin() + static_cast<ptrdiff_t>(end));
    inputs.push_back({bundle_entry_id(parse_target_id(targets[i]).value()), bytes[i]});
  }
  const std::vector<std::byte> plain = write_bundle(inputs, alignment);
  expect_same(plain, inputs);
  for (const Compression compression : {Compression::kZlib, Compression::kZstd}) {
    const auto compressed = compress_bundle(plain, compression);
    if (!compressed.ok()) abort();
    expect_same(*compressed, inputs);
  }
  return 0;
}
