#include "plugins/sdk/ipc_handle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace halyard {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSize = 1000;

class IpcHandleTest : public ::testing::Test {
 protected:
  IpcHandleTest() {
    IpcHandle handle = {};
    handle.runtime[3] = 7;
    handle.allocation_size = 8192;
    handle.offset = 256;
    handle.size = kSize;
    handle.write(&exported_);
  }
  Result<IpcHandle> read(uint64_t size = kSize) const {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kIpcHandle;
    options.pointer = exported_.ipc;
    options.size = size;
    return IpcHandle::read(options);
  }

  ExportedHandle exported_;
};

TEST_F(IpcHandleTest, IsReadAsItWasWritten) {
  const Result<IpcHandle> handle = read();
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(handle->runtime[3], 7);
  EXPECT_EQ(handle->allocation_size, 8192u);
  EXPECT_EQ(handle->offset, 256u);
  EXPECT_EQ(handle->size, kSize);
}

TEST_F(IpcHandleTest, WithABitChangedAnywhereItIsRefused) {
  for (uint8_t& byte : exported_.ipc) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= static_cast<uint8_t>(1 << bit);
      EXPECT_EQ(read().status().code(), StatusCode::kInvalidArgument) << &byte - exported_.ipc;
      byte ^= static_cast<uint8_t>(1 << bit);
    }
  }
  EXPECT_TRUE(read().ok());
}

TEST_F(IpcHandleTest, StandsForNoMoreThanWasExported) {
  EXPECT_TRUE(read(1).ok());
  const Status status = read(kSize + 1).status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
  EXPECT_THAT(status.to_string(), HasSubstr("is given 1001 bytes for an IPC handle of 1000"));
}

// What hsa_amd_ipc_memory_create has made, with zeros behind it.
TEST_F(IpcHandleTest, OfOtherCodeStandsForAWholeAllocation) {
  std::fill(exported_.ipc + 32, std::end(exported_.ipc), uint8_t{0});
  const Result<IpcHandle> handle = read(4096);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(handle->allocation_size, 4096u);
  EXPECT_EQ(handle->offset, 0u);
  std::memset(exported_.ipc, 0, sizeof exported_.ipc);
  EXPECT_EQ(read(4096).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace halyard
