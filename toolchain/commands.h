// The command lines of compilers and linkers: pure functions of the desired output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hal/target_id.h"
#include "toolchain/language.h"

namespace halyard::toolchain {

using Command = std::vector<std::string>;  // a program and its arguments

// The code object version if the user does not choose one: 6 for a generic target, which requires
// it, and otherwise 5, which the most runtimes support.
uint32_t default_code_object_version(const TargetId& target);

// One file of one language, for one target.
struct Compilation {
  std::string compiler;          // the path of clang, or of hipcc for HIP
  std::string hip_headers = {};  // for HIP by clang: the folder with hip/hip_runtime.h
  std::string hip_prelude = {};  // then: a file in front of the source
  Language language = Language::kC;
  std::string input;
  TargetId target;
  // For clang; 0: what the compiler does by itself, hipcc or a file that says its version.
  uint32_t code_object_version = 0;
  std::vector<std::string> joined;     // bitcode that becomes part of the input, which is IR
  std::vector<std::string> libraries;  // bitcode of which only what is called does
  std::vector<std::string> options;    // the user's own, behind all others
  bool is_crate = false;               // the input is the bitcode of a Rust crate
  // Nothing else is linked with it: functions that no kernel calls are dropped.
  bool alone = true;
  bool opencl = false;    // IR that was OpenCL C
  bool optimizes = true;  // or it stays as the language's rules make it
  bool warns = true;
};

// To an object file; a HIP file becomes a whole code object. `dependencies` is where the files that
// were read are written to, as for make; empty for nowhere, and not looked at where the language
// has none.
Command to_object(const Compilation& compilation, const std::string& output,
                  const std::string& dependencies);
// To LLVM bitcode, which that of other files is joined with before it becomes code.
Command to_bitcode(const Compilation& compilation, const std::string& output,
                   const std::string& dependencies);
// To optimized LLVM IR as text. Not for assembly.
Command to_ir(const Compilation& compilation, const std::string& output,
              const std::string& dependencies);
// From that IR on, which is not optimized again; clang only.
Command ir_to_assembly(const Compilation& compilation, const std::string& ir,
                       const std::string& output);
Command assembly_to_object(const Compilation& compilation, const std::string& assembly,
                           const std::string& output);
// Whether hipcc's clang knows the target: it only checks the command, and fails if not.
Command hip_target_question(const std::string& hipcc, const TargetId& target);
// HIP's assembly, straight from the source.
Command hip_to_assembly(const Compilation& compilation, const std::string& output);

// Object files and archives to a code object.
Command link(const std::string& lld, const std::vector<std::string>& objects,
             const std::string& output);

// Whether the compiler writes which files it has read.
bool has_dependency_file(Language language) noexcept;

// The paths in a dependency file for make, without the first target.
std::vector<std::string> parse_dependencies(const std::string& text);

}  // namespace halyard::toolchain
