// The driver on a device that completes packets and executes no kernels: nothing arrives in the
// words of DoneWords.
#include <gtest/gtest.h>

#include <cstdint>

#include "drivers/hip/device.h"
#include "drivers/hip/tests/virtual_hip.h"

namespace halyard::hip {
namespace {

TEST(HipWithoutKernels, AnEventTellsOfEachSignal) {
  const Ref<Device> device = take(virtual_driver("gfx900-noexec").create_device(0));
  const Ref<Queue> queue = take(device->create_queue());
  const Ref<Semaphore> done = take(device->create_semaphore(0));
  uint64_t value = 0;
  const auto finish = [&]() -> Status {
    const SemaphorePoint point = {done.get(), ++value};
    HALYARD_RETURN_IF_ERROR(queue->barrier({.wait = {}, .signal = {&point, 1}}));
    return done->wait(value, Deadline::after_ns(60'000'000'000));
  };
  ASSERT_OK(finish());
  const CallCounts counts(static_cast<DeviceImpl&>(*device).hip());
  for (int i = 0; i < 10; ++i) ASSERT_OK(finish());
  EXPECT_EQ(counts.records(), 10);
  EXPECT_EQ(counts.writes(), 0);
}

}  // namespace
}  // namespace halyard::hip
