// Keeps the compiler inside of the vendor's runtime apart from the one of the program.
#pragma once

#include <string>

namespace halyard::mlir {

// HIP opens libamd_comgr, which brings an LLVM of its own into a process that has one already: this
// one is a part of MLIR's tools. Debian's libMLIR exports instances of LLVM's templates without a
// symbol version, so that the other LLVM would take them for its own and crash. Opened here first,
// and bound to itself, it does not. `hip_path` is where HIP was asked for: a file, a folder or
// nothing.
void isolate_compiler_of_hip(const std::string& hip_path);

}  // namespace halyard::mlir
