// Host functions and files in a queue's order.
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>

#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/tests/virtual_device.h"
#include "hal/error.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;
using HostOperation = VirtualDeviceTest;

TEST_F(HostOperation, AHostFunctionRunsBetweenItsNeighbours) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = host_buffer(256);
  std::fill_n(view<uint32_t>(data), 64, 1u);
  const auto look = [](void* context) {
    auto* const word = static_cast<uint32_t*>(context);
    if (*word != 3) return error(StatusCode::kDataLoss, "The word is {}.", *word);
    *word = 10;
    return Status();
  };
  ASSERT_OK(affine(*queue, data, 3, 0));
  ASSERT_OK(queue->host_call(look, view<uint32_t>(data)));
  ASSERT_OK(affine(*queue, data, 2, 1));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[0], 21u);
}

TEST_F(HostOperation, AFailureOfTheFunctionFailsItsSignals) {
  const Ref<Queue> queue = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  const auto fail = [](void*) { return Status(StatusCode::kAborted, "Nothing works."); };
  ASSERT_OK(queue->host_call(fail, nullptr, {.wait = {}, .signal = {&point, 1}}));
  EXPECT_THAT(text(done->wait(1, time_limit())), HasSubstr("Nothing works."));
  finish(*queue);
}

TEST_F(HostOperation, FilesAreWrittenAndReadInOrder) {
  char name[] = "/tmp/halyard-file-XXXXXX";
  const int descriptor = mkstemp(name);
  ASSERT_GE(descriptor, 0);
  unlink(name);
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> from = device_buffer(3'000'000);
  const Ref<Buffer> to = device_buffer(3'000'000);
  const uint32_t word = 0xdecade;
  ASSERT_OK(queue->fill(from, &word, 4));
  ASSERT_OK(queue->write(from, {.descriptor = descriptor, .offset = 16}));
  ASSERT_OK(queue->read({.descriptor = descriptor, .offset = 16}, to));
  EXPECT_EQ(download(*queue, to), std::vector<uint32_t>(750'000, word));
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(queue->read({.descriptor = descriptor, .offset = 1'000'000}, to,
                        {.wait = {}, .signal = {&point, 1}}));
  EXPECT_THAT(text(done->wait(1, time_limit())), HasSubstr("end of the file"));
  close(descriptor);
}

// As on a device that is lost: the engine takes the copy, and it is never done.
std::atomic<uint64_t> copy_signal{0};
hsa_status_t take_copy(void*, hsa_agent_t, const void*, hsa_agent_t, size_t, uint32_t,
                       const hsa_signal_t*, hsa_signal_t signal) {
  copy_signal = signal.handle;
  return HSA_STATUS_SUCCESS;
}

TEST_F(HostOperation, ACopyThatIsNeverDoneIsWaitedForUntilTheQueueIsLost) {
  char name[] = "/tmp/halyard-file-XXXXXX";
  const int descriptor = mkstemp(name);
  ASSERT_GE(descriptor, 0);
  unlink(name);
  copy_signal = 0;
  const Ref<Queue> queue = new_queue();
  Ref<Buffer> data = device_buffer(4096);
  const uint64_t before = impl().memory().statistics(MemoryType::kDevice).live_buffers;
  auto& copy = const_cast<Hsa&>(impl().hsa()).hsa_amd_memory_async_copy;
  const auto real = std::exchange(copy, &take_copy);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  EXPECT_OK(queue->write(data, {.descriptor = descriptor}, {.wait = {}, .signal = {&point, 1}}));
  while (copy_signal == 0) std::this_thread::yield();
  copy = real;
  data = nullptr;
  ASSERT_OK(queue->abandon());
  EXPECT_EQ(done->wait(1, time_limit()).code(), StatusCode::kCancelled);
  // The operation ends, though the engine may still write: its thread does not wait any more.
  while (core(queue).held().any()) std::this_thread::yield();
  EXPECT_EQ(impl().memory().statistics(MemoryType::kDevice).live_buffers, before);
  // And what the copy uses is released with its end.
  impl().hsa().hsa_signal_store_screlease({copy_signal}, 0);
  while (impl().memory().statistics(MemoryType::kDevice).live_buffers == before) {
    std::this_thread::yield();
  }
  close(descriptor);
}

}  // namespace
}  // namespace halyard::amdgpu
