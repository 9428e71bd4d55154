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

}  // namespace halyard::vgpu::isa::testing
