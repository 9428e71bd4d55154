// Device options of this driver alone: each changes what queues do.
#include <string>

#include "drivers/amdgpu/ring.h"
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

class AmdgpuOptions : public VirtualDeviceTest {
 protected:
  static Ref<Device> open(StringView key, StringView value) {
    const Option options[] = {{key, value}};
    return take(driver().create_device(0, options));
  }
  static Ref<Queue> queue_of(Device& device) {
    QueueOptions options;
    options.capacity = 64;
    return take(device.create_queue(options));
  }
};

// Config key: processors.<processor>.queues.kernarg
TEST_F(AmdgpuOptions, KernargBytesAreWhatEachOperationOfAQueueHas) {
  const auto block_of = [](const Ref<Queue>& queue) {
    return static_cast<std::byte*>(core(queue).ring().kernarg(1)) -
           static_cast<std::byte*>(core(queue).ring().kernarg(0));
  };
  EXPECT_EQ(block_of(new_queue(64)), kKernargBlock);
  device_ = open("kernarg_bytes", "1000");
  const Ref<Queue> queue = queue_of(*device_);
  EXPECT_EQ(block_of(queue), 1024);
  // All of them, and those behind the last slot's, are there.
  std::memset(core(queue).ring().kernarg(0), 0xff, (uint64_t{64} + kMaxKernargBlocks - 1) * 1024);
  EXPECT_EQ(core(queue).ring().kernarg(64), core(queue).ring().kernarg(0));
  // And kernels find their arguments, again and again.
  const Ref<Buffer> data = host_buffer(64 * sizeof(uint32_t));
  std::memset(view<void>(data), 0, 64 * sizeof(uint32_t));
  for (uint32_t i = 0; i < 200; ++i) ASSERT_OK(affine(*queue, data, 1, i));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[63], 199u * 200 / 2);
}

TEST_F(AmdgpuOptions, LargerBlocksTakeLongerArguments) {
  EXPECT_EQ(kernarg_blocks(3000, kKernargBlock), 6u);
  EXPECT_EQ(kernarg_blocks(3000, 1024), 3u);
  EXPECT_EQ(kernarg_blocks(3000, 4096), 1u);
}

// Config key: processors.<processor>.copies.engine_from
TEST_F(AmdgpuOptions, CopyEngineBytesAreFromWhereAnEngineCopies) {
  // A kernel is one packet of the queue, an engine two barriers around its work.
  const auto packets_of_a_copy = [](Device& device) {
    const Ref<Queue> queue = queue_of(device);
    BufferOptions options;
    options.type = MemoryType::kHost;
    const Ref<Buffer> from = take(device.allocate(4096, options));
    const Ref<Buffer> to = take(device.allocate(4096));
    EXPECT_OK(queue->copy(from, to));
    const Ref<Semaphore> done = take(device.create_semaphore());
    const uint64_t packets = submitted(queue);
    const SemaphorePoint point = {done.get(), 1};
    EXPECT_OK(queue->barrier({.wait = {}, .signal = {&point, 1}}));
    EXPECT_OK(done->wait(1, time_limit()));
    return packets;
  };
  EXPECT_EQ(packets_of_a_copy(*open("copy_engine_bytes", "4097")), 1u);
  EXPECT_EQ(packets_of_a_copy(*open("copy_engine_bytes", "4096")), 2u);
}

TEST_F(AmdgpuOptions, AreListed) {
  std::vector<std::string> keys;
  for (const DeviceOptionInfo& option : take(driver().device_options())) {
    keys.emplace_back(option.key.view());
    EXPECT_FALSE(option.meaning.empty());
    EXPECT_THAT(std::string(option.values.view()), ::testing::HasSubstr("whole number from"));
  }
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("stack_bytes", "queue_capacity", "max_queues",
                                                    "pool_keep_bytes", "pool_limit_bytes",
                                                    "max_workgroup_size", "wait_spin_us",
                                                    "copy_engine_bytes", "kernarg_bytes"));
}

}  // namespace
}  // namespace halyard::amdgpu
