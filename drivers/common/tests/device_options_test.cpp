#include "drivers/common/device_options.h"

#include <gmock/gmock.h>

#include <string>

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result<DeviceOptions> read(StringView key, StringView value) {
  const Option options[] = {{key, value}};
  return read_device_options("some", {.copy_engine = true}, options);
}

TEST(DeviceOptions, TheStackIsRoundedUpAndFourKibibytesByDefault) {
  EXPECT_EQ(read_device_options("some", {}, {})->stack_bytes, 4096u);
  EXPECT_EQ(read("stack_bytes", "1")->stack_bytes, 16u);
  EXPECT_EQ(read("stack_bytes", "65536")->stack_bytes, 65536u);
  EXPECT_EQ(read("stack_bytes", std::to_string(kMaxStackBytes))->stack_bytes, kMaxStackBytes);
  // One wave of it is what COMPUTE_TMPRING_SIZE can say.
  EXPECT_LE(uint64_t{kMaxStackBytes} * 64, uint64_t{8191} * 1024);
}

TEST(DeviceOptions, WithoutAnyTheDriverDecides) {
  const DeviceOptions none = *read_device_options("some", {}, {});
  EXPECT_EQ(none.capacity(0), 0u);
  EXPECT_EQ(none.max_queues, 0u);
  EXPECT_EQ(none.wait_spin_ns, std::nullopt);
  EXPECT_EQ(none.pool_keep_bytes, std::nullopt);
  EXPECT_EQ(none.copy_engine_bytes, std::nullopt);
  EXPECT_EQ(none.max_workgroup_size, 0u);
}

TEST(DeviceOptions, EachSaysWhatItIs) {
  EXPECT_EQ(read("queue_capacity", "128")->capacity(0), 128u);
  EXPECT_EQ(read("queue_capacity", "128")->capacity(256), 256u);
  EXPECT_EQ(read("max_queues", "3")->max_queues, 3u);
  EXPECT_EQ(read("wait_spin_us", "0")->wait_spin_ns, 0u);
  EXPECT_EQ(read("wait_spin_us", "50")->wait_spin_ns, 50'000u);
  EXPECT_EQ(read("pool_keep_bytes", "0")->pool_keep_bytes, 0u);
  EXPECT_EQ(read("copy_engine_bytes", "4096")->copy_engine_bytes, 4096u);
  EXPECT_EQ(read("max_workgroup_size", "256")->max_workgroup_size, 256u);
}

TEST(DeviceOptions, TheCopyEngineIsForDriversThatChooseIt) {
  const Option options[] = {{"copy_engine_bytes", "1"}};
  const Status status = read_device_options("some", {}, options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(),
              AllOf(HasSubstr("(copy_engine_bytes)"), HasSubstr("It knows: stack_bytes")));
}

TEST(DeviceOptions, OtherValuesAndKeysAreRefusedWithWhatIsLegal) {
  for (const char* const value : {"0", "", "-1", "x", "16KiB", "131057", "18446744073709551616"}) {
    const Status status = read("stack_bytes", value).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(status.to_string(),
                AllOf(HasSubstr("(" + std::string(value) + ")"), HasSubstr("from 1 to 131056")));
  }
  const Status status = read("stack_byte", "1").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("driver some"), HasSubstr("(stack_byte)"),
                                        HasSubstr("Did you mean \"stack_bytes\"?")));
}

}  // namespace
}  // namespace halyard
