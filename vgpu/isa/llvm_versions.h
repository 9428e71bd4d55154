// What differs between the releases of LLVM that decode instructions (19 to 22): the types of some
// arguments. For files that see LLVM's headers (HALYARD_LLVM_COMPILE_OPTIONS).
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCInst.h>
#include <llvm/TargetParser/Triple.h>

namespace halyard::vgpu::isa {

// A triple, for the functions of llvm::Target: an object from 22 on, and its text before.
#if LLVM_VERSION_MAJOR >= 22
inline llvm::Triple argument(const llvm::Triple& triple) {
  return triple;
}
#else
inline llvm::StringRef argument(const llvm::Triple& triple) {
  return triple.str();
}
#endif

// An instruction, which some releases take as a reference and some as a pointer.
class InstructionArgument {
 public:
  explicit InstructionArgument(const llvm::MCInst& instruction) : instruction_(instruction) {}
  operator const llvm::MCInst&() const { return instruction_; }
  operator const llvm::MCInst*() const { return &instruction_; }

 private:
  const llvm::MCInst& instruction_;
};

}  // namespace halyard::vgpu::isa
