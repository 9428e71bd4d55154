// The sizes that callers' structs may say to have: what is refused, and what an older or a newer
// program's struct becomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "fake_device.h"
#include "input_struct.h"

namespace halyard {
namespace {

using testing::FakeDevice;
using testing::FakeExecutable;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// A struct as a newer program has it: with members that this version does not know.
template <typename T>
struct Newer {
  T known;
  std::byte unknown[16] = {};
};

class StructSize : public ::testing::Test {
 protected:
  StructSize()
      : device_(Ref<FakeDevice>::adopt(new FakeDevice)),
        queue_(device_->create_queue().value()),
        commands_(device_->create_command_buffer().value()),
        counts_(device_->allocate(64).value()),
        executable_(Ref<FakeExecutable>::adopt(new FakeExecutable(*device_))) {
    FunctionInfo info;
    info.name = "saxpy";
    dispatch_.function = &executable_->add(info);
    dispatch_.grid = dispatch_.workgroup = {64, 1, 1};
  }

  // Calls `use(given)`, a Status, with `given` of sizes that are legal and of others.
  template <typename T, typename Use>
  void expect_sizes_are_checked(const std::string& operation, const std::string& name,
                                const T& given, const Use& use) {
    Newer<T> newer = {given};
    const uint32_t known = sizeof(T);
    const uint32_t first = internal::kInputStruct<T>.first;
    for (const uint32_t size : {0u, 2u, first - 1, kLargestStruct + 1, 4'000'000'000u}) {
      newer.known.struct_size = size;
      const Status status = use(newer.known);
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << size;
      EXPECT_EQ(status.message().view(),
                operation + " is given " + name + " whose struct_size (" + std::to_string(size) +
                    ") is not legal. Legal are " + std::to_string(first) +
                    " to 256 bytes. Leave struct_size as the struct's initializer sets it.");
    }
    for (const uint32_t size : {first, known}) {
      newer.known.struct_size = size;
      EXPECT_TRUE(use(newer.known).ok()) << size;
    }
    newer.known.struct_size = known + 16;
    EXPECT_TRUE(use(newer.known).ok()) << "members at their defaults change nothing";
    newer.unknown[15] = std::byte{1};
    const Status status = use(newer.known);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.to_string(),
                HasSubstr("of which this version of Halyard knows " + std::to_string(known) +
                          ", and byte " + std::to_string(known + 15) + " is not 0."));
    newer.known.struct_size = known + 15;
    EXPECT_TRUE(use(newer.known).ok()) << "what is behind the struct is not looked at";
  }

  Ref<FakeDevice> device_;
  Ref<Queue> queue_;
  Ref<CommandBuffer> commands_;
  Ref<Buffer> counts_;
  Ref<FakeExecutable> executable_;
  Dispatch dispatch_;
};

TEST_F(StructSize, OfQueueOptions) {
  expect_sizes_are_checked(
      "Device::create_queue", "QueueOptions", QueueOptions(),
      [&](const QueueOptions& options) { return device_->create_queue(options).status(); });
}

TEST_F(StructSize, OfBufferOptions) {
  expect_sizes_are_checked(
      "Device::allocate", "BufferOptions", BufferOptions(),
      [&](const BufferOptions& options) { return device_->allocate(64, options).status(); });
}

TEST_F(StructSize, OfImportOptions) {
  int memory = 0;
  ImportOptions given;
  given.pointer = &memory;
  given.size = sizeof memory;
  expect_sizes_are_checked(
      "Device::import_buffer", "ImportOptions", given,
      [&](const ImportOptions& options) { return device_->import_buffer(options).status(); });
}

TEST_F(StructSize, OfDmabufs) {
  Dmabuf given;
  given.fd = 0;  // any that is open
  expect_sizes_are_checked("Device::import_buffer", "Dmabuf", given, [&](const Dmabuf& dmabuf) {
    return device_
        ->import_buffer({.kind = ImportOptions::Kind::kDmabuf, .pointer = &dmabuf, .size = 4})
        .status();
  });
}

TEST_F(StructSize, OfExportedSemaphores) {
  expect_sizes_are_checked("Device::import_semaphore", "ExportedSemaphore", ExportedSemaphore(),
                           [&](const ExportedSemaphore& exported) {
                             return device_->import_semaphore(exported).status();
                           });
}

TEST_F(StructSize, OfPoolInfo) {
  expect_sizes_are_checked(
      "Device::create_pool", "PoolInfo", PoolInfo(),
      [&](const PoolInfo& info) { return device_->create_pool(info).status(); });
}

TEST_F(StructSize, OfPoolOptions) {
  expect_sizes_are_checked(
      "Queue::alloca_buffer", "PoolOptions", PoolOptions(),
      [&](const PoolOptions& options) { return queue_->alloca_buffer(64, options).status(); });
}

TEST_F(StructSize, OfProfileOptions) {
  expect_sizes_are_checked(
      "Device::begin_profile", "ProfileOptions", ProfileOptions(),
      [&](const ProfileOptions& options) { return device_->begin_profile(options); });
}

TEST_F(StructSize, OfDispatches) {
  for (const bool validates : {true, false}) {
    device_->set_validation(validates);
    expect_sizes_are_checked("Queue::dispatch", "Dispatch", dispatch_,
                             [&](const Dispatch& dispatch) { return queue_->dispatch(dispatch); });
  }
  expect_sizes_are_checked(
      "Queue::dispatch_indirect", "Dispatch", dispatch_,
      [&](const Dispatch& dispatch) { return queue_->dispatch_indirect(dispatch, counts_); });
  expect_sizes_are_checked("CommandBuffer::dispatch", "Dispatch", dispatch_,
                           [&](const Dispatch& dispatch) { return commands_->dispatch(dispatch); });
  expect_sizes_are_checked(
      "CommandBuffer::dispatch_indirect", "Dispatch", dispatch_,
      [&](const Dispatch& dispatch) { return commands_->dispatch_indirect(dispatch, counts_); });
}

TEST_F(StructSize, OfRectangleCopies) {
  const Ref<Buffer> source = device_->allocate(64).value();
  RectangleCopy shape;
  shape.row_bytes = 4;
  expect_sizes_are_checked(
      "Queue::copy_rectangle", "RectangleCopy", shape,
      [&](const RectangleCopy& given) { return queue_->copy_rectangle(source, counts_, given); });
  expect_sizes_are_checked("CommandBuffer::copy_rectangle", "RectangleCopy", shape,
                           [&](const RectangleCopy& given) {
                             return commands_->copy_rectangle(source, counts_, given);
                           });
}

TEST_F(StructSize, ARefusedStructReachesNoDriver) {
  QueueOptions options;
  options.struct_size = 2;
  device_->log.calls.clear();
  EXPECT_FALSE(device_->create_queue(options).ok());
  dispatch_.struct_size = 2;
  EXPECT_FALSE(queue_->dispatch(dispatch_).ok());
  EXPECT_THAT(device_->log.calls, IsEmpty());
}

// What an option struct might become.
struct Grown {
  uint32_t struct_size = sizeof(Grown);
  uint32_t old = 1;
  uint64_t added = 7;
};

TEST_F(StructSize, AnOlderProgramsStructGetsTheDefaultsOfWhatItLacks) {
  Grown given;
  given.struct_size = 8;
  given.old = 5;
  given.added = 9;  // lies behind the older struct
  const Grown known = known_part(given);
  EXPECT_EQ(known.struct_size, sizeof(Grown));
  EXPECT_EQ(known.old, 5u);
  EXPECT_EQ(known.added, 7u);
  const internal::InputStruct shape = {"Grown", 8, sizeof(Grown)};
  EXPECT_TRUE(internal::check_struct_size("Test", shape, &given, 8).ok());
  EXPECT_FALSE(internal::check_struct_size("Test", shape, &given, 7).ok());
}

// Whoever adds a struct that starts with its size decides here who fills it in; if it is the
// caller, its size is checked (kInputStruct).
TEST_F(StructSize, OfEveryStructOfTheInterfaceIsAccountedFor) {
  const std::set<std::string> inputs = {
      "BufferOptions", "Dispatch",    "Dmabuf",         "ExportedSemaphore", "ImportOptions",
      "PoolInfo",      "PoolOptions", "ProfileOptions", "QueueOptions",      "RectangleCopy"};
  const std::set<std::string> of_halyard = {
      "AllocationInfo",   "ArgumentInfo",   "ClockReading", "DeviceDetails",  "DeviceInfo",
      "DeviceOptionInfo", "DeviceSummary",  "DriverInfo",   "ExecutableInfo", "ExportedHandle",
      "FunctionInfo",     "GlobalInfo",     "HeapInfo",     "HeapStatistics", "HostCall",
      "LinkInfo",         "PoolStatistics", "ProfileEvent", "Residency"};
  std::set<std::string> found;
  const std::regex pattern("struct (\\w+) \\{\\s*uint32_t struct_size");
  for (const auto& entry : std::filesystem::directory_iterator(HALYARD_TEST_HEADERS)) {
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end;
         ++match) {
      found.insert((*match)[1]);
    }
  }
  std::set<std::string> known = inputs;
  known.insert(of_halyard.begin(), of_halyard.end());
  EXPECT_THAT(found, UnorderedElementsAreArray(known));
}

}  // namespace
}  // namespace halyard
