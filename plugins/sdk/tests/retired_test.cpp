#include "plugins/sdk/retired.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

namespace halyard {
namespace {

struct Use {
  const bool* pending;
  bool in_use() const { return *pending; }
};
using List = RetiredList<Use>;

// A heap of 100 bytes whose entries the test retires. What a wait brings is the test's to say.
struct Heap {
  Status attempt() {
    ++attempts;
    if (live + wanted > 100 || lingers)
      return Status(StatusCode::kResourceExhausted, "The heap is full.");
    return {};
  }
  void reclaim() { list.collect(); }
  HeapRoom room() const { return {100, live, spare, has_unused_spare, lingers}; }
  template <typename Evaluate>
  PointState wait(const Evaluate& evaluate, Deadline) {
    const PointState state = evaluate();
    if (state != PointState::kPending) return state;
    ++waits;
    if (meanwhile) meanwhile();
    return evaluate();
  }
  void retire(uint64_t bytes, const bool& pending) {
    list.add({{&pending}, [this, bytes] { live -= bytes; }, MemoryType::kDevice, bytes});
  }
  Status find() { return list.find_memory(MemoryType::kDevice, wanted, allowed, *this); }

  List list;
  uint64_t live = 0;
  uint64_t wanted = 60;
  uint64_t spare = 0;
  bool has_unused_spare = false;
  MemoryWait allowed = kMemoryWait;
  bool lingers = false;
  std::function<void()> meanwhile;
  int attempts = 0;
  int waits = 0;
};

TEST(Retired, WhatTheRuntimeHasStillToTakeInIsWaitedFor) {
  Heap heap;
  heap.lingers = true;
  heap.meanwhile = [&] {
    heap.lingers = false;
    heap.list.returned(MemoryType::kDevice);
  };
  EXPECT_TRUE(heap.find().ok());
  EXPECT_EQ(heap.waits, 1);
}

TEST(Retired, WhatTheRuntimeHasStillToTakeInMayNotBeEnough) {
  Heap heap;
  heap.live = 41;
  heap.lingers = true;
  EXPECT_EQ(heap.find().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(heap.waits, 0);
}

TEST(Retired, IsReleasedWhenNothingUsesIt) {
  List list;
  bool first = true;
  bool second = true;
  int released = 0;
  list.add({{&first}, [&] { released += 1; }});
  list.add({{&second}, [&] { released += 2; }});
  EXPECT_EQ(list.collect().left, 2u);
  second = false;
  const List::Collected collected = list.collect();
  EXPECT_EQ(collected.released, 1u);
  EXPECT_EQ(collected.left, 1u);
  EXPECT_EQ(released, 2);
  first = false;
  list.collect();
  EXPECT_EQ(released, 3);
  EXPECT_EQ(list.size(), 0u);
}

// What must be done before the release, if anything is.
TEST(Retired, IsAdvancedBeforeItIsLookedAt) {
  struct Steps {
    int* left;
    bool in_use() const { return *left != 0; }
    void advance() { --*left; }
  };
  RetiredList<Steps> list;
  int left = 2;
  bool released = false;
  list.add({{&left}, [&] { released = true; }});
  EXPECT_EQ(list.collect().left, 1u);
  EXPECT_FALSE(released);
  EXPECT_EQ(list.collect().released, 1u);
  EXPECT_TRUE(released);
}

TEST(FindMemory, TriesOnceWhereThereIsSome) {
  Heap heap;
  EXPECT_TRUE(heap.find().ok());
  EXPECT_EQ(heap.attempts, 1);
}

TEST(FindMemory, WaitsForWhatWouldDo) {
  Heap heap;
  heap.live = 80;
  bool pending = true;
  heap.retire(50, pending);
  heap.meanwhile = [&] { pending = false; };
  EXPECT_TRUE(heap.find().ok());
  EXPECT_EQ(heap.waits, 1);
}

TEST(FindMemory, DoesNotWaitForWhatWouldNotDo) {
  Heap heap;
  heap.live = 80;
  bool pending = true;
  heap.retire(30, pending);
  EXPECT_EQ(heap.find().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(heap.waits, 0);
}

TEST(FindMemory, DoesNotWaitForAnotherHeapsMemory) {
  Heap heap;
  heap.live = 80;
  bool pending = true;
  heap.list.add({{&pending}, [] {}, MemoryType::kHost, 80});
  heap.list.add({{&pending}, [] {}, MemoryType::kDevice, 0});
  EXPECT_EQ(heap.find().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(heap.waits, 0);
}

TEST(FindMemory, GivesUpWhenTheWaitDoes) {
  Heap heap;
  heap.live = 80;
  bool pending = true;
  heap.retire(80, pending);
  EXPECT_EQ(heap.find().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(heap.waits, 1);
}

TEST(FindMemory, OtherErrorsAreReturned) {
  struct Broken : Heap {
    Status attempt() { return Status(StatusCode::kInternal, "The bus is on fire."); }
  } heap;
  EXPECT_EQ(heap.list.find_memory(MemoryType::kDevice, 1, kMemoryWait, heap).code(),
            StatusCode::kInternal);
}

TEST(FindMemory, WaitsForWhatAPoolGetsBack) {
  Heap heap;
  heap.live = 80;
  heap.spare = 80;
  heap.meanwhile = [&] {
    heap.has_unused_spare = true;
    heap.live = 0;
  };
  EXPECT_TRUE(heap.find().ok());
  EXPECT_EQ(heap.waits, 1);
}

// Taken from the list by another thread, and not released yet.
TEST(FindMemory, WaitsForWhatIsBeingReleased) {
  Heap heap;
  heap.live = 80;
  std::thread allocates;
  Status status;
  std::atomic<bool> waits{false};
  heap.meanwhile = [&] {
    waits = true;
    while (waits) std::this_thread::yield();
  };
  bool pending = false;
  heap.list.add({{&pending},
                 [&] {
                   allocates = std::thread([&] { status = heap.find(); });
                   while (!waits) std::this_thread::yield();
                   heap.live = 0;
                 },
                 MemoryType::kDevice,
                 80});
  heap.list.collect();
  waits = false;
  allocates.join();
  EXPECT_TRUE(status.ok()) << status.to_string();
}

// Between the attempt and the look at what may come.
TEST(FindMemory, SeesWhatWasGivenBackSinceTheAttempt) {
  struct Late : Heap {
    Status attempt() {
      Status status = Heap::attempt();
      if (attempts == 2) {
        live = 0;
        list.returned(MemoryType::kDevice);
      }
      return status;
    }
  } heap;
  heap.live = 80;
  EXPECT_TRUE(heap.list.find_memory(MemoryType::kDevice, heap.wanted, kMemoryWait, heap).ok());
  EXPECT_EQ(heap.attempts, 3);
}

}  // namespace
}  // namespace halyard
