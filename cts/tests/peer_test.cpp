// Two devices of one driver: copies and kernels between their memories, and order across both. Left
// out where the driver has one device only.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "cts/harness/other_process.h"
#include "cts/harness/threads.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kPeerCount = 500;
constexpr uint64_t kPeerBytes = kPeerCount * sizeof(uint32_t);

class TwoDevices : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    const Ref<Driver> driver = take(Environment::get().driver()).driver;
    for (const DeviceSummary& summary : take(driver->enumerate())) {
      if (summary.uuid.view() == device().info().uuid.view()) continue;
      peer_ordinal_ = summary.ordinal;
      peer_ = take(driver->create_device(summary.ordinal));
      break;
    }
    if (!peer_) GTEST_SKIP() << "The driver has one device only.";
    peer_queue_ = take(peer_->create_queue());
  }
  void TearDown() override {
    peer_queue_ = nullptr;
    peer_ = nullptr;
    DeviceTest::TearDown();
  }

  Device& peer() { return *peer_; }
  Queue& peer_queue() { return *peer_queue_; }
  uint32_t peer_ordinal() const { return peer_ordinal_; }

  // Device memory of the peer with these contents.
  template <typename T>
  Ref<Buffer> upload_to_peer(const std::vector<T>& values) {
    const Ref<Buffer> buffer = take(peer().allocate(values.size() * sizeof(T)));
    require(peer_queue().update(buffer, values.data(), values.size() * sizeof(T), next()));
    require(finish());
    return buffer;
  }
  template <typename T>
  std::vector<T> download_from_peer(const Ref<Buffer>& buffer) {
    BufferOptions options;
    options.type = MemoryType::kHost;
    const Ref<Buffer> staging = take(peer().allocate(buffer->size(), options));
    require(peer_queue().copy(buffer, staging, next()));
    require(finish());
    std::vector<T> values(buffer->size() / sizeof(T));
    void* mapped = take(staging->map(0, staging->size(), MapAccess::kRead));
    require(staging->invalidate(0, staging->size()));
    std::memcpy(values.data(), mapped, staging->size());
    require(staging->unmap(mapped));
    return values;
  }
  // affine() with code for the peer.
  Launch peer_affine(const Argument& data, uint32_t multiplier, uint32_t addend) {
    if (!peer_code_) {
      const std::vector<std::byte> bytes = object_bytes("busy");
      peer_code_ = take(peer().load_executable(bytes.data(), bytes.size()));
    }
    return Launch(take(peer_code_->find("affine")), whole_groups(kPeerCount, 64), {64, 1, 1},
                  {data, Argument::of(kPeerCount), Argument::of(multiplier), Argument::of(addend)});
  }
  testing::AssertionResult all_are(const Ref<Buffer>& mine, uint32_t value) {
    return same(download<uint32_t>(mine), std::vector<uint32_t>(kPeerCount, value));
  }

 private:
  uint32_t peer_ordinal_ = 0;
  Ref<Device> peer_;
  Ref<Queue> peer_queue_;
  Ref<Executable> peer_code_;
};

TEST_F(TwoDevices, AreDifferent) {
  EXPECT_NE(&peer(), &device());
  EXPECT_NE(peer().info().uuid.view(), device().info().uuid.view());
}

TEST_F(TwoDevices, LinksSayHowFarTheOtherIs) {
  bool found = false;
  for (size_t i = 0; i < device().link_count(); ++i) {
    found |= take(device().link(i)).peer_ordinal == peer_ordinal();
  }
  EXPECT_EQ(found, device().can_access(peer()));
}

TEST_F(TwoDevices, EachAllocatesFromItsOwnMemory) {
  const auto live = [](const Device& of) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < of.heap_count(); ++i) {
      bytes += take(of.heap_statistics(i)).live_bytes;
    }
    return bytes;
  };
  const uint64_t mine = live(device());
  const uint64_t theirs = live(peer());
  const Ref<Buffer> buffer = take(peer().allocate(1 << 20));
  EXPECT_LE(live(device()), mine) << "less, if what an earlier test has released goes meanwhile";
  EXPECT_GE(live(peer()), theirs + (1 << 20));
}

TEST_F(TwoDevices, WaitForEachOther) {
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> mine = upload(std::vector<uint32_t>(kPeerCount, 1));
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 1));
  for (uint64_t i = 0; i < 40; i += 2) {
    ASSERT_OK(
        queue().dispatch(affine(mine, kPeerCount, 3, 1), When().after(turn, i).then(turn, i + 1)));
    ASSERT_OK(peer_queue().dispatch(peer_affine(theirs, 5, 2),
                                    When().after(turn, i + 1).then(turn, i + 2)));
  }
  ASSERT_OK(turn->wait(40, time_limit()));
  uint32_t three = 1;
  uint32_t five = 1;
  for (int i = 0; i < 20; ++i) {
    three = 3 * three + 1;
    five = 5 * five + 2;
  }
  EXPECT_TRUE(all_are(mine, three));
  EXPECT_TRUE(same(download_from_peer<uint32_t>(theirs), std::vector<uint32_t>(kPeerCount, five)));
}

TEST_F(TwoDevices, ASemaphoreOfThePeerIsAsGoodAsAny) {
  const Ref<Semaphore> theirs = take(peer().create_semaphore());
  ASSERT_OK(queue().barrier(When().then(theirs, 1)));
  ASSERT_OK(peer_queue().barrier(When().after(theirs, 1).then(theirs, 2)));
  EXPECT_OK(theirs->wait(2, time_limit()));
  const Ref<Semaphore> mine = new_semaphore(1);
  const SemaphorePoint points[] = {{theirs.get(), 2}, {mine.get(), 1}};
  EXPECT_OK(device().wait(points, WaitMode::kAll, time_limit()));
}

TEST_F(TwoDevices, AFailurePassesFromOneToTheOther) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> first = new_semaphore();
  const Ref<Semaphore> second = new_semaphore();
  ASSERT_OK(peer_queue().barrier(When().after(first, 1).then(second, 1)));
  ASSERT_OK(queue().barrier(When().after(gate, 1).then(first, 1)));
  gate->fail(Status(StatusCode::kAborted, "The mast breaks."));
  EXPECT_FAILS(second->wait(1, time_limit()), StatusCode::kAborted, "The mast breaks.");
}

TEST_F(TwoDevices, WorkOfBothRunsBesideEachOther) {
  const Ref<Buffer> mine = upload(std::vector<uint32_t>(kPeerCount, 1));
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 2));
  const Launch my_step = affine(mine, kPeerCount, 3, 1);
  const Launch their_step = peer_affine(theirs, 3, 1);
  const auto results = in_threads(2, [&](size_t t) {
    for (int i = 0; i < 200; ++i) {
      require(t == 0 ? queue().dispatch(my_step) : peer_queue().dispatch(their_step));
    }
    return Status();
  });
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(drain(queue()));
  ASSERT_OK(drain(peer_queue()));
  uint32_t one = 1;
  uint32_t two = 2;
  for (int i = 0; i < 200; ++i) {
    one = 3 * one + 1;
    two = 3 * two + 1;
  }
  EXPECT_TRUE(all_are(mine, one));
  EXPECT_TRUE(same(download_from_peer<uint32_t>(theirs), std::vector<uint32_t>(kPeerCount, two)));
}

TEST_F(TwoDevices, CodeOfOneIsRefusedByTheOther) {
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 1));
  EXPECT_FAILS(peer_queue().dispatch(affine(theirs, kPeerCount, 1, 1)),
               StatusCode::kInvalidArgument);
}

TEST_F(TwoDevices, ARecordingOfOneIsRefusedByTheOther) {
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->finish());
  EXPECT_FAILS(peer_queue().execute(*commands), StatusCode::kInvalidArgument, "another device");
}

TEST_F(TwoDevices, MemoryOutOfReachIsRefused) {
  if (device().can_access(peer())) GTEST_SKIP() << "The devices reach each other's memory.";
  const Ref<Buffer> mine = upload(std::vector<uint32_t>(kPeerCount, 1));
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 2));
  const uint32_t zero = 0;
  const auto refused = StatusCode::kInvalidArgument;
  EXPECT_FAILS(queue().copy(theirs, mine), refused, "cannot access");
  EXPECT_FAILS(queue().copy(mine, theirs), refused, "cannot access");
  EXPECT_FAILS(queue().fill(theirs, &zero, 4), refused, "cannot access");
  EXPECT_FAILS(queue().dispatch(affine(theirs, kPeerCount, 1, 1)), refused, "cannot access");
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  EXPECT_FAILS(commands->copy(theirs, mine), refused, "cannot access");
}

// In a process of its own, so that nobody has asked for the peer before.
TEST_F(TwoDevices, MeetWhileMemoryOfAnotherProcessIsOpen) {
  const std::vector<uint32_t> values(kPeerCount, 9);
  OtherProcess other;
  if (!other.is_parent()) {
    const Ref<Buffer> buffer = upload(values);
    other.send(take(device().export_buffer(*buffer)));
    other.meet();
    other.finish();
    return;
  }
  const auto handle = other.receive<ExportedHandle>();
  ImportOptions options;
  options.kind = ImportOptions::Kind::kIpcHandle;
  options.pointer = handle.ipc;
  options.size = kPeerBytes;
  const Ref<Buffer> imported = take(device().import_buffer(options));
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 0));
  if (device().can_access(peer()) && peer().can_access(device())) {
    ASSERT_OK(queue().copy(imported, theirs, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download_from_peer<uint32_t>(theirs), values));
  }
  EXPECT_TRUE(same(download<uint32_t>(imported), values));
  other.meet();
}

// What only devices do that reach each other's memory.
class Peer : public TwoDevices {
 protected:
  void SetUp() override {
    TwoDevices::SetUp();
    if (IsSkipped()) return;
    if (!device().can_access(peer()) || !peer().can_access(device())) {
      GTEST_SKIP() << "The devices do not reach each other's memory.";
    }
  }
};

TEST_F(Peer, CopiesComeFromIt) {
  for (const uint64_t size : {1u, 3u, 4097u, 65537u, (4u << 20) + 1}) {
    SCOPED_TRACE(size);
    const auto values = random_bits<uint8_t>(size + 13);
    const Ref<Buffer> theirs = upload_to_peer(values);
    const Ref<Buffer> mine = poisoned(size + 5);
    ASSERT_OK(queue().copy({*theirs, 13, size}, {*mine, 3, size}, next()));
    ASSERT_OK(finish());
    std::vector<uint8_t> expected(size + 5, 0xa5);
    std::copy(values.begin() + 13, values.end(), expected.begin() + 3);
    EXPECT_TRUE(same(download<uint8_t>(mine), expected));
  }
}

TEST_F(Peer, CopiesGoToIt) {
  for (const uint64_t size : {1u, 3u, 4097u, 65537u, (4u << 20) + 1}) {
    SCOPED_TRACE(size);
    const auto values = random_bits<uint8_t>(size);
    const Ref<Buffer> mine = upload(values);
    std::vector<uint8_t> expected(size + 5, 0x5a);
    const Ref<Buffer> theirs = upload_to_peer(expected);
    ASSERT_OK(queue().copy(mine, {*theirs, 3, size}, next()));
    ASSERT_OK(finish());
    std::copy(values.begin(), values.end(), expected.begin() + 3);
    EXPECT_TRUE(same(download_from_peer<uint8_t>(theirs), expected));
  }
}

TEST_F(Peer, CopiesWithinIt) {
  const auto values = random_bits<uint8_t>(1000);
  const Ref<Buffer> theirs = upload_to_peer(values);
  ASSERT_OK(queue().copy({*theirs, 0, 400}, {*theirs, 500, 400}, next()));
  ASSERT_OK(finish());
  std::vector<uint8_t> expected = values;
  std::copy(values.begin(), values.begin() + 400, expected.begin() + 500);
  EXPECT_TRUE(same(download_from_peer<uint8_t>(theirs), expected));
}

TEST_F(Peer, CopiesThatOverlapInItsMemory) {
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint8_t>(100));
  EXPECT_FAILS(queue().copy({*theirs, 0, 50}, {*theirs, 49, 50}), StatusCode::kInvalidArgument,
               "overlap");
}

TEST_F(Peer, CopiesOfBothAtTheSameTime) {
  const auto values = random_bits<uint32_t>(kPeerCount);
  const Ref<Buffer> mine = upload(values);
  const Ref<Buffer> theirs = upload_to_peer(values);
  const Ref<Buffer> to_me = poisoned(kPeerBytes);
  const Ref<Buffer> to_them = upload_to_peer(std::vector<uint32_t>(kPeerCount, 0));
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(queue().copy(theirs, to_me));
    ASSERT_OK(peer_queue().copy(mine, to_them));
  }
  ASSERT_OK(drain(queue()));
  ASSERT_OK(drain(peer_queue()));
  EXPECT_TRUE(same(download<uint32_t>(to_me), values));
  EXPECT_TRUE(same(download_from_peer<uint32_t>(to_them), values));
}

TEST_F(Peer, FillsAndUpdatesReachIt) {
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 0));
  const uint32_t seven = 7;
  const auto values = random_bits<uint32_t>(10);
  ASSERT_OK(queue().fill(theirs, &seven, 4));
  ASSERT_OK(queue().update({*theirs, 40, 40}, values.data(), 40, next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(kPeerCount, 7);
  std::copy(values.begin(), values.end(), expected.begin() + 10);
  EXPECT_TRUE(same(download_from_peer<uint32_t>(theirs), expected));
}

TEST_F(Peer, KernelsReadAndWriteItsMemory) {
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 5));
  ASSERT_OK(queue().dispatch(affine(theirs, kPeerCount, 3, 1), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download_from_peer<uint32_t>(theirs), std::vector<uint32_t>(kPeerCount, 16)));
}

// By turns, in the memory of one: each sees what the other has written.
TEST_F(Peer, KernelsOfBothTakeTurnsInOneMemory) {
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 1));
  uint32_t expected = 1;
  for (uint64_t i = 0; i < 40; i += 2) {
    ASSERT_OK(queue().dispatch(affine(theirs, kPeerCount, 3, 1),
                               When().after(turn, i).then(turn, i + 1)));
    ASSERT_OK(peer_queue().dispatch(peer_affine(theirs, 5, 2),
                                    When().after(turn, i + 1).then(turn, i + 2)));
    expected = (3 * expected + 1) * 5 + 2;
  }
  ASSERT_OK(turn->wait(40, time_limit()));
  EXPECT_TRUE(
      same(download_from_peer<uint32_t>(theirs), std::vector<uint32_t>(kPeerCount, expected)));
}

TEST_F(Peer, RecordingsUseItsMemory) {
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 5));
  const Ref<Buffer> mine = poisoned(kPeerBytes);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(affine(theirs, kPeerCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(theirs, mine));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(mine, 16));
}

TEST_F(Peer, SlotsTakeItsMemory) {
  const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 5));
  const Ref<Buffer> mine = upload(std::vector<uint32_t>(kPeerCount, 6));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kPeerCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(BufferRange::binding(0, 0, kPeerBytes), BufferRange::binding(1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {BufferRange(theirs), BufferRange(mine)}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(mine, 16));
}

TEST_F(Peer, FilesReachItsMemory) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  ASSERT_NE(file, nullptr);
  const int descriptor = fileno(file.get());
  for (const uint64_t size : {1000u, 4u << 20}) {
    SCOPED_TRACE(size);
    // Memory that the device has not used before.
    const auto values = random_bits<uint8_t>(size);
    const Ref<Buffer> source = upload_to_peer(values);
    const Ref<Buffer> target = take(peer().allocate(size));
    ASSERT_OK(queue().write(source, {descriptor, 0}));
    ASSERT_OK(queue().read({descriptor, 0}, target, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download_from_peer<uint8_t>(target), values));
  }
}

// It writes memory of the device's; the host waits, and hands the device no semaphore.
TEST_F(Peer, WhatItHasWrittenIsThereWhenTheHostHasWaited) {
  const Ref<Buffer> mine = upload(std::vector<uint32_t>(kPeerCount, 1));
  uint32_t expected = 1;
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(queue().dispatch(affine(mine, kPeerCount, 3, 1)));
    ASSERT_OK(drain(queue()));
    ASSERT_OK(peer_queue().dispatch(peer_affine(mine, 5, 2)));
    ASSERT_OK(drain(peer_queue()));
    expected = (3 * expected + 1) * 5 + 2;
  }
  ASSERT_OK(queue().dispatch(affine(mine, kPeerCount, 1, 1)));
  EXPECT_TRUE(all_are(mine, expected + 1));
}

TEST_F(Peer, ImportingHostMemoryLeavesTheDeviceItsAccess) {
  const Ref<Buffer> mine = allocate(4 << 20, MemoryType::kHost);
  const auto* words =
      static_cast<const uint32_t*>(take(mine->map(0, mine->size(), MapAccess::kRead)));
  ASSERT_OK(queue().dispatch(affine(mine, kPeerCount, 0, 1), next()));
  ASSERT_OK(finish());
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(mine->device_address());
  options.size = mine->size();
  const Ref<Buffer> theirs = take(peer().import_buffer(options));
  ASSERT_OK(peer_queue().dispatch(peer_affine(theirs, 3, 2)));
  ASSERT_OK(drain(peer_queue()));
  ASSERT_OK(queue().dispatch(affine(mine, kPeerCount, 2, 1), next()));
  ASSERT_OK(finish());
  ASSERT_OK(mine->invalidate(0, mine->size()));
  EXPECT_EQ(words[kPeerCount - 1], 11u);
}

TEST_F(Peer, ImportedMemoryOfTheProgramIsSharedOn) {
  const auto memory = std::make_unique<std::array<uint32_t, 2048>>();
  memory->fill(4);
  ImportOptions options;
  options.pointer = memory->data();
  options.size = sizeof *memory;
  const Ref<Buffer> mine = take(device().import_buffer(options));
  ASSERT_OK(peer_queue().dispatch(peer_affine(mine, 3, 1)));
  ASSERT_OK(drain(peer_queue()));
  EXPECT_EQ((*memory)[kPeerCount - 1], 13u);
  const Ref<Buffer> device_memory = upload(std::vector<uint32_t>(2048, 4));
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(device_memory->device_address() + 4096);
  options.size = 4096;
  const Ref<Buffer> part = take(device().import_buffer(options));
  ASSERT_OK(peer_queue().dispatch(peer_affine(part, 3, 1)));
  ASSERT_OK(drain(peer_queue()));
  std::vector<uint32_t> expected(2048, 4);
  std::fill_n(expected.begin() + 1024, kPeerCount, 13);
  EXPECT_TRUE(same(download<uint32_t>(device_memory), expected));
}

TEST_F(Peer, ItsBufferOutlivesTheWorkThatUsesIt) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> mine = poisoned(kPeerBytes);
  {
    const Ref<Buffer> theirs = upload_to_peer(std::vector<uint32_t>(kPeerCount, 9));
    ASSERT_OK(queue().copy(theirs, mine, When(next()).after(gate, 1)));
  }
  // Would take the memory if it were free.
  for (int i = 0; i < 20; ++i) upload_to_peer(std::vector<uint32_t>(kPeerCount, 1));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(mine, 9));
}

}  // namespace
}  // namespace halyard::cts
