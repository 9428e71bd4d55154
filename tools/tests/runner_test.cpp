// The decisions of tools/runner, which need no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/runner/arguments.h"
#include "tools/runner/launch.h"
#include "tools/runner/results.h"
#include "tools/runner/source_type.h"
#include "tools/tests/support.h"

namespace halyard::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using values::ElementType;
using values::Value;

ArgumentInfo buffer(StringView name, StringView type = {}) {
  ArgumentInfo argument;
  argument.kind = ArgumentKind::kBuffer;
  argument.size = 8;
  argument.name = name;
  argument.type_name = type;
  argument.value_kind = "global_buffer";
  return argument;
}

ArgumentInfo by_value(StringView name, uint32_t size, StringView type = {}) {
  ArgumentInfo argument;
  argument.size = size;
  argument.name = name;
  argument.type_name = type;
  argument.value_kind = "by_value";
  return argument;
}

ArgumentInfo special(StringView name, ArgumentKind kind, StringView value_kind) {
  ArgumentInfo argument;
  argument.kind = kind;
  argument.name = name;
  argument.value_kind = value_kind;
  return argument;
}

// A kernel as OpenCL C's metadata describes it, and one as C's does, without types.
const ArgumentInfo kTyped[] = {
    buffer("a", "float*"), buffer("out", "float*"), by_value("n", 4, "int"),
    special("scratch", ArgumentKind::kDynamicLds, "dynamic_shared_pointer")};
const ArgumentInfo kUntyped[] = {buffer("a"), by_value("shape", 12), buffer({})};

FunctionInfo function_of(Span<const ArgumentInfo> arguments) {
  FunctionInfo function;
  function.name = "scale";
  function.arguments = arguments;
  return function;
}

std::vector<Value> values_of(const std::vector<std::string>& texts) {
  std::vector<Value> values;
  for (const std::string& text : texts) {
    auto value = values::parse_value(text);
    EXPECT_TRUE(value.ok()) << message_of(value.status());
    values.push_back(std::move(value).value());
  }
  return values;
}

std::string bind(Span<const ArgumentInfo> arguments, const std::vector<std::string>& texts) {
  std::vector<Value> values = values_of(texts);
  return message_of(bind_arguments(function_of(arguments), values));
}

TEST(BindArguments, TakesWhatFits) {
  EXPECT_EQ(bind(kTyped, {"4xf32=0", "&4xf32", "i32=4", "lds=64"}), "");
  EXPECT_EQ(bind(kTyped, {"4xf32=0", "&4xf32", "u32=4", "lds=0"}), "");
  EXPECT_EQ(bind(kTyped, {"bytes=0x00000000", "&4xf32", "bytes=0x04000000", "lds=64"}), "");
  EXPECT_EQ(bind(kUntyped, {"4xi8=0", "{i32=1 i32=2 f32=3}", "&9xf64"}), "");
  EXPECT_EQ(bind({}, {}), "");
}

// Where the metadata says the type, a number needs none; an .npy file's one number is a value.
TEST(BindArguments, NumbersTakeTheArgumentsType) {
  EXPECT_EQ(bind(kTyped, {"null", "&4xf32", "4", "lds=64"}), "");
  EXPECT_THAT(bind(kTyped, {"4xf32=0", "&4xf32", "4.5", "lds=64"}),
              HasSubstr("\"4.5\" is not a number of type"));
  EXPECT_THAT(bind(kTyped, {"4xf32=0", "&4xf32", "null", "lds=64"}), HasSubstr("a null pointer"));
  EXPECT_THAT(bind(kTyped, {"4", "&4xf32", "4", "lds=64"}),
              HasSubstr("but a number without a type (4) is given"));
  const ArgumentInfo untyped[] = {by_value("n", 4)};
  EXPECT_EQ(bind(untyped, {"4.5"}), "");
  EXPECT_THAT(
      bind(untyped, {"4"}),
      HasSubstr("the file does not say of which type: the number (4) needs one. Write it as "
                "i32=1 or f32=1."));
  std::vector<Value> values(1);
  values[0].kind = Value::Kind::kBuffer;
  values[0].type = {values::ElementType::kU32, {}};
  values[0].data.resize(4);
  EXPECT_TRUE(bind_arguments(function_of(untyped), values).ok());
  EXPECT_EQ(values[0].kind, Value::Kind::kScalar);
}

TEST(BindArguments, ListsTheArgumentsIfThereAreTooFewOrTooMany) {
  const std::string few = bind(kTyped, {"4xf32=0"});
  EXPECT_THAT(few, HasSubstr("The kernel scale takes 4 arguments, but 1 is given: too few."));
  EXPECT_THAT(few, HasSubstr("\n  [0] a: buffer (float*)\n"));
  EXPECT_THAT(few, HasSubstr("\n  [2] n: 4 bytes by value (int)\n"));
  EXPECT_THAT(few, HasSubstr("\n  [3] scratch: LDS of a size of your choice"));
  EXPECT_THAT(bind({}, {"i32=1"}), HasSubstr("takes 0 arguments, but 1 is given: too many. Its "
                                             "arguments: none."));
  EXPECT_THAT(bind(kUntyped, {"i32=1", "i32=1", "i32=1", "i32=1"}),
              HasSubstr("takes 3 arguments, but 4 are given: too many."));
}

TEST(BindArguments, RefusesTheWrongKind) {
  EXPECT_THAT(
      bind(kTyped, {"f32=0", "&4xf32", "i32=4", "lds=64"}),
      HasSubstr("argument [0] a wants a buffer (float*), but a scalar (f32) is given. Write "
                "it as 4xf32=0 or &4xf32."));
  EXPECT_THAT(
      bind(kTyped, {"4xf32=0", "&4xf32", "1xi32=4", "lds=64"}),
      HasSubstr("argument [2] n wants 4 bytes by value (int), but a buffer (1xi32) is given. "
                "Write it as i32=1."));
  EXPECT_THAT(bind(kTyped, {"4xf32=0", "&4xf32", "i32=4", "i32=64"}),
              HasSubstr("argument [3] scratch wants LDS"));
  EXPECT_THAT(bind(kTyped, {"lds=4", "&4xf32", "i32=4", "lds=64"}),
              HasSubstr("but LDS (4 bytes) is given"));
}

TEST(BindArguments, RefusesTheWrongSize) {
  EXPECT_THAT(
      bind(kTyped, {"4xf32=0", "&4xf32", "i64=4", "lds=64"}),
      HasSubstr("[2] n wants 4 bytes by value (int), but a scalar (i64) is given, which has 8 "
                "bytes"));
  EXPECT_THAT(
      bind(kUntyped, {"4xi8=0", "{i32=1 i32=2}", "&9xf64"}),
      HasSubstr("[1] shape wants 12 bytes by value, but a block of 8 untyped bytes is given"));
}

TEST(BindArguments, RefusesTheWrongTypeWhereTheTypeIsKnown) {
  EXPECT_THAT(
      bind(kTyped, {"4xi32=0", "&4xf32", "i32=4", "lds=64"}),
      HasSubstr("argument [0] a has the type float*, which takes f32, but a buffer (4xi32) is "
                "given"));
  EXPECT_THAT(bind(kTyped, {"4xf32=0", "&4xf32", "f32=4", "lds=64"}),
              HasSubstr("argument [2] n has the type int, which takes i32, but a scalar (f32)"));
}

TEST(BindArguments, RefusesArgumentsThatNobodyCanGive) {
  const ArgumentInfo image[] = {special("picture", ArgumentKind::kUnsupported, "image")};
  EXPECT_THAT(bind(image, {"&1xf32"}), HasSubstr("[0] picture is of the kind image, which is not"));
}

TEST(BindArguments, GivesUntypedBytesTheTypeThatIsKnown) {
  std::vector<Value> values =
      values_of({"bytes=0x0000803f00000040", "bytes=0x000000", "i32=1", "lds=0"});
  ASSERT_TRUE(bind_arguments(function_of(kTyped), values).ok());
  EXPECT_EQ(format_tensor(values[0].to_tensor(), 0), "2xf32=1 2");
  EXPECT_EQ(values[1].type.to_string(), "3xi8");
}

TEST(SourceType, KnowsOpenClNames) {
  const auto check = [](std::string_view name, ElementType element, uint32_t lanes, bool pointer) {
    const auto type = source_type(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(type->element, element) << name;
    EXPECT_EQ(type->lanes, lanes) << name;
    EXPECT_EQ(type->is_pointer, pointer) << name;
  };
  check("float*", ElementType::kF32, 1, true);
  check("half", ElementType::kF16, 1, false);
  check("uint4*", ElementType::kU32, 4, true);
  check("char16", ElementType::kI8, 16, false);
  check("double2", ElementType::kF64, 2, false);
  check("const unsigned long *", ElementType::kU64, 1, true);
  check("int * restrict", ElementType::kI32, 1, true);
  check("size_t", ElementType::kU64, 1, false);
  for (const char* other : {"", "void*", "struct Shape", "Mixed", "float**", "float5", "16",
                            "image2d_t", "const", "*"}) {
    EXPECT_FALSE(source_type(other)) << other;
  }
}

TEST(SourceType, IntegersOfOneSizeAreCompatible) {
  EXPECT_TRUE(is_compatible(ElementType::kU32, ElementType::kI32));
  EXPECT_TRUE(is_compatible(ElementType::kF16, ElementType::kF16));
  EXPECT_FALSE(is_compatible(ElementType::kF16, ElementType::kBf16));
  EXPECT_FALSE(is_compatible(ElementType::kF32, ElementType::kI32));
  EXPECT_FALSE(is_compatible(ElementType::kI64, ElementType::kI32));
}

std::string extents_trouble(std::string_view text) {
  return message_of(parse_extents("--grid", text).status());
}

TEST(ParseExtents, TakesOneToThreeNumbers) {
  EXPECT_THAT(*parse_extents("--grid", "7"), ElementsAre(7, 1, 1));
  EXPECT_THAT(*parse_extents("--grid", "7,8"), ElementsAre(7, 8, 1));
  EXPECT_THAT(*parse_extents("--grid", "7,8,0"), ElementsAre(7, 8, 0));
  EXPECT_THAT(*parse_extents("--grid", "99999999999"), ElementsAre(99999999999, 1, 1));
}

TEST(ParseExtents, SaysWhereTextIsMalformed) {
  EXPECT_THAT(extents_trouble(""), HasSubstr("--grid is malformed at column 1"));
  EXPECT_THAT(extents_trouble("7,"), HasSubstr("at column 3"));
  EXPECT_THAT(extents_trouble("7x8"), HasSubstr("at column 2"));
  EXPECT_THAT(extents_trouble("7,8,9,10"), HasSubstr("at column 6"));
  EXPECT_THAT(extents_trouble("-1"), HasSubstr("at column 1"));
  EXPECT_THAT(extents_trouble("99999999999999999999"), HasSubstr("at column 1"));
}

DeviceInfo device() {
  DeviceInfo info;
  info.name = "Test GPU";
  info.wavefront_size = 64;
  info.max_workgroup_size = 1024;
  info.max_workgroup = {1024, 1024, 1024};
  info.max_grid = {UINT32_MAX, 65535, 65535};
  info.max_grid_size = UINT32_MAX;
  return info;
}

std::string launch_trouble(const LaunchRequest& request) {
  const auto launch = choose_launch(device(), function_of({}), request);
  EXPECT_FALSE(launch.ok());
  return message_of(launch.status());
}

TEST(ChooseLaunch, DefaultsFollowTheResultAndTheKernel) {
  FunctionInfo function = function_of({});
  auto launch = choose_launch(device(), function, {.elements = 1000});
  EXPECT_EQ(launch->grid, (Dim3{1000, 1, 1}));
  EXPECT_EQ(launch->workgroup, (Dim3{64, 1, 1}));
  launch = choose_launch(device(), function, {.elements = 5});
  EXPECT_EQ(launch->workgroup, (Dim3{5, 1, 1}));
  launch = choose_launch(device(), function, {.elements = 0});
  EXPECT_EQ(launch->grid, (Dim3{1, 1, 1}));
  function.max_workgroup_size = 16;
  launch = choose_launch(device(), function, {.elements = 1000});
  EXPECT_EQ(launch->workgroup, (Dim3{16, 1, 1}));
  function.required_workgroup_size = {8, 8, 1};
  launch = choose_launch(device(), function, {.elements = 1000});
  EXPECT_EQ(launch->workgroup, (Dim3{8, 8, 1}));
}

// A kernel of HIP's computes with blockDim and gridDim, which a partial work-group makes wrong.
TEST(ChooseLaunch, WholeGroupsForKernelsThatComputeWithTheirSize) {
  const FunctionInfo function = function_of({});
  const auto groups_of = [&](uint64_t elements) {
    return choose_launch(device(), function, {.elements = elements, .reads_shape = true});
  };
  EXPECT_EQ(groups_of(100)->workgroup, (Dim3{50, 1, 1}));
  EXPECT_EQ(groups_of(100)->grid, (Dim3{100, 1, 1}));
  EXPECT_TRUE(groups_of(100)->notes.empty());
  EXPECT_EQ(groups_of(128)->workgroup, (Dim3{64, 1, 1}));
  EXPECT_EQ(groups_of(5)->workgroup, (Dim3{5, 1, 1}));
  const auto prime = groups_of(1009);
  EXPECT_EQ(prime->workgroup, (Dim3{1, 1, 1}));
  EXPECT_THAT(prime->notes, ElementsAre(HasSubstr("--grid=1024 --workgroup=64 is faster")));
  const auto asked = choose_launch(
      device(), function, {.workgroup = {{64, 1, 1}}, .elements = 100, .reads_shape = true});
  EXPECT_EQ(asked->grid, (Dim3{128, 1, 1}));
  EXPECT_THAT(asked->notes, ElementsAre(HasSubstr("128 work-items for the 100 elements")));
  const auto partial = choose_launch(
      device(), function, {.grid = {{100, 1, 1}}, .workgroup = {{64, 1, 1}}, .reads_shape = true});
  EXPECT_EQ(partial->grid, (Dim3{100, 1, 1}));
  EXPECT_THAT(partial->notes, ElementsAre(HasSubstr("is partial (the work-group is 64×1×1)")));
}

// OpenCL C's get_local_size() knows partial work-groups, unless the metadata forbids them.
TEST(ChooseLaunch, OpenClKernelsHavePartialGroups) {
  FunctionInfo function = function_of(kTyped);
  const LaunchRequest request = {.elements = 100, .reads_shape = true};
  EXPECT_EQ(choose_launch(device(), function, request)->workgroup, (Dim3{64, 1, 1}));
  function.uniform_workgroups = true;
  EXPECT_EQ(choose_launch(device(), function, request)->workgroup, (Dim3{50, 1, 1}));
}

TEST(ChooseLaunch, NoGuessWhereTheGroupIsFixedInTheCode) {
  FunctionInfo function = function_of({});
  function.uniform_workgroups = true;
  EXPECT_TRUE(choose_launch(device(), function, {.elements = 128}).ok());
  EXPECT_THAT(message_of(choose_launch(device(), function, {.elements = 100}).status()),
              HasSubstr("the grid (100×1×1) is no multiple of the default work-group (64). Say "
                        "--grid=128"));
}

TEST(ChooseLaunch, AHintForAGridOfTooFewDimensions) {
  const FunctionInfo function = function_of({});
  LaunchRequest request = {.elements = 512, .shape = {16, 32}, .dimensions = 2};
  EXPECT_THAT(
      choose_launch(device(), function, request)->notes,
      ElementsAre(HasSubstr("ids in 2 dimensions, and the default grid has one (512×1×1). For a "
                            "work-item for each element of the result, say --grid=32,16.")));
  request.grid = {{32, 16, 1}};
  EXPECT_THAT(choose_launch(device(), function, request)->notes, IsEmpty());
  request.grid = {{512, 1, 1}};
  EXPECT_THAT(choose_launch(device(), function, request)->notes, IsEmpty());
  request = {.elements = 512, .shape = {512}, .dimensions = 2};
  EXPECT_THAT(choose_launch(device(), function, request)->notes, IsEmpty());
  request = {.elements = 512, .shape = {16, 32}, .dimensions = 1};
  EXPECT_THAT(choose_launch(device(), function, request)->notes, IsEmpty());
}

TEST(ChooseLaunch, WhatIsAskedForWins) {
  const auto launch =
      choose_launch(device(), function_of({}),
                    {.grid = {{256, 256, 1}}, .workgroup = {{16, 16, 1}}, .elements = 7});
  EXPECT_EQ(launch->grid, (Dim3{256, 256, 1}));
  EXPECT_EQ(launch->workgroup, (Dim3{16, 16, 1}));
}

TEST(ChooseLaunch, RefusesWithTheLimits) {
  EXPECT_THAT(launch_trouble({}), HasSubstr("Say --grid=X[,Y[,Z]]"));
  EXPECT_THAT(launch_trouble({.grid = {{0, 1, 1}}}),
              HasSubstr("The grid (0×1×1) has no work-item"));
  EXPECT_THAT(launch_trouble({.grid = {{1, 1, 1}}, .workgroup = {{1, 0, 1}}}),
              HasSubstr("The work-group (1×0×1) has no work-item"));
  const std::string grid = launch_trouble({.grid = {{1, 70000, 1}}});
  EXPECT_THAT(grid,
              HasSubstr("The grid (1×70000×1) is too large. The device (Test GPU) has a limit "
                        "of 4294967295×65535×65535 work-items in x, y and z, and of "
                        "4294967295 in all."));
  EXPECT_THAT(launch_trouble({.grid = {{4294967296, 1, 1}}}), HasSubstr("too large"));
  EXPECT_THAT(launch_trouble({.grid = {{65536, 65535, 2}}}), HasSubstr("too large"));
  EXPECT_THAT(launch_trouble({.elements = 1000000000000}), HasSubstr("too large"));
  EXPECT_THAT(launch_trouble({.grid = {{64, 64, 1}}, .workgroup = {{64, 32, 1}}}),
              HasSubstr("The work-group (64×32×1) is too large"));
}

TEST(Results, AreTheOutputOnlyBuffersOrElseAll) {
  EXPECT_THAT(results_of(values_of({"1xf32=0", "&1xf32", "i32=1", "&1xf32"})), ElementsAre(1, 3));
  EXPECT_THAT(results_of(values_of({"1xf32=0", "i32=1", "2xf32=1 2"})), ElementsAre(0, 2));
  EXPECT_THAT(results_of(values_of({"i32=1"})), IsEmpty());
}

class AssignResults : public ::testing::Test {
 protected:
  std::string assign(const std::vector<std::string>& texts) {
    const auto assigned = assign_results("--output", texts, function_of(kTyped), values_);
    if (!assigned.ok()) return message_of(assigned.status());
    std::string text;
    for (const ResultText& result : *assigned) {
      text += std::to_string(result.argument) + " " + result.text + "\n";
    }
    return text;
  }

  std::vector<Value> values_ = values_of({"4xf32=0", "4xf32=0", "i32=4", "lds=64"});
};

TEST_F(AssignResults, InOrderOrByPlaceOrName) {
  EXPECT_EQ(assign({"@x.npy", "-"}), "0 @x.npy\n1 -\n");
  EXPECT_EQ(assign({"out:-"}), "1 -\n");
  EXPECT_EQ(assign({"[1]: @x", "@y"}), "1 @x\n0 @y\n");
  EXPECT_EQ(assign({"[1] out: 2x2xf32=[[1 2][3 4]]"}), "1 2x2xf32=[[1 2][3 4]]\n");
  EXPECT_EQ(assign({"[0]:-", "[0] a:@x"}), "0 -\n0 @x\n");
  // What looks like a prefix and is none.
  EXPECT_EQ(assign({"@c:x", "4xf32=@c:x"}), "0 @c:x\n1 4xf32=@c:x\n");
  values_ = values_of({"4xf32=0", "&4xf32", "i32=4", "lds=64"});
  EXPECT_EQ(assign({"@x.npy"}), "1 @x.npy\n");
}

TEST_F(AssignResults, RefusesWhatIsNoResult) {
  EXPECT_THAT(assign({"-", "-", "-"}), HasSubstr("There are more --output than the run has results "
                                                 "(2). Its results:\n  [0] a\n  [1] out"));
  EXPECT_THAT(assign({"[4]:-"}), HasSubstr("for an argument ([4]) that the kernel scale does not"));
  EXPECT_THAT(assign({"[0] out:-"}), HasSubstr("for an argument ([0] out)"));
  EXPECT_THAT(assign({"ouz:-"}), HasSubstr("Did you mean \"out\"?"));
  EXPECT_THAT(assign({"n:-"}), HasSubstr("argument [2] n, which is not a buffer"));
}

}  // namespace
}  // namespace halyard::runner
