// What executables and devices say of themselves.
#include <algorithm>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

class Reflection : public DeviceTest {
 protected:
  // "name:kind:offset:size …" of the explicit arguments.
  static std::string arguments_of(const Function* function) {
    std::string text;
    for (const ArgumentInfo& argument : function->info().arguments) {
      if (!text.empty()) text += ' ';
      text += argument.name.view();
      text += argument.kind == ArgumentKind::kValue        ? ":value:"
              : argument.kind == ArgumentKind::kBuffer     ? ":buffer:"
              : argument.kind == ArgumentKind::kDynamicLds ? ":lds:"
                                                           : ":other:";
      text += std::to_string(argument.offset) + ":" + std::to_string(argument.size);
    }
    return text;
  }
  static bool has_hidden(const Function* function, std::string_view value_kind) {
    for (const ArgumentInfo& argument : function->info().hidden) {
      if (argument.value_kind.view() == value_kind) return true;
    }
    return false;
  }
};

TEST_F(Reflection, Device) {
  const DeviceInfo& info = device().info();
  EXPECT_FALSE(info.driver.empty());
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.target.empty());
  EXPECT_GT(info.compute_units, 0u);
  EXPECT_TRUE(info.wavefront_size == 32 || info.wavefront_size == 64);
  EXPECT_GE(info.max_workgroup_size, 256u);
  EXPECT_GT(info.lds_bytes, 0u);
  EXPECT_GT(info.memory_bytes, 0u);
  EXPECT_GT(info.max_allocation_bytes, 0u);
  EXPECT_LE(info.max_allocation_bytes, info.memory_bytes);
  EXPECT_GT(info.allocation_alignment, 0u);
  EXPECT_GT(info.timestamp_hz, 0u);
  for (const uint32_t most : {info.max_workgroup.x, info.max_workgroup.y, info.max_workgroup.z}) {
    EXPECT_GE(most, 64u);
  }
  EXPECT_GE(info.max_grid.x, info.max_workgroup.x);
  EXPECT_GE(info.max_grid_size, info.max_workgroup_size);
  EXPECT_OK(device().fault());
}

TEST_F(Reflection, VersionAndTarget) {
  const struct {
    const char* object;
    uint32_t version;
  } objects[] = {{"vadd_c_v4", 4}, {"vadd_cl_v5", 5}, {"vadd_c_v6", 6}};
  for (const auto& [object, version] : objects) {
    const ExecutableInfo info = executable(object)->info();
    EXPECT_EQ(info.code_object_version, version) << object;
    EXPECT_EQ(info.target.view(), processor_of(device().info().target)) << object;
  }
}

TEST_F(Reflection, FunctionsOfAnExecutable) {
  const Ref<Executable> call = executable("call");
  ASSERT_EQ(call->function_count(), 3u);
  std::vector<std::string> names;
  for (size_t i = 0; i < 3; ++i) {
    names.emplace_back(call->function(i).info().name.view());
    EXPECT_EQ(&call->function(i).executable(), call.get());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"call_direct", "call_indirect", "call_recursive"}));
}

TEST_F(Reflection, ArgumentsInOrder) {
  EXPECT_EQ(arguments_of(function("dynamic_lds_cl", "dynamic_lds")),
            "in:buffer:0:8 out:buffer:8:8 first:lds:16:4 second:lds:20:4");
  EXPECT_EQ(arguments_of(function("struct_arg", "apply_shape")),
            ":value:0:1 :value:8:48 :value:56:2 :buffer:64:8");
  EXPECT_EQ(arguments_of(function("arguments", "arguments")),
            "c1:value:0:1 c2:value:1:1 s1:value:2:2 s2:value:4:2 i1:value:8:4 i2:value:12:4 "
            "l1:value:16:8 l2:value:24:8 h:value:32:2 f:value:36:4 d:value:40:8 v3:value:48:4 "
            "v4:value:64:16 d2:value:80:16 mixed:value:96:32 in:buffer:128:8 table:buffer:136:8 "
            "lds:lds:144:4 out:buffer:152:8");
}

TEST_F(Reflection, TypesAndValueKinds) {
  const FunctionInfo& info = function("dynamic_lds_cl", "dynamic_lds")->info();
  EXPECT_EQ(info.arguments[0].type_name.view(), "uint*");
  EXPECT_EQ(info.arguments[0].value_kind.view(), "global_buffer");
  EXPECT_EQ(info.arguments[3].type_name.view(), "ulong*");
  EXPECT_EQ(info.arguments[3].value_kind.view(), "dynamic_shared_pointer");
  EXPECT_EQ(info.arguments[3].alignment, 8u);
}

TEST_F(Reflection, HiddenArguments) {
  const Function* version4 = function("vadd_cl_v4", "vadd");
  EXPECT_TRUE(has_hidden(version4, "hidden_global_offset_x"));
  EXPECT_FALSE(has_hidden(version4, "hidden_block_count_x"));
  const Function* version5 = function("vadd_hip_v5", "vadd");
  EXPECT_TRUE(has_hidden(version5, "hidden_block_count_x"));
  EXPECT_TRUE(has_hidden(version5, "hidden_grid_dims"));
  // What a kernel does not use, newer compilers leave out.
  EXPECT_TRUE(has_hidden(function("device_heap_v5", "large"), "hidden_hostcall_buffer"));
  EXPECT_EQ(version5->info().arguments.size(), 4u);
}

TEST_F(Reflection, SegmentsAndLimits) {
  EXPECT_EQ(function("matmul", "matmul")->info().group_segment_size, 2048u);
  EXPECT_EQ(function("matmul", "matmul")->info().max_workgroup_size, 256u);
  EXPECT_EQ(function("matmul", "matmul")->info().private_segment_size, 0u);
  EXPECT_GE(function("private_array", "private_sort")->info().private_segment_size, 384u);
  EXPECT_EQ(function("private_array", "private_registers")->info().required_workgroup_size,
            (Dim3{64, 1, 1}));
  EXPECT_EQ(function("matmul", "matmul")->info().required_workgroup_size, (Dim3{0, 0, 0}));
  EXPECT_TRUE(function("call", "call_recursive")->info().uses_dynamic_stack);
  EXPECT_FALSE(function("call", "call_direct")->info().uses_dynamic_stack);
  const FunctionInfo& vadd = function("vadd_c_v6", "vadd")->info();
  EXPECT_GE(vadd.kernarg_size, 28u);
  EXPECT_EQ(vadd.kernarg_alignment, 8u);
  EXPECT_GT(vadd.sgpr_count, 0u);
  EXPECT_GT(vadd.vgpr_count, 0u);
  EXPECT_EQ(vadd.wavefront_size, 64u);
}

TEST_F(Reflection, FunctionsThatDoNotExist) {
  const Ref<Executable> call = executable("call");
  EXPECT_FAILS(call->find("call_drect"), StatusCode::kNotFound, "Did you mean \"call_direct\"?");
  EXPECT_FAILS(call->find("xyzzy"), StatusCode::kNotFound, "call_recursive");
  EXPECT_FAILS(call->find("xyzzy"), StatusCode::kNotFound, "\"xyzzy\"");
  EXPECT_FAILS(call->find(""), StatusCode::kNotFound);
}

TEST_F(Reflection, Globals) {
  const Ref<Executable> object = executable("global");
  const GlobalInfo input = take(object->global("global_input"));
  const GlobalInfo output = take(object->global("global_output"));
  EXPECT_EQ(input.size, 16u);
  EXPECT_EQ(output.size, 16u);
  EXPECT_NE(input.device_address, 0u);
  EXPECT_NE(input.device_address, output.device_address);
  EXPECT_FAILS(object->global("global_inpt"), StatusCode::kNotFound, "global_inpt");

  const Ref<Buffer> out = poisoned(16);
  const uint32_t which = 6;
  ASSERT_OK(
      run(function("global", "use_globals"), {64, 1, 1}, {64, 1, 1}, {out, Argument::of(which)}));
  EXPECT_TRUE(
      same(download<uint32_t>(out), std::vector<uint32_t>{10 + 36, 20 + 49, 30 + 0, 40 + 1}));
}

}  // namespace
}  // namespace halyard::cts
