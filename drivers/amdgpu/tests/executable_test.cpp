// Loading code objects, and what is refused.
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExecutableTest : public VirtualDeviceTest {
 protected:
  Result<Ref<Executable>> load(const std::string& target, const std::string& name) {
    const std::vector<std::byte> bytes = read_kernels(target, name);
    return device_->load_executable(bytes.data(), bytes.size());
  }
  // c = a + b with the kernel vadd of `executable`.
  void expect_vadd(const Ref<Executable>& executable) {
    const Ref<Queue> queue = new_queue();
    const Ref<Buffer> a = host_buffer(256);
    const Ref<Buffer> b = host_buffer(256);
    const Ref<Buffer> c = host_buffer(256);
    const uint32_t n = 64;
    for (uint32_t i = 0; i < n; ++i) {
      view<float>(a)[i] = static_cast<float>(i);
      view<float>(b)[i] = 0.5f;
    }
    const Argument arguments[] = {a, b, c, Argument::of(n)};
    Dispatch dispatch;
    dispatch.function = take(executable->find("vadd"));
    dispatch.grid = dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    ASSERT_OK(queue->dispatch(dispatch));
    finish(*queue);
    EXPECT_EQ(view<float>(c)[63], 63.5f);
  }
};

TEST_F(ExecutableTest, EveryVersionRuns) {
  for (const char* name : {"vadd_c_v4", "vadd_c_v5", "vadd_c_v6"}) {
    SCOPED_TRACE(name);
    const Ref<Executable> executable = take(load("gfx900", name));
    EXPECT_EQ(executable->info().target.view(), "gfx900");
    EXPECT_EQ(executable->info().code_object_version, static_cast<uint32_t>(name[8] - '0'));
    expect_vadd(executable);
  }
}

TEST_F(ExecutableTest, AGenericTargetRuns) {
  const Ref<Executable> executable = take(load("gfx9-generic", "vadd_c_v6"));
  EXPECT_EQ(executable->info().target.view(), "gfx9-generic");
  expect_vadd(executable);
}

TEST_F(ExecutableTest, AnotherTargetIsRefusedWithBothNames) {
  const Result<Ref<Executable>> executable = load("gfx90a", "vadd_c_v6");
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(text(executable.status()), HasSubstr("gfx90a"));
  EXPECT_THAT(text(executable.status()), HasSubstr("gfx900"));
}

TEST_F(ExecutableTest, DamagedFilesAreRefused) {
  std::vector<std::byte> bytes = read_kernels("gfx900", "vadd_c_v5");
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_FALSE(device_->load_executable(bytes.data(), size).ok()) << size;
  }
}

TEST_F(ExecutableTest, GlobalsHaveAnAddressAndASize) {
  const Ref<Executable> executable = take(load("gfx900", "global"));
  const GlobalInfo input = take(executable->global("global_input"));
  const GlobalInfo output = take(executable->global("global_output"));
  EXPECT_EQ(input.size, 16U);
  EXPECT_EQ(output.size, 16U);
  // So they stand in the file.
  EXPECT_EQ(output.device_address, input.device_address + 16);

  // Another kernel changes the variable at that address, and the file's own kernel sees it.
  const Ref<Queue> queue = new_queue();
  const Argument change[] = {Argument::address(input.device_address), Argument::of(uint32_t{4}),
                             Argument::of(uint32_t{3}), Argument::of(uint32_t{1})};
  Dispatch affine;
  affine.function = &function("busy", "affine");
  affine.grid = affine.workgroup = {64, 1, 1};
  affine.arguments = change;
  ASSERT_OK(queue->dispatch(affine));
  const Ref<Buffer> result = host_buffer(16);
  const Argument arguments[] = {result, Argument::of(uint32_t{2})};
  Dispatch use;
  use.function = take(executable->find("use_globals"));
  use.grid = use.workgroup = {64, 1, 1};
  use.arguments = arguments;
  ASSERT_OK(queue->dispatch(use));
  finish(*queue);
  const auto* words = view<uint32_t>(result);
  EXPECT_THAT(std::vector<uint32_t>(words, words + 4),
              ElementsAre(31 + 4, 61 + 9, 91 + 16, 121 + 25));
}

TEST_F(ExecutableTest, AGlobalThatIsNotThereIsRefusedWithThoseThatAre) {
  const Ref<Executable> executable = take(load("gfx900", "global"));
  const Status status = executable->global("global_imput").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(text(status), HasSubstr("global_input and global_output"));
  EXPECT_THAT(text(status), HasSubstr("Did you mean \"global_input\"?"));
}

TEST_F(ExecutableTest, LoadsTheSameFileManyTimes) {
  std::vector<Ref<Executable>> executables;
  for (int i = 0; i < 20; ++i) executables.push_back(take(load("gfx900", "vadd_c_v6")));
  expect_vadd(executables.front());
  expect_vadd(executables.back());
}

}  // namespace
}  // namespace halyard::amdgpu
