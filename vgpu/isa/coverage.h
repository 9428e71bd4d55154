// Which instructions of a processor the engine executes, from their rows.
#pragma once

#include <set>
#include <string>

namespace halyard::vgpu::isa {

struct Coverage {
  std::set<std::string> implemented;
  std::set<std::string> missing;  // have a row, and the engine does not execute them
};

// `processor` is one that the engine executes (target.h).
Coverage find_coverage(const std::string& processor);

// The reason why an instruction is not supported, or null.
const char* left_out(const std::string& mnemonic);

// The Markdown page that says all this for each processor whose instructions differ.
std::string coverage_page();

}  // namespace halyard::vgpu::isa
