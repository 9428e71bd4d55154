// Semaphores that two processes share.
#include <unistd.h>

#include <csignal>

#include "cts/harness/device_test.h"
#include "cts/harness/other_process.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kSemaphoreSharingCount = 1024;
constexpr uint64_t kSemaphoreSharingBytes = kSemaphoreSharingCount * sizeof(uint32_t);

class SemaphoreSharing : public DeviceTest {
 protected:
  void send_semaphore(OtherProcess& other, const Ref<Semaphore>& semaphore) {
    other.send(take(device().export_semaphore(*semaphore)));
  }
  Ref<Semaphore> receive_semaphore(OtherProcess& other) {
    return take(device().import_semaphore(other.receive<ExportedSemaphore>()));
  }
};

TEST_F(SemaphoreSharing, HostsSignalEachOther) {
  OtherProcess other;
  if (other.is_parent()) {
    const Ref<Semaphore> semaphore = receive_semaphore(other);
    EXPECT_EQ(take(semaphore->query()), 3u);
    ASSERT_OK(semaphore->signal(4));
    EXPECT_OK(semaphore->wait(5, time_limit()));
    ASSERT_OK(semaphore->signal(9));
    other.meet();
    return;
  }
  const Ref<Semaphore> semaphore = new_semaphore(3);
  send_semaphore(other, semaphore);
  EXPECT_OK(semaphore->wait(4, time_limit()));
  ASSERT_OK(semaphore->signal(5));
  EXPECT_OK(semaphore->wait(7, time_limit())) << "9 jumps past it";
  EXPECT_EQ(take(semaphore->query()), 9u);
  EXPECT_FAILS(semaphore->signal(8), StatusCode::kInvalidArgument);
  other.meet();
  other.finish();
}

// A pipeline over one buffer: each process's queue waits for the other's work.
TEST_F(SemaphoreSharing, QueuesOfTwoProcessesTakeTurns) {
  constexpr uint64_t kTurns = 6;
  OtherProcess other;
  const bool is_first = !other.is_parent();
  Ref<Buffer> buffer;
  Ref<Semaphore> semaphore;
  if (is_first) {
    buffer = upload(std::vector<uint32_t>(kSemaphoreSharingCount, 1));
    semaphore = new_semaphore();
    other.send(take(device().export_buffer(*buffer)));
    send_semaphore(other, semaphore);
  } else {
    const auto handle = other.receive<ExportedHandle>();
    ImportOptions options;
    options.kind = ImportOptions::Kind::kIpcHandle;
    options.pointer = handle.ipc;
    options.size = kSemaphoreSharingBytes;
    buffer = take(device().import_buffer(options));
    semaphore = receive_semaphore(other);
  }
  uint32_t expected = 1;
  for (uint64_t turn = 0; turn < kTurns; ++turn) {
    const bool is_mine = (turn % 2 == 0) == is_first;
    const uint32_t multiplier = turn % 2 == 0 ? 3 : 5;
    expected = expected * multiplier + 1;
    if (!is_mine) continue;
    ASSERT_OK(queue().dispatch(affine(buffer, kSemaphoreSharingCount, multiplier, 1),
                               When().after(semaphore, turn).then(semaphore, turn + 1)));
  }
  EXPECT_OK(semaphore->wait(kTurns, time_limit()));
  EXPECT_TRUE(
      same(download<uint32_t>(buffer), std::vector<uint32_t>(kSemaphoreSharingCount, expected)));
  other.meet();
  if (is_first) other.finish();
}

TEST_F(SemaphoreSharing, AFailureIsEverybodys) {
  OtherProcess other;
  if (other.is_parent()) {
    const Ref<Semaphore> semaphore = receive_semaphore(other);
    const Ref<Semaphore> behind = new_semaphore();
    ASSERT_OK(queue().barrier(When().after(semaphore, 1).then(behind, 1)));
    EXPECT_FAILS(behind->wait(1, time_limit()), StatusCode::kAborted, "The tea is cold.");
    EXPECT_FAILS(semaphore->query(), StatusCode::kAborted, "The tea is cold.");
    const Ref<Semaphore> second = receive_semaphore(other);
    // Of work, and the other way.
    ASSERT_OK(
        queue().host_call([](void*) { return Status(StatusCode::kDataLoss, "The cup is broken."); },
                          nullptr, When().then(second, 1)));
    other.meet();
    return;
  }
  const Ref<Semaphore> semaphore = new_semaphore();
  send_semaphore(other, semaphore);
  semaphore->fail(Status(StatusCode::kAborted, "The tea is cold."));
  const Ref<Semaphore> second = new_semaphore();
  send_semaphore(other, second);
  EXPECT_FAILS(second->wait(1, time_limit()), StatusCode::kDataLoss, "The cup is broken.");
  other.meet();
  other.finish();
}

TEST_F(SemaphoreSharing, AProcessThatDiesEndsTheWaitsOfTheOther) {
  OtherProcess other;
  if (other.is_parent()) {
    const Ref<Semaphore> semaphore = receive_semaphore(other);
    ASSERT_OK(semaphore->signal(1));
    other.send(getpid());
    // Killed by the test: what follows is not reached.
    EXPECT_OK(semaphore->wait(100, time_limit()));
    return;
  }
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<Semaphore> behind = new_semaphore();
  send_semaphore(other, semaphore);
  EXPECT_OK(semaphore->wait(1, time_limit()));
  ASSERT_OK(queue().barrier(When().after(semaphore, 2).then(behind, 1)));
  const auto child = other.receive<pid_t>();
  ASSERT_EQ(kill(child, SIGKILL), 0);
  const std::string text = "Process " + std::to_string(child) + ", which shared the semaphore";
  EXPECT_FAILS(semaphore->wait(2, time_limit()), StatusCode::kAborted, text);
  EXPECT_FAILS(behind->wait(1, time_limit()), StatusCode::kAborted, text);
  EXPECT_OK(semaphore->wait(1, time_limit())) << "what was reached before stays reached";
  other.finish_killed();
}

TEST_F(SemaphoreSharing, AProcessThatReleasesItEndsNothing) {
  OtherProcess other;
  if (other.is_parent()) {
    Ref<Semaphore> semaphore = receive_semaphore(other);
    ASSERT_OK(semaphore->signal(2));
    semaphore = nullptr;
    other.meet();
    return;
  }
  const Ref<Semaphore> semaphore = new_semaphore();
  send_semaphore(other, semaphore);
  EXPECT_OK(semaphore->wait(2, time_limit()));
  other.meet();
  other.finish();
  EXPECT_FAILS(semaphore->wait(3, Deadline::after_ns(100'000'000)), StatusCode::kDeadlineExceeded);
  ASSERT_OK(semaphore->signal(3));
  EXPECT_EQ(take(semaphore->query()), 3u);
}

TEST_F(SemaphoreSharing, WithinOneProcessToo) {
  const Ref<Semaphore> first = new_semaphore(1);
  const ExportedSemaphore exported = take(device().export_semaphore(*first));
  const Ref<Semaphore> second = take(device().import_semaphore(exported));
  const Ref<Semaphore> third =
      take(device().import_semaphore(take(device().export_semaphore(*second))));
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kSemaphoreSharingCount, 5));
  ASSERT_OK(queue().dispatch(affine(data, kSemaphoreSharingCount, 3, 1),
                             When().after(third, 2).then(second, 3)));
  ASSERT_OK(first->signal(2));
  EXPECT_OK(first->wait(3, time_limit()));
  EXPECT_OK(third->wait(3, time_limit()));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kSemaphoreSharingCount, 16)));
}

TEST_F(SemaphoreSharing, WhatIsNoHandleOrNoMoreIsRefused) {
  EXPECT_FAILS(device().import_semaphore({}), StatusCode::kInvalidArgument, "64 bytes");
  ExportedSemaphore exported;
  {
    const Ref<Semaphore> semaphore = new_semaphore();
    exported = take(device().export_semaphore(*semaphore));
  }
  EXPECT_FAILS(device().import_semaphore(exported), StatusCode::kFailedPrecondition,
               "has released it");
}

}  // namespace
}  // namespace halyard::cts
