// What of a driver's answers reaches the host, also from a driver of another minor version.
#include "hal/driver.h"
#include "plugins/objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

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

}  // namespace
}  // namespace halyard
