// Assembles AMDGCN text in this process, with LLVM's MC library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halyard::vgpu::isa::testing {

// The bytes of `text`'s .text section. On an error `error` is the assembler's message and the
// result is empty.
std::vector<uint8_t> assemble(const std::string& text, const std::string& processor,
                              std::string& error);

// Assembles what it can: lines that the processor does not have, or the assembler does not accept,
// are taken out of `lines`.
std::vector<uint8_t> assemble_valid(std::vector<std::string>& lines, const std::string& processor);

}  // namespace halyard::vgpu::isa::testing
