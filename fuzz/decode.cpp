// Machine code: the engine's decoder takes any bytes, for what it executes and for what it only
// reads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/isa/decode.h"

namespace {

using halyard::vgpu::isa::Decoder;

std::vector<std::unique_ptr<Decoder>> make_decoders() {
  std::vector<std::unique_ptr<Decoder>> decoders;
  std::vector<const char*> processors = halyard::vgpu::isa::kKnownProcessors;
  processors.insert(processors.end(), {"gfx1030", "gfx1100", "gfx1150", "gfx1200"});
  for (const char* processor : processors) {
    std::string error;
    decoders.push_back(Decoder::create_for_reading(processor, "", error));
    if (!decoders.back()) abort();
  }
  return decoders;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::unique_ptr<Decoder>> decoders = make_decoders();
  // Instructions do not depend on each other: many short inputs find more than few long ones.
  size = std::min<size_t>(size, 64);
  for (const auto& decoder : decoders) {
    for (size_t at = 0; at + 4 <= size;) {
      const std::span<const uint8_t> bytes(data + at,
                                           std::min<size_t>(size - at, Decoder::kMostBytes));
      halyard::vgpu::isa::DecodedInstruction instruction;
      decoder->decode(bytes, instruction);
      if (instruction.execute == nullptr || instruction.size < 4 || instruction.size > bytes.size())
        abort();
      if (decoder->text(bytes, at).empty()) abort();
      at += instruction.size;
    }
  }
  return 0;
}
