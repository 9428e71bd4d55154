// Operations that a driver need not have: each works, or says UNIMPLEMENTED in a sentence.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Optional : public DeviceTest {
 protected:
  static testing::AssertionResult works_or_says_so(const Status& status) {
    if (status.ok()) return testing::AssertionSuccess();
    if (status.code() == StatusCode::kUnimplemented && !status.message().empty()) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << status.to_string();
  }
  // Of an operation that was submitted with next().
  testing::AssertionResult done_or_says_so(const Status& submitted) {
    if (!submitted.ok()) return works_or_says_so(submitted);
    return is_ok(finish());
  }
};

TEST_F(Optional, CommandBuffers) {
  const Result<Ref<CommandBuffer>> made = device().create_command_buffer();
  ASSERT_TRUE(works_or_says_so(made.status()));
  if (!made.ok()) return;
  CommandBuffer& commands = **made;
  const auto values = random_bits<uint8_t>(256);
  const Ref<Buffer> source = upload(values);
  const Ref<Buffer> target = poisoned(256);
  ASSERT_OK(commands.copy(source, target));
  ASSERT_OK(commands.barrier());
  const uint8_t zero = 0;
  ASSERT_OK(commands.fill({*target, 0, 16}, &zero, 1));
  ASSERT_OK(commands.finish());
  ASSERT_OK(queue().execute(commands, {}, next()));
  ASSERT_OK(finish());
  std::vector<uint8_t> expected = values;
  std::fill(expected.begin(), expected.begin() + 16, 0);
  EXPECT_TRUE(same(download<uint8_t>(target), expected));
}

TEST_F(Optional, IndirectDispatch) {
  const uint32_t base = 5;
  const Ref<Buffer> out = poisoned(128 * sizeof(uint32_t));
  const Argument arguments[] = {out, Argument::of(base)};
  Dispatch dispatch;
  dispatch.function = function("shape_cl_v5", "fill_ids");
  dispatch.workgroup = {64, 1, 1};
  dispatch.grid = {64, 1, 1};
  dispatch.arguments = arguments;
  const Ref<Buffer> counts = upload(std::vector<uint32_t>{2, 1, 1});
  const Status submitted = queue().dispatch_indirect(dispatch, counts, next());
  ASSERT_TRUE(done_or_says_so(submitted));
  if (!submitted.ok()) return;
  std::vector<uint32_t> expected(128);
  for (uint32_t i = 0; i < 128; ++i) expected[i] = i + base;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

TEST_F(Optional, QueueOrderedMemory) {
  const Result<Ref<Buffer>> made = queue().alloca_buffer(4096, {}, next());
  ASSERT_TRUE(works_or_says_so(made.status()));
  if (!made.ok()) return;
  ASSERT_OK(finish());
  const Ref<Buffer>& buffer = *made;
  const auto values = random_bits<uint8_t>(4096);
  write(*buffer, 0, values.data(), values.size());
  EXPECT_TRUE(same(download<uint8_t>(buffer), values));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  ASSERT_OK(finish());
}

TEST_F(Optional, HostCalls) {
  uint32_t calls = 0;
  const HostFunction count = [](void* context) {
    ++*static_cast<uint32_t*>(context);
    return Status();
  };
  const Status submitted = queue().host_call(count, &calls, next());
  ASSERT_TRUE(done_or_says_so(submitted));
  EXPECT_EQ(calls, submitted.ok() ? 1u : 0u);
}

TEST_F(Optional, HostCallsThatFail) {
  const HostFunction fail = [](void*) {
    return Status(StatusCode::kDataLoss, "The sheep is lost.");
  };
  const Status submitted = queue().host_call(fail, nullptr, next());
  ASSERT_TRUE(works_or_says_so(submitted));
  if (!submitted.ok()) return;
  EXPECT_FAILS(finish(), StatusCode::kDataLoss, "The sheep is lost.");
}

TEST_F(Optional, Files) {
  const auto values = random_bits<uint8_t>(1000);
  const Ref<Buffer> source = upload(values);
  const Ref<Buffer> target = poisoned(1000);
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const FileRange range = {fileno(file), 0};
  Status submitted = queue().write(source, range, next());
  EXPECT_TRUE(done_or_says_so(submitted));
  if (submitted.ok()) {
    submitted = queue().read(range, target, next());
    EXPECT_TRUE(done_or_says_so(submitted));
    if (submitted.ok()) {
      EXPECT_TRUE(same(download<uint8_t>(target), values));
    }
  }
  std::fclose(file);
}

TEST_F(Optional, ImportAndExport) {
  alignas(4096) static uint8_t memory[8192];
  const auto values = random_bits<uint8_t>(sizeof(memory));
  std::copy(values.begin(), values.end(), memory);
  ImportOptions options;
  options.pointer = memory;
  options.size = sizeof(memory);
  const Result<Ref<Buffer>> imported = device().import_buffer(options);
  ASSERT_TRUE(works_or_says_so(imported.status()));
  if (imported.ok()) {
    EXPECT_TRUE(same(download<uint8_t>(*imported), values));
  }
  EXPECT_TRUE(works_or_says_so(device().export_buffer(*allocate(4096)).status()));
}

TEST_F(Optional, Profiling) {
  const Status begun = device().begin_profile();
  ASSERT_TRUE(works_or_says_so(begun));
  if (!begun.ok()) return;
  const Ref<Buffer> buffer = poisoned(4096);
  uint32_t events = 0;
  ASSERT_OK(device().end_profile(
      [](void* context, const ProfileEvent& event) {
        EXPECT_LE(event.begin_ns, event.end_ns);
        ++*static_cast<uint32_t*>(context);
      },
      &events));
  EXPECT_GT(events, 0u);
}

}  // namespace
}  // namespace halyard::cts
