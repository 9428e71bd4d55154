// Every opcode that LLVM's disassembler accepts for gfx900 is implemented, but for those named
// here.

#include <gmock/gmock.h>

#include <cstring>
#include <set>
#include <string>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/encoding.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa::testing {
namespace {

struct Sweep {
  std::set<std::string> implemented;
  std::set<std::string> missing;
  std::set<std::string> broken;  // in a table, but the decoder or the table is at odds with it
};

// Encodings of every opcode of every format, with operands that are legal for most.
std::vector<uint64_t> all_encodings() {
  std::vector<uint64_t> all;
  const auto add = [&](uint64_t low, uint64_t high = 0) { all.push_back(low | high << 32); };
  for (uint64_t op = 0; op < 256; ++op) {
    for (const uint64_t operand : {uint64_t{2}, uint64_t{0}}) {
      add(0xbe800000 | operand << 16 | op << 8 | operand);                                // SOP1
      if (op < 128) add(0x80000000 | op << 23 | operand << 16 | operand << 8 | operand);  // SOP2
      if (op < 128) add(0xbf000000 | op << 16 | operand << 8 | operand);                  // SOPC
      if (op < 32) add(0xb0000000 | op << 23 | operand << 16 | 1);                        // SOPK
    }
    if (op < 128) add(0xbf800000 | op << 16);  // SOPP
    for (const uint64_t data : {uint64_t{4}, uint64_t{0}}) {
      add(0xc0000000 | op << 18 | 1 << 17 | data << 6 | 2);  // SMEM, immediate offset
      add(0xc0000000 | op << 18 | 1 << 17 | 1 << 16 | data << 6 | 2);
    }
    add(0x7e000000 | op << 9 | 256 | 1 << 17);  // VOP1
    add(0x7e000000 | op << 9 | 2);
    if (op < 62) add(op << 25 | 256);  // VOP2
    add(0x7c000000 | op << 17 | 256);  // VOPC
    if (op < 128) {
      add(0xd3800000 | op << 16 | 7 << 8, 0x18000000 | 256 | 256 << 9 | 256 << 18);  // VOP3P
      add(0xd3800000 | op << 16 | 1 << 14, 0x18000000 | 256 | 256 << 9 | 256 << 18);
    }
    for (const uint64_t gds : {0, 1}) add(0xd8000000 | op << 17 | gds << 16, 0x04030201);  // DS
    if (op < 128) {
      for (const uint64_t segment : {0, 1, 2}) {
        for (const uint64_t saddr : {0x7f, 0x02})
          add(0xdc000000 | op << 18 | segment << 14, 0x04000200 | saddr << 16);  // FLAT
      }
      add(0xe0000000 | op << 18, 0x80010200);  // MUBUF
      add(0xe0000000 | op << 18, 0);
      if (op < 16) add(0xe8000000 | op << 15 | 4 << 19 | 4 << 23, 0x80010200);  // MTBUF
      add(0xf0000000 | op << 18 | 0xf00, 0x00010200);                           // MIMG
    }
  }
  for (uint64_t op = 0; op < 1024; ++op) {
    add(0xd0000000 | op << 16, 256 | 256 << 9 | 256 << 18);  // VOP3
    add(0xd0000000 | op << 16, 256 | 2 << 9 | 2 << 18);
    add(0xd0000000 | op << 16 | 2 << 8, 256 | 256 << 9 | 256 << 18);
    add(0xd0000000 | op << 16, 2 | 2 << 9 | 256 << 18);
    add(0xd0000000 | op << 16, 256);
    add(0xd0000000 | op << 16, 0);
  }
  for (uint64_t op = 0; op < 4; ++op) add(0xd4000000 | op << 16);  // VINTRP
  add(0xc400000f, 0);                                              // EXP
  return all;
}

Sweep sweep(const std::string& processor) {
  std::string error;
  const auto decoder = Decoder::create(processor, "", error);
  EXPECT_TRUE(decoder) << error;
  Sweep result;
  for (const uint64_t encoding : all_encodings()) {
    uint8_t bytes[8];
    std::memcpy(bytes, &encoding, sizeof bytes);
    if (decoder->text(bytes, 0) == "<not an instruction>") continue;
    Instruction instruction;
    decoder->decode(bytes, 0, instruction);
    if (instruction.opcode) {
      result.implemented.insert(instruction.mnemonic);
      continue;
    }
    const std::string name = instruction.mnemonic;
    bool known = false;
    for (const auto& family :
         {scalar_opcodes(), vector_opcodes(), memory_opcodes(), lds_opcodes()}) {
      for (const Opcode& opcode : family) known = known || name == opcode.mnemonic;
    }
    if (!known) {
      result.missing.insert(name);
    } else if (!result.implemented.contains(name)) {
      result.broken.insert(name + ": " + decoder->text(bytes, 0));
    }
  }
  return result;
}

// For good: a virtual GPU for compute has no graphics pipeline, no global data share and no wave
// that runs privileged code.
bool never_implemented(const std::string& name) {
  static const std::set<std::string> kNames = {"exp",
                                               "s_rfe_b64",
                                               "s_rfe_restore_b64",
                                               "s_sendmsghalt",
                                               "s_endpgm_ordered_ps_done",
                                               "s_atc_probe",
                                               "s_atc_probe_buffer",
                                               "ds_ordered_count",
                                               "v_screen_partition_4se_b32",
                                               "buffer_store_lds_dword"};
  return kNames.contains(name) || name.starts_with("image_") || name.starts_with("v_interp_") ||
         name.starts_with("ds_gws_") || name.find("_src2_") != name.npos;
}

TEST(Coverage, EveryOpcodeOfGfx900IsImplementedButForTheGraphicsPipeline) {
  const Sweep result = sweep("gfx900");
  EXPECT_GT(result.implemented.size(), 870u);
  for (const std::string& name : result.missing) EXPECT_TRUE(never_implemented(name)) << name;
  EXPECT_THAT(result.broken, ::testing::IsEmpty());
}

TEST(Coverage, EveryOpcodeOfGfx906IsImplementedButForTheGraphicsPipeline) {
  const Sweep result = sweep("gfx906");
  for (const std::string& name : result.missing) EXPECT_TRUE(never_implemented(name)) << name;
  EXPECT_THAT(result.broken, ::testing::IsEmpty());
}

TEST(Coverage, NoMnemonicIsInTwoTables) {
  std::set<std::string> seen;
  for (const auto& family : {scalar_opcodes(), vector_opcodes(), memory_opcodes(), lds_opcodes()}) {
    for (const Opcode& opcode : family)
      EXPECT_TRUE(seen.insert(opcode.mnemonic).second) << opcode.mnemonic;
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
