// Things that are dropped while work in flight uses them.
#include <thread>

#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

class Lifetime : public VirtualDeviceTest {
 protected:
  uint64_t live(size_t heap) { return take(device_->heap_statistics(heap)).live_buffers; }
  // The watcher's thread frees what is retired; it looks every few milliseconds.
  void expect_all_free(size_t heap) {
    for (int i = 0; i < 10'000 && live(heap) != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(live(heap), 0u);
  }
};

TEST_F(Lifetime, ABufferLivesUntilTheWorkThatUsesItIsDone) {
  const Ref<Queue> queue = new_queue(64);
  for (int i = 0; i < 50; ++i) {
    const Ref<Buffer> fleeting = device_buffer(4096);
    const uint32_t seven = 7;
    ASSERT_OK(queue->fill(fleeting, &seven, 4));
    ASSERT_OK(affine(*queue, fleeting, 2, 1));
  }
  finish(*queue);
  expect_all_free(0);
}

TEST_F(Lifetime, AnIdleDeviceFreesAtOnce) {
  Ref<Buffer> buffer = device_buffer(4096);
  EXPECT_EQ(live(0), 1u);
  buffer = nullptr;
  EXPECT_EQ(live(0), 0u);
}

TEST_F(Lifetime, AViewKeepsItsBuffer) {
  Ref<Buffer> buffer = host_buffer(4096);
  Ref<Buffer> view = take(buffer->subspan(64, 128));
  const uint64_t address = buffer->device_address();
  buffer = nullptr;
  EXPECT_EQ(live(1), 1u);
  EXPECT_EQ(view->device_address(), address + 64);
  view = take(view->subspan(8, 8));
  EXPECT_EQ(view->device_address(), address + 72);
  EXPECT_EQ(view->size(), 8u);
  view = nullptr;
  EXPECT_EQ(live(1), 0u);
}

TEST_F(Lifetime, HeldWorkKeepsWhatItUses) {
  const Ref<Queue> queue = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> result = host_buffer(256);
  std::fill_n(view<uint32_t>(result), 64, 0u);
  {
    const Ref<Buffer> fleeting = device_buffer(256);
    const uint32_t three = 3;
    const SemaphorePoint open = {gate.get(), 1};
    ASSERT_OK(queue->fill(fleeting, &three, 4, {.wait = {&open, 1}, .signal = {}}));
    ASSERT_OK(affine(*queue, fleeting, 2, 1));
    ASSERT_OK(queue->copy(fleeting, result));
  }
  EXPECT_EQ(live(0), 1u);
  ASSERT_OK(gate->signal(1));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(result)[9], 7u);
  expect_all_free(0);
}

TEST_F(Lifetime, AnExecutableLivesUntilItsKernelsAreDone) {
  const std::vector<std::byte> bytes = read_kernels("gfx900", "busy");
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = host_buffer(256);
  std::fill_n(view<uint32_t>(data), 64, 0u);
  for (int i = 0; i < 10; ++i) {
    const Ref<Executable> fleeting = take(device_->load_executable(bytes.data(), bytes.size()));
    const uint32_t n = 64;
    const uint32_t one = 1;
    const Argument arguments[] = {data, Argument::of(n), Argument::of(one), Argument::of(one)};
    Dispatch dispatch;
    dispatch.function = take(fleeting->find("affine"));
    dispatch.grid = dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    for (int k = 0; k < 5; ++k) ASSERT_OK(queue->dispatch(dispatch));
  }
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[3], 50u);
}

// Executables, recordings, buffers, and the pinned memory of updates.
TEST_F(Lifetime, WhatOtherQueuesAreDoneWithGoesBesideAKernelWithoutEnd) {
  const Ref<Queue> held = new_queue();
  const Ref<Queue> other = new_queue();
  const std::vector<std::byte> bytes = read_kernels("gfx900", "busy");
  const Ref<Buffer> data = device_buffer(4096);
  const std::vector<uint32_t> words(1024, 1);
  ASSERT_OK(hold(*held));
  for (int i = 0; i < 10; ++i) {
    const Ref<Executable> fleeting = take(device_->load_executable(bytes.data(), bytes.size()));
    const Ref<Buffer> buffer = device_buffer(256);
    const Argument arguments[] = {buffer, Argument::of(uint32_t{64}), Argument::of(uint32_t{1}),
                                  Argument::of(uint32_t{1})};
    Dispatch dispatch;
    dispatch.function = take(fleeting->find("affine"));
    dispatch.grid = dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    ASSERT_OK(other->dispatch(dispatch));
    const Ref<CommandBuffer> commands = take(device_->create_command_buffer());
    ASSERT_OK(commands->dispatch(dispatch));
    ASSERT_OK(commands->finish());
    ASSERT_OK(other->execute(*commands));
    ASSERT_OK(other->update(data, words.data(), 4096));
  }
  finish(*other);
  for (int i = 0; i < 10'000 && impl().memory().retired() != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(impl().memory().retired(), 0u);
  EXPECT_FALSE(kernel_has_ended());
}

TEST_F(Lifetime, QueuesAreUsedAgain) {
  QueueCore* first = nullptr;
  {
    const Ref<Queue> queue = new_queue(128);
    finish(*queue);
    first = &core(queue);
  }
  const Ref<Queue> again = new_queue(128);
  EXPECT_EQ(&core(again), first);
  const Ref<Queue> another = new_queue(128);
  EXPECT_NE(&core(another), first);
  finish(*again);
}

TEST_F(Lifetime, ADeviceMayGoWithWorkInFlight) {
  for (int i = 0; i < 5; ++i) {
    device_ = take(driver().create_device(0));
    const Ref<Queue> queue = new_queue();
    const Ref<Buffer> buffer = device_buffer(1 << 20);
    const uint8_t byte = 1;
    for (int k = 0; k < 5; ++k) ASSERT_OK(queue->fill(buffer, &byte, 1));
  }
}

}  // namespace
}  // namespace halyard::amdgpu
