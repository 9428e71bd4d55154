#include "vgpu/isa/decode.h"

#include <algorithm>
#include <cstring>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/fault.h"
#include "vgpu/isa/llvm_text.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {
namespace {

constexpr const char* kNothing = "<not an instruction>";

Outcome undecodable(Wave& wave, const Instruction& instruction) {
  return fault_illegal(wave, instruction, instruction.extra->problem);
}

// Such an instruction has no operands.
void make_undecodable(Instruction& instruction, const char* why) {
  const Instruction old = instruction;
  instruction = Instruction{};
  instruction.execute = undecodable;
  instruction.extra = old.extra;
  instruction.extra->problem = why;
  instruction.size = old.size;
  instruction.format = old.format;
}

const char* not_executed(const Instruction& instruction) {
  switch (instruction.format) {
    case Format::kMimg:
      return "needs images, which the virtual GPU does not have (docs/virtual-gpu.md)";
    case Format::kVintrp:
    case Format::kExp:
    case Format::kLdsDirect:
    case Format::kVinterp:
      return "belongs to the graphics pipeline, which the virtual GPU does not have";
    default:
      return "is not implemented";
  }
}

// v_mfma_ld_scale_b32 and the f8f6f4 instruction behind it are one instruction of 16 bytes (CDNA 4
// ISA, "VOP3PX"). Takes the first half off `words` and returns what it says of the scales. If
// the pair is not legal, `problem` says why.
int32_t take_scales(uint32_t words[], const char*& problem) {
  constexpr unsigned kVgpr0 = 256;
  const auto bit = [](uint32_t word, unsigned at) { return word >> at & 1; };
  const unsigned a = words[1] & 0x1ff, b = words[1] >> 9 & 0x1ff;
  if (a < kVgpr0 || b < kVgpr0) problem = "needs VGPRs as scales";
  const uint32_t byte_a = bit(words[0], 11) | bit(words[1], 27) << 1;
  const uint32_t byte_b = bit(words[0], 12) | bit(words[1], 28) << 1;
  words[0] = words[2];
  words[1] = words[3];
  return pack_scales({{a & 0xff, b & 0xff}, {byte_a, byte_b}});
}

Op scaled_form(Op op) {
  if (op == Op::v_mfma_f32_16x16x128_f8f6f4) return Op::v_mfma_scale_f32_16x16x128_f8f6f4;
  if (op == Op::v_mfma_f32_32x32x64_f8f6f4) return Op::v_mfma_scale_f32_32x32x64_f8f6f4;
  return Op::none;
}

}  // namespace

Decoder::Decoder(Target target)
    : target_(std::move(target)),
      layout_(layout_of(target_.generation)),
      table_(OpTable::of(target_.generation)),
      llvm_(std::make_unique<LlvmText>(target_)) {}

Decoder::~Decoder() = default;

std::unique_ptr<Decoder> Decoder::create(const std::string& processor, const std::string& features,
                                         std::string& error) {
  Target target;
  if (!find_target(processor, features, target, error)) return nullptr;
  return std::unique_ptr<Decoder>(new Decoder(std::move(target)));
}

std::unique_ptr<Decoder> Decoder::create_for_reading(const std::string& processor,
                                                     const std::string& features,
                                                     std::string& error) {
  Target target;
  if (!find_encodings(processor, features, target, error)) return nullptr;
  return std::unique_ptr<Decoder>(new Decoder(std::move(target)));
}

const OpTable::Entry& Decoder::entry_of(const uint32_t words[]) const {
  const Format format = format_of(layout_, words[0]);
  return table_.find(format, op_number(layout_, format, words),
                     segment_of(layout_, format, words[0]));
}

void Decoder::decode(std::span<const uint8_t> bytes, Instruction& instruction,
                     InstructionExtra& extra) const {
  instruction = Instruction{};
  extra = InstructionExtra{};
  instruction.extra = &extra;
  uint32_t words[kMostBytes / 4] = {};
  const size_t available = std::min<size_t>(bytes.size(), sizeof words);
  std::memcpy(words, bytes.data(), available);
  instruction.size = 4;
  extra.encoding = words[0];
  instruction.format = format_of(layout_, words[0]);
  extra.mnemonic = kNothing;

  const OpTable::Entry* entry = &entry_of(words);
  unsigned size = find_size(target_, *entry, instruction.format, words);
  Op op = entry->op;
  int32_t scales = 0;
  const char* problem = nullptr;
  if (op == Op::v_mfma_ld_scale_b32) {
    scales = take_scales(words, problem);
    entry = &entry_of(words);
    op = scaled_form(entry->op);
    size = find_size(target_, *entry, format_of(layout_, words[0]), words) != 0 ? 16 : 0;
  }
  if (op == Op::none || size == 0 || size > available)
    return make_undecodable(instruction, "is no encoding of this processor");
  extra.mnemonic = op == entry->op ? entry->name : row_of(op).name;
  instruction.size = static_cast<uint8_t>(size);
  instruction.op = op;
  if (size > 4) extra.encoding |= uint64_t{words[1]} << 32;
  std::fill(words + size / 4, std::end(words), 0);
  if (!target_.is_executed) {
    const char* const mistake = decode_rdna_fields(target_, words, instruction);
    extra.problem = mistake ? mistake : not_executed(instruction);
    instruction.execute = undecodable;
    return;
  }
  const Opcode* const opcode = find_opcode(op);
  if (!opcode) return make_undecodable(instruction, not_executed(instruction));
  if (!problem) problem = decode_fields(target_, words, instruction);
  if (size == 16) instruction.offset = scales;
  if (!problem) problem = register_needs(target_, instruction, instruction.needs);
  if (problem) return make_undecodable(instruction, problem);
  instruction.execute =
      opcode->plain && !has_modifier(instruction) ? opcode->plain : opcode->general;
  if (target_.d16_loads_clear && opcode->clearing) instruction.execute = opcode->clearing;
  if (!instruction.execute) make_undecodable(instruction, "is not implemented with its modifiers");
}

std::string Decoder::text(std::span<const uint8_t> bytes, uint64_t address) const {
  DecodedInstruction instruction;
  decode(bytes, instruction);
  const char* const name = name_of(instruction);
  if (name == kNothing) return kNothing;
  std::string text =
      llvm_->text(bytes.first(std::min<size_t>(bytes.size(), instruction.size)), address);
  return text.empty() ? name : text;
}

}  // namespace halyard::vgpu::isa
