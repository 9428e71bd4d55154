// Buffers of the other GPU on a machine with two, its own and what it has imported by an IPC
// handle.
#include <unistd.h>

#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/tests/packet_view.h"
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

// A part of one of the runtime's blocks, and a block of its own.
constexpr uint64_t kSizes[] = {8192, 4 << 20};

class PeerTest : public VirtualDeviceTest {
 protected:
  PeerTest() : other_(take(driver().create_device(1))) {}

  static Ref<Buffer> import(Device& device, const ExportedHandle& handle, uint64_t size) {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kIpcHandle;
    options.pointer = handle.ipc;
    options.size = size;
    return take(device.import_buffer(options));
  }
  void fill(const Ref<Queue>& queue, const Ref<Buffer>& buffer, uint32_t value) {
    ASSERT_OK(queue->fill(buffer, &value, sizeof value));
    finish(*queue);
  }

  // A queue of the first GPU that has acquired all that there was.
  Ref<Queue> clean_queue() {
    const Ref<Queue> queue = new_queue();
    EXPECT_OK(affine(*queue, own_, 1, 1));
    wait_unheard(core(queue));
    return queue;
  }
  // The scope at which the next packet on the first GPU's own memory acquires.
  uint32_t next_acquire(const Ref<Queue>& queue) {
    const PacketView packets(core(queue));
    EXPECT_OK(affine(*queue, own_, 1, 1));
    return packets.acquire(0);
  }

  Ref<Device> other_;
  const Ref<Buffer> own_ = device_buffer(4096);
};

// By a queue of either, which makes its own engine or the other one copy.
TEST_F(PeerTest, CopiesBetweenTheTwo) {
  const Ref<Queue> queues[] = {new_queue(), take(other_->create_queue())};
  uint32_t value = 10;
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> here = device_buffer(size);
    const Ref<Buffer> there = take(other_->allocate(size));
    for (const Ref<Queue>& queue : queues) {
      fill(queue, here, ++value);
      ASSERT_OK(queue->copy(here, there));
      finish(*queue);
      EXPECT_EQ(download(*queues[1], there), std::vector<uint32_t>(size / 4, value));
      fill(queue, there, ++value);
      ASSERT_OK(queue->copy(there, here));
      finish(*queue);
      EXPECT_EQ(download(*queues[0], here), std::vector<uint32_t>(size / 4, value));
    }
  }
}

TEST_F(PeerTest, AnotherGpuUsesAnImport) {
  const Ref<Queue> own = new_queue();
  const Ref<Queue> others = take(other_->create_queue());
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> buffer = device_buffer(size);
    fill(own, buffer, 5);
    const Ref<Buffer> imported = import(*device_, take(device_->export_buffer(*buffer)), size);
    const Ref<Buffer> copy = take(other_->allocate(size));
    ASSERT_OK(others->copy(imported, copy));
    finish(*others);
    EXPECT_EQ(download(*others, copy), std::vector<uint32_t>(size / 4, 5));
    fill(others, imported, 6);
    EXPECT_EQ(download(*own, buffer), std::vector<uint32_t>(size / 4, 6));
  }
}

TEST_F(PeerTest, AnotherGpuImportsTheHandle) {
  const Ref<Queue> own = new_queue();
  const Ref<Queue> others = take(other_->create_queue());
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> buffer = device_buffer(size);
    fill(own, buffer, 5);
    const Ref<Buffer> imported = import(*other_, take(device_->export_buffer(*buffer)), size);
    EXPECT_EQ(download(*others, imported), std::vector<uint32_t>(size / 4, 5));
    fill(others, imported, 7);
    EXPECT_EQ(download(*own, buffer), std::vector<uint32_t>(size / 4, 7));
  }
}

// The other GPU writes the first one's memory; the host waits for it, and tells nobody.
TEST_F(PeerTest, WhatTheHostHasSeenOfAnotherGpuIsAcquired) {
  const Ref<Queue> queue = clean_queue();
  const Ref<Queue> others = take(other_->create_queue());
  const Ref<Semaphore> done = take(other_->create_semaphore());
  const uint32_t value = 3;
  for (const bool waits : {true, false}) {
    EXPECT_EQ(next_acquire(queue), uint32_t{HSA_FENCE_SCOPE_AGENT});
    const SemaphorePoint point = {done.get(), waits ? uint64_t{1} : uint64_t{2}};
    ASSERT_OK(others->fill(own_, &value, sizeof value, {.wait = {}, .signal = {&point, 1}}));
    if (waits) {
      ASSERT_OK(done->wait(1, time_limit()));
    } else {
      while (take(done->query()) != 2) sched_yield();
    }
    EXPECT_EQ(next_acquire(queue), uint32_t{HSA_FENCE_SCOPE_SYSTEM}) << waits;
  }
}

TEST_F(PeerTest, AKernelThatCopiesWithinAnotherGpusMemoryAcquiresIt) {
  const Ref<Buffer> from = take(other_->allocate(4096));
  const Ref<Buffer> to = take(other_->allocate(4096));
  const Ref<Queue> queue = clean_queue();
  const PacketView packets(core(queue));
  ASSERT_OK(queue->copy(from, to));
  ASSERT_EQ(packets.count(), 1u) << "a kernel of the device library";
  EXPECT_EQ(packets.acquire(0), uint32_t{HSA_FENCE_SCOPE_SYSTEM});
}

TEST_F(PeerTest, FilesReachTheOtherGpusMemory) {
  char name[] = "/tmp/halyard-peer-XXXXXX";
  const int descriptor = mkstemp(name);
  ASSERT_GE(descriptor, 0);
  unlink(name);
  const Ref<Queue> others = take(other_->create_queue());
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> from = device_buffer(size);
    const Ref<Buffer> to = device_buffer(size);
    fill(new_queue(), from, 12);
    ASSERT_OK(others->write(from, {.descriptor = descriptor, .offset = 0}));
    ASSERT_OK(others->read({.descriptor = descriptor, .offset = 0}, to));
    finish(*others);
    EXPECT_EQ(download(*new_queue(), to), std::vector<uint32_t>(size / 4, 12));
  }
  close(descriptor);
}

class SharedAccess : public PeerTest {
 protected:
  static Ref<Buffer> import_pointer(Device& device, const Ref<Buffer>& memory,
                                    uint64_t offset = 0) {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kDevicePointer;
    options.pointer = reinterpret_cast<const void*>(memory->device_address() + offset);
    options.size = memory->size() - offset;
    return take(device.import_buffer(options));
  }
};

TEST_F(SharedAccess, AnImportByAnotherGpuLeavesTheFirstItsHostMemory) {
  const Ref<Queue> queue = new_queue();
  const Ref<Queue> others = take(other_->create_queue());
  const Ref<Buffer> host = host_buffer(4 << 20);
  fill(queue, host, 1);
  const Ref<Buffer> imported = import_pointer(*other_, host);
  fill(others, imported, 2);
  fill(queue, host, 3);
  EXPECT_EQ(view<uint32_t>(host)[0], 3u);
  fill(others, imported, 4);
  EXPECT_EQ(view<uint32_t>(host)[0], 4u);
}

// The middle of an allocation is no name for it.
TEST_F(SharedAccess, AnImportedPartIsSharedOn) {
  const Ref<Queue> queue = new_queue();
  const Ref<Queue> others = take(other_->create_queue());
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> whole = device_buffer(size);
    const Ref<Buffer> part = import_pointer(*device_, whole, 4096);
    fill(queue, whole, 5);
    fill(others, part, 6);
    EXPECT_EQ(download(*queue, part), std::vector<uint32_t>((size - 4096) / 4, 6));
  }
}

TEST_F(SharedAccess, OfImportedHostMemoryToo) {
  const Ref<Queue> others = take(other_->create_queue());
  alignas(4096) static uint32_t words[1024];
  ImportOptions options;
  options.pointer = words;
  options.size = sizeof words;
  const Ref<Buffer> imported = take(device_->import_buffer(options));
  fill(others, imported, 8);
  EXPECT_EQ(words[1023], 8u);
}

using ThreeGpus = SharedAccess;

// What a buffer gives to the second, another buffer does not take away.
TEST_F(ThreeGpus, TwoBuffersOfOneAllocationHaveTheirPeersTogether) {
  const Ref<Device> third = take(driver().create_device(2));
  const Ref<Queue> second_queue = take(other_->create_queue());
  const Ref<Queue> third_queue = take(third->create_queue());
  const Ref<Buffer> memory = device_buffer(4 << 20);
  const Ref<Buffer> again = import_pointer(*device_, memory);
  fill(second_queue, memory, 1);
  fill(third_queue, again, 2);
  fill(second_queue, memory, 3);
  EXPECT_EQ(download(*second_queue, memory), std::vector<uint32_t>(memory->size() / 4, 3));
  const Ref<Buffer> imported = import_pointer(*other_, memory);
  fill(third_queue, again, 4);
  fill(second_queue, imported, 5);
  EXPECT_EQ(download(*third_queue, again), std::vector<uint32_t>(memory->size() / 4, 5));
}

// Queues of all GPUs of a machine that has four, one of which knows no barrier-value packets.
class AcrossGpus : public VirtualDeviceTest {
 protected:
  AcrossGpus() {
    queues_.push_back(new_queue());
    for (uint32_t ordinal = 1; ordinal < 4; ++ordinal) {
      devices_.push_back(take(driver().create_device(ordinal)));
      queues_.push_back(take(devices_.back()->create_queue()));
    }
    queues_.push_back(new_queue());
  }
  // A held kernel on the first, then one barrier behind the other through all of them.
  void chain(const Ref<Semaphore>& turn) {
    const SemaphorePoint begun = {turn.get(), 1};
    ASSERT_OK(hold(*queues_.front(), {.wait = {}, .signal = {&begun, 1}}));
    for (size_t i = 1; i < queues_.size(); ++i) {
      const SemaphorePoint before = {turn.get(), i};
      const SemaphorePoint after = {turn.get(), i + 1};
      ASSERT_OK(queues_[i]->barrier({.wait = {&before, 1}, .signal = {&after, 1}}));
    }
  }

  std::vector<Ref<Device>> devices_;
  std::vector<Ref<Queue>> queues_;  // the last one is of the first GPU again
};

TEST_F(AcrossGpus, WaitsStayOnTheDevice) {
  const Ref<Semaphore> turn = new_semaphore();
  chain(turn);
  for (size_t i = 1; i < queues_.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_FALSE(core(queues_[i]).held().any()) << "the host waits";
    EXPECT_GE(submitted(queues_[i]), 2u) << "a packet that waits, and the barrier";
    EXPECT_EQ(completed(queues_[i]), 0u);
  }
  EXPECT_EQ(take(turn->query()), 0u);
  release_kernel();
  EXPECT_OK(turn->wait(queues_.size(), time_limit()));
}

TEST_F(AcrossGpus, ALossReachesWhatWaitsOnOtherGpus) {
  const Ref<Semaphore> turns[] = {new_semaphore(), new_semaphore(), new_semaphore()};
  const SemaphorePoint points[] = {{turns[0].get(), 1}, {turns[1].get(), 1}, {turns[2].get(), 1}};
  ASSERT_OK(hold(*queues_[0], {.wait = {}, .signal = {&points[0], 1}}));
  ASSERT_OK(queues_[1]->barrier({.wait = {&points[0], 1}, .signal = {&points[1], 1}}));
  ASSERT_OK(queues_[3]->barrier({.wait = {&points[1], 1}, .signal = {&points[2], 1}}));
  EXPECT_FALSE(core(queues_[3]).held().any());
  ASSERT_OK(queues_[0]->abandon());
  EXPECT_EQ(turns[1]->wait(1, time_limit()).code(), StatusCode::kCancelled);
  EXPECT_EQ(turns[2]->wait(1, time_limit()).code(), StatusCode::kCancelled);
  // Their queues go on, and what runs behind the failed waits is done.
  finish(*queues_[1]);
  finish(*queues_[3]);
  release_kernel();
}

// What others wait for lives until they have seen it, and nobody asks those who are gone.
TEST_F(AcrossGpus, DevicesGoWhileOthersWaitForThem) {
  Ref<Semaphore> turn = new_semaphore();
  const Ref<Semaphore> end = new_semaphore();
  const SemaphorePoint last = {turn.get(), queues_.size()};
  const SemaphorePoint told = {end.get(), 1};
  chain(turn);
  const Ref<Queue> waiting = new_queue();
  ASSERT_OK(waiting->barrier({.wait = {&last, 1}, .signal = {&told, 1}}));
  turn = nullptr;
  queues_.clear();
  devices_.clear();
  EXPECT_EQ(take(end->query()), 0u);
  release_kernel();
  ASSERT_OK(end->wait(1, time_limit()));
  // Edges are looked through for those that waited.
  for (int i = 0; i < 40; ++i) {
    const Ref<Semaphore> again = new_semaphore();
    const SemaphorePoint one = {again.get(), 1};
    const Ref<Queue> other = new_queue();
    ASSERT_OK(waiting->barrier({.wait = {}, .signal = {&one, 1}}));
    ASSERT_OK(other->barrier({.wait = {&one, 1}, .signal = {}}));
    finish(*other);
  }
}

}  // namespace
}  // namespace halyard::amdgpu
