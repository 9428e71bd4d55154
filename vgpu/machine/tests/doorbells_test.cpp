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

// Two queues whose doorbells are on one page of the program's.
class SharedPage : public ::testing::Test {
 protected:
  void SetUp() override {
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

  Doorbells owner_{true};
  queue::Idle idle_[2] = {queue::Idle{queue::IdlePolicy{}}, queue::Idle{queue::IdlePolicy{}}};
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

TEST_F(SharedPage, ARingWakesWhoeverWaitsOnThePage) {
  if (!owner_.watching()) GTEST_SKIP() << "userfaultfd is not allowed";
  place();
  ASSERT_TRUE(doorbells_[0]->arm());
  ASSERT_TRUE(doorbells_[1]->arm());
  const uint32_t before[] = {idle_[0].wakes(), idle_[1].wakes()};
  __atomic_store_n(page_ + 1, 5, __ATOMIC_RELEASE);
  EXPECT_EQ(page_[1], 5u);
  for (int i = 0; i < 2; ++i) EXPECT_NE(idle_[i].wakes(), before[i]) << i;
  // Who was meant waits for the next; who was not polls first.
  EXPECT_TRUE(doorbells_[1]->arm());
  EXPECT_FALSE(doorbells_[0]->arm());
  int refused = 1;
  while (!doorbells_[0]->arm() && refused < 100) ++refused;
  EXPECT_LT(refused, 100);
  __atomic_store_n(page_, 6, __ATOMIC_RELEASE);
  EXPECT_EQ(page_[0], 6u);
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
