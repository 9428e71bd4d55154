// Queues through ioctls.
#include <gtest/gtest.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;

constexpr uint32_t kSystemMemory = abi::kGtt | abi::kExecutable | abi::kWritable;
constexpr uint32_t kRingBytes = 4096;

// One page of each: the ring, its amd_queue_t or indices, a signal.
class QueueRequests : public ::testing::Test {
 protected:
  void SetUp() override {
    ring_ = mapped(kRingBytes);
    indices_ = mapped(kPage);
    signal_ = mapped(kPage);
  }

  uint64_t mapped(uint64_t bytes) {
    const abi::AllocMemory memory = process_.allocate(bytes, kSystemMemory);
    EXPECT_EQ(process_.map(memory.handle, kGpu), 0);
    return memory.address;
  }
  abi::CreateQueue aql() const {
    abi::CreateQueue queue;
    queue.ring_base = ring_;
    queue.ring_size = kRingBytes;
    queue.gpu_id = kGpu;
    queue.type = abi::QueueType::kComputeAql;
    queue.percentage = 100;
    queue.priority = 7;
    queue.read_pointer = indices_ + offsetof(amd_queue_t, read_dispatch_id);
    queue.write_pointer = indices_ + offsetof(amd_queue_t, write_dispatch_id);
    return queue;
  }
  abi::CreateQueue sdma() const {
    abi::CreateQueue queue = aql();
    queue.type = abi::QueueType::kSdma;
    queue.read_pointer = indices_;
    queue.write_pointer = indices_ + 64;
    return queue;
  }
  int create(abi::CreateQueue queue) { return process_.request(Request::kCreateQueue, queue); }
  int destroy(uint32_t id) {
    abi::DestroyQueue argument{id};
    return process_.request(Request::kDestroyQueue, argument);
  }
  int update(uint32_t id, uint32_t percentage) {
    abi::UpdateQueue argument;
    argument.queue_id = id;
    argument.percentage = percentage;
    argument.ring_base = ring_;
    argument.ring_size = kRingBytes;
    return process_.kfd->ioctl(abi::code<abi::UpdateQueue>(Request::kUpdateQueue, _IOC_WRITE),
                               &argument);
  }

  // Writes a barrier packet that counts the signal down.
  void submit_barrier() {
    auto* const queue = reinterpret_cast<amd_queue_t*>(indices_);
    auto* const signal = reinterpret_cast<amd_signal_t*>(signal_);
    __atomic_store_n(&signal->value, 1, __ATOMIC_RELEASE);
    const uint64_t index = queue->write_dispatch_id;
    auto* const packet =
        reinterpret_cast<hsa_barrier_and_packet_t*>(ring_) + index % (kRingBytes / 64);
    *packet = {};
    packet->completion_signal.handle = signal_;
    __atomic_store_n(&packet->header,
                     static_cast<uint16_t>(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&queue->write_dispatch_id, index + 1, __ATOMIC_RELEASE);
  }
  int64_t signal_value() const {
    return __atomic_load_n(&reinterpret_cast<amd_signal_t*>(signal_)->value, __ATOMIC_ACQUIRE);
  }
  void wait_for_signal() const {
    while (signal_value() != 0) std::this_thread::yield();
  }

  FakeProcess process_;
  uint64_t ring_ = 0;
  uint64_t indices_ = 0;
  uint64_t signal_ = 0;
};

TEST_F(QueueRequests, AnAqlQueueTakesPackets) {
  abi::CreateQueue queue = aql();
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  submit_barrier();
  wait_for_signal();
  submit_barrier();
  wait_for_signal();
  EXPECT_EQ(destroy(queue.queue_id), 0);
  EXPECT_EQ(destroy(queue.queue_id), -EINVAL);
}

TEST_F(QueueRequests, AQueueOfZeroPercentTakesNone) {
  abi::CreateQueue queue = aql();
  queue.percentage = 0;
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  submit_barrier();
  EXPECT_EQ(signal_value(), 1);
  ASSERT_EQ(update(queue.queue_id, 100), 0);
  wait_for_signal();
  EXPECT_EQ(destroy(queue.queue_id), 0);
}

TEST_F(QueueRequests, AnSdmaQueueCopies) {
  abi::CreateQueue queue = sdma();
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  // A fence: the value into memory.
  auto* const words = reinterpret_cast<uint32_t*>(ring_);
  words[0] = 5;
  words[1] = static_cast<uint32_t>(signal_);
  words[2] = static_cast<uint32_t>(signal_ >> 32);
  words[3] = 0x1234;
  __atomic_store_n(reinterpret_cast<uint64_t*>(indices_ + 64), 16, __ATOMIC_RELEASE);
  while (__atomic_load_n(reinterpret_cast<uint64_t*>(indices_), __ATOMIC_ACQUIRE) != 16)
    std::this_thread::yield();
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(signal_), 0x1234u);
  EXPECT_EQ(destroy(queue.queue_id), 0);
}

TEST_F(QueueRequests, APm4QueueTakesPackets) {
  abi::CreateQueue queue = sdma();
  queue.type = abi::QueueType::kCompute;
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  // WRITE_DATA.
  auto* const words = reinterpret_cast<uint32_t*>(ring_);
  words[0] = 0xc0033700;
  words[1] = 5 << 8;
  words[2] = static_cast<uint32_t>(signal_);
  words[3] = static_cast<uint32_t>(signal_ >> 32);
  words[4] = 0x1234;
  __atomic_store_n(reinterpret_cast<uint64_t*>(indices_ + 64), 5, __ATOMIC_RELEASE);
  while (__atomic_load_n(reinterpret_cast<uint32_t*>(indices_), __ATOMIC_ACQUIRE) != 5)
    std::this_thread::yield();
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(signal_), 0x1234u);
  EXPECT_EQ(destroy(queue.queue_id), 0);
}

TEST_F(QueueRequests, EachHasADoorbellOfItsGpusPage) {
  abi::CreateQueue first = aql();
  ASSERT_EQ(process_.request(Request::kCreateQueue, first), 0);
  abi::CreateQueue second = sdma();
  ASSERT_EQ(process_.request(Request::kCreateQueue, second), 0);
  EXPECT_NE(first.doorbell_offset, second.doorbell_offset);
  // The thunk maps the whole page at the offset without its low bits.
  const uint64_t page = first.doorbell_offset & ~(Queues::kDoorbellBytes - 1);
  EXPECT_EQ(page, second.doorbell_offset & ~(Queues::kDoorbellBytes - 1));
  void* const doorbells =
      process_.kfd->map(nullptr, Queues::kDoorbellBytes, PROT_READ | PROT_WRITE, MAP_SHARED, page);
  ASSERT_NE(doorbells, MAP_FAILED);
  static_cast<uint64_t*>(doorbells)[1023] = 1;
  munmap(doorbells, Queues::kDoorbellBytes);
  destroy(first.queue_id);
  destroy(second.queue_id);
}

// A queue that sleeps until its doorbell is written takes no packet without.
TEST_F(QueueRequests, ADoorbellWakesItsQueueWhereverItIsMapped) {
  abi::CreateQueue queue = aql();
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  const uint64_t offset = queue.doorbell_offset & ~(Queues::kDoorbellBytes - 1);
  const auto map = [this, offset] {
    return static_cast<uint64_t*>(process_.kfd->map(nullptr, Queues::kDoorbellBytes,
                                                    PROT_READ | PROT_WRITE, MAP_SHARED, offset));
  };
  const auto submit_and_ring = [&](uint64_t* doorbells, int rounds) {
    const uint64_t at = reinterpret_cast<uintptr_t>(doorbells) + queue.doorbell_offset - offset;
    auto* const bell = reinterpret_cast<uint64_t*>(at);
    for (int round = 0; round < rounds; ++round) {
      // Time to fall asleep in.
      std::this_thread::sleep_for(std::chrono::milliseconds(round % 4));
      submit_barrier();
      __atomic_store_n(bell, *bell + 1, __ATOMIC_RELEASE);
      wait_for_signal();
    }
  };
  uint64_t* const first = map();
  ASSERT_NE(first, MAP_FAILED);
  submit_and_ring(first, 20);
  process_.kfd->unmapped_by_host(reinterpret_cast<uintptr_t>(first), Queues::kDoorbellBytes);
  munmap(first, Queues::kDoorbellBytes);
  uint64_t* const second = map();
  ASSERT_NE(second, MAP_FAILED);
  submit_and_ring(second, 20);
  // Twice at once: either may be rung.
  uint64_t* const third = map();
  ASSERT_NE(third, MAP_FAILED);
  submit_and_ring(third, 10);
  submit_and_ring(second, 10);
  EXPECT_EQ(destroy(queue.queue_id), 0);
  for (uint64_t* const pages : {second, third}) munmap(pages, Queues::kDoorbellBytes);
}

TEST_F(QueueRequests, OnlyDoorbellsAndRegistersAreMapped) {
  const auto refused = [this](uint64_t bytes, uint64_t offset) {
    errno = 0;
    return process_.kfd->map(nullptr, bytes, PROT_READ, MAP_SHARED, offset) == MAP_FAILED &&
           errno == EINVAL;
  };
  EXPECT_TRUE(refused(kPage, 0));
  EXPECT_TRUE(refused(kPage, Queues::doorbells_offset(1)));
  EXPECT_TRUE(refused(Queues::kDoorbellBytes, Queues::doorbells_offset(3)));
  EXPECT_TRUE(refused(Queues::kDoorbellBytes, Queues::registers_offset(1)));
  EXPECT_TRUE(refused(kPage, ~uint64_t{4095}));
  void* const registers = process_.kfd->map(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED,
                                            Queues::registers_offset(2));
  ASSERT_NE(registers, MAP_FAILED);
  munmap(registers, kPage);
}

TEST_F(QueueRequests, BadOnesAreRefused) {
  const auto refused = [this](auto change) {
    abi::CreateQueue queue = aql();
    change(queue);
    return create(queue);
  };
  EXPECT_EQ(refused([](auto& q) { q.gpu_id = 0; }), -EINVAL);
  EXPECT_EQ(refused([](auto& q) { q.percentage = 101; }), -EINVAL);
  EXPECT_EQ(refused([](auto& q) { q.priority = 16; }), -EINVAL);
  EXPECT_EQ(refused([](auto& q) { q.type = static_cast<abi::QueueType>(9); }), -EINVAL);
  EXPECT_EQ(refused([](auto& q) { q.ring_size = 3000; }), -EINVAL);
  EXPECT_EQ(refused([](auto& q) { q.ring_base = 4096; }), -EFAULT);
  EXPECT_EQ(refused([](auto& q) { q.ring_size = 1u << 30; }), -EFAULT);
  EXPECT_EQ(refused([](auto& q) { q.read_pointer = 8; }), -EFAULT);
  EXPECT_EQ(refused([](auto& q) { q.write_pointer += 1; }), -EINVAL);
  EXPECT_EQ(refused([](auto& q) {
              q.read_pointer = 4096 + offsetof(amd_queue_t, read_dispatch_id);
              q.write_pointer = 4096 + offsetof(amd_queue_t, write_dispatch_id);
            }),
            -EFAULT);
  abi::CreateQueue copy = sdma();
  copy.read_pointer = 4096;
  EXPECT_EQ(create(copy), -EFAULT);
  copy = sdma();
  copy.write_pointer += 1;
  EXPECT_EQ(create(copy), -EINVAL);
  // It has no SDMA engine.
  copy = sdma();
  copy.gpu_id = kOtherGpu;
  EXPECT_EQ(create(copy), -ENOMEM);
  EXPECT_EQ(update(1, 50), -EFAULT);
  EXPECT_EQ(update(1, 101), -EINVAL);
}

TEST_F(QueueRequests, AnAqlQueuesIndicesMayBeAnywhere) {
  abi::CreateQueue queue = aql();
  queue.read_pointer = indices_ + 128;
  queue.write_pointer = indices_ + 1024;
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  auto* const signal = reinterpret_cast<amd_signal_t*>(signal_);
  signal->value = 1;
  auto* const packet = reinterpret_cast<hsa_barrier_and_packet_t*>(ring_);
  *packet = {};
  packet->completion_signal.handle = signal_;
  __atomic_store_n(&packet->header,
                   static_cast<uint16_t>(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE),
                   __ATOMIC_RELEASE);
  __atomic_store_n(reinterpret_cast<uint64_t*>(queue.write_pointer), 1, __ATOMIC_RELEASE);
  wait_for_signal();
  while (__atomic_load_n(reinterpret_cast<uint64_t*>(queue.read_pointer), __ATOMIC_ACQUIRE) != 1)
    std::this_thread::yield();
  EXPECT_EQ(destroy(queue.queue_id), 0);
}

// As in Linux: too small a ring is taken for the smallest one, and none for an idle queue.
TEST_F(QueueRequests, SmallRingsAreTheSmallestAndNoneIsIdle) {
  abi::CreateQueue queue = aql();
  queue.ring_size = 64;
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  EXPECT_EQ(queue.ring_size, 1024u);
  EXPECT_EQ(destroy(queue.queue_id), 0);
  queue = aql();
  queue.ring_base = 0;
  queue.ring_size = 0;
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  submit_barrier();
  EXPECT_EQ(signal_value(), 1);
  abi::UpdateQueue argument;
  argument.queue_id = queue.queue_id;
  argument.percentage = 100;
  const auto update = [&](uint64_t base, uint32_t bytes) {
    argument.ring_base = base;
    argument.ring_size = bytes;
    return process_.kfd->ioctl(abi::code<abi::UpdateQueue>(Request::kUpdateQueue, _IOC_WRITE),
                               &argument);
  };
  EXPECT_EQ(update(ring_, 3000), -EINVAL);
  EXPECT_EQ(update(4096, kRingBytes), -EFAULT);
  EXPECT_EQ(update(0, kRingBytes), 0);
  EXPECT_EQ(signal_value(), 1);
  ASSERT_EQ(update(ring_, kRingBytes), 0);
  wait_for_signal();
  EXPECT_EQ(destroy(queue.queue_id), 0);
}

TEST_F(QueueRequests, UnitMasksAreWholeWordsOfAQueue) {
  abi::CreateQueue queue = aql();
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  const uint32_t words[2] = {1, 2};
  abi::SetCuMask mask;
  mask.queue_id = queue.queue_id;
  mask.bits = 64;
  mask.mask_pointer = reinterpret_cast<uintptr_t>(words);
  const auto set = [&] {
    return process_.kfd->ioctl(abi::code<abi::SetCuMask>(Request::kSetCuMask, _IOC_WRITE), &mask);
  };
  EXPECT_EQ(set(), 0);
  // Linux looks at no more than 1024 bits.
  std::vector<uint32_t> many(32, 1);
  mask.mask_pointer = reinterpret_cast<uintptr_t>(many.data());
  mask.bits = 1056;
  EXPECT_EQ(set(), 0);
  mask.mask_pointer = reinterpret_cast<uintptr_t>(words);
  mask.bits = 33;
  EXPECT_EQ(set(), -EINVAL);
  mask.bits = 64;
  mask.mask_pointer = 8;
  EXPECT_EQ(set(), -EFAULT);
  mask.mask_pointer = reinterpret_cast<uintptr_t>(words);
  mask.queue_id = 999;
  EXPECT_EQ(set(), -EFAULT);
  destroy(queue.queue_id);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
