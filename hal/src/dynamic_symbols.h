// Dynamic symbols for a code object that has none. HIP finds a module's kernels and variables
// through comgr, which reads them from .dynsym only; compilers other than LLVM write a .symtab
// only.
#pragma once

#include <cstddef>
#include <vector>

#include "elf_image.h"

namespace halyard::internal {

// If `image` has no dynamic symbols: appends a table of the symbols that its .symtab exports to
// `*file`, which is a copy of the image, maybe with more behind it.
void add_dynamic_symbols(const ElfImage& image, std::vector<std::byte>* file);

}  // namespace halyard::internal
