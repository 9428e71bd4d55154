// A driver as a whole: its facts, the devices that it lists, and opening them.
#include <filesystem>
#include <thread>

#include "cts/harness/child.h"
#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

class DriverTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    loaded_ = take(Environment::get().driver());
  }
  Driver& driver() { return *loaded_.driver; }
  // The device under test, as the driver lists it.
  DeviceSummary listed() {
    for (const DeviceSummary& summary : take(driver().enumerate())) {
      if (summary.uuid.view() == device().info().uuid.view()) return summary;
    }
    throw std::runtime_error("The driver does not list the device under test.");
  }
  // That `opened` does a piece of work.
  void expect_works(Device& opened) {
    const Ref<Queue> queue = take(opened.create_queue());
    const Ref<Semaphore> done = take(opened.create_semaphore());
    ASSERT_OK(queue->barrier(When().then(done, 1)));
    ASSERT_OK(done->wait(1, time_limit()));
  }

 private:
  LoadedDriver loaded_;
};

TEST_F(DriverTest, NamesItself) {
  const DriverInfo info = driver().info();
  EXPECT_EQ(info.name.view(), Environment::get().driver_name());
  EXPECT_FALSE(info.description.empty());
  EXPECT_EQ(info.description.view().find('\n'), std::string_view::npos);
}

TEST_F(DriverTest, NamesTheLibraryThatItUses) {
  const DriverInfo info = driver().info();
  if (info.library_name.empty()) {
    EXPECT_TRUE(info.library_path.empty());
    return;
  }
  const std::filesystem::path path = std::string(info.library_path.view());
  EXPECT_TRUE(path.is_absolute()) << path;
  EXPECT_TRUE(std::filesystem::is_regular_file(path)) << path;
  EXPECT_EQ(std::filesystem::canonical(path), path) << "symbolic links are resolved";
  EXPECT_FALSE(info.library_version.empty());
}

TEST_F(DriverTest, DevicesNameTheirDriver) {
  EXPECT_EQ(device().info().driver.view(), driver().info().name.view());
}

TEST_F(DriverTest, ListsDevicesInTheOrderOfTheirOrdinals) {
  const std::vector<DeviceSummary> devices = take(driver().enumerate());
  ASSERT_FALSE(devices.empty());
  for (size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].ordinal, i);
    EXPECT_FALSE(devices[i].name.empty());
    EXPECT_FALSE(devices[i].target.empty());
  }
}

TEST_F(DriverTest, ListsWhatTheOpenDeviceSays) {
  const DeviceSummary summary = listed();
  const DeviceInfo& info = device().info();
  EXPECT_EQ(summary.name.view(), info.name.view());
  EXPECT_EQ(summary.target.view(), info.target.view());
  EXPECT_EQ(summary.compute_units, info.compute_units);
  EXPECT_EQ(summary.memory_bytes, info.memory_bytes);
}

TEST_F(DriverTest, ListsTheSameEachTime) {
  const std::vector<DeviceSummary> first = take(driver().enumerate());
  const std::vector<DeviceSummary> second = take(driver().enumerate());
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].uuid.view(), second[i].uuid.view());
    EXPECT_EQ(first[i].name.view(), second[i].name.view());
  }
}

TEST_F(DriverTest, OrdinalsThatDoNotExist) {
  const uint32_t count = static_cast<uint32_t>(take(driver().enumerate()).size());
  for (const uint32_t ordinal : {count, UINT32_MAX}) {
    const Status status = driver().create_device(ordinal).status();
    EXPECT_FAILS(status, StatusCode::kNotFound, std::to_string(ordinal));
    EXPECT_FAILS(status, StatusCode::kNotFound, std::to_string(count - 1));
  }
}

TEST_F(DriverTest, OptionsThatItDoesNotKnow) {
  const Option option = {"no_such_option", "1"};
  EXPECT_FAILS(driver().create_device(listed().ordinal, {&option, 1}), StatusCode::kInvalidArgument,
               "no_such_option");
}

TEST_F(DriverTest, OpensEveryDeviceThatItLists) {
  for (const DeviceSummary& summary : take(driver().enumerate())) {
    SCOPED_TRACE(summary.ordinal);
    const Ref<Device> opened = take(driver().create_device(summary.ordinal));
    EXPECT_EQ(opened->info().name.view(), summary.name.view());
    EXPECT_EQ(opened->info().uuid.view(), summary.uuid.view());
    expect_works(*opened);
  }
}

TEST_F(DriverTest, OpensADeviceTwice) {
  const uint32_t ordinal = listed().ordinal;
  const Ref<Device> first = take(driver().create_device(ordinal));
  const Ref<Device> second = take(driver().create_device(ordinal));
  EXPECT_NE(first.get(), second.get());
  expect_works(*first);
  expect_works(*second);
}

TEST_F(DriverTest, ClosingOneDeviceLeavesTheOtherOpen) {
  const uint32_t ordinal = listed().ordinal;
  Ref<Device> first = take(driver().create_device(ordinal));
  const Ref<Device> second = take(driver().create_device(ordinal));
  expect_works(*first);
  first = nullptr;
  expect_works(*second);
}

TEST_F(DriverTest, ThreadsOpenDevicesAtTheSameTime) {
  const uint32_t ordinal = listed().ordinal;
  constexpr size_t kThreads = 6;
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Result<Ref<Device>> opened = driver().create_device(ordinal);
      results[t] = opened.status();
      if (!opened.ok()) return;
      Result<Ref<Queue>> queue = (*opened)->create_queue();
      results[t] = queue.status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) EXPECT_OK(result);
}

// Two device objects for one GPU share semaphores.
TEST_F(DriverTest, DevicesOfOneDriverShareSemaphores) {
  if (runs_in_child()) return;
  const Ref<Device> other = take(driver().create_device(listed().ordinal));
  const Ref<Queue> theirs = take(other->create_queue());
  const Ref<Semaphore> mine = new_semaphore();
  const Ref<Semaphore> back = new_semaphore();
  ASSERT_OK(queue().barrier(When().after(back, 1).then(mine, 2)));
  ASSERT_OK(theirs->barrier(When().after(mine, 1).then(back, 1)));
  ASSERT_OK(mine->signal(1));
  EXPECT_OK(mine->wait(2, time_limit()));
}

}  // namespace
}  // namespace halyard::cts
