#include "vgpu/isa/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/encoding.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {
namespace {

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
      add(0xd3800000 | op << 16, 256 | 256 << 9 | 256 << 18);  // VOP3P-MAI without modifiers
    }
    add(0xc0000000 | op << 18);  // SMEM without operands
    // DS, with each set of operands: LLVM requires unused fields to be 0.
    for (const uint64_t gds : {0, 1}) {
      for (const uint64_t operands :
           {0x08060402u, 0x08000402u, 0x08000002u, 0x08000000u, 0x00060402u, 0x00000402u,
            0x00000400u, 0x00000002u, 0x00000000u}) {
        add(0xd8000000 | op << 17 | gds << 16, operands);
      }
    }
    if (op < 128) {
      for (const uint64_t segment : {0, 1, 2}) {
        for (const uint64_t saddr : {0x7f, 0x02, 0x00}) {  // FLAT
          for (const uint64_t operands : {0x04000002u, 0x04000000u, 0x00000402u, 0x00000400u}) {
            add(0xdc000000 | op << 18 | segment << 14, operands | saddr << 16);
            add(0xdc000000 | op << 18 | segment << 14 | 1 << 16,
                operands | 0x04000000u | saddr << 16);
          }
        }
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

bool in_a_table(std::string_view name) {
  for (const auto& family :
       {scalar_opcodes(), vector_opcodes(), matrix_opcodes(), memory_opcodes(), lds_opcodes()}) {
    for (const Opcode& opcode : family) {
      if (name == opcode.mnemonic) return true;
    }
  }
  return false;
}

constexpr std::array<const char*, 4> kProcessors = {"gfx900", "gfx906", "gfx908", "gfx90a"};

// "buffer_load_dword" is in the group "buffer", "v_mfma_…" in "v_mfma", "v_add_f32" in "v".
std::string group_of(const std::string& name) {
  for (const char* const group : {"v_mfma", "v_cmpx", "v_cmp", "v_pk", "v_dot", "v_cvt", "s_buffer",
                                  "s_atomic", "s_cmp", "image_sample", "image_gather4"}) {
    if (name.starts_with(std::string(group) + "_") ||
        (std::string_view(group) == "v_dot" && name.starts_with(group)))
      return group;
  }
  return name.substr(0, name.find('_'));
}

// Lines of at most 118 columns; those behind the first begin with `indent`.
std::string wrapped(const std::string& text, std::string_view indent) {
  constexpr size_t kColumns = 118;
  std::string lines;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (column != 0 && column + 1 + end - at > kColumns) {
      lines += fmt::format("\n{}", indent);
      column = indent.size();
    } else if (column != 0) {
      lines += ' ';
      ++column;
    }
    lines.append(text, at, end - at);
    column += end - at;
    at = end + 1;
  }
  return lines + "\n";
}

}  // namespace

Coverage find_coverage(const std::string& processor) {
  Coverage result;
  std::string error;
  const auto decoder = Decoder::create(processor, "", error);
  if (!decoder) return result;
  for (const uint64_t encoding : all_encodings()) {
    uint8_t bytes[8];
    std::memcpy(bytes, &encoding, sizeof bytes);
    if (decoder->text(bytes, 0) == "<not an instruction>") continue;
    Instruction instruction;
    decoder->decode(bytes, 0, instruction);
    const std::string name = instruction.mnemonic;
    if (instruction.opcode) {
      result.implemented.insert(name);
    } else if (in_a_table(name)) {
      result.broken.insert(name);
    } else {
      result.missing.insert(name);
    }
  }
  for (const std::string& name : result.implemented) result.broken.erase(name);
  return result;
}

const char* left_out(const std::string& name) {
  static const auto& reasons = *new std::map<std::string, const char*>{
      {"exp", "exports to the graphics pipeline"},
      {"s_rfe_b64", "returns from a trap handler, and no wave runs one"},
      {"s_rfe_restore_b64", "returns from a trap handler, and no wave runs one"},
      {"s_endpgm_ordered_ps_done", "ends a pixel shader"},
      {"ds_ordered_count", "counts in the global data share (GWS)"},
      {"v_screen_partition_4se_b32", "looks up the rasteriser's screen partition"},
  };
  const auto found = reasons.find(name);
  if (found != reasons.end()) return found->second;
  if (name.starts_with("image_")) return "samples or stores images";
  if (name.starts_with("v_interp_")) return "interpolates a pixel shader's parameters";
  if (name.starts_with("ds_gws_")) return "synchronises globally (GWS)";
  if (name.find("_src2_") != name.npos) return "takes its data from LDS (ds_*_src2)";
  return nullptr;
}

std::string coverage_page() {
  std::map<std::string, std::array<bool, kProcessors.size()>> by_name, excluded;
  std::array<size_t, kProcessors.size()> done{}, open{}, out{};
  for (size_t p = 0; p < kProcessors.size(); ++p) {
    const Coverage coverage = find_coverage(kProcessors[p]);
    for (const std::string& name : coverage.implemented) by_name[name][p] = true;
    done[p] = coverage.implemented.size();
    open[p] = coverage.broken.size();
    for (const std::string& name : coverage.missing) {
      if (left_out(name)) {
        excluded[name][p] = true;
        ++out[p];
      } else {
        ++open[p];
      }
    }
  }
  std::string page =
      "# Instructions that the virtual GPU executes\n"
      "\n"
      "`halyard-isa-table` generates this page from the decoder and the opcode tables. To change "
      "it, run\n"
      "`halyard-isa-table --write docs/isa-coverage.md`. A test compares the page with the code, "
      "and another requires that no\n"
      "instruction is \"open\". Mnemonics are LLVM's, without the suffix of their encoding "
      "(`_e32`, `_e64`, `_sdwa`, `_dpp`).\n"
      "\n"
      "The virtual GPU refuses these forms of executed instructions by name:\n"
      "\n"
      "- modifiers of matrix instructions that AMD's calculator does not allow;\n"
      "- loads of more than a dword from a buffer to LDS;\n"
      "- messages of `s_sendmsg` other than 1 (an interrupt);\n"
      "- instructions that halt a wave (`s_sethalt 1`, `s_sendmsghalt`).\n"
      "\n"
      "`s_trap` with a number other than 3 (a breakpoint, which has no effect) ends the kernel as "
      "a trap. GDS accesses end with\n"
      "a memory violation, as on hardware, where compute processes have no GDS.\n"
      "\n"
      "| | gfx900 | gfx906 | gfx908 | gfx90a |\n|---|---|---|---|---|\n";
  const auto count = [&](const char* title, const auto& numbers) {
    page += fmt::format("| {} | {} |\n", title, fmt::join(numbers, " | "));
  };
  count("executed", done);
  count("open", open);
  count("left out, listed below", out);
  page += "\n## Executed by all four\n\n";
  std::map<std::string, std::string> groups;
  std::vector<std::string> partial;
  for (const auto& [name, has] : by_name) {
    if (has == std::array{true, true, true, true}) {
      std::string& names = groups[group_of(name)];
      names += (names.empty() ? "`" : ", `") + name + "`";
    } else {
      partial.push_back(name);
    }
  }
  for (const auto& [group, names] : groups) {
    page += wrapped(fmt::format("**{}**: {}", group, names), "") + "\n";
  }
  const auto table = [&](const auto& names, const auto& find) {
    for (const std::string& name : names) {
      page += fmt::format("| `{}` |", name);
      for (const bool has : find(name)) page += has ? " yes |" : " |";
      page += "\n";
    }
  };
  page +=
      "## Executed where they exist\n\n| | gfx900 | gfx906 | gfx908 | gfx90a "
      "|\n|---|---|---|---|---|\n";
  table(partial, [&](const std::string& name) { return by_name[name]; });
  page += "\n## Left out\n\nEach is an error of the queue that names the instruction.\n\n";
  std::map<std::string, std::string> reasons;
  for (const auto& [name, has] : excluded) {
    std::string& names = reasons[left_out(name)];
    names += (names.empty() ? "`" : ", `") + name + "`";
  }
  for (const auto& [reason, names] : reasons) {
    page += wrapped(fmt::format("- {}: {}", reason, names), "  ");
  }
  return page;
}

}  // namespace halyard::vgpu::isa
