// Functions made up for tests: metadata without a code object.
#pragma once

#include <initializer_list>
#include <vector>

#include "fake_device.h"
#include "hal/executable.h"

namespace halyard::testing {

// Keeps what a FunctionInfo points at.
class FunctionBuilder {
 public:
  FunctionBuilder() {
    info.name = "kernel";
    info.max_workgroup_size = 1024;
    info.kernarg_alignment = 8;
  }

  // Adds an argument at `offset`; grows the kernarg segment to hold it.
  FunctionBuilder& add(ArgumentKind kind, uint32_t offset, uint32_t size,
                       StringView value_kind = "", StringView name = "", uint32_t alignment = 0) {
    ArgumentInfo argument;
    argument.kind = kind;
    argument.offset = offset;
    argument.size = size;
    argument.value_kind = value_kind;
    argument.name = name;
    argument.alignment = alignment;
    (is_hidden(kind) ? hidden_ : arguments_).push_back(argument);
    if (offset + size > info.kernarg_size) info.kernarg_size = offset + size;
    return *this;
  }
  FunctionBuilder& buffer(uint32_t offset) {
    return add(ArgumentKind::kBuffer, offset, 8, "global_buffer");
  }
  FunctionBuilder& value(uint32_t offset, uint32_t size) {
    return add(ArgumentKind::kValue, offset, size, "by_value");
  }
  FunctionBuilder& lds(uint32_t offset, uint32_t alignment) {
    return add(ArgumentKind::kDynamicLds, offset, 4, "dynamic_shared_pointer", "", alignment);
  }

  // The builder outlives the function.
  FakeFunction& build(FakeExecutable& executable) {
    info.arguments = arguments_;
    info.hidden = hidden_;
    return executable.add(info);
  }

  FunctionInfo info;

 private:
  std::vector<ArgumentInfo> arguments_;
  std::vector<ArgumentInfo> hidden_;
};

}  // namespace halyard::testing
