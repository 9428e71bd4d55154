#include "drivers/common/device_options.h"

#include <gmock/gmock.h>

#include <string>

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result<DeviceOptions> read(StringView key, StringView value) {
  const Option options[] = {{key, value}};
  return read_device_options("some", options);
}

TEST(DeviceOptions, TheStackIsRoundedUpAndFourKibibytesByDefault) {
  EXPECT_EQ(read_device_options("some", {})->stack_bytes, 4096u);
  EXPECT_EQ(read("stack_bytes", "1")->stack_bytes, 16u);
  EXPECT_EQ(read("stack_bytes", "65536")->stack_bytes, 65536u);
  EXPECT_EQ(read("stack_bytes", std::to_string(kMaxStackBytes))->stack_bytes, kMaxStackBytes);
  // One wave of it is what COMPUTE_TMPRING_SIZE can say.
  EXPECT_LE(uint64_t{kMaxStackBytes} * 64, uint64_t{8191} * 1024);
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
