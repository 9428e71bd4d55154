// A doorbell write reaches a queue that sleeps.
#include "vgpu/machine/doorbells.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace halyard::vgpu::machine {
namespace {

// A page of the program's.
class ProgramPage {
 public:
  ProgramPage()
      : slots_(static_cast<uint64_t*>(mmap(nullptr, Doorbells::kPageBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~ProgramPage() { munmap(slots_, Doorbells::kPageBytes); }
  ProgramPage(const ProgramPage&) = delete;
  ProgramPage& operator=(const ProgramPage&) = delete;
  uint64_t* slots() const { return slots_; }

 private:
  uint64_t* slots_;
};

// Polls as a queue thread does, until the doorbell has been written.
void wait_for_ring(queue::Idle& idle, const uint64_t* slot, uint64_t value) {
  while (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != value) idle.pause_for_doorbell();
  idle.reset();
}

void ring_many_times(bool watch) {
  const ProgramPage page;
  uint64_t* const slot = page.slots() + 5;
  Doorbells doorbells(watch);
  doorbells.add_page(page.slots());
  auto doorbell = std::make_unique<Doorbell>(doorbells);
  doorbells.place(*doorbell, slot);
  queue::IdlePolicy policy;
  policy.spin_ns = 0;
  queue::Idle idle(policy);
  doorbell->set_idle(&idle);
  if (doorbells.watching()) idle.watch(doorbell.get());
  constexpr uint64_t kRounds = 200;
  std::atomic<uint64_t> seen{0};
  std::thread queue([&] {
    for (uint64_t i = 1; i <= kRounds; ++i) {
      wait_for_ring(idle, slot, i);
      seen = i;
    }
  });
  for (uint64_t i = 1; i <= kRounds; ++i) {
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    __atomic_store_n(slot, i, __ATOMIC_RELEASE);
    while (seen.load() < i) std::this_thread::yield();
  }
  queue.join();
  doorbell.reset();
  doorbells.remove_page(page.slots());
}

TEST(Doorbells, WatchedDoorbellWakesASleepingQueue) {
  ring_many_times(true);
}

TEST(Doorbells, UnwatchedDoorbellIsPolled) {
  ring_many_times(false);
}

// A clock that the test sets, so no queue is woken because much time has passed.
constexpr uint64_t kMillisecond = 1'000'000;
std::atomic<uint64_t> clock_ns;
std::atomic<uint64_t> clock_reads;
uint64_t read_clock() {
  clock_reads.fetch_add(1);
  return clock_ns.load();
}

// Two queues whose doorbells are on one page of the program's.
class SharedPage : public ::testing::Test {
 protected:
  void SetUp() override {
    clock_ns = 1;
    void* const mapped = mmap(nullptr, Doorbells::kPageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    page_ = static_cast<uint64_t*>(mapped);
    for (int i = 0; i < 2; ++i) {
      doorbells_[i]->set_idle(&idle_[i]);
      idle_[i].watch(doorbells_[i].get());
    }
  }
  void TearDown() override {
    for (auto& doorbell : doorbells_) doorbell.reset();
    if (page_ == nullptr) return;
    owner_.remove_page(page_);
    munmap(page_, Doorbells::kPageBytes);
  }
  void place() {
    owner_.add_page(page_);
    for (int i = 0; i < 2; ++i) owner_.place(*doorbells_[i], page_ + i);
  }

  // Arms both, and rings the second one: that of the first can be missed from then on.
  void make_first_unsure(uint64_t ring) {
    ASSERT_TRUE(doorbells_[0]->arm());
    ASSERT_TRUE(doorbells_[1]->arm());
    __atomic_store_n(page_ + 1, ring, __ATOMIC_RELEASE);
  }
  void wait_for_wake(int queue, uint32_t before) const {
    while (idle_[queue].wakes() == before) std::this_thread::yield();
  }

  Doorbells owner_{true, read_clock};
  // Without a limit to a sleep that nothing ends, a ring that is lost stops the test.
  const queue::IdlePolicy policy_ = {.spin_ns = 0};
  queue::Idle idle_[2] = {queue::Idle{policy_}, queue::Idle{policy_}};
  std::unique_ptr<Doorbell> doorbells_[2] = {std::make_unique<Doorbell>(owner_),
                                             std::make_unique<Doorbell>(owner_)};
  uint64_t* page_ = nullptr;
};

TEST_F(SharedPage, ADoorbellThatIsNowhereIsNotArmed) {
  EXPECT_FALSE(doorbells_[0]->arm());
  // Nor is one that is on a page which nobody watches.
  owner_.place(*doorbells_[0], page_);
  EXPECT_FALSE(doorbells_[0]->arm());
}

TEST_F(SharedPage, ARingWakesTheQueueThatIsMeant) {
  if (!owner_.watching()) GTEST_SKIP() << "userfaultfd is not allowed";
  place();
  ASSERT_TRUE(doorbells_[0]->arm());
  ASSERT_TRUE(doorbells_[1]->arm());
  const uint32_t before[] = {idle_[0].wakes(), idle_[1].wakes()};
  __atomic_store_n(page_ + 1, 5, __ATOMIC_RELEASE);
  EXPECT_EQ(page_[1], 5u);
  EXPECT_NE(idle_[1].wakes(), before[1]);
  if (!owner_.tells_words()) GTEST_SKIP() << "this Linux does not tell which word was written";
  EXPECT_EQ(idle_[0].wakes(), before[0]) << "its doorbell was not written";
}

TEST_F(SharedPage, AQueueThatSleepsOnIsWokenByItsOwnRing) {
  if (!owner_.watching()) GTEST_SKIP() << "userfaultfd is not allowed";
  if (!owner_.tells_words()) GTEST_SKIP() << "this Linux does not tell which word was written";
  place();
  ASSERT_TRUE(doorbells_[0]->arm());
  ASSERT_TRUE(doorbells_[1]->arm());
  for (uint64_t ring = 1; ring <= 20; ++ring) {
    const uint32_t before = idle_[0].wakes();
    // The other queue stays awake and its producer goes on, so this ring may stop nobody.
    __atomic_store_n(page_ + 1, ring, __ATOMIC_RELEASE);
    if (ring % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    __atomic_store_n(page_, ring, __ATOMIC_RELEASE);
    wait_for_wake(0, before);
    ASSERT_TRUE(doorbells_[0]->arm());
  }
}

// The first packet of a queue has the index 0, and nothing shows its ring where the page is not
// protected.
TEST_F(SharedPage, ARingWithTheValueThatWasThereIsNotLost) {
  if (!owner_.watching()) GTEST_SKIP() << "userfaultfd is not allowed";
  place();
  const uint32_t before = idle_[0].wakes();
  make_first_unsure(5);  // lifts the protection
  __atomic_store_n(page_, 0, __ATOMIC_RELEASE);
  clock_ns += 10 * kMillisecond;
  wait_for_wake(0, before);
}

TEST_F(SharedPage, AWakeByARingStartsTheTimeAnew) {
  if (!owner_.watching()) GTEST_SKIP() << "userfaultfd is not allowed";
  if (!owner_.tells_words()) GTEST_SKIP() << "this Linux does not tell which word was written";
  place();
  uint32_t before = idle_[0].wakes();
  make_first_unsure(1);
  __atomic_store_n(page_, 1, __ATOMIC_RELEASE);
  wait_for_wake(0, before);
  clock_ns += 20 * kMillisecond;
  before = idle_[0].wakes();
  make_first_unsure(2);
  // Two looks later.
  const uint64_t reads = clock_reads;
  while (clock_reads < reads + 2 && idle_[0].wakes() == before) std::this_thread::yield();
  EXPECT_EQ(idle_[0].wakes(), before);
  clock_ns += 10 * kMillisecond;
  wait_for_wake(0, before);
}

// Producers of two queues ring at the same time, and each queue sleeps between its rings. The
// watcher must see each ring: the clock stands still, so nothing else wakes a queue.
TEST_F(SharedPage, NoRingIsLost) {
  if (!owner_.watching()) GTEST_SKIP() << "userfaultfd is not allowed";
  place();
  constexpr uint64_t kRounds = 2000;
  std::atomic<uint64_t> seen[2] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([this, i, &seen] {
      for (uint64_t ring = 1; ring <= kRounds; ++ring) {
        wait_for_ring(idle_[i], page_ + i, ring);
        seen[i] = ring;
      }
    });
    threads.emplace_back([this, i, &seen] {
      for (uint64_t ring = 1; ring <= kRounds; ++ring) {
        __atomic_store_n(page_ + i, ring, __ATOMIC_RELEASE);
        while (seen[i].load() < ring) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SharedPage, APageThatTheProgramUnmapsIsNotWatched) {
  if (!owner_.watching()) GTEST_SKIP() << "userfaultfd is not allowed";
  place();
  ASSERT_TRUE(doorbells_[0]->arm());
  const uint32_t before = idle_[0].wakes();
  void* const gone = std::exchange(page_, nullptr);
  munmap(gone, Doorbells::kPageBytes);
  EXPECT_FALSE(doorbells_[0]->arm());
  owner_.remove_page(gone);
  EXPECT_NE(idle_[0].wakes(), before) << "who waits must not wait for ever";
  EXPECT_FALSE(doorbells_[1]->arm());
}

TEST(Doorbells, ReleasingAnArmedDoorbellIsSafe) {
  const ProgramPage page;
  Doorbells doorbells(true);
  doorbells.add_page(page.slots());
  queue::Idle idle{queue::IdlePolicy{}};
  for (int i = 0; i < 50; ++i) {
    Doorbell doorbell(doorbells);
    doorbells.place(doorbell, page.slots() + i);
    doorbell.set_idle(&idle);
    doorbell.arm();
  }
  doorbells.remove_page(page.slots());
}

}  // namespace
}  // namespace halyard::vgpu::machine
