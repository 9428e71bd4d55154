// What a kernel's descriptor and machine code say of a launch that its metadata does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hal/code_object.h"
#include "hal/executable.h"
#include "hal/module.h"

namespace halyard::runner {

struct CodeFacts {
  // The dispatch packet, where compilers find the sizes of the grid and of its work-groups, up to
  // code object version 4.
  bool reads_packet = false;
  // The dimensions whose work-group or work-item ids it is given: 1 to 3.
  uint32_t dimensions = 1;
  // It has instructions that access LDS. Known for gfx9 only; false otherwise.
  bool accesses_lds = false;
};

// Of a kernel of the code object in `object`.
CodeFacts code_facts(std::span<const std::byte> object, const CodeObject& code,
                     const KernelInfo& kernel);

// Of a function that a device with this target ("gfx90a:xnack-") has loaded of the module. Nothing
// if that cannot be told.
std::optional<CodeFacts> code_facts(const Module& module, std::string_view target,
                                    std::string_view function);

// Whether the kernel computes with the sizes of the grid and of its work-groups.
bool reads_shape(const FunctionInfo& function, const CodeFacts& facts);

}  // namespace halyard::runner
