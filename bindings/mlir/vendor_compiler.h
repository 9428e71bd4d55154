// Keeps the compiler inside of the vendor's runtime apart from the one of the program.
#pragma once

#include <string>

namespace halyard::mlir {

// HIP opens libamd_comgr, which contains an LLVM, in a process that already has the one of
// MLIR's tools. Debian's libMLIR exports instances of LLVM's templates without a symbol
// version, so the other LLVM would use them and crash. If libamd_comgr is opened here first,
// and bound to itself, it does not. `hip_path` is the path given for HIP: a file, a folder or
// nothing.
void isolate_compiler_of_hip(const std::string& hip_path);

}  // namespace halyard::mlir
