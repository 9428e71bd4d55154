// halyard_vgpu_disassemble: the engine's decoder, for tools.
#include <algorithm>
#include <cstdio>
#include <string>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/machine/api.h"
#if HALYARD_VGPU_ENGINE
#include "vgpu/isa/decode.h"
#include "vgpu/observe/counts.h"
#endif

namespace {

using Visit = int (*)(void* user, const halyard_vgpu_instruction* instruction);

#if HALYARD_VGPU_ENGINE
bool disassemble(const char* processor, const uint8_t* code, size_t size, uint64_t address,
                 Visit visit, void* user, std::string& error) {
  namespace isa = halyard::vgpu::isa;
  const auto decoder = isa::Decoder::create(processor, "", error);
  if (!decoder) return false;
  for (size_t at = 0; at + 4 <= size;) {
    const std::span<const uint8_t> bytes(code + at,
                                         std::min<size_t>(size - at, isa::Decoder::kMostBytes));
    isa::DecodedInstruction decoded;
    decoder->decode(bytes, decoded);
    const std::string text = decoder->text(bytes, address + at);
    halyard_vgpu_instruction instruction = {};
    instruction.address = address + at;
    instruction.size = decoded.size;
    instruction.text = text.c_str();
    instruction.kind =
        halyard::vgpu::observe::class_name(halyard::vgpu::observe::class_of(decoded));
    instruction.executes = decoded.op != isa::Op::none;
    if (visit(user, &instruction) != 0) break;
    at += decoded.size;
  }
  return true;
}
#else
bool disassemble(const char*, const uint8_t*, size_t, uint64_t, Visit, void*, std::string& error) {
  error = "This virtual GPU was built without the engine (HALYARD_VGPU_ENGINE=OFF).";
  return false;
}
#endif

}  // namespace

HALYARD_VGPU_API int halyard_vgpu_disassemble(const char* processor, const void* code, size_t size,
                                              uint64_t address, Visit visit, void* user,
                                              char* error, size_t error_size) {
  std::string message;
  const bool done = disassemble(processor, static_cast<const uint8_t*>(code), size, address, visit,
                                user, message);
  if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
  return done ? 0 : 1;
}
