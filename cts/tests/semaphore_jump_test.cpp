// Waits of queues for values that a semaphore never has, as a signal jumps past them.
#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kSemaphoreJumpCount = 1024;
constexpr uint64_t kSemaphoreJumpBytes = kSemaphoreJumpCount * sizeof(uint32_t);

class Jump : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    semaphore_ = new_semaphore();
    for (const uint64_t value : {1, 2}) {
      queues_.push_back(new_queue());
      data_.push_back(poisoned(kSemaphoreJumpBytes));
      done_.push_back(new_semaphore());
      values_.push_back(value);
    }
  }
  const Ref<Semaphore>& semaphore() { return semaphore_; }
  // One queue waits for 1 and one for 2, and each then fills a buffer.
  void submit_waits() {
    for (size_t i = 0; i < queues_.size(); ++i) {
      const auto value = static_cast<uint32_t>(values_[i]);
      ASSERT_OK(queues_[i]->fill(data_[i], &value, 4,
                                 When().after(semaphore_, values_[i]).then(done_[i], 1)));
    }
  }
  void expect_nothing_has_run() {
    for (const Ref<Semaphore>& done : done_) EXPECT_EQ(take(done->query()), 0u);
  }
  void expect_all_run() {
    for (size_t i = 0; i < queues_.size(); ++i) {
      ASSERT_OK(done_[i]->wait(1, time_limit()));
      EXPECT_TRUE(
          same(download<uint32_t>(data_[i]),
               std::vector<uint32_t>(kSemaphoreJumpCount, static_cast<uint32_t>(values_[i]))));
    }
    EXPECT_EQ(take(semaphore_->query()), 3u);
  }

 private:
  Ref<Semaphore> semaphore_;
  std::vector<Ref<Queue>> queues_;
  std::vector<Ref<Buffer>> data_;
  std::vector<Ref<Semaphore>> done_;
  std::vector<uint64_t> values_;
};

TEST_F(Jump, OfTheHosts) {
  submit_waits();
  expect_nothing_has_run();
  ASSERT_OK(semaphore()->signal(3));
  expect_all_run();
}

TEST_F(Jump, OfTheHostsBeforeTheWaits) {
  ASSERT_OK(semaphore()->signal(3));
  submit_waits();
  expect_all_run();
}

TEST_F(Jump, OfAQueue) {
  submit_waits();
  expect_nothing_has_run();
  ASSERT_OK(queue().barrier(When().then(semaphore(), 3)));
  expect_all_run();
}

TEST_F(Jump, OfAQueueThatIsHeldBack) {
  const Ref<Semaphore> gate = new_semaphore();
  submit_waits();
  ASSERT_OK(queue().barrier(When().after(gate, 1).then(semaphore(), 3)));
  expect_nothing_has_run();
  ASSERT_OK(gate->signal(1));
  expect_all_run();
}

TEST_F(Jump, OfAQueueBeforeTheWaits) {
  const Ref<Semaphore> gate = new_semaphore();
  ASSERT_OK(queue().barrier(When().after(gate, 1).then(semaphore(), 3)));
  submit_waits();
  expect_nothing_has_run();
  ASSERT_OK(gate->signal(1));
  expect_all_run();
}

TEST_F(Jump, OfAHostCall) {
  submit_waits();
  ASSERT_OK(
      queue().host_call([](void*) { return Status(); }, nullptr, When().then(semaphore(), 3)));
  expect_all_run();
}

// What the jump's work has written is there for whoever waits for a value below.
TEST_F(Jump, BringsItsWorksResults) {
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> source = poisoned(kSemaphoreJumpBytes);
  const Ref<Buffer> target = poisoned(kSemaphoreJumpBytes);
  ASSERT_OK(other->copy(source, target, When(next()).after(semaphore(), 1)));
  const uint32_t seven = 7;
  ASSERT_OK(queue().fill(source, &seven, 4, When().then(semaphore(), 3)));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(target), std::vector<uint32_t>(kSemaphoreJumpCount, 7)));
}

TEST_F(Jump, PastSeveralWaitsOfOneOperation) {
  const Ref<Semaphore> another = new_semaphore();
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  ASSERT_OK(other->barrier(
      When().after(semaphore(), 1).after(semaphore(), 2).after(another, 1).then(done, 1)));
  ASSERT_OK(queue().barrier(When().then(semaphore(), 3)));
  ASSERT_OK(semaphore()->wait(3, time_limit()));
  EXPECT_EQ(take(done->query()), 0u) << "one wait is not met";
  ASSERT_OK(another->signal(5));
  EXPECT_OK(done->wait(1, time_limit()));
}

// Waits of one queue, the higher value first, and of the queue that signals.
TEST_F(Jump, PastWaitsOfOneQueue) {
  const Ref<Queue> other = new_queue();
  ASSERT_OK(other->barrier(When().after(semaphore(), 2)));
  ASSERT_OK(other->barrier(When().after(semaphore(), 1)));
  ASSERT_OK(other->barrier(next()));
  ASSERT_OK(queue().barrier(When().then(semaphore(), 3)));
  ASSERT_OK(finish());
  ASSERT_OK(queue().barrier(When(next()).after(semaphore(), 1)));
  EXPECT_OK(finish());
}

}  // namespace
}  // namespace halyard::cts
