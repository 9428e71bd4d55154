// The fences of the packets that the driver writes: where agent scope is enough, and where it is
// not. The decisions themselves are visibility_test.cpp's.
#include <unistd.h>

#include <future>

#include "drivers/amdgpu/tests/packet_view.h"
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

constexpr uint32_t kAgent = HSA_FENCE_SCOPE_AGENT;
constexpr uint32_t kSystem = HSA_FENCE_SCOPE_SYSTEM;

class Fences : public VirtualDeviceTest {
 protected:
  // A queue that has acquired all that there was, and that nobody has heard of since.
  Ref<Queue> clean_queue() {
    const Ref<Queue> queue = new_queue();
    EXPECT_OK(affine(*queue, own_, 1, 1));
    wait_unheard(core(queue));
    return queue;
  }
  Ref<Buffer> import(const Ref<Buffer>& memory) {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kDevicePointer;
    options.pointer = reinterpret_cast<const void*>(memory->device_address());
    options.size = memory->size();
    return take(device_->import_buffer(options));
  }
  Ref<Buffer> attach(const ExportedHandle& handle, uint64_t size) {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kIpcHandle;
    options.pointer = handle.ipc;
    options.size = size;
    return take(device_->import_buffer(options));
  }

  const Ref<Buffer> own_ = device_buffer(4096);
  const Ref<Buffer> other_ = device_buffer(4096);
};

TEST_F(Fences, WorkOnOwnMemoryStaysInTheDevice) {
  const Ref<Queue> queue = clean_queue();
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, own_, 1, 1));
  ASSERT_OK(queue->copy(own_, other_));
  EXPECT_EQ(packets.acquire(0), kAgent);
  EXPECT_EQ(packets.release(0), kAgent);
  EXPECT_EQ(packets.acquire(1), kAgent);
  EXPECT_EQ(packets.release(1), kAgent);
}

TEST_F(Fences, HostMemoryIsAcquiredFromTheSystem) {
  const Ref<Buffer> host = host_buffer(4096);
  const Ref<Queue> queue = clean_queue();
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, host, 1, 1));
  ASSERT_OK(queue->copy(host, own_));
  EXPECT_EQ(packets.acquire(0), kSystem);
  EXPECT_EQ(packets.acquire(1), kSystem);
}

TEST_F(Fences, ImportedMemoryIsAcquiredFromTheSystem) {
  const Ref<Buffer> imported = import(other_);
  const Ref<Buffer> part = take(imported->subspan(256, 256));
  const Ref<Queue> queue = clean_queue();
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, imported, 1, 1));
  ASSERT_OK(affine(*queue, part, 1, 1));
  ASSERT_OK(queue->copy(imported, own_));
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(packets.acquire(i), kSystem) << i;
}

TEST_F(Fences, MemoryOfAnotherProcessIsAcquiredFromTheSystem) {
  const Ref<Buffer> attached = attach(take(device_->export_buffer(*other_)), other_->size());
  const Ref<Queue> queue = clean_queue();
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, attached, 1, 1));
  ASSERT_OK(queue->copy(attached, own_));
  EXPECT_EQ(packets.acquire(0), kSystem);
  EXPECT_EQ(packets.acquire(1), kSystem);
}

TEST_F(Fences, WhatAnotherProcessMayWriteIsAcquiredFromTheSystem) {
  const Ref<Queue> queue = clean_queue();
  ASSERT_OK(device_->export_buffer(*other_).status());
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, other_, 1, 1));
  ASSERT_OK(affine(*queue, other_, 1, 1));
  EXPECT_EQ(packets.acquire(0), kSystem);
  EXPECT_EQ(packets.acquire(1), kSystem);
}

// A kernel may find the address of imported memory in its own memory.
TEST_F(Fences, WhileAnImportLivesAllIsAcquiredFromTheSystem) {
  const Ref<Queue> queue = clean_queue();
  Ref<Buffer> imported = import(other_);
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, own_, 1, 1));
  ASSERT_OK(affine(*queue, own_, 1, 1));
  imported = nullptr;
  ASSERT_OK(affine(*queue, own_, 1, 1));
  ASSERT_OK(affine(*queue, own_, 1, 1));
  EXPECT_EQ(packets.acquire(0), kSystem);
  EXPECT_EQ(packets.acquire(1), kSystem);
  EXPECT_EQ(packets.acquire(2), kSystem) << "what was written last";
  EXPECT_EQ(packets.acquire(3), kAgent);
}

TEST_F(Fences, AnEmptyRecordingAcquiresForWhatComesBehindIt) {
  const Ref<CommandBuffer> commands = take(device_->create_command_buffer());
  ASSERT_OK(commands->finish());
  const Ref<Queue> queue = new_queue();
  const PacketView packets(core(queue));
  ASSERT_OK(queue->execute(*commands));
  ASSERT_OK(affine(*queue, own_, 1, 1));
  ASSERT_EQ(packets.count(), 2u);
  EXPECT_TRUE(packets.acquire(0) == kSystem || packets.acquire(1) == kSystem);
}

// What the empty recording waited for is there for those behind it.
TEST_F(Fences, AnEmptyRecordingAcquiresWhatItHasWaitedFor) {
  const Ref<CommandBuffer> commands = take(device_->create_command_buffer());
  ASSERT_OK(commands->finish());
  const Ref<Queue> queue = clean_queue();
  const Ref<Semaphore> reached = new_semaphore(1);
  const SemaphorePoint point = {reached.get(), 1};
  const PacketView packets(core(queue));
  ASSERT_OK(queue->execute(*commands, {}, {.wait = {&point, 1}, .signal = {}}));
  ASSERT_OK(affine(*queue, own_, 1, 1));
  ASSERT_EQ(packets.count(), 2u);
  EXPECT_TRUE(packets.acquire(0) == kSystem || packets.acquire(1) == kSystem);
}

class HostTurns : public Fences {
 protected:
  // Of the queue, when its host function runs.
  struct Seen {
    QueueCore* core = nullptr;
    uint64_t packets = 0;
  };
  static Status look(void* context) {
    auto& seen = *static_cast<Seen*>(context);
    seen.packets = seen.core->ring().reserved() - seen.core->ring().first();
    return {};
  }
  // Runs host functions until this is done; without a word of it to the queue.
  static void wait_for_host(const Ref<Queue>& queue) {
    while (core(queue).takes_slow_path()) sched_yield();
  }
};

TEST_F(HostTurns, AnIdleQueueReleasesBeforeTheHostLooks) {
  const Ref<Queue> queue = clean_queue();
  ASSERT_EQ(submitted(queue), 1u);
  Seen seen = {&core(queue)};
  ASSERT_OK(queue->host_call(look, &seen));
  wait_for_host(queue);
  EXPECT_EQ(seen.packets, 2u) << "a packet with a system release behind the kernel";
  // Nothing new to release.
  ASSERT_OK(queue->host_call(look, &seen));
  wait_for_host(queue);
  EXPECT_EQ(seen.packets, 2u);
}

TEST_F(HostTurns, AnIdleQueueReleasesBeforeAFileIsWritten) {
  const Ref<Queue> queue = clean_queue();
  char name[] = "/tmp/halyard-fences-XXXXXX";
  const int descriptor = mkstemp(name);
  ASSERT_GE(descriptor, 0);
  unlink(name);
  ASSERT_OK(queue->write(own_, {.descriptor = descriptor, .offset = 0}));
  wait_for_host(queue);
  EXPECT_EQ(submitted(queue), 2u);
  ASSERT_OK(queue->read({.descriptor = descriptor, .offset = 0}, own_));
  wait_for_host(queue);
  EXPECT_EQ(submitted(queue), 2u);
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, own_, 1, 1));
  EXPECT_EQ(packets.acquire(0), kSystem) << "what was read from the file";
  close(descriptor);
}

TEST_F(HostTurns, NothingNeedsReleaseAfterASignal) {
  const Ref<Queue> queue = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(affine(*queue, own_, 1, 1, {.wait = {}, .signal = {&point, 1}}));
  ASSERT_OK(done->wait(1, time_limit()));
  Seen seen = {&core(queue)};
  ASSERT_OK(queue->host_call(look, &seen));
  wait_for_host(queue);
  EXPECT_EQ(seen.packets, 1u);
}

// The function tells a thread of the program, which submits to another queue.
TEST_F(HostTurns, WhatTheFunctionHasSeenIsAcquiredByEveryQueue) {
  const Ref<Queue> queue = clean_queue();
  const Ref<Queue> second = clean_queue();
  std::promise<void> told;
  ASSERT_OK(queue->host_call(
      [](void* context) {
        static_cast<std::promise<void>*>(context)->set_value();
        return Status();
      },
      &told));
  told.get_future().wait();
  const PacketView packets(core(second));
  ASSERT_OK(affine(*second, own_, 1, 1));
  EXPECT_EQ(packets.acquire(0), kSystem);
}

// Memory that goes back to the runtime, which may give it to the next owner at once.
class GivenBack : public Fences {
 protected:
  uint64_t live() { return take(device_->heap_statistics(0)).live_buffers; }
};

TEST_F(GivenBack, DeviceMemoryIsReleasedToTheSystemFirst) {
  const Ref<Queue> queue = clean_queue();
  Ref<Buffer> buffer = device_buffer(4096);
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, buffer, 1, 1));
  buffer = nullptr;
  ASSERT_EQ(packets.count(), 2u);
  EXPECT_EQ(packets.release(0), kAgent);
  EXPECT_EQ(packets.release(1), kSystem);
}

TEST_F(GivenBack, AlsoIfTheQueueIsIdle) {
  const Ref<Queue> queue = clean_queue();
  Ref<Buffer> buffer = device_buffer(4096);
  ASSERT_OK(affine(*queue, buffer, 1, 1));
  wait_unheard(core(queue));
  const PacketView packets(core(queue));
  const uint64_t before = live();
  buffer = nullptr;
  ASSERT_EQ(packets.count(), 1u);
  EXPECT_EQ(packets.release(0), kSystem);
  EXPECT_EQ(live(), before) << "not before that packet is done";
}

TEST_F(GivenBack, OneReleaseServesAllThatIsDroppedTogether) {
  const Ref<Queue> queue = clean_queue();
  Ref<Buffer> first = device_buffer(4096);
  Ref<Buffer> second = device_buffer(4096);
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, first, 1, 1));
  ASSERT_OK(affine(*queue, second, 1, 1));
  first = nullptr;
  second = nullptr;
  ASSERT_EQ(packets.count(), 3u);
  EXPECT_EQ(packets.release(2), kSystem);
}

TEST_F(GivenBack, ASignalHasReleasedIt) {
  const Ref<Queue> queue = clean_queue();
  Ref<Buffer> buffer = device_buffer(4096);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, buffer, 1, 1, {.wait = {}, .signal = {&point, 1}}));
  buffer = nullptr;
  EXPECT_EQ(packets.count(), 1u);
}

TEST_F(GivenBack, NoL2KeepsTheHostsMemory) {
  const Ref<Queue> queue = clean_queue();
  Ref<Buffer> buffer = host_buffer(4096);
  const PacketView packets(core(queue));
  ASSERT_OK(affine(*queue, buffer, 1, 1));
  buffer = nullptr;
  EXPECT_EQ(packets.count(), 1u);
}

TEST_F(GivenBack, QueuesThatHaveNotUsedItNeedNoRelease) {
  const Ref<Queue> queue = clean_queue();
  const Ref<Queue> other = clean_queue();
  Ref<Buffer> buffer = device_buffer(4096);
  ASSERT_OK(affine(*queue, buffer, 1, 1));
  const PacketView packets(core(other));
  buffer = nullptr;
  EXPECT_EQ(packets.count(), 0u);
}

TEST_F(GivenBack, AnExecutableIsReleasedToo) {
  const std::vector<std::byte> bytes = read_kernels("gfx900", "busy");
  const Ref<Queue> queue = clean_queue();
  Ref<Executable> executable = take(device_->load_executable(bytes.data(), bytes.size()));
  const Argument arguments[] = {own_, Argument::of(uint32_t{64}), Argument::of(uint32_t{1}),
                                Argument::of(uint32_t{1})};
  Dispatch dispatch;
  dispatch.function = take(executable->find("affine"));
  dispatch.grid = dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  const PacketView packets(core(queue));
  ASSERT_OK(queue->dispatch(dispatch));
  executable = nullptr;
  ASSERT_EQ(packets.count(), 2u);
  EXPECT_EQ(packets.release(1), kSystem);
}

TEST_F(GivenBack, AFullRingReleasesWhenThereIsRoom) {
  const Ref<Queue> queue = new_queue(64);
  const uint64_t before = live();
  Ref<Buffer> buffer = device_buffer(4096);
  {
    const PacketView packets(core(queue));
    for (uint32_t i = 1; i < core(queue).ring().capacity(); ++i)
      ASSERT_OK(affine(*queue, buffer, 1, 1));
    buffer = nullptr;
    EXPECT_EQ(packets.count() + 1, core(queue).ring().capacity());
  }
  while (live() != before) sched_yield();
  EXPECT_EQ(submitted(queue), core(queue).ring().capacity() + 1);
}

}  // namespace
}  // namespace halyard::amdgpu
