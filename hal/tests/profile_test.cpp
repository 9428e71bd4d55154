// Profiles: which kinds may be asked for, and what an older driver gives.
#include "hal/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "fake_device.h"

namespace halyard {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Profiles : public ::testing::Test {
 protected:
  Status begin(uint64_t kinds) {
    ProfileOptions options;
    options.kinds = kinds;
    return device_->begin_profile(options);
  }
  std::vector<uint64_t> queues_of_events() {
    std::vector<uint64_t> queues;
    const Status status = device_->end_profile(
        [](void* context, const ProfileEvent& event) {
          static_cast<std::vector<uint64_t>*>(context)->push_back(event.queue);
          EXPECT_EQ(event.struct_size, sizeof(ProfileEvent));
        },
        &queues);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return queues;
  }

  Ref<FakeDevice> device_ = Ref<FakeDevice>::adopt(new FakeDevice);
};

TEST_F(Profiles, EachKindHasAName) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < kProfileKinds; ++i) names.insert(to_string(ProfileKind{i}));
  EXPECT_EQ(names.size(), kProfileKinds);
  EXPECT_STREQ(to_string(ProfileKind::kHostCall), "host_call");
  EXPECT_STREQ(to_string(ProfileKind{kProfileKinds}), "unknown");
}

TEST_F(Profiles, OfAllKindsUnlessSomeAreAskedFor) {
  EXPECT_TRUE(device_->begin_profile().ok());
  EXPECT_TRUE(begin(0).ok());
  EXPECT_TRUE(begin(profile_bit(ProfileKind::kDispatch) | profile_bit(ProfileKind::kCopy)).ok());
  EXPECT_THAT(device_->log.calls,
              ElementsAre("begin_profile 0", "begin_profile 0", "begin_profile 6"));
}

TEST_F(Profiles, OfKindsThatDoNotExistAreRefused) {
  for (const uint64_t kinds : {uint64_t{1}, uint64_t{1} << kProfileKinds, UINT64_MAX}) {
    const Status status = begin(kinds);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << kinds;
    EXPECT_THAT(
        status.to_string(),
        HasSubstr("Legal are the bits 1 (dispatch) to 10 (dealloca), and 0 for all kinds."));
  }
  EXPECT_THAT(begin(1 << 11).to_string(), HasSubstr("is given kinds (0x800) that do not exist"));
  EXPECT_THAT(device_->log.calls, IsEmpty());
}

TEST_F(Profiles, AnOlderDriversEventsHaveZerosForWhatTheyLack) {
  device_->log.profile = {"saxpy"};
  EXPECT_THAT(queues_of_events(), ElementsAre(3u));
  device_->event_size = offsetof(ProfileEvent, kind);
  EXPECT_THAT(queues_of_events(), ElementsAre(0u));
}

}  // namespace
}  // namespace halyard
