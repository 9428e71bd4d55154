// What of a driver's answers reaches the host, also from a driver of another minor version.
#include "hal/driver.h"
#include "hal/contract/objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fake_device.h"

namespace halyard {
namespace {

class FakeDriver final : public driver::DriverBase {
 public:
  // Enumerates one device, of whose summary only `size` bytes exist.
  explicit FakeDriver(uint32_t size) : size_(size) {}

 private:
  void destroy() noexcept override { delete this; }
  void do_info(DriverInfo*) const override {}
  Status do_enumerate(DeviceSink sink, void* context) override {
    DeviceSummary summary;
    summary.ordinal = 3;
    summary.name = "Small";
    summary.memory_bytes = 4096;
    summary.struct_size = size_;
    // Exactly as many bytes as it has, so that a sanitizer sees a read past them.
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[size_]);
    std::memcpy(memory.get(), static_cast<const void*>(&summary),
                std::min<size_t>(size_, sizeof(summary)));
    sink(context, *reinterpret_cast<const DeviceSummary*>(memory.get()));
    return {};
  }
  Status do_create_device(uint32_t, Span<const Option>, Device**) override { return {}; }

  uint32_t size_;
};

DeviceSummary only_device(uint32_t size) {
  const Ref<FakeDriver> driver = Ref<FakeDriver>::adopt(new FakeDriver(size));
  const std::vector<DeviceSummary> devices = driver->enumerate().value();
  EXPECT_EQ(devices.size(), 1u);
  return devices.at(0);
}

TEST(Driver, ASummaryFromAnOlderDriverHasItsMembersAndNoMore) {
  const DeviceSummary device = only_device(offsetof(DeviceSummary, compute_units));
  EXPECT_EQ(device.ordinal, 3u);
  EXPECT_EQ(device.name.view(), "Small");
  EXPECT_EQ(device.memory_bytes, 0u);
  EXPECT_EQ(device.struct_size, sizeof(DeviceSummary));
}

TEST(Driver, ASummaryFromANewerDriverIsCut) {
  const DeviceSummary device = only_device(sizeof(DeviceSummary) + 64);
  EXPECT_EQ(device.memory_bytes, 4096u);
  EXPECT_EQ(device.struct_size, sizeof(DeviceSummary));
}

// A driver with two device options; what reaches create_device is in `given`.
class WithOptions final : public driver::DriverBase {
 public:
  std::vector<std::string> given;

 private:
  void destroy() noexcept override { delete this; }
  void do_info(DriverInfo* info) const override { info->name = "mine"; }
  Status do_enumerate(DeviceSink, void*) override { return {}; }
  Status do_create_device(uint32_t ordinal, Span<const Option> options, Device** device) override {
    for (const Option& option : options) {
      given.push_back(std::to_string(ordinal) + " " + std::string(option.key.view()) + "=" +
                      std::string(option.value.view()));
    }
    *device = new testing::FakeDevice;
    return {};
  }
  Status do_device_options(DeviceOptionSink sink, void* context) override {
    for (const char* const key : {"color", "speed"}) {
      DeviceOptionInfo option;
      option.key = key;
      option.meaning = "how it is";
      option.values = "text";
      sink(context, option);
    }
    return {};
  }
};

TEST(Driver, ListsItsDeviceOptions) {
  const Ref<WithOptions> driver = Ref<WithOptions>::adopt(new WithOptions);
  const std::vector<DeviceOptionInfo> options = driver->device_options().value();
  ASSERT_EQ(options.size(), 2u);
  EXPECT_EQ(options[0].key.view(), "color");
  EXPECT_EQ(options[1].key.view(), "speed");
  EXPECT_EQ(options[1].meaning.view(), "how it is");
  EXPECT_EQ(options[1].values.view(), "text");
}

TEST(Driver, IsGivenOnlyOptionsThatItLists) {
  const Ref<WithOptions> driver = Ref<WithOptions>::adopt(new WithOptions);
  const Option wrong[] = {{"color", "red"}, {"sped", "7"}};
  const Status refused = driver->create_device(0, wrong).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message().view(),
            "The driver mine does not know the device option (sped). It knows: color and speed. "
            "Did you mean \"speed\"?");
  EXPECT_TRUE(driver->given.empty());
  const Option right[] = {{"color", "red"}};
  EXPECT_TRUE(driver->create_device(0, right).ok());
  EXPECT_EQ(driver->given, std::vector<std::string>{"0 color=red"});
}

TEST(Driver, OneThatListsNoneIsGivenAll) {
  // The fake driver has its base class' answer; one of the contract before 2.1 has no function.
  const Ref<FakeDriver> driver = Ref<FakeDriver>::adopt(new FakeDriver(sizeof(DeviceSummary)));
  EXPECT_EQ(driver->device_options().status().code(), StatusCode::kUnimplemented);
  const Ref<WithOptions> older = Ref<WithOptions>::adopt(new WithOptions);
  static HalyardDriverFunctions functions;  // as long as the driver
  functions = *older->contract()->functions;
  functions.struct_size = offsetof(HalyardDriverFunctions, device_options);
  older->contract()->functions = &functions;
  EXPECT_EQ(
      older->device_options().status().message().view(),
      "Driver::device_options is called on the driver \"mine\", which does not implement it.");
  const Option any[] = {{"sped", "7"}};
  EXPECT_TRUE(older->create_device(0, any).ok());
  EXPECT_EQ(older->given, std::vector<std::string>{"0 sped=7"});
}

TEST(Driver, EachGpuOfALogicalDeviceHasOptionsOfItsOwn) {
  const Ref<WithOptions> driver = Ref<WithOptions>::adopt(new WithOptions);
  const Option red[] = {{"color", "red"}};
  const Option fast[] = {{"speed", "7"}};
  const GpuChoice gpus[] = {{1, red}, {0, fast}};
  EXPECT_EQ((*driver->create_logical_device_of(gpus))->gpu_count(), 2u);
  EXPECT_EQ(driver->given, (std::vector<std::string>{"1 color=red", "0 speed=7"}));
  driver->given.clear();
  const uint32_t ordinals[] = {0, 1};
  EXPECT_TRUE(driver->create_logical_device(ordinals, red).ok());
  EXPECT_EQ(driver->given, (std::vector<std::string>{"0 color=red", "1 color=red"}));
  const GpuChoice twice[] = {{1, red}, {1, fast}};
  EXPECT_EQ(driver->create_logical_device_of(twice).status().message().view(),
            "Driver::create_logical_device is given the ordinal 1 twice.");
}

}  // namespace
}  // namespace halyard
