// Imported memory whose owner is notified when nothing uses it any longer.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kImportReleaseCount = 1024;
constexpr uint64_t kImportReleaseBytes = kImportReleaseCount * sizeof(uint32_t);
using Kind = ImportOptions::Kind;

class ImportRelease : public DeviceTest {
 protected:
  ImportOptions options_for(Kind kind, const void* pointer) {
    ImportOptions options;
    options.kind = kind;
    options.pointer = pointer;
    options.size = kImportReleaseBytes;
    options.release = [](void* context) noexcept { ++*static_cast<std::atomic<int>*>(context); };
    options.release_context = &released_;
    return options;
  }
  static const void* pointer_to(const Buffer& buffer) {
    return reinterpret_cast<const void*>(buffer.device_address());
  }
  // Whether it is released before long, without a call of the interface.
  bool is_released_in_time() const {
    for (int i = 0; i < 3000 && released_ == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return released_ != 0;
  }

  std::vector<uint32_t> memory_ = std::vector<uint32_t>(kImportReleaseCount, 5);
  std::atomic<int> released_{0};
};

TEST_F(ImportRelease, IsToldOnceWhenTheBufferIsGone) {
  Ref<Buffer> imported =
      take(device().import_buffer(options_for(Kind::kHostMemory, memory_.data())));
  Ref<Buffer> view = take(imported->subspan(0, 4));
  imported = nullptr;
  EXPECT_EQ(released_, 0) << "a view is there";
  view = nullptr;
  EXPECT_TRUE(is_released_in_time());
  // The memory is the program's alone.
  memory_ = {};
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(released_, 1);
}

TEST_F(ImportRelease, NotBeforeWorkInFlightIsDone) {
  HeldKernel kernel(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  Ref<Buffer> imported =
      take(device().import_buffer(options_for(Kind::kHostMemory, memory_.data())));
  ASSERT_OK(kernel.start(queue()));
  ASSERT_OK(queue().dispatch(affine(imported, kImportReleaseCount, 3, 1)));
  imported = nullptr;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(released_, 0);
  EXPECT_FALSE(kernel.has_ended());
  kernel.release();
  EXPECT_TRUE(is_released_in_time());
  EXPECT_EQ(memory_, std::vector<uint32_t>(kImportReleaseCount, 16)) << "the work has used it";
  EXPECT_EQ(released_, 1);
  ASSERT_OK(drain(queue()));
}

TEST_F(ImportRelease, NotBeforeHeldWorkIsDone) {
  const Ref<Semaphore> gate = new_semaphore();
  Ref<Buffer> imported =
      take(device().import_buffer(options_for(Kind::kHostMemory, memory_.data())));
  const uint32_t six = 6;
  ASSERT_OK(queue().fill(imported, &six, 4, When().after(gate, 1)));
  imported = nullptr;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(released_, 0);
  ASSERT_OK(gate->signal(1));
  EXPECT_TRUE(is_released_in_time());
  EXPECT_EQ(memory_, std::vector<uint32_t>(kImportReleaseCount, 6));
}

TEST_F(ImportRelease, OfADevicePointer) {
  const Ref<Buffer> original = upload(memory_);
  Ref<Buffer> imported =
      take(device().import_buffer(options_for(Kind::kDevicePointer, pointer_to(*original))));
  ASSERT_OK(queue().dispatch(affine(imported, kImportReleaseCount, 3, 1)));
  imported = nullptr;
  EXPECT_TRUE(is_released_in_time());
  EXPECT_EQ(released_, 1);
  EXPECT_TRUE(same(download<uint32_t>(original), std::vector<uint32_t>(kImportReleaseCount, 16)));
}

TEST_F(ImportRelease, AFailedImportTellsNobody) {
  ImportOptions options = options_for(Kind::kDevicePointer, reinterpret_cast<const void*>(0x1000));
  EXPECT_FALSE(device().import_buffer(options).ok());
  options = options_for(Kind::kHostMemory, memory_.data());
  options.size = 0;
  EXPECT_FALSE(device().import_buffer(options).ok());
  const std::vector<uint8_t> noise(64, 0x5a);
  EXPECT_FALSE(device().import_buffer(options_for(Kind::kIpcHandle, noise.data())).ok());
  const Ref<Buffer> original = allocate(kImportReleaseBytes);
  options = options_for(Kind::kDevicePointer, pointer_to(*original));
  options.size = uint64_t{1} << 40;
  EXPECT_FALSE(device().import_buffer(options).ok());
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(released_, 0);
}

TEST_F(ImportRelease, TheSameMemoryTwiceIsToldTwice) {
  Ref<Buffer> first = take(device().import_buffer(options_for(Kind::kHostMemory, memory_.data())));
  const Ref<Buffer> second =
      take(device().import_buffer(options_for(Kind::kHostMemory, memory_.data())));
  first = nullptr;
  EXPECT_TRUE(is_released_in_time());
  ASSERT_OK(queue().dispatch(affine(second, kImportReleaseCount, 3, 1), next()));
  ASSERT_OK(finish());
  EXPECT_EQ(memory_, std::vector<uint32_t>(kImportReleaseCount, 16));
  EXPECT_EQ(released_, 1);
}

TEST_F(ImportRelease, ADevicesEndTellsTheOwnersOfWhatItUsed) {
  Ref<Device> other = take(Environment::get().open_device());
  Ref<Queue> queue = take(other->create_queue());
  Ref<Buffer> imported = take(other->import_buffer(options_for(Kind::kHostMemory, memory_.data())));
  const uint32_t six = 6;
  ASSERT_OK(queue->fill(imported, &six, 4));
  imported = nullptr;
  queue = nullptr;
  other = nullptr;
  EXPECT_TRUE(is_released_in_time());
  EXPECT_EQ(memory_, std::vector<uint32_t>(kImportReleaseCount, 6));
}

}  // namespace
}  // namespace halyard::cts
