#include "vgpu/isa/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {
namespace {

// Those whose instructions differ; the others have the ones of gfx900.
constexpr std::array<const char*, 6> kProcessors = {"gfx900", "gfx906", "gfx908",
                                                    "gfx90a", "gfx942", "gfx950"};

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

// The head of a table with a column for each processor.
std::string table_head() {
  std::string line = "| |", rule = "\n|---|";
  for (const char* const processor : kProcessors) {
    line += fmt::format(" {} |", processor);
    rule += "---|";
  }
  return line + rule + "\n";
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
  Target target;
  std::string error;
  if (!find_target(processor, "", target, error)) return result;
  for (unsigned n = 1; n < kOps; ++n) {
    const auto op = static_cast<Op>(n);
    const Row& row = row_of(op);
    for (const Encoding& e : row.all_encodings()) {
      if (!e.is_of(target.generation)) continue;
      (find_opcode(op) ? result.implemented : result.missing).insert(e.name ? e.name : row.name);
    }
  }
  return result;
}

const char* left_out(const std::string& name) {
  const Op op = find_op(name.c_str());
  const Row& row = row_of(op);
  if (op == Op::v_mfma_ld_scale_b32) return "is the first half of v_mfma_scale_*";
  if (!row.has(kGraphics)) return nullptr;
  const std::span<const Encoding> encodings = row.all_encodings();
  switch (encodings.front().format) {
    case Format::kExp:
      return "exports to the graphics pipeline";
    case Format::kMimg:
      return "samples or stores images";
    case Format::kVintrp:
    case Format::kVinterp:
    case Format::kLdsDirect:
    case Format::kVop3:
      return "interpolates a pixel shader's parameters";
    case Format::kMubuf:
      return "stores what lies in LDS (buffer_store_lds_dword)";
    case Format::kSopp:
      return "ends a pixel shader";
    case Format::kSop1:
    case Format::kSop2:
      return "returns from a trap handler, and no wave runs one";
    case Format::kVop1:
      return "looks up the rasteriser's screen partition";
    default:
      return row.has(kGdsOnly) ? "synchronises globally (GWS)"
                               : "takes its data from LDS (ds_*_src2)";
  }
}

std::string coverage_page() {
  std::map<std::string, std::array<bool, kProcessors.size()>> by_name, excluded;
  std::array<size_t, kProcessors.size()> done{}, open{}, out{};
  for (size_t p = 0; p < kProcessors.size(); ++p) {
    const Coverage coverage = find_coverage(kProcessors[p]);
    for (const std::string& name : coverage.implemented) by_name[name][p] = true;
    done[p] = coverage.implemented.size();
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
      "`halyard-isa-table` generates this page from the rows of instructions "
      "(`vgpu/isa/rows`) and the tables of handlers. To\n"
      "change it, run `halyard-isa-table --write docs/isa-coverage.md`. A test compares the page "
      "with the code, and another\n"
      "requires that no instruction is \"open\". Names are LLVM's, without the suffix of their "
      "encoding (`_e32`, `_e64`, `_sdwa`,\n"
      "`_dpp`).\n"
      "\n"
      "The virtual GPU refuses these forms of executed instructions by name:\n"
      "\n"
      "- modifiers of matrix instructions that AMD's calculator does not allow;\n"
      "- loads of two dwords, and before gfx950 of more than one, from a buffer to LDS;\n"
      "- messages of `s_sendmsg` other than 1 (an interrupt);\n"
      "- instructions that halt a wave (`s_sethalt 1`, `s_sendmsghalt`).\n"
      "\n"
      "`s_trap` with a number other than 3 (a breakpoint, which has no effect) ends the kernel as "
      "a trap. GDS accesses end with\n"
      "a memory violation, as on hardware, where compute processes have no GDS.\n"
      "\n";
  const std::string heads = table_head();
  page += heads;
  const auto count = [&](const char* title, const auto& numbers) {
    page += fmt::format("| {} | {} |\n", title, fmt::join(numbers, " | "));
  };
  count("executed", done);
  count("open", open);
  count("left out, listed below", out);
  page += "\n## Executed by all\n\n";
  std::map<std::string, std::string> groups;
  std::vector<std::string> partial;
  for (const auto& [name, has] : by_name) {
    if (std::ranges::all_of(has, [](bool one) { return one; })) {
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
  page += "## Executed where they exist\n\n" + heads;
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
