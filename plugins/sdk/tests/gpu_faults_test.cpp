#include "plugins/sdk/gpu_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace halyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Only its name is looked at.
class NamedDevice final : public driver::DeviceBase {
 public:
  explicit NamedDevice(const char* name) : DeviceBase(info_) { info_.name = name; }
  ~NamedDevice() = default;

 private:
  void destroy() noexcept override {}
  size_t do_heap_count() const override { return 0; }
  Status do_heap(size_t, HeapInfo*) const override { return {}; }
  Status do_heap_statistics(size_t, HeapStatistics*) const override { return {}; }
  Status do_create_queue(const QueueOptions&, Queue**) override { return {}; }
  Status do_allocate(uint64_t, const BufferOptions&, Buffer**) override { return {}; }
  Status do_create_semaphore(uint64_t, Semaphore**) override { return {}; }
  Status do_wait(Span<const SemaphorePoint>, WaitMode, Deadline, size_t*) override { return {}; }
  Status do_load_executable(const void*, size_t, Executable**) override { return {}; }
  Status do_fault() const override { return {}; }

  DeviceInfo info_;
};

class GpuFaultsTest : public ::testing::Test {
 protected:
  Status watch(const NamedDevice& device, uint64_t gpu) {
    const auto lose = [this, &device](const std::string& what) {
      lost_.emplace_back(device.info().name);
      what_ = what;
    };
    return faults_.watch(device, gpu, lose);
  }

  GpuFaults faults_;
  NamedDevice one_{"one"};
  NamedDevice same_{"same"};
  NamedDevice two_{"two"};
  std::vector<std::string> lost_;
  std::string what_;
};

TEST_F(GpuFaultsTest, LoseTheDevicesOfTheirGpu) {
  ASSERT_TRUE(watch(one_, 1).ok());
  ASSERT_TRUE(watch(same_, 1).ok());
  ASSERT_TRUE(watch(two_, 2).ok());
  EXPECT_TRUE(faults_.report(1, 0x1000, 0));
  EXPECT_THAT(lost_, ElementsAre("one", "same"));
  EXPECT_THAT(what_, HasSubstr("0x1000"));
}

TEST_F(GpuFaultsTest, OfNobodyKnowsWhichGpuLoseAll) {
  ASSERT_TRUE(watch(one_, 1).ok());
  ASSERT_TRUE(watch(two_, 2).ok());
  EXPECT_TRUE(faults_.report(GpuFaults::kSomeGpu, 0x1000, 0));
  EXPECT_THAT(lost_, ElementsAre("one", "two"));
  EXPECT_EQ(watch(same_, 2).code(), StatusCode::kUnavailable);
}

TEST_F(GpuFaultsTest, OfOtherGpusAreNotOurs) {
  ASSERT_TRUE(watch(one_, 1).ok());
  EXPECT_FALSE(faults_.report(2, 0x1000, 0));
  faults_.forget(one_);
  EXPECT_FALSE(faults_.report(1, 0x1000, 0));
  EXPECT_THAT(lost_, IsEmpty());
}

// Also one that nobody watched when it faulted.
TEST_F(GpuFaultsTest, AGpuThatHasFaultedIsLostForGood) {
  EXPECT_FALSE(faults_.report(2, 0xabc000, 0));
  const Status again = watch(two_, 2);
  EXPECT_EQ(again.code(), StatusCode::kUnavailable);
  EXPECT_THAT(std::string(again.message().view()), HasSubstr("0xabc000"));
  EXPECT_TRUE(watch(one_, 1).ok());
}

}  // namespace
}  // namespace halyard
