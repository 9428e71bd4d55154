#include "plugins/sdk/allocations.h"

#include <gtest/gtest.h>

#include "hal/tests/fake_device.h"

namespace halyard {
namespace {

class Find : public ::testing::Test {
 protected:
  const Buffer& buffer() { return *buffers_.emplace_back(device_->allocate(4096).value()); }
  static AllocationInfo info_of(AllocationOwner owner, uint64_t address, uint64_t size,
                                uint64_t host = 0) {
    AllocationInfo info;
    info.owner = owner;
    info.device_address = address;
    info.size = size;
    info.host_pointer = reinterpret_cast<void*>(host);
    return info;
  }
  // The size of what is found there; 0: nothing.
  uint64_t at(uint64_t address) const {
    AllocationInfo info;
    return allocations_.find(reinterpret_cast<const void*>(address), &info) ? info.size : 0;
  }
  const Buffer& add_own(uint64_t size) {
    const Buffer& made = buffer();
    allocations_.add(made, info_of(AllocationOwner::kDevice, made.device_address(), size));
    return made;
  }

  Ref<testing::FakeDevice> device_ = Ref<testing::FakeDevice>::adopt(new testing::FakeDevice);
  std::vector<Ref<Buffer>> buffers_;
  Allocations allocations_;
};

TEST_F(Find, EveryAddressInsideAndNoOther) {
  const uint64_t base = add_own(100).device_address();
  EXPECT_EQ(at(base), 100u);
  EXPECT_EQ(at(base + 99), 100u);
  EXPECT_EQ(at(base + 100), 0u);
  EXPECT_EQ(at(base - 1), 0u);
  EXPECT_EQ(at(0), 0u);
  EXPECT_EQ(at(UINT64_MAX), 0u);
}

TEST_F(Find, TheRightOneOfSeveral) {
  const uint64_t first = add_own(100).device_address();
  const uint64_t second = add_own(200).device_address();
  const uint64_t third = add_own(300).device_address();
  EXPECT_EQ(at(first + 5), 100u);
  EXPECT_EQ(at(second + 5), 200u);
  EXPECT_EQ(at(third + 5), 300u);
}

TEST_F(Find, NotWhatWasRemoved) {
  const Buffer& made = add_own(100);
  const Buffer& kept = add_own(200);
  allocations_.remove(made);
  allocations_.remove(made);
  EXPECT_EQ(at(made.device_address()), 0u);
  EXPECT_EQ(at(kept.device_address()), 200u);
}

TEST_F(Find, ImportsByEitherAddress) {
  const Buffer& import = buffer();
  allocations_.add(import, info_of(AllocationOwner::kHostMemory, 0x70000, 64, 0x50000));
  EXPECT_EQ(at(0x70000 + 63), 64u);
  EXPECT_EQ(at(0x50000 + 63), 64u);
  EXPECT_EQ(at(0x50000 + 64), 0u);
  allocations_.remove(import);
  EXPECT_EQ(at(0x50000), 0u);
}

TEST_F(Find, TheDevicesOwnBeforeAnImportOfIt) {
  const Buffer& import = buffer();
  const Buffer& own = buffer();
  const uint64_t base = own.device_address();
  allocations_.add(import, info_of(AllocationOwner::kImported, base, 64));
  EXPECT_EQ(at(base), 64u);
  allocations_.add(own, info_of(AllocationOwner::kDevice, base, 100));
  EXPECT_EQ(at(base), 100u);
  allocations_.remove(own);
  EXPECT_EQ(at(base), 64u);
}

// The memory of one that is going may be another's already.
TEST_F(Find, ARemovalLeavesTheNextOwnerAlone) {
  const Buffer& before = buffer();
  const uint64_t base = before.device_address();
  allocations_.add(before, info_of(AllocationOwner::kDevice, base, 64));
  allocations_.add(buffer(), info_of(AllocationOwner::kDevice, base, 32));
  allocations_.remove(before);
  EXPECT_EQ(at(base), 32u);
}

}  // namespace
}  // namespace halyard
