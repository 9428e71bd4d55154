// Loading code objects, and what is refused.
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

using testing::HasSubstr;

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
  EXPECT_EQ(executable->global("no_such_global").status().code(), StatusCode::kNotFound);
}

TEST_F(ExecutableTest, LoadsTheSameFileManyTimes) {
  std::vector<Ref<Executable>> executables;
  for (int i = 0; i < 20; ++i) executables.push_back(take(load("gfx900", "vadd_c_v6")));
  expect_vadd(executables.front());
  expect_vadd(executables.back());
}

}  // namespace
}  // namespace halyard::amdgpu
