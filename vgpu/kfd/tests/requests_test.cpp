// What any request goes through, and those for the device as a whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/kfd/drm.h"
#include "vgpu/kfd/drm_abi.h"
#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;

TEST(Requests, UnknownOnesAreRefusedAsByLinux) {
  FakeProcess process;
  abi::Version version;
  EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_READ, 'T', 1, 8), &version), -ENOTTY);
  EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_READ, 'K', 0x7f, 8), &version), -ENOTTY);
  EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_READ, 'K', 0, 8), &version), -EINVAL);
}

TEST(Requests, DebuggingIsRefusedAsByALinuxThatSchedulesQueuesItself) {
  FakeProcess process;
  unsigned char argument[128] = {};
  // What Linux once had, and has the numbers of still.
  for (unsigned number = 0x0d; number <= 0x10; ++number) {
    EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_WRITE, 'K', number, 16), argument), -EPERM) << number;
    EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_WRITE, 'K', number, 16), nullptr), -EPERM) << number;
  }
  for (uint32_t operation = 0; operation < 16; ++operation) {
    abi::DebugTrap trap{static_cast<uint32_t>(getpid()), operation};
    EXPECT_EQ(process.request(Request::kDebugTrap, trap), -EINVAL) << operation;
  }
  EXPECT_EQ(process.kfd->ioctl(abi::code<abi::DebugTrap>(Request::kDebugTrap), nullptr), -EFAULT);
  // AMD's own numbers, once for DBG_TRAP, and for performance counters.
  for (const unsigned number : {0x27u, 0x82u, 0x84u})
    EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_READ | _IOC_WRITE, 'K', number, 16), argument), -ENOTTY);
}

TEST(Requests, ARuntimeMayLetDebuggersKnowOfItOnce) {
  FakeProcess process;
  abi::RuntimeEnable enable;
  enable.mode = abi::kEnableRuntime | abi::kSaveTrapTemporaries;
  EXPECT_EQ(process.request(Request::kRuntimeEnable, enable), 0);
  EXPECT_EQ(enable.capabilities, 0u);
  EXPECT_EQ(process.request(Request::kRuntimeEnable, enable), -EBUSY);
  abi::RuntimeEnable disable;
  EXPECT_EQ(process.request(Request::kRuntimeEnable, disable), 0);
  EXPECT_EQ(process.request(Request::kRuntimeEnable, disable), 0);
  EXPECT_EQ(process.request(Request::kRuntimeEnable, enable), 0);
}

TEST(Requests, AvailableMemoryIsInWholeBlocks) {
  FakeProcess process;
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const auto available = [&process](uint32_t gpu_id, int expected = 0) {
    abi::AvailableMemory request;
    request.gpu_id = gpu_id;
    EXPECT_EQ(process.request(Request::kAvailableMemory, request), expected);
    return request.available;
  };
  EXPECT_EQ(available(kGpu), 64 * kMiB);
  const abi::AllocMemory page = process.allocate(kPage, abi::kVram | abi::kExecutable);
  EXPECT_EQ(available(kGpu), 62 * kMiB);
  EXPECT_EQ(available(kOtherGpu), 64 * kMiB);
  process.allocate(4 * kMiB, abi::kGtt | abi::kExecutable);
  EXPECT_EQ(available(kGpu), 62 * kMiB) << "the host's memory";
  ASSERT_EQ(process.free(page.handle), 0);
  EXPECT_EQ(available(kGpu), 64 * kMiB);
  available(0, -EINVAL);
  available(kGpu + 1, -EINVAL);
}

TEST(Requests, ArgumentsThatAreNotThereAreFaults) {
  FakeProcess process;
  constexpr unsigned long kGetVersion = abi::code<abi::Version>(Request::kGetVersion, _IOC_READ);
  EXPECT_EQ(process.kfd->ioctl(kGetVersion, nullptr), -EFAULT);
  EXPECT_EQ(process.kfd->ioctl(kGetVersion, reinterpret_cast<void*>(process.reserve(kPage))),
            -EFAULT);
  EXPECT_EQ(process.kfd->ioctl(kGetVersion, reinterpret_cast<void*>(uint64_t{1} << 63)), -EFAULT);
}

TEST(Requests, ArgumentsMayBeShorterOrLonger) {
  FakeProcess process;
  // The first word alone: what is behind it is left as it is.
  uint32_t words[4] = {7, 7, 7, 7};
  EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_READ, 'K', 1, 4), words), 0);
  EXPECT_EQ(words[0], abi::kMajorVersion);
  EXPECT_EQ(words[1], 7u);
  EXPECT_EQ(process.kfd->ioctl(_IOC(_IOC_READ, 'K', 1, 16), words), 0);
  EXPECT_EQ(words[1], abi::kMinorVersion);
  EXPECT_EQ(words[2], 7u);
}

TEST(Requests, AperturesAreToldOfEachGpu) {
  FakeProcess process;
  abi::ProcessAperturesNew request;
  EXPECT_EQ(process.request(Request::kGetProcessAperturesNew, request), 0);
  EXPECT_EQ(request.count, 2u);
  abi::DeviceApertures apertures[3];
  request.apertures_pointer = reinterpret_cast<uintptr_t>(apertures);
  request.count = 3;
  EXPECT_EQ(process.request(Request::kGetProcessAperturesNew, request), 0);
  EXPECT_EQ(request.count, 2u);
  EXPECT_EQ(apertures[0].gpu_id, kGpu);
  EXPECT_EQ(apertures[1].gpu_id, kOtherGpu);
  EXPECT_EQ(apertures[2].gpu_id, 0u);
  // The thunk takes addresses from anywhere below, and LDS and scratch are above.
  EXPECT_EQ(apertures[0].gpuvm_limit, (uint64_t{1} << 47) - 1);
  EXPECT_GT(apertures[0].lds_base, apertures[0].gpuvm_limit);
  request.apertures_pointer = process.reserve(kPage);
  EXPECT_EQ(process.request(Request::kGetProcessAperturesNew, request), -EFAULT);
}

TEST(Requests, ClocksRun) {
  FakeProcess process;
  abi::ClockCounters first;
  first.gpu_id = kGpu;
  ASSERT_EQ(process.request(Request::kGetClockCounters, first), 0);
  EXPECT_EQ(first.system_frequency, 1000000000u);
  abi::ClockCounters second;
  second.gpu_id = kGpu;
  do {
    ASSERT_EQ(process.request(Request::kGetClockCounters, second), 0);
  } while (second.gpu == first.gpu);
  EXPECT_GT(second.gpu, first.gpu);
  EXPECT_GE(second.system, first.system);
}

// The GPU's clock is CLOCK_MONOTONIC in units of 10 ns here, which stands to CLOCK_BOOTTIME as long
// as the machine does not sleep. A reading during which the thread lost its processor would be off
// by a time slice; these are taken while other threads want every processor.
TEST(Requests, ClocksAreOfOneMoment) {
  FakeProcess process;
  std::atomic<bool> ends = false;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    others.emplace_back([&] {
      while (!ends) {
      }
    });
  }
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;
  for (int i = 0; i < 200000; ++i) {
    abi::ClockCounters clocks;
    clocks.gpu_id = kGpu;
    ASSERT_EQ(process.request(Request::kGetClockCounters, clocks), 0);
    const int64_t apart =
        static_cast<int64_t>(clocks.system) - static_cast<int64_t>(clocks.gpu * 10);
    least = std::min(least, apart);
    most = std::max(most, apart);
  }
  ends = true;
  for (std::thread& other : others) other.join();
  EXPECT_LE(most - least, 100'000);
}

// Whatever a program passes, it gets an answer. Requests that place memory at addresses of the
// program's own choice are left out: those may be its own.
TEST(Requests, RandomArgumentsDoNoHarm) {
  FakeProcess process("gfx90a", true, true);
  std::mt19937_64 random(20261122);
  alignas(8) unsigned char argument[512];
  for (int round = 0; round < 20000; ++round) {
    const auto number = static_cast<unsigned>(random() % 0x90);
    if (number == static_cast<unsigned>(Request::kWaitEvents)) continue;  // it may wait for ever
    for (unsigned char& byte : argument)
      byte = static_cast<unsigned char>(random() % 3 == 0 ? random() : 0);
    // Ids and addresses that may be good ones.
    if (random() % 2 == 0) {
      const uint32_t id = kGpu;
      std::memcpy(argument + random() % 12 * 4, &id, sizeof id);
    }
    const auto bytes = static_cast<unsigned>(random() % 128);
    const int result =
        process.kfd->ioctl(_IOC(_IOC_READ | _IOC_WRITE, 'K', number, bytes), argument);
    EXPECT_LE(result, 0);
    EXPECT_GT(result, -200);
  }
}

class RenderNode : public ::testing::Test {
 protected:
  template <class T>
  int query(drm::Query what, T& answer, uint32_t bytes = sizeof(T)) {
    drm::Info info;
    info.return_pointer = reinterpret_cast<uintptr_t>(&answer);
    info.return_size = bytes;
    info.query = what;
    return drm_ioctl(*process_.kfd, 0, _IOC(_IOC_WRITE, 'd', drm::kAmdgpuInfoNumber, sizeof info),
                     &info);
  }

  FakeProcess process_;
};

TEST_F(RenderNode, SaysThatItIsAmdgpus) {
  char name[16] = "";
  drm::Version version;
  version.name_pointer = reinterpret_cast<uintptr_t>(name);
  version.name_length = sizeof name;
  constexpr unsigned long kVersion =
      _IOC(_IOC_READ | _IOC_WRITE, 'd', drm::kVersionNumber, sizeof(drm::Version));
  ASSERT_EQ(drm_ioctl(*process_.kfd, 0, kVersion, &version), 0);
  EXPECT_EQ(version.major, 3);
  EXPECT_EQ(version.name_length, 6u);
  EXPECT_STREQ(name, "amdgpu");
  // libdrm asks for the lengths first.
  drm::Version lengths;
  ASSERT_EQ(drm_ioctl(*process_.kfd, 0, kVersion, &lengths), 0);
  EXPECT_EQ(lengths.name_length, 6u);
  EXPECT_EQ(drm_ioctl(*process_.kfd, 2, kVersion, &version), -ENODEV);
}

TEST_F(RenderNode, TellsOfTheProfilesGpu) {
  drm::DeviceInfo info;
  ASSERT_EQ(query(drm::Query::kDeviceInfo, info), 0);
  const machine::GpuProfile& gpu = process_.machine->profile().gpus[0];
  EXPECT_EQ(info.device_id, gpu.device_id);
  EXPECT_EQ(info.active_units, gpu.compute_units);
  uint32_t units = 0;
  for (const auto& row : info.unit_bitmap) {
    for (const uint32_t mask : row) units += static_cast<uint32_t>(__builtin_popcount(mask));
  }
  EXPECT_EQ(units, gpu.compute_units);
  // An older libdrm has room for less.
  uint32_t id = 0;
  ASSERT_EQ(query(drm::Query::kDeviceInfo, id), 0);
  EXPECT_EQ(id, gpu.device_id);
}

TEST_F(RenderNode, CountsMemory) {
  uint64_t used = 1;
  ASSERT_EQ(query(drm::Query::kVramUsage, used), 0);
  EXPECT_EQ(used, 0u);
  process_.allocate(2 * kPage, abi::kVram | abi::kExecutable);
  ASSERT_EQ(query(drm::Query::kVramUsage, used), 0);
  EXPECT_EQ(used, 2 * kPage);
}

TEST_F(RenderNode, RefusesWhatItDoesNotHave) {
  uint32_t answer = 0;
  EXPECT_EQ(query(static_cast<drm::Query>(0x99), answer), -EINVAL);
  EXPECT_EQ(query(drm::Query::kAccelWorking, answer, 0), -EINVAL);
  // For a master, of a display, and none at all.
  EXPECT_EQ(drm_ioctl(*process_.kfd, 0, _IOC(_IOC_WRITE, 'd', 0x55, 16), &answer), -EACCES);
  EXPECT_EQ(drm_ioctl(*process_.kfd, 0, _IOC(_IOC_WRITE, 'd', 0xa2, 16), &answer), -EACCES);
  EXPECT_EQ(drm_ioctl(*process_.kfd, 0, _IOC(_IOC_WRITE, 'd', 0x56, 16), &answer), -EINVAL);
  // Synchronisation objects.
  EXPECT_EQ(drm_ioctl(*process_.kfd, 0, _IOC(_IOC_WRITE, 'd', 0xbf, 16), &answer), -EOPNOTSUPP);
  EXPECT_EQ(drm_ioctl(*process_.kfd, 0, _IOC(_IOC_WRITE, 'K', 1, 8), &answer), -ENOTTY);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
