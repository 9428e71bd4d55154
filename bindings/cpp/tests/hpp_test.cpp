// halyard.hpp on one device: halyard_hpp_test DEVICE [gtest flags]
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <halyard/halyard.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "hpp_test.h"

namespace halyard::host {

const char* device_uri = nullptr;

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct HppTest : testing::Test {
  Device device = open_device();
  Queue queue = device.queue();
  Kernel vadd = device.load((kKernels + "/vadd_c_v6.hipfb").c_str()).kernel("vadd");
};

TEST_F(HppTest, AddsTwoVectors) {
  const uint32_t n = 1000;
  const std::vector<float> ones(n, 1.0f);
  std::vector<float> numbers(n), sums(n), expected(n);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  std::iota(expected.begin(), expected.end(), 1.0f);
  const auto a = device.array<float>(n), b = device.array<float>(n), out = device.array<float>(n);
  queue.upload(ones, a);
  queue.upload(numbers, b);
  const Future done = queue.launch(vadd, {n}, {256}, a, b, out, n);
  queue.download(out, sums);
  EXPECT_EQ(sums, expected);
  EXPECT_TRUE(done.done());
  EXPECT_TRUE(done.wait_for(std::chrono::nanoseconds(0)));
  done.wait();
}

TEST_F(HppTest, HostMemoryIsASpanWithoutACopy) {
  const uint32_t n = 64;
  const auto in = device.array<float>(n, Memory::kHost),
             out = device.array<float>(n, Memory::kHost);
  ASSERT_EQ(in.span().size(), n);
  std::iota(in.span().begin(), in.span().end(), 1.0f);
  queue.launch(vadd, {n}, {64}, in, in.buffer(), DeviceAddress{out.buffer().device_address()}, n)
      .wait();
  EXPECT_EQ(out.span()[0], 2.0f);
  EXPECT_EQ(out.span()[63], 128.0f);
  EXPECT_THAT(device.array<float>(n).span(), IsEmpty());
}

TEST_F(HppTest, ALaunchIsCheckedAgainstTheMetadata) {
  const uint32_t n = 64;
  const auto a = device.array<float>(n);
  EXPECT_THAT(
      error_of([&] { queue.launch(vadd, {n}, {64}, a, a, a); }),
      HasSubstr("INVALID_ARGUMENT: Kernel \"vadd\" takes 4 arguments; the launch gives 3."));
  EXPECT_THAT(error_of([&] { queue.launch(vadd, {n}, {64}, a, a, a, uint64_t{n}); }),
              HasSubstr("is a value of 4 bytes; the launch gives a value of 8 bytes."));
  EXPECT_THAT(error_of([&] { queue.launch(vadd, {n}, {64}, a, 1.0f, a, n); }),
              HasSubstr("Argument 1"));
  EXPECT_THAT(error_of([&] { queue.launch(vadd, {n}, {64}, a, 1.0f, a, n); }),
              HasSubstr("is memory (an Array, a Buffer, a DeviceAddress or nullptr); the launch "
                        "gives a value of 4 bytes."));
  EXPECT_THAT(error_of([&] { queue.launch(vadd, {n}, {64}, a, a, a, a); }),
              HasSubstr("; the launch gives memory"));
  EXPECT_THAT(error_of([&] { queue.launch(vadd, {n}, {64}, a, a, Lds{4}, n); }),
              HasSubstr("the launch gives Lds."));
  EXPECT_THAT(error_of([&] { queue.launch(vadd, {int64_t{1} << 32}, {64}, a, a, a, n); }),
              HasSubstr("The grid (4294967296 × 1 × 1) is too large"));
  EXPECT_THAT(error_of([&] { queue.launch(vadd, {n}, {-1}, a, a, a, n); }),
              HasSubstr("The work-group ("));
  // Nothing of it was queued.
  queue.wait();
  EXPECT_TRUE(queue.fault().ok());
}

TEST_F(HppTest, DynamicLdsIsGivenAsAnArgumentOrWithTheLaunch) {
  const auto in = device.array<uint32_t>(64, Memory::kHost);
  const auto out = device.array<uint32_t>(64, Memory::kHost);
  std::iota(in.span().begin(), in.span().end(), 0);
  const Kernel cl = device.load((kKernels + "/dynamic_lds_cl.hipfb").c_str()).kernel("dynamic_lds");
  queue.launch(cl, {64}, {64}, in, out, Lds{256}, Lds{512}).wait();
  EXPECT_EQ(out.span()[10], 53u + 52u);
  const Executable hip = device.load((kKernels + "/dynamic_lds_hip.hipfb").c_str());
  ASSERT_THAT(hip.kernel_names(), testing::Not(IsEmpty()));
}

TEST_F(HppTest, ValuesOfAnyTrivialTypeArePassed) {
  struct Shape {
    uint8_t tag = 1;
    uint16_t rows = 1;
    uint32_t columns = 2;
    uint64_t stride = 2;
    float scale = 2.0f;
    double bias = 0.5;
    struct {
      uint8_t first = 3;
      uint32_t count = 0;
    } nested[2];
  } shape;
  static_assert(sizeof shape == 48);
  const auto out = device.array<double>(2, Memory::kHost);
  const Kernel kernel = device.load((kKernels + "/struct_arg.hipfb").c_str()).kernel("apply_shape");
  queue.launch(kernel, {64}, {64}, uint8_t{4}, shape, uint16_t{5}, out).wait();
  EXPECT_THAT(out.span(), ElementsAre(26.5, 26.5));  // 0.5 + 2 × (1 + 3 + 4 + 5)
}

TEST_F(HppTest, PointersAreNullOrInsideOfValues) {
  const auto out = device.array<uint32_t>(2, Memory::kHost);
  const Kernel walk = device.load((kKernels + "/pointers.hipfb").c_str()).kernel("walk");
  out.span()[0] = 7;
  queue.launch(walk, {1}, {1}, nullptr, out).wait();
  EXPECT_EQ(out.span()[0], 0u);

  struct Descriptor {
    uint64_t address;
  };
  const Kernel load = device.load((kKernels + "/faults.hipfb").c_str()).kernel("load_from");
  halyard_semaphore* gate = nullptr;
  check(Status(halyard_device_create_semaphore(device.handle(), 0, &gate)));
  const internal::SemaphoreHandle owner(gate);
  queue.after(Future(owner, 1));
  Future done;
  {
    const auto target = device.array<uint32_t>(64, Memory::kHost);
    target.span()[3] = 1234;
    done = queue.launch(load, {1}, {1},
                        with_memory(Descriptor{target.device_address() + 12}, target), out);
  }
  check(Status(halyard_semaphore_signal(gate, 1)));
  done.wait();
  EXPECT_EQ(out.span()[0], 1234u);
  EXPECT_THAT(error_of([&] { queue.launch(load, {1}, {1}, with_memory(5, out), out); }),
              HasSubstr("is a value of 8 bytes; the launch gives a value of 4 bytes."));
}

TEST_F(HppTest, CopiesAndFillsAreInOrder) {
  const auto a = device.array<uint32_t>(100), b = device.array<uint32_t>(100);
  queue.fill(a, 7);
  queue.copy(a, b);
  queue.fill(a, 8);
  std::vector<uint32_t> values(100);
  queue.download(b, values);
  EXPECT_THAT(values, Each(7));
  EXPECT_THAT(error_of([&] { queue.copy(a, device.array<uint32_t>(99)); }),
              HasSubstr("a source of 100 elements and a target of 99"));
  values.resize(5);
  EXPECT_THAT(error_of([&] { queue.download(b, values); }), HasSubstr("target of 5"));
  EXPECT_THAT(error_of([&] { queue.upload(values, b); }), HasSubstr("source of 5"));
}

TEST_F(HppTest, AQueueWaitsForAnothersFuture) {
  // The other queue's work ends when the test says so.
  halyard_semaphore* gate = nullptr;
  check(Status(halyard_device_create_semaphore(device.handle(), 0, &gate)));
  const internal::SemaphoreHandle owner(gate);
  Queue other = device.queue(HALYARD_PRIORITY_LOW);
  const Future held = other.after(Future(owner, 1));
  const auto a = device.array<uint32_t>(4, Memory::kHost);
  queue.after(held);
  const Future filled = queue.fill(a, 9);
  EXPECT_FALSE(filled.done());
  EXPECT_FALSE(filled.wait_for(std::chrono::milliseconds(5)));
  EXPECT_EQ(filled.try_wait_for(std::chrono::milliseconds(0)).code(), HALYARD_DEADLINE_EXCEEDED);
  check(Status(halyard_semaphore_signal(gate, 1)));
  filled.wait();
  EXPECT_TRUE(held.done());
  EXPECT_THAT(a.span(), Each(9));
}

TEST_F(HppTest, AFailureReachesTheFuture) {
  halyard_semaphore* gate = nullptr;
  check(Status(halyard_device_create_semaphore(device.handle(), 0, &gate)));
  const internal::SemaphoreHandle owner(gate);
  const Future future = queue.after(Future(owner, 1));
  check(Status(halyard_semaphore_fail(gate, HALYARD_ABORTED, "The source has dried up.")));
  EXPECT_THAT(error_of([&] { future.wait(); }), HasSubstr("ABORTED: "));
  EXPECT_THAT(error_of([&] { future.wait(); }), HasSubstr("The source has dried up."));
  EXPECT_TRUE(future.done());
  EXPECT_EQ(future.try_wait().code(), HALYARD_ABORTED);
}

TEST_F(HppTest, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(error_of([] { Device::open("nosuchdriver"); }), HasSubstr("NOT_FOUND: "));
  EXPECT_THAT(error_of([] {
                Device::open(device_uri,
                             {.virtual_gpu = std::nullopt, .options = {{"nosuch", "1"}}});
              }),
              HasSubstr("nosuch"));
  EXPECT_THAT(error_of([] {
                Device::open(device_uri, {.virtual_gpu = std::nullopt,
                                          .options = {{"validation", std::string("none\0", 5)}}});
              }),
              HasSubstr("contains a NUL character"));
  EXPECT_THAT(
      error_of([] { Device::open(device_uri, {.virtual_gpu = std::string("gfx90a\0x", 8)}); }),
      HasSubstr("contains a NUL character"));
  EXPECT_THAT(error_of([&] { device.load("/nosuch"); }), HasSubstr("/nosuch"));
  EXPECT_THAT(error_of([&] { device.load(std::span<const std::byte>()); }),
              HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(error_of([&] { device.load((kKernels + "/vadd_c_v6.hipfb").c_str()).kernel("vad"); }),
              HasSubstr("vadd"));
  EXPECT_THAT(error_of([&] { static_cast<void>(device.array<float>(0)); }), HasSubstr("0 bytes"));
  EXPECT_THAT(error_of([&] { static_cast<void>(device.array<double>(SIZE_MAX)); }),
              HasSubstr("RESOURCE_EXHAUSTED"));
  const Status status(HALYARD_NOT_FOUND, "x");
  EXPECT_EQ(status.to_string(), "NOT_FOUND: x");
  EXPECT_EQ(Status().to_string(), "OK");
}

TEST_F(HppTest, KernelsAndDevicesDescribeThemselves) {
  EXPECT_EQ(vadd.name(), "vadd");
  ASSERT_EQ(vadd.parameters().size(), 4u);
  EXPECT_EQ(vadd.parameters()[2].kind, HALYARD_ARGUMENT_BUFFER);
  EXPECT_EQ(vadd.parameters()[3].size, 4u);
  EXPECT_EQ(std::string(device.info().driver), device_uri);
  EXPECT_THAT(device.info().target, HasSubstr("gfx90a"));
  EXPECT_TRUE(device.fault().ok());
}

TEST_F(HppTest, QueuesAndArraysAreOfAGpu) {
  const uint32_t last = static_cast<uint32_t>(device.gpu_count()) - 1;
  const auto a = device.array<uint32_t>(8, Memory::kHost, last);
  device.queue(HALYARD_PRIORITY_NORMAL, last).fill(a, 4).wait();
  EXPECT_THAT(a.span(), Each(4));
  EXPECT_THAT(error_of([&] { device.queue(HALYARD_PRIORITY_NORMAL, 99); }),
              HasSubstr("is given GPU 99"));
  EXPECT_THAT(error_of([&] { static_cast<void>(device.array<int>(1, Memory::kDevice, 99)); }),
              HasSubstr("is given GPU 99"));
}

TEST_F(HppTest, AProfileHasTheWorksOperations) {
  const auto a = device.array<float>(64);
  const std::vector<ProfileEvent> events = device.profile([&] {
    for (int i = 0; i < 3; ++i) queue.launch(vadd, {64}, {64}, a, a, a, 64u);
  });
  int launches = 0;
  for (const ProfileEvent& event : events) {
    if (event.name != "vadd") continue;
    ++launches;
    EXPECT_LE(event.begin_ns, event.end_ns);
  }
  EXPECT_EQ(launches, 3);
  // A function that throws ends its profile too.
  EXPECT_EQ(error_of([&] { device.profile([&] { check(Status(HALYARD_ABORTED, "enough")); }); }),
            "ABORTED: enough");
  EXPECT_THAT(device.profile([] {}), IsEmpty());
}

TEST_F(HppTest, AProfileSaysWhatEachOperationWas) {
  const auto a = device.array<float>(64);
  const std::array kinds = {HALYARD_PROFILE_DISPATCH};
  const std::vector<ProfileEvent> events = device.profile(
      [&] {
        queue.fill(a, 1);
        queue.launch(vadd, {64}, {32}, a, a, a, 64u);
      },
      kinds);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, HALYARD_PROFILE_DISPATCH);
  EXPECT_EQ(events[0].queue, queue.id());
  EXPECT_EQ(events[0].grid.x, 64u);
  EXPECT_EQ(events[0].group.x, 32u);
}

TEST_F(HppTest, APoolKeepsToItsLimit) {
  const Pool pool = device.pool({.limit = 1 << 20});
  {
    const auto a = queue.array<uint32_t>(1024, pool);
    queue.fill(a, 7);
    std::vector<uint32_t> values(1024);
    queue.download(a, values);
    EXPECT_THAT(values, Each(7));
    EXPECT_GE(pool.statistics().used_bytes, 4096u);
    EXPECT_THAT(error_of([&] { static_cast<void>(queue.array<uint32_t>(1 << 20, pool)); }),
                HasSubstr("RESOURCE_EXHAUSTED"));
  }
  queue.wait();
  pool.trim(0);
  EXPECT_EQ(pool.statistics().reserved_bytes, 0u);
}

TEST_F(HppTest, AReservedArrayGrowsWhereThatGoes) {
  const uint64_t granule = device.info().commit_granule;
  constexpr size_t kGranule = (size_t{2} << 20) / sizeof(int);
  auto made = device.try_reserved_array<int>(4 * kGranule);
  if (granule == 0) {
    EXPECT_EQ(made.status().code(), HALYARD_UNIMPLEMENTED);
    return;
  }
  ASSERT_EQ(granule, kGranule * sizeof(int));
  const auto array = std::move(made).value();
  EXPECT_EQ(array.size(), 4 * kGranule);
  device.commit(array, 0, kGranule);
  device.commit(array, kGranule, 2 * kGranule);
  EXPECT_EQ(device.try_commit(array, 0, kGranule).code(), HALYARD_FAILED_PRECONDITION);
  EXPECT_EQ(device.try_commit(array, 1, kGranule).code(), HALYARD_INVALID_ARGUMENT);
  device.decommit(array, kGranule, 2 * kGranule);
}

TEST_F(HppTest, AddressesClocksAndResidency) {
  const auto a = device.array<uint32_t>(64, Memory::kHost);
  const halyard_allocation_info found = device.find_allocation(&a.span()[3]);
  EXPECT_EQ(found.device_address, a.buffer().device_address());
  EXPECT_EQ(found.size, a.buffer().size());
  EXPECT_THAT(error_of([&] { static_cast<void>(device.find_allocation(&found)); }),
              HasSubstr("NOT_FOUND"));
  const halyard_clock_reading one = device.read_clocks();
  const halyard_clock_reading two = device.read_clocks();
  EXPECT_LE(one.device_ticks, two.device_ticks);
  EXPECT_LE(one.host_ns, two.host_ns);
  EXPECT_GT(vadd.residency(256).groups, 0u);
  EXPECT_EQ(vadd.suggest_group().workgroup_size % 64, 0u);
}

TEST_F(HppTest, AQueueOfTheVendorsIsImportedWhereThatGoes) {
  void* const native = halyard_queue_native_handle(queue.handle());
  Result<Queue> imported = device.try_import_queue(native);
  EXPECT_EQ(imported.ok(), device.info().imports_queues) << imported.status().to_string();
  const auto own = device.array<uint32_t>(16);
  auto* const address = reinterpret_cast<uint32_t*>(own.buffer().device_address());
  const auto view = device.import_memory(address, 16);
  EXPECT_EQ(view.buffer().device_address(), own.buffer().device_address());
  queue.fill(view, 3);
  std::vector<uint32_t> values(16);
  queue.download(own, values);
  EXPECT_THAT(values, Each(3));
}

}  // namespace
}  // namespace halyard::host

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DEVICE\n", argv[0]);
    return 2;
  }
  halyard::host::device_uri = argv[1];
  return RUN_ALL_TESTS();
}
