// Buffers of the other GPU on a machine with two, its own and what it has imported by an IPC
// handle.
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

// A part of one of the runtime's blocks, and a block of its own.
constexpr uint64_t kSizes[] = {8192, 4 << 20};

class PeerTest : public VirtualDeviceTest {
 protected:
  PeerTest() : other_(take(driver().create_device(1))) {}

  static Ref<Buffer> import(Device& device, const ExportedHandle& handle, uint64_t size) {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kIpcHandle;
    options.pointer = handle.ipc;
    options.size = size;
    return take(device.import_buffer(options));
  }
  void fill(const Ref<Queue>& queue, const Ref<Buffer>& buffer, uint32_t value) {
    ASSERT_OK(queue->fill(buffer, &value, sizeof value));
    finish(*queue);
  }

  Ref<Device> other_;
};

// By a queue of either, which makes its own engine or the other one copy.
TEST_F(PeerTest, CopiesBetweenTheTwo) {
  const Ref<Queue> queues[] = {new_queue(), take(other_->create_queue())};
  uint32_t value = 10;
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> here = device_buffer(size);
    const Ref<Buffer> there = take(other_->allocate(size));
    for (const Ref<Queue>& queue : queues) {
      fill(queue, here, ++value);
      ASSERT_OK(queue->copy(here, there));
      finish(*queue);
      EXPECT_EQ(download(*queues[1], there), std::vector<uint32_t>(size / 4, value));
      fill(queue, there, ++value);
      ASSERT_OK(queue->copy(there, here));
      finish(*queue);
      EXPECT_EQ(download(*queues[0], here), std::vector<uint32_t>(size / 4, value));
    }
  }
}

TEST_F(PeerTest, AnotherGpuUsesAnImport) {
  const Ref<Queue> own = new_queue();
  const Ref<Queue> others = take(other_->create_queue());
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> buffer = device_buffer(size);
    fill(own, buffer, 5);
    const Ref<Buffer> imported = import(*device_, take(device_->export_buffer(*buffer)), size);
    const Ref<Buffer> copy = take(other_->allocate(size));
    ASSERT_OK(others->copy(imported, copy));
    finish(*others);
    EXPECT_EQ(download(*others, copy), std::vector<uint32_t>(size / 4, 5));
    fill(others, imported, 6);
    EXPECT_EQ(download(*own, buffer), std::vector<uint32_t>(size / 4, 6));
  }
}

TEST_F(PeerTest, AnotherGpuImportsTheHandle) {
  const Ref<Queue> own = new_queue();
  const Ref<Queue> others = take(other_->create_queue());
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> buffer = device_buffer(size);
    fill(own, buffer, 5);
    const Ref<Buffer> imported = import(*other_, take(device_->export_buffer(*buffer)), size);
    EXPECT_EQ(download(*others, imported), std::vector<uint32_t>(size / 4, 5));
    fill(others, imported, 7);
    EXPECT_EQ(download(*own, buffer), std::vector<uint32_t>(size / 4, 7));
  }
}

}  // namespace
}  // namespace halyard::amdgpu
