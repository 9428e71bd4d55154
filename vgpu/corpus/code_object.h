// Puts a code object into a test machine's memory and launches its kernels, without a runtime.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::corpus {

// What a packet says of a launch. Zero counts as one.
struct Launch {
  uint32_t items[3] = {};  // of a work-group
  uint32_t groups[3] = {};
  std::vector<uint64_t> arguments;       // the kernel's, 8 bytes each
  uint32_t dynamic_stack_bytes = 16384;  // scratch for each work-item, if the kernel cannot say
};

class CodeObject {
 public:
  // Reads the file at `path`, an ELF shared object for the machine's processor, into the memory of
  // `machine`, which must outlive it. On failure `error` says why, and the object has no kernels.
  CodeObject(isa::testing::Machine& machine, const std::string& path, std::string& error);

  bool has(const std::string& kernel) const { return kernels_.count(kernel) != 0; }
  // The address of the kernel's descriptor, which is the same for the GPU and the host.
  uint64_t descriptor(const std::string& kernel) const { return kernels_.at(kernel); }
  // The kernel must be there. Throws std::invalid_argument if it has more or fewer arguments.
  isa::DispatchResult run(const std::string& kernel, const Launch& launch);

 private:
  isa::testing::Machine& machine_;
  std::map<std::string, uint64_t> kernels_;  // addresses of their descriptors
};

}  // namespace halyard::vgpu::corpus
