// Memory that is unmapped while a GPU uses it: what the program has there next stays its own.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "vgpu/kfd/tests/fake_process.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;

constexpr uint32_t kHostMemory = abi::kGtt | abi::kExecutable | abi::kWritable;
constexpr uint64_t kCopiedBytes = uint64_t{64} << 20;
constexpr unsigned char kProgramsByte = 0x77;

unsigned char* memory_of(uint64_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

// A GPU whose SDMA copies up to 1 GiB in one packet.
class Unmapping : public ::testing::Test {
 protected:
  void SetUp() override {
    ring_ = mapped(kPage);
    indices_ = mapped(kPage);
    queue_.ring_base = ring_.address;
    queue_.ring_size = kPage;
    queue_.gpu_id = kGpu;
    queue_.type = abi::QueueType::kSdma;
    queue_.percentage = 100;
    queue_.read_pointer = indices_.address;
    queue_.write_pointer = indices_.address + 64;
    ASSERT_EQ(process_.request(Request::kCreateQueue, queue_), 0);
  }
  void TearDown() override {
    abi::DestroyQueue argument{queue_.queue_id};
    EXPECT_EQ(process_.request(Request::kDestroyQueue, argument), 0);
  }

  abi::AllocMemory mapped(uint64_t bytes) {
    const abi::AllocMemory memory = process_.allocate(bytes, kHostMemory);
    EXPECT_EQ(process_.map(memory.handle, kGpu), 0);
    return memory;
  }
  void submit(std::initializer_list<uint32_t> words) {
    std::copy(words.begin(), words.end(), reinterpret_cast<uint32_t*>(ring_.address));
    __atomic_store_n(reinterpret_cast<uint64_t*>(queue_.write_pointer), words.size() * 4,
                     __ATOMIC_RELEASE);
  }
  static uint32_t low(uint64_t address) { return static_cast<uint32_t>(address); }
  static uint32_t high(uint64_t address) { return static_cast<uint32_t>(address >> 32); }
  // Until the GPU has written something there.
  static void wait_for_change(uint64_t address) {
    while (__atomic_load_n(memory_of(address), __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
  }
  // Frees it, puts memory of the program's in its place, and looks whether that stays.
  void expect_free_ends_the_copy(const abi::AllocMemory& memory) {
    ::testing::internal::CaptureStderr();
    ASSERT_EQ(process_.unmap(memory.handle, kGpu), 0);
    ASSERT_EQ(process_.free(memory.handle), 0);
    void* const own = mmap(memory_of(memory.address), kCopiedBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ASSERT_NE(own, MAP_FAILED);
    std::memset(own, kProgramsByte, kCopiedBytes);
    // As long as the copy would have taken.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto* const begin = memory_of(memory.address);
    EXPECT_EQ(std::count(begin, begin + kCopiedBytes, kProgramsByte),
              static_cast<ptrdiff_t>(kCopiedBytes));
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("may not write"), std::string::npos);
    munmap(own, kCopiedBytes);
  }

  FakeProcess process_{"gfx90a", false, false};
  abi::AllocMemory ring_;
  abi::AllocMemory indices_;
  abi::CreateQueue queue_;
};

TEST_F(Unmapping, EndsACopyThatIsUnderWay) {
  const abi::AllocMemory source = mapped(kCopiedBytes);
  const abi::AllocMemory target = mapped(kCopiedBytes);
  std::memset(memory_of(source.address), 1, kCopiedBytes);
  submit({1, static_cast<uint32_t>(kCopiedBytes - 1), 0, low(source.address), high(source.address),
          low(target.address), high(target.address)});
  wait_for_change(target.address);
  expect_free_ends_the_copy(target);
}

TEST_F(Unmapping, EndsAFillThatIsUnderWay) {
  const abi::AllocMemory target = mapped(kCopiedBytes);
  submit({11 | 2u << 30, low(target.address), high(target.address), 0x01010101,
          static_cast<uint32_t>(kCopiedBytes - 1)});
  wait_for_change(target.address);
  expect_free_ends_the_copy(target);
}

// Of any kind: kernels' instructions and packet processors announce theirs in the same way.
TEST(AccessesUnderWay, AreWaitedFor) {
  std::atomic<int> step{0};
  std::thread gpu([&step] {
    for (int round = 1; round <= 2; ++round) {
      const SharedMemoryAccess access;
      const SharedMemoryAccess inner;
      step = 2 * round - 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      step = 2 * round;
    }
  });
  while (step != 1) std::this_thread::yield();
  wait_for_accesses();
  EXPECT_GE(step, 2);
  gpu.join();
  wait_for_accesses();
  // A thread does not wait for itself.
  const SharedMemoryAccess own;
  wait_for_accesses();
}

}  // namespace
}  // namespace halyard::vgpu::kfd
