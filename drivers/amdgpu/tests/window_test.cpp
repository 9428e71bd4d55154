// Memory of the device that the host maps: its window is flushed where the interface says so, and
// by the driver where it is the host that moves.
#include <unistd.h>

#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

class Window : public VirtualDeviceTest {
 protected:
  Window() {
    hsa_amd_hdp_flush_t registers = {};
    const auto what = static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_HDP_FLUSH);
    EXPECT_EQ(impl().hsa().hsa_agent_get_info(impl().agent(), what, &registers),
              HSA_STATUS_SUCCESS);
    flush_ = registers.HDP_MEM_FLUSH_CNTL;
  }
  // Whether the window was flushed since this was called last.
  bool flushed() {
    return flush_ != nullptr && __atomic_exchange_n(flush_, 0, __ATOMIC_ACQ_REL) != 0;
  }
  Ref<Buffer> mapped_buffer() {
    BufferOptions options;
    options.type = MemoryType::kDeviceMapped;
    return take(device_->allocate(4096, options));
  }

 private:
  uint32_t* flush_ = nullptr;
};

TEST_F(Window, IsFlushedByFlushAndInvalidate) {
  ASSERT_TRUE(device_->info().maps_device_memory);
  EXPECT_FALSE(device_->info().coherent_map);
  const Ref<Buffer> buffer = mapped_buffer();
  const Ref<Buffer> part = take(buffer->subspan(64, 64));
  flushed();
  ASSERT_OK(buffer->flush(0, 4096));
  EXPECT_TRUE(flushed());
  ASSERT_OK(part->invalidate(0, 64));
  EXPECT_TRUE(flushed());
}

TEST_F(Window, IsNotInTheWayOfOtherMemory) {
  const Ref<Buffer> host = host_buffer(4096);
  flushed();
  ASSERT_OK(host->flush(0, 4096));
  ASSERT_OK(host->invalidate(0, 4096));
  EXPECT_FALSE(flushed());
}

TEST_F(Window, IsFlushedForFiles) {
  char name[] = "/tmp/halyard-window-XXXXXX";
  const int descriptor = mkstemp(name);
  ASSERT_GE(descriptor, 0);
  unlink(name);
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> buffer = mapped_buffer();
  flushed();
  ASSERT_OK(queue->write(buffer, {.descriptor = descriptor, .offset = 0}));
  finish(*queue);
  EXPECT_TRUE(flushed());
  ASSERT_OK(queue->read({.descriptor = descriptor, .offset = 0}, buffer));
  finish(*queue);
  EXPECT_TRUE(flushed());
  close(descriptor);
}

}  // namespace
}  // namespace halyard::amdgpu
