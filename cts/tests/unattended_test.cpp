// Work without a waiter: it is done without any further call of the interface.
#include <atomic>
#include <chrono>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Unattended : public DeviceTest {
 protected:
  // Words of host memory that the device and the host see.
  class Words {
   public:
    explicit Words(Ref<Buffer> buffer) : buffer_(std::move(buffer)) {
      words_ =
          static_cast<uint32_t*>(take(buffer_->map(0, buffer_->size(), MapAccess::kReadWrite)));
      for (uint64_t i = 0; i < buffer_->size() / 4; ++i) word(i).store(0);
    }
    const Ref<Buffer>& buffer() const { return buffer_; }
    // Only looks, until all words are `value` or the time limit is over.
    bool become(uint32_t value) const {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      for (uint64_t i = 0; i < buffer_->size() / 4; ++i) {
        while (word(i).load() != value) {
          if (std::chrono::steady_clock::now() > end) return false;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }
      return true;
    }

   private:
    std::atomic_ref<uint32_t> word(uint64_t i) const {
      return std::atomic_ref<uint32_t>(words_[i]);
    }

    Ref<Buffer> buffer_;
    uint32_t* words_ = nullptr;
  };
  Words words() { return Words(allocate(256, MemoryType::kHost)); }
};

TEST_F(Unattended, AFillOfHostMemory) {
  const Words data = words();
  const uint32_t five = 5;
  const Ref<Semaphore> done = new_semaphore();
  ASSERT_OK(queue().fill(data.buffer(), &five, 4, When().then(done, 1)));
  EXPECT_TRUE(data.become(5));
}

TEST_F(Unattended, AKernel) {
  const Words data = words();
  const Ref<Semaphore> done = new_semaphore();
  ASSERT_OK(queue().dispatch(affine(data.buffer(), 64, 3, 7), When().then(done, 1)));
  EXPECT_TRUE(data.become(7));
}

// What is held back goes on when its time comes, as does what waits for it in turn.
TEST_F(Unattended, AChainOfQueuesThatWasHeldBack) {
  constexpr uint64_t kQueues = 4;
  const Words data = words();
  const Ref<Semaphore> timeline = new_semaphore();
  std::vector<Ref<Queue>> queues;
  const uint32_t seven = 7;
  // The last first, so that each waits for what is not submitted yet.
  for (uint64_t i = kQueues; i-- != 0;) {
    queues.push_back(new_queue());
    if (i + 1 == kQueues) {
      ASSERT_OK(queues.back()->fill(data.buffer(), &seven, 4, When().after(timeline, i + 1)));
    } else {
      ASSERT_OK(queues.back()->barrier(When().after(timeline, i + 1).then(timeline, i + 2)));
    }
  }
  ASSERT_OK(timeline->signal(1));
  EXPECT_TRUE(data.become(7));
}

TEST_F(Unattended, HostCalls) {
  std::atomic<int> calls = 0;
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> between = new_semaphore();
  const auto count = [](void* context) {
    ++*static_cast<std::atomic<int>*>(context);
    return Status();
  };
  ASSERT_OK(other->host_call(count, &calls, When().after(between, 1)));
  ASSERT_OK(queue().host_call(count, &calls, When().then(between, 1)));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (calls.load() != 2 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(calls.load(), 2);
}

TEST_F(Unattended, MemoryInQueueOrder) {
  const Words data = words();
  const Ref<Semaphore> gate = new_semaphore();
  const uint32_t nine = 9;
  {
    const Ref<Buffer> buffer = take(queue().alloca_buffer(256, {}, When().after(gate, 1)));
    ASSERT_OK(queue().fill(buffer, &nine, 4));
    ASSERT_OK(queue().copy(buffer, data.buffer()));
    ASSERT_OK(queue().dealloca_buffer(*buffer));
  }
  ASSERT_OK(gate->signal(1));
  EXPECT_TRUE(data.become(9));
}

}  // namespace
}  // namespace halyard::cts
