// An object of halyard.hpp that was moved from: every method of every class is an error with a
// sentence, or returns what its comment says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <halyard/halyard.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "hpp_test.h"

namespace halyard::host {
namespace {

using testing::IsEmpty;

// A message of an object that a method is called on, and of one that it is given.
std::string on(const std::string& method, const std::string& type) {
  return "INVALID_ARGUMENT: " + method + " is called on an empty " + type +
         ": it was moved from, or never had a value. Use the object that it was moved to.";
}
std::string given(const std::string& method, const std::string& type) {
  return "INVALID_ARGUMENT: " + method + " is given an empty " + type +
         ": it was moved from, or never had a value. Pass the object that it was moved to.";
}

// An object that was moved from, and the one that it was moved to.
template <typename T>
struct Moved {
  explicit Moved(T object) : from(std::move(object)), to(std::move(from)) {}
  T from;
  T to;
};

struct MovedFromTest : testing::Test {
  Device device = open_device();
  Queue queue = device.queue();
  Array<uint32_t> array = device.array<uint32_t>(4);
};

TEST_F(MovedFromTest, Devices) {
  Moved<Device> moved(open_device());
  const Device& from = moved.from;
  const auto fails = [](const char* method, auto&& work) {
    EXPECT_EQ(error_of(work), on(std::string("Device::") + method, "Device"));
  };
  fails("info", [&] { static_cast<void>(from.info()); });
  fails("fault", [&] { check(from.fault()); });
  fails("gpu_count", [&] { static_cast<void>(from.gpu_count()); });
  fails("array", [&] { static_cast<void>(from.array<int>(4)); });
  fails("array", [&] { static_cast<void>(from.managed_array<int>(4)); });
  fails("array", [&] { static_cast<void>(from.reserved_array<int>(4)); });
  fails("commit", [&] { from.commit(array, 0, 1); });
  fails("decommit", [&] { from.decommit(array, 0, 1); });
  fails("advise", [&] { from.advise(array, HALYARD_ADVICE_PREFER_HOST); });
  fails("load", [&] { static_cast<void>(from.load("/nosuch")); });
  fails("load", [&] { static_cast<void>(from.load(std::span<const std::byte>())); });
  fails("queue", [&] { static_cast<void>(from.queue()); });
  fails("import_queue", [&] { static_cast<void>(from.import_queue(nullptr)); });
  fails("import_memory", [&] { static_cast<void>(from.import_memory<int>(nullptr, 4)); });
  fails("pool", [&] { static_cast<void>(from.pool({})); });
  fails("find_allocation", [&] { static_cast<void>(from.find_allocation(&moved)); });
  fails("read_clocks", [&] { static_cast<void>(from.read_clocks()); });
  fails("profile", [&] { static_cast<void>(from.profile([] {})); });
  EXPECT_EQ(from.handle(), nullptr);
  EXPECT_EQ(from.try_info().status().code(), HALYARD_INVALID_ARGUMENT);
  EXPECT_GT(moved.to.info().compute_units, 0u);
}

TEST_F(MovedFromTest, Queues) {
  Moved<Queue> moved(device.queue());
  Queue& from = moved.from;
  const Kernel kernel = device.load((kKernels + "/vadd_c_v6.hipfb").c_str()).kernel("vadd");
  const Future future = queue.future();
  const Pool pool = device.pool({});
  std::vector<uint32_t> values(4);
  const auto fails = [](const char* method, auto&& work) {
    EXPECT_EQ(error_of(work), on(std::string("Queue::") + method, "Queue"));
  };
  fails("launch", [&] { from.launch(kernel, {4}, {64}, array, array, array, 4u); });
  fails("launch", [&] { from.launch_with_lds(4, kernel, {4}, {64}, array, array, array, 4u); });
  fails("upload", [&] { from.upload(values, array); });
  fails("download", [&] { from.download(array, values); });
  fails("copy", [&] { from.copy(array, array); });
  fails("fill", [&] { from.fill(array, 4); });
  fails("prefetch", [&] { from.prefetch(array); });
  fails("array", [&] { static_cast<void>(from.array<int>(4, pool)); });
  fails("after", [&] { from.after(future); });
  fails("future", [&] { static_cast<void>(from.future()); });
  fails("future", [&] { from.wait(); });
  fails("id", [&] { static_cast<void>(from.id()); });
  fails("fault", [&] { check(from.fault()); });
  EXPECT_EQ(from.handle(), nullptr);
  moved.to.fill(array, 4).wait();
}

TEST_F(MovedFromTest, Futures) {
  Moved<Future> moved(queue.future());
  for (const Future& empty : {moved.from, Future()}) {
    EXPECT_EQ(error_of([&] { empty.wait(); }), on("Future::wait", "Future"));
    EXPECT_EQ(error_of([&] { empty.wait_for(std::chrono::seconds(1)); }),
              on("Future::wait_for", "Future"));
    EXPECT_EQ(error_of([&] { static_cast<void>(empty.done()); }), on("Future::done", "Future"));
    EXPECT_EQ(error_of([&] { queue.after(empty); }), given("Queue::after", "Future"));
    EXPECT_EQ(empty.point().semaphore, nullptr);
  }
  moved.to.wait();
}

TEST_F(MovedFromTest, BuffersAndArrays) {
  Moved<Buffer> buffer(device.array<uint32_t>(4).buffer());
  EXPECT_EQ(buffer.from.size(), 0u);
  EXPECT_EQ(error_of([&] { static_cast<void>(buffer.from.device_address()); }),
            on("Buffer::device_address", "Buffer"));
  EXPECT_EQ(error_of([&] { static_cast<void>(buffer.from.memory()); }),
            on("Buffer::memory", "Buffer"));

  Moved<Array<uint32_t>> moved(device.array<uint32_t>(4, Memory::kHost));
  EXPECT_EQ(moved.to.span().size(), 4u);
  std::vector<uint32_t> values(4);
  for (const Array<uint32_t>& empty : {moved.from, Array<uint32_t>()}) {
    EXPECT_EQ(empty.size(), 0u);
    EXPECT_THAT(empty.span(), IsEmpty());
    EXPECT_EQ(empty.buffer().handle(), nullptr);
    EXPECT_EQ(error_of([&] { static_cast<void>(empty.device_address()); }),
              on("Array::device_address", "Array"));
    const auto fails = [](const char* method, auto&& work) {
      EXPECT_EQ(error_of(work), given(method, "Array"));
    };
    fails("Queue::upload", [&] { queue.upload({}, empty); });
    fails("Queue::download", [&] { queue.download(empty, {}); });
    fails("Queue::copy", [&] { queue.copy(empty, empty); });
    fails("Queue::copy", [&] { queue.copy(array, empty); });
    fails("Queue::fill", [&] { queue.fill(empty, 1); });
    fails("Queue::prefetch", [&] { queue.prefetch(empty); });
    fails("Device::commit", [&] { device.commit(empty, 0, 0); });
    fails("Device::decommit", [&] { device.decommit(empty, 0, 0); });
    fails("Device::advise", [&] { device.advise(empty, HALYARD_ADVICE_PREFER_HOST); });
  }
  // The assignment moves, too, and the other way back.
  moved.from = std::move(moved.to);
  EXPECT_EQ(moved.from.size(), 4u);
  queue.fill(moved.from, 9).wait();
  EXPECT_THAT(moved.from.span(), testing::Each(9));
}

// A null pointer is something that a program asks for by nullptr.
TEST_F(MovedFromTest, AnEmptyArrayIsNoNullPointer) {
  Moved<Array<uint32_t>> moved(device.array<uint32_t>(4));
  const Kernel vadd = device.load((kKernels + "/vadd_c_v6.hipfb").c_str()).kernel("vadd");
  const std::string expected =
      "INVALID_ARGUMENT: Queue::launch is given an empty Array or Buffer for argument 1 of kernel "
      "\"vadd\": it was moved from, or never had a value. Pass the object that it was moved to, or "
      "nullptr for a null pointer.";
  EXPECT_EQ(error_of([&] { queue.launch(vadd, {4}, {64}, array, moved.from, array, 4u); }),
            expected);
  EXPECT_EQ(error_of([&] { queue.launch(vadd, {4}, {64}, array, Buffer(), array, 4u); }), expected);
  // The same where a value has the address.
  const Kernel load = device.load((kKernels + "/faults.hipfb").c_str()).kernel("load_from");
  EXPECT_EQ(
      error_of([&] { queue.launch(load, {1}, {1}, with_memory(uint64_t{0}, moved.from), array); }),
      given("with_memory", "Array or Buffer"));
}

TEST_F(MovedFromTest, ExecutablesAndKernels) {
  Moved<Executable> moved(device.load((kKernels + "/vadd_c_v6.hipfb").c_str()));
  EXPECT_EQ(error_of([&] { static_cast<void>(moved.from.kernel("vadd")); }),
            on("Executable::kernel", "Executable"));
  EXPECT_EQ(error_of([&] { static_cast<void>(moved.from.kernel_names()); }),
            on("Executable::kernel_names", "Executable"));
  EXPECT_EQ(moved.from.handle(), nullptr);

  Moved<Kernel> kernel(moved.to.kernel("vadd"));
  for (const Kernel& empty : {kernel.from, Kernel()}) {
    const auto fails = [](const char* method, auto&& work) {
      EXPECT_EQ(error_of(work), on(std::string("Kernel::") + method, "Kernel"));
    };
    fails("name", [&] { static_cast<void>(empty.name()); });
    fails("parameters", [&] { static_cast<void>(empty.parameters()); });
    fails("residency", [&] { static_cast<void>(empty.residency(64)); });
    fails("suggest_group", [&] { static_cast<void>(empty.suggest_group()); });
    EXPECT_EQ(empty.handle(), nullptr);
    EXPECT_EQ(error_of([&] { queue.launch(empty, {4}, {64}); }), given("Queue::launch", "Kernel"));
  }
  EXPECT_EQ(kernel.to.name(), "vadd");
}

TEST_F(MovedFromTest, Pools) {
  Moved<Pool> moved(device.pool({}));
  EXPECT_EQ(error_of([&] { static_cast<void>(moved.from.statistics()); }),
            on("Pool::statistics", "Pool"));
  EXPECT_EQ(error_of([&] { moved.from.trim(0); }), on("Pool::trim", "Pool"));
  EXPECT_EQ(error_of([&] { static_cast<void>(queue.array<int>(4, moved.from)); }),
            given("Queue::array", "Pool"));
  EXPECT_EQ(moved.from.handle(), nullptr);
}

}  // namespace
}  // namespace halyard::host
