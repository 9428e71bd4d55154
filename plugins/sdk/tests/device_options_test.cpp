#include "plugins/sdk/device_options.h"

#include <gmock/gmock.h>

#include <string>

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result<DeviceOptions> read(StringView key, StringView value) {
  const Option options[] = {{key, value}};
  return read_device_options("some", {.copy_engine = true, .kernarg = true}, options);
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
  EXPECT_EQ(none.pool_limit_bytes, 0u);
  EXPECT_EQ(none.kernarg_bytes, 0u);
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
  EXPECT_EQ(read("pool_limit_bytes", "1048576")->pool_limit_bytes, 1048576u);
  EXPECT_EQ(read("kernarg_bytes", "512")->kernarg_bytes, 512u);
  EXPECT_EQ(read("kernarg_bytes", "513")->kernarg_bytes, 1024u);
}

TEST(DeviceOptions, TheCopyEngineIsForDriversThatChooseIt) {
  const Option options[] = {{"copy_engine_bytes", "1"}};
  const Status status = read_device_options("some", {}, options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(),
              AllOf(HasSubstr("(copy_engine_bytes)"), HasSubstr("It knows: stack_bytes")));
}

TEST(DeviceOptions, AreListedAsTheyAreRead) {
  const auto list_of = [](const DeviceOptionSet& set) {
    std::vector<std::string> texts;
    list_device_options(
        set,
        [](void* context, const DeviceOptionInfo& option) {
          static_cast<std::vector<std::string>*>(context)->push_back(
              std::string(option.key.view()) + ": " + std::string(option.values.view()));
        },
        &texts);
    return texts;
  };
  EXPECT_THAT(list_of({}), ::testing::ElementsAre(
                               "stack_bytes: a whole number from 1 to 131056",
                               "queue_capacity: a whole number from 64 to 16384",
                               "max_queues: a whole number from 1 to 1024",
                               "pool_keep_bytes: a whole number from 0 to 1099511627776",
                               "pool_limit_bytes: a whole number from 1048576 to 1099511627776",
                               "max_workgroup_size: a whole number from 1 to 1024",
                               "wait_spin_us: a whole number from 0 to 1000000"));
  const DeviceOptionSet all = {.copy_engine = true, .kernarg = true};
  EXPECT_THAT(list_of(all), ::testing::SizeIs(9));
  for (const std::string& text : list_of(all)) {
    const std::string key = text.substr(0, text.find(':'));
    const Option option[] = {{key, "1048576"}};
    // What is listed is known, whatever the value.
    const Status status = read_device_options("some", all, option).status();
    EXPECT_THAT(status.to_string(), ::testing::Not(HasSubstr("does not know"))) << key;
  }
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
