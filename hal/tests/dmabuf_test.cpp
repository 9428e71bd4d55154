// Dma-bufs: what the host refuses, and what reaches a driver.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>

#include "fake_device.h"

namespace halyard {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DmabufTest : public ::testing::Test {
 protected:
  ~DmabufTest() override { close(fd_); }
  Status import(const Dmabuf& dmabuf, uint64_t size = 64) {
    return device_
        ->import_buffer({.kind = ImportOptions::Kind::kDmabuf, .pointer = &dmabuf, .size = size})
        .status();
  }

  Ref<FakeDevice> device_ = Ref<FakeDevice>::adopt(new FakeDevice());
  int fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);  // a descriptor: the host does not use it
};

TEST_F(DmabufTest, AnImportReachesTheDriverAndLeavesTheDescriptorOpen) {
  ASSERT_TRUE(import({.fd = fd_, .offset = 512}).ok());
  EXPECT_THAT(device_->log.calls, ElementsAre("import of dma-buf from 512"));
  EXPECT_EQ(fcntl(fd_, F_GETFD), FD_CLOEXEC);
}

TEST_F(DmabufTest, AnExportIsWhatTheDriverGives) {
  const Ref<Buffer> buffer = device_->allocate(64).value();
  const Result<Dmabuf> exported = device_->export_dmabuf(*buffer);
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported->fd, 7);
  EXPECT_EQ(exported->offset, 4096u);
  EXPECT_EQ(exported->struct_size, sizeof(Dmabuf));
}

TEST_F(DmabufTest, DescriptorsThatAreNotOpenAreRefused) {
  const int gone = dup(fd_);
  ASSERT_GE(gone, 0);
  close(gone);
  for (const int fd : {-1, gone, 1 << 30}) {
    const Status status = import({.fd = fd});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << fd;
    EXPECT_THAT(status.to_string(),
                HasSubstr("a descriptor (" + std::to_string(fd) + ") that is not open"));
  }
  EXPECT_THAT(device_->log.calls, IsEmpty());
}

TEST_F(DmabufTest, RangesThatWrapAreRefused) {
  EXPECT_EQ(import({.fd = fd_, .offset = UINT64_MAX - 10}).code(), StatusCode::kOutOfRange);
  EXPECT_THAT(device_->log.calls, IsEmpty());
}

TEST_F(DmabufTest, AnotherDevicesBufferIsRefused) {
  const Ref<FakeDevice> other = Ref<FakeDevice>::adopt(new FakeDevice());
  const Ref<Buffer> buffer = other->allocate(64).value();
  EXPECT_EQ(device_->export_dmabuf(*buffer).status().code(), StatusCode::kInvalidArgument);
}

// It would take the kind for another one.
TEST_F(DmabufTest, ADriverThatIsOlderThanDmabufsIsNotAsked) {
  HalyardDeviceFunctions older = *device_->contract()->functions;
  older.struct_size = offsetof(HalyardDeviceFunctions, export_dmabuf);
  auto* const contract = const_cast<HalyardDevice*>(device_->contract());
  const HalyardDeviceFunctions* const own = contract->functions;
  contract->functions = &older;
  const Status imported = import({.fd = fd_});
  const Ref<Buffer> buffer = device_->allocate(64).value();
  const Status exported = device_->export_dmabuf(*buffer).status();
  contract->functions = own;
  EXPECT_EQ(imported.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(imported.to_string(), HasSubstr("Device::import_buffer of a dma-buf"));
  EXPECT_EQ(exported.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(device_->log.calls, IsEmpty());
}

}  // namespace
}  // namespace halyard
