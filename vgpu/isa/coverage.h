// Which instructions of a processor the engine executes, found by decoding an encoding of every
// opcode of every format.
#pragma once

#include <set>
#include <string>

namespace halyard::vgpu::isa {

struct Coverage {
  std::set<std::string> implemented;
  std::set<std::string> missing;  // LLVM's disassembler knows them, and the engine does not
  std::set<std::string> broken;   // in a table, but none of their encodings decodes
};

// `processor` is one that the engine executes (target.h).
Coverage find_coverage(const std::string& processor);

// The reason why an instruction is not supported, or null.
const char* left_out(const std::string& mnemonic);

// The Markdown page that says all this for gfx900, gfx906, gfx908 and gfx90a.
std::string coverage_page();

}  // namespace halyard::vgpu::isa
