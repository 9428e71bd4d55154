// CodeObject: the contents of an AMDGPU ELF: target, version, kernels with their arguments, global
// variables (LLVM AMDGPUUsage, "ELF Code Object" and "Code Object Metadata").
//
// For drivers and tools; not part of the ABI. The reader accepts any bytes: it returns a result, or
// an error with the mistake and its offset. It never reads outside of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/executable.h"
#include "hal/selection.h"
#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard {

// What runs a kernel: `.kind` of its metadata (LLVM AMDGPUUsage, "AMDHSA Code Object Kernel
// Metadata Map").
enum class KernelKind : uint8_t {
  kNormal,  // the program
  kInit,    // the loader, once: it initializes global variables
  kFini,    // the loader, once, before the executable goes
};

struct KernelInfo {
  // For the constructor of a driver's Function. Its views live as long as the CodeObject. Hidden
  // arguments that the file provably does not use have the kind kHiddenNone. `problem` is what
  // keeps every loader from running the kernel, while others of the file can be run.
  FunctionInfo function;
  KernelKind kind = KernelKind::kNormal;
  StringView symbol;                // of the kernel descriptor: "name.kd"
  bool has_descriptor = false;      // loaders find it
  uint64_t descriptor_address = 0;  // if so: virtual, as in the ELF
  uint64_t descriptor_offset = 0;   // if so: in the file; 64 bytes are there
  // Registers that the compiler spilled to scratch.
  uint32_t sgpr_spill_count = 0;
  uint32_t vgpr_spill_count = 0;
};

struct GlobalSymbol {
  StringView name;
  uint64_t address = 0;  // virtual, as in the ELF
  uint64_t size = 0;     // bytes
};

class CodeObject {
 public:
  // INVALID_ARGUMENT for other or damaged files, UNIMPLEMENTED for a code object version that
  // Halyard does not support (2, or later than 6). Copies what it keeps.
  static Result<CodeObject> read(const void* data, size_t size);

  CodeObject(CodeObject&&) noexcept;
  CodeObject& operator=(CodeObject&&) noexcept;
  ~CodeObject();

  uint32_t version() const noexcept;  // 3 to 6
  const TargetId& target() const noexcept;
  std::string target_name() const { return to_string(target()); }
  // 0 unless the target is generic.
  uint32_t generic_version() const noexcept;
  uint32_t elf_flags() const noexcept;
  // `amdhsa.target`, with the triple; empty before version 4.
  std::string_view metadata_target() const noexcept;

  const std::vector<KernelInfo>& kernels() const noexcept;
  // NOT_FOUND lists the existing names.
  Result<const KernelInfo*> find(std::string_view name) const;
  const std::vector<GlobalSymbol>& globals() const noexcept;

  struct Contents;  // src/code_object.cpp

 private:
  explicit CodeObject(std::unique_ptr<const Contents> contents) noexcept;

  std::unique_ptr<const Contents> contents_;
};

// The facts of the code object in `data` for the selection, from its ELF header only. Fails like
// CodeObject::read.
Result<VariantFacts> read_variant_facts(const void* data, size_t size);

// OK, or FAILED_PRECONDITION with a message that names both targets and how to build for the
// device.
Status check_target(const CodeObject& object, const TargetId& device);

}  // namespace halyard
