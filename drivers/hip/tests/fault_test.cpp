// Memory faults on one of two devices: what is lost with it, and what goes on.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "drivers/hip/device.h"
#include "drivers/hip/executable.h"
#include "drivers/hip/queue.h"
#include "drivers/hip/tests/virtual_hip.h"

namespace halyard::hip {
namespace {

using ::testing::HasSubstr;

// A device is lost for the whole process, so each test has one of its own.
class HipFault : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Runs `body` in a process of its own, which has to go on to its end without a failed check.
  template <typename Body>
  static void in_process(Body&& body) {
    EXPECT_EXIT(
        {
          body();
          std::exit(::testing::Test::HasFailure() ? 1 : 0);
        },
        ::testing::ExitedWithCode(0), "");
  }

  struct Gpu {
    explicit Gpu(uint32_t ordinal)
        : device(take(virtual_driver("two-gfx90a").create_device(ordinal))),
          queue(take(device->create_queue())),
          done(take(device->create_semaphore())),
          faults(load(*device, "faults")),
          busy(load(*device, "busy")) {}

    Status store_to_nowhere(const Sync& sync) {
      const Argument arguments[] = {Argument::of(uint64_t{0x3dea'd000'0000}),
                                    Argument::of(uint32_t{1})};
      return launch(*take(faults->find("store_to")), arguments, sync);
    }
    Status launch(const Function& function, Span<const Argument> arguments, const Sync& sync) {
      Dispatch dispatch;
      dispatch.function = &function;
      dispatch.grid = dispatch.workgroup = {64, 1, 1};
      dispatch.arguments = arguments;
      return queue->dispatch(dispatch, sync);
    }
    Ref<Buffer> allocate(MemoryType type) {
      BufferOptions options;
      options.type = type;
      return take(device->allocate(4096, options));
    }
    // A fill, a copy and a kernel, in memory of both kinds.
    void expect_works() {
      const Ref<Buffer> data = allocate(MemoryType::kDevice);
      const Ref<Buffer> host = allocate(MemoryType::kHost);
      const uint32_t value = 5;
      const Argument arguments[] = {data, Argument::of(uint32_t{64}), Argument::of(uint32_t{2}),
                                    Argument::of(uint32_t{1})};
      const SemaphorePoint point = {done.get(), ++reached};
      ASSERT_OK(queue->fill(data, &value, sizeof value));
      ASSERT_OK(launch(*take(load(*device, "busy")->find("affine")), arguments, {}));
      ASSERT_OK(queue->copy(data, host, {.wait = {}, .signal = {&point, 1}}));
      ASSERT_OK(done->wait(reached, time_limit()));
      EXPECT_EQ(static_cast<uint32_t*>(take(host->map(0, 256, MapAccess::kRead)))[63], 11u);
    }

    Ref<Device> device;
    Ref<Queue> queue;
    Ref<Semaphore> done;
    uint64_t reached = 0;
    Ref<Executable> faults;
    Ref<Executable> busy;
  };

  // A kernel that the queue's work is behind until the test says so.
  struct HeldGpu {
    explicit HeldGpu(Gpu& gpu)
        : mail(gpu.allocate(MemoryType::kHost)), coherence(load(*gpu.device, "coherence")) {
      word().store(0);
      const Argument arguments[] = {mail, Argument::of(uint32_t{1}),
                                    Argument::of(uint32_t{1} << 30)};
      EXPECT_TRUE(gpu.launch(*take(coherence->find("answer")), arguments, {}).ok());
    }
    void release() const { word().store(1); }
    std::atomic_ref<uint32_t> word() const {
      return std::atomic_ref(*static_cast<uint32_t*>(take(mail->map(0, 4, MapAccess::kReadWrite))));
    }

    Ref<Buffer> mail;
    Ref<Executable> coherence;
  };

  static Stream& stream_of(const Gpu& gpu) {
    return static_cast<QueueImpl&>(*gpu.queue).core().stream();
  }

  // A kernel on a stream that the driver knows nothing of.
  static void fault_beside_the_driver() {
    Gpu gpu(0);
    const Hip& hip = static_cast<DeviceImpl&>(*gpu.device).hip();
    const auto& function = static_cast<const FunctionImpl&>(*take(gpu.faults->find("store_to")));
    struct {
      uint64_t address = 0x3dea'd000'0000;
      uint32_t value = 1;
    } arguments;
    size_t size = function.info().kernarg_size;
    std::vector<std::byte> kernarg(std::max(size, sizeof arguments));
    std::memcpy(kernarg.data(), &arguments, sizeof arguments);
    void* extra[] = {kLaunchParamBufferPointer, kernarg.data(), kLaunchParamBufferSize, &size,
                     kLaunchParamEnd};
    hipStream_t stream = nullptr;
    hip.hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, 0);
    hip.hipExtModuleLaunchKernel(function.handle(), 64, 1, 1, 64, 1, 1, 0, stream, nullptr, extra,
                                 nullptr, nullptr, 0);
    hip.hipStreamSynchronize(stream);
  }

  static Deadline time_limit() { return Deadline::after_ns(30'000'000'000); }
};

TEST_F(HipFault, LosesItsDeviceAndNoOther) {
  in_process([] {
    Gpu lost(0);
    Gpu other(1);
    other.expect_works();
    const Ref<Buffer> host = lost.allocate(MemoryType::kHost);
    const Ref<Buffer> device = lost.allocate(MemoryType::kDevice);
    const Ref<Semaphore> before = take(lost.device->create_semaphore());
    const SemaphorePoint first = {before.get(), 1};
    const SemaphorePoint point = {lost.done.get(), 1};
    ASSERT_OK(lost.queue->barrier({.wait = {}, .signal = {&first, 1}}));
    ASSERT_OK(lost.store_to_nowhere({.wait = {}, .signal = {&point, 1}}));
    const std::string words = lost.done->wait(1, time_limit()).to_string();
    EXPECT_THAT(words, HasSubstr("\"store_to\""));
    EXPECT_THAT(words, HasSubstr("0x3dead0000000"));
    // What was done before the fault is done.
    ASSERT_OK(before->wait(1, time_limit()));
    EXPECT_THAT(lost.device->create_queue().status().to_string(), HasSubstr("store_to"));
    EXPECT_THAT(lost.queue->barrier({}).to_string(), HasSubstr("store_to"));
    other.expect_works();
    EXPECT_TRUE(other.device->fault().ok());
    // Everything of the lost device goes while the other one works, and nobody waits for ever.
  });
}

TEST_F(HipFault, ADeviceWhoseStreamWaitsForALostOneIsLostWithIt) {
  in_process([] {
    Gpu lost(0);
    Gpu other(1);
    const SemaphorePoint point = {lost.done.get(), 1};
    const SemaphorePoint after = {other.done.get(), 1};
    const HeldGpu held(lost);
    ASSERT_OK(lost.store_to_nowhere({.wait = {}, .signal = {&point, 1}}));
    ASSERT_OK(other.queue->barrier({.wait = {&point, 1}, .signal = {&after, 1}}));
    held.release();
    EXPECT_THAT(other.done->wait(1, time_limit()).to_string(), HasSubstr("\"store_to\""));
    EXPECT_FALSE(other.device->fault().ok());
  });
}

// What a stream is given to wait for is not counted.
TEST_F(HipFault, AStreamThatWaitsForAnotherDeviceIsNotIdle) {
  in_process([] {
    Gpu first(0);
    Gpu second(1);
    first.expect_works();
    second.expect_works();
    Streams& streams = Streams::instance();
    Stream& stream = stream_of(second);
    Stream& other = stream_of(first);
    ASSERT_TRUE(streams.hold_still(stream.device()).has_value());
    const HeldGpu held(first);
    {
      const std::lock_guard lock(other.order());
      ASSERT_OK(other.mark(true));
    }
    {
      const std::lock_guard lock(stream.order());
      ASSERT_OK(stream.wait_for({&other, other.number()}));
    }
    EXPECT_TRUE(stream.known_idle());
    EXPECT_FALSE(streams.hold_still(stream.device()).has_value());
    // Would wait for the kernel.
    streams.release_commands(stream);
    held.release();
    first.expect_works();
    EXPECT_TRUE(streams.hold_still(stream.device()).has_value());
  });
}

// The runtime's thread for signals polls while another thread waits for one of them, and then it
// hears of no fault.
TEST_F(HipFault, IsHeardOfWhileTheRuntimePolls) {
  in_process([] {
    Gpu lost(0);
    void* const runtime = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(runtime, nullptr);
    const auto create =
        reinterpret_cast<decltype(&hsa_signal_create)>(dlsym(runtime, "hsa_signal_create"));
    const auto wait = reinterpret_cast<decltype(&hsa_signal_wait_scacquire)>(
        dlsym(runtime, "hsa_signal_wait_scacquire"));
    const auto store = reinterpret_cast<decltype(&hsa_signal_store_screlease)>(
        dlsym(runtime, "hsa_signal_store_screlease"));
    const auto call_when = reinterpret_cast<decltype(&hsa_amd_signal_async_handler)>(
        dlsym(runtime, "hsa_amd_signal_async_handler"));
    ::hsa_signal_t signal = {};
    ASSERT_EQ(create(1, 0, nullptr, &signal), HSA_STATUS_SUCCESS);
    std::atomic<bool> waiting{false};
    std::thread waiter([&] {
      waiting = true;
      while (wait(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {
      }
    });
    while (!waiting) std::this_thread::yield();
    const auto never_again = [](hsa_signal_value_t, void*) { return false; };
    ASSERT_EQ(call_when(signal, HSA_SIGNAL_CONDITION_LT, 1, never_again, nullptr),
              HSA_STATUS_SUCCESS);
    const SemaphorePoint point = {lost.done.get(), 1};
    ASSERT_OK(lost.store_to_nowhere({.wait = {}, .signal = {&point, 1}}));
    EXPECT_THAT(lost.done->wait(1, time_limit()).to_string(), HasSubstr("\"store_to\""));
    store(signal, 0);
    waiter.join();
  });
}

// What other HIP code does is not the driver's to survive.
TEST_F(HipFault, OfSomebodyElsesEndsTheProcess) {
  EXPECT_DEATH(fault_beside_the_driver(), "Memory access fault");
}

// HIP says of a stream that its work has failed: the device works, and so do its other queues.
TEST_F(HipFault, OfAStreamLosesOneQueue) {
  in_process([] {
    Gpu gpu(0);
    const Ref<Queue> other = take(gpu.device->create_queue());
    auto& hip = const_cast<Hip&>(static_cast<DeviceImpl&>(*gpu.device).hip());
    // So that the mark is an event only.
    hip.hipStreamWriteValue64 = [](hipStream_t, void*, uint64_t, unsigned) -> hipError_t {
      return hipErrorNotSupported;
    };
    auto& query = hip.hipEventQuery;
    const auto real =
        std::exchange(query, [](hipEvent_t) -> hipError_t { return hipErrorInvalidHandle; });
    const SemaphorePoint point = {gpu.done.get(), 1};
    const Sync signal = {.wait = {}, .signal = {&point, 1}};
    ASSERT_TRUE(gpu.queue->barrier(signal).ok());
    const Status failure = gpu.done->wait(1);
    query = real;
    EXPECT_THAT(failure.to_string(), HasSubstr("The queue is lost"));
    EXPECT_EQ(gpu.queue->fault().to_string(), failure.to_string());
    EXPECT_EQ(gpu.queue->barrier({}).to_string(), failure.to_string());
    EXPECT_TRUE(gpu.device->fault().ok()) << gpu.device->fault().to_string();
    gpu.done = take(gpu.device->create_semaphore());
    for (const Ref<Queue>& queue : {other, take(gpu.device->create_queue())}) {
      const SemaphorePoint next = {gpu.done.get(), take(gpu.done->query()) + 1};
      EXPECT_TRUE(queue->fault().ok());
      EXPECT_TRUE(queue->barrier({.wait = {}, .signal = {&next, 1}}).ok());
      EXPECT_TRUE(gpu.done->wait(next.value).ok());
    }
  });
}

}  // namespace
}  // namespace halyard::hip
