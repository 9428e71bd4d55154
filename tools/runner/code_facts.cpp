#include "tools/runner/code_facts.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "hal/kernel_code.h"

namespace halyard::runner {
namespace {

// Of a kernel descriptor (LLVM AMDGPUUsage, "Kernel Descriptor"): COMPUTE_PGM_RSRC2 and
// KERNEL_CODE_PROPERTIES, and bits of them.
constexpr size_t kResources2 = 52;
constexpr size_t kProperties = 56;
constexpr uint32_t kWorkgroupIdY = 1U << 8;
constexpr uint32_t kWorkgroupIdZ = 1U << 9;
constexpr unsigned kWorkitemIdShift = 11;  // two bits: 0 is x, 1 is y too, 2 is z too
constexpr uint16_t kDispatchPointer = 1U << 1;

template <typename T>
T load(std::span<const std::byte> bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}

constexpr uint32_t bits(uint32_t word, unsigned high, unsigned low) {
  return word >> low & ((2U << (high - low)) - 1);
}

// The words of a gfx9 instruction ("Vega" ISA, 13: Microcode Formats).
size_t words_of(uint32_t word) {
  constexpr uint32_t kLiteral = 255;
  if ((word & 1U << 31) == 0) {  // VOP2, VOP1, VOPC: a literal, or the words of SDWA and DPP
    const uint32_t opcode = bits(word, 30, 25);
    const bool is_multiply_add =  // v_madmk, v_madak
        opcode == 0x17 || opcode == 0x18 || opcode == 0x24 || opcode == 0x25;
    const uint32_t source = bits(word, 8, 0);
    return is_multiply_add || source == kLiteral || source == 249 || source == 250 ? 2 : 1;
  }
  if (bits(word, 31, 30) == 2) {  // scalar
    const uint32_t format = bits(word, 31, 23);
    if (format == 0x17f) return 1;                                     // SOPP
    if (format == 0x17d) return bits(word, 7, 0) == kLiteral ? 2 : 1;  // SOP1
    if (bits(word, 31, 28) == 0xb && format < 0x17d) {                 // SOPK; s_setreg_imm32
      return bits(word, 27, 23) == 20 ? 2 : 1;
    }
    return bits(word, 7, 0) == kLiteral || bits(word, 15, 8) == kLiteral ? 2 : 1;  // SOP2, SOPC
  }
  return bits(word, 31, 26) == 0x35 ? 1 : 2;  // VINTRP has one, all others two
}

// Whether a gfx9 instruction of the format DS reads or writes LDS.
bool accesses_lds(uint32_t word) {
  constexpr uint32_t kFormat = 0x36;
  const uint32_t opcode = bits(word, 24, 17);
  const bool is_global_store = bits(word, 16, 16) != 0;           // GDS
  const bool moves_between_lanes = opcode >= 61 && opcode <= 63;  // swizzle, permute, bpermute
  const bool is_other = opcode == 20 || (opcode >= 152 && opcode <= 157);  // nop, GWS
  return bits(word, 31, 26) == kFormat && !is_global_store && !moves_between_lanes && !is_other;
}

bool code_accesses_lds(std::span<const std::byte> code) {
  for (size_t at = 0; at + sizeof(uint32_t) <= code.size();) {
    const auto word = load<uint32_t>(code, at);
    if (accesses_lds(word)) return true;
    at += words_of(word) * sizeof(uint32_t);
  }
  return false;
}

}  // namespace

CodeFacts code_facts(std::span<const std::byte> object, const CodeObject& code,
                     const KernelInfo& kernel) {
  CodeFacts facts;
  const auto descriptor =
      object.subspan(std::min<uint64_t>(kernel.descriptor_offset, object.size()));
  const auto resources = load<uint32_t>(descriptor, kResources2);
  facts.reads_packet = (load<uint16_t>(descriptor, kProperties) & kDispatchPointer) != 0;
  facts.dimensions = 1 + std::min(bits(resources, kWorkitemIdShift + 1, kWorkitemIdShift), 2U);
  if ((resources & kWorkgroupIdY) != 0) facts.dimensions = std::max(facts.dimensions, 2U);
  if ((resources & kWorkgroupIdZ) != 0) facts.dimensions = 3;
  if (!code.target().processor.starts_with("gfx9")) return facts;
  const Result<KernelCode> instructions = kernel_code(object, kernel);
  facts.accesses_lds = instructions.ok() && code_accesses_lds(instructions->bytes);
  return facts;
}

std::optional<CodeFacts> code_facts(const Module& module, std::string_view target,
                                    std::string_view function) {
  std::vector<size_t> chosen = {0};
  if (module.format() != ModuleFormat::kCodeObject) {
    Result<TargetId> device = parse_target_id(target);
    if (!device.ok()) return std::nullopt;
    Result<std::vector<size_t>> choice = module.choose({.device = std::move(device).value()});
    if (!choice.ok()) return std::nullopt;
    chosen = std::move(choice).value();
  }
  for (const size_t i : chosen) {
    const std::span<const std::byte> bytes = module.variants()[i].bytes;
    const Result<CodeObject> object = CodeObject::read(bytes.data(), bytes.size());
    if (!object.ok()) continue;
    for (const KernelInfo& kernel : object->kernels()) {
      if (kernel.function.name.view() == function) return code_facts(bytes, *object, kernel);
    }
  }
  return std::nullopt;
}

bool reads_shape(const FunctionInfo& function, const CodeFacts& facts) {
  return facts.reads_packet ||
         std::any_of(function.hidden.begin(), function.hidden.end(),
                     [](const ArgumentInfo& argument) {
                       return argument.kind >= ArgumentKind::kHiddenBlockCountX &&
                              argument.kind <= ArgumentKind::kHiddenRemainderZ;
                     });
}

}  // namespace halyard::runner
