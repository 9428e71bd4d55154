// Indirect dispatches in recordings whose counts the recording itself writes, with views and
// offsets for everything, and under a profile; and indirect dispatches of nothing.
#include <string>

#include "cts/tests/indirect.h"

namespace halyard::cts {
namespace {

TEST_F(Indirect, CountsThatAKernelOfTheRecordingWrites) {
  const Ref<Buffer> number = counts(7, 7, 7);
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(number, 3, 0, 1)));  // 1, 1, 1
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(BufferRange(*number, 0, 4), 1, 4, 1)));  // 5, 1, 1
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 3), number));
  ASSERT_OK(commands->finish());
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(queue().execute(*commands, {}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(filled(out, 5 * kGroup, 3));
  }
}

// Each replay adds one group.
TEST_F(Indirect, CountsThatGrowWithEachReplay) {
  const Ref<Buffer> number = counts(0);
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange(*number, 0, 4), 1, 1, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 3), number));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->finish());
  for (uint32_t groups = 1; groups <= 8; ++groups) {
    ASSERT_OK(queue().execute(*commands, {}, next()));
    if (groups % 3 != 0) continue;  // two are in flight at once
    ASSERT_OK(finish());
    EXPECT_TRUE(filled(out, groups * kGroup, 3));
  }
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 8 * kGroup, 3));
}

TEST_F(Indirect, CountsThatAFillOfTheRecordingWrites) {
  const Ref<Buffer> number = counts(7, 7, 7);
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  const uint32_t two = 2;
  ASSERT_OK(commands->fill(number, &two, 4));  // 2, 2, 2
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 3, {kGroup, 1, 1}), number));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 8 * kGroup, 3));
}

TEST_F(Indirect, CountsThatACopyOfTheRecordingWrites) {
  const Ref<Buffer> number = counts(7, 7, 7);
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->copy(BufferRange::binding(0, 0, 12), number));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 3), number));
  ASSERT_OK(commands->finish());
  for (uint32_t groups = 1; groups <= 3; ++groups) {
    ASSERT_OK(queue().execute(*commands, {BufferRange(counts(groups))}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(filled(out, groups * kGroup, 3));
  }
}

// Several dispatches, each with counts that were written just before it.
TEST_F(Indirect, CountsThatAreWrittenBetweenTheDispatches) {
  constexpr uint32_t kDispatches = 6;
  const Ref<Buffer> number = counts(0);
  std::vector<Ref<Buffer>> outs;
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < kDispatches; ++i) {
    outs.push_back(poisoned(8 * kGroup * 4));
    ASSERT_OK(commands->dispatch(affine(BufferRange(*number, 0, 4), 1, 0, i + 1)));
    ASSERT_OK(commands->barrier());
    ASSERT_OK(commands->dispatch_indirect(fill_ids(outs[i], i), number));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  for (uint32_t i = 0; i < kDispatches; ++i) EXPECT_TRUE(filled(outs[i], (i + 1) * kGroup, i));
}

// --- Views, each with an offset of its own, and ranges of views.

TEST_F(Indirect, ViewsAsCountsAndArguments) {
  const Ref<Buffer> many = upload(std::vector<uint32_t>{9, 9, 9, 9, 9, 2, 1, 1, 9});
  const Ref<Buffer> number = take(many->subspan(8, 28));
  const Ref<Buffer> whole = poisoned(6 * kGroup * 4);
  const Ref<Buffer> out = take(whole->subspan(kGroup * 4, 4 * kGroup * 4));
  ASSERT_OK(queue().dispatch_indirect(fill_ids(BufferRange(*out, kGroup * 4, 2 * kGroup * 4), 5),
                                      {*number, 12, 12}, next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(6 * kGroup, 0xa5a5a5a5);
  for (uint32_t i = 0; i < 2 * kGroup; ++i) expected[2 * kGroup + i] = i + 5;
  EXPECT_TRUE(same(download<uint32_t>(whole), expected));
}

TEST_F(Indirect, ViewsInARecording) {
  const Ref<Buffer> many = upload(std::vector<uint32_t>(16, 9));
  const Ref<Buffer> number = take(many->subspan(8, 32));
  const Ref<Buffer> whole = poisoned(6 * kGroup * 4);
  const Ref<Buffer> out = take(whole->subspan(kGroup * 4, 4 * kGroup * 4));
  const Ref<CommandBuffer> commands = record();
  const uint32_t one = 1;
  const uint32_t two = 2;
  ASSERT_OK(commands->fill({*number, 12, 12}, &one, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->update({*number, 12, 4}, &two, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(BufferRange(*out, kGroup * 4, 2 * kGroup * 4), 5),
                                        {*number, 12, 12}));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy({*out, kGroup * 4, 8}, {*out, 0, 8}));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(6 * kGroup, 0xa5a5a5a5);
  for (uint32_t i = 0; i < 2 * kGroup; ++i) expected[2 * kGroup + i] = i + 5;
  expected[kGroup] = 5;
  expected[kGroup + 1] = 6;
  EXPECT_TRUE(same(download<uint32_t>(whole), expected));
}

// Views bound to slots with offsets: of the view, of the binding, and of the slot.
TEST_F(Indirect, ViewsInSlots) {
  const Ref<Buffer> many = upload(std::vector<uint32_t>{9, 9, 9, 9, 9, 2, 1, 1, 9});
  const Ref<Buffer> number = take(many->subspan(8, 28));
  const Ref<Buffer> whole = poisoned(8 * kGroup * 4);
  const Ref<Buffer> out = take(whole->subspan(kGroup * 4, 6 * kGroup * 4));
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch_indirect(fill_ids(BufferRange::binding(1, kGroup * 4), 5),
                                        BufferRange::binding(0, 4, 12)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(
      *commands, {BufferRange(*number, 8, 20), BufferRange(*out, kGroup * 4, 4 * kGroup * 4)},
      next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(8 * kGroup, 0xa5a5a5a5);
  for (uint32_t i = 0; i < 2 * kGroup; ++i) expected[3 * kGroup + i] = i + 5;
  EXPECT_TRUE(same(download<uint32_t>(whole), expected));
}

// --- Under a profile.

class ProfiledIndirect : public Indirect {
 protected:
  // How many events name the kernel.
  size_t end_profile() {
    size_t events = 0;
    require(device().end_profile(
        [](void* count, const ProfileEvent& event) {
          const bool named = event.name.view().find("fill_ids") != std::string_view::npos;
          *static_cast<size_t*>(count) += named && event.begin_ns <= event.end_ns ? 1 : 0;
        },
        &events));
    return events;
  }
};

TEST_F(ProfiledIndirect, ADispatch) {
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  ASSERT_OK(device().begin_profile());
  for (uint32_t groups = 1; groups <= 5; ++groups) {
    ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 3), counts(groups), next()));
  }
  ASSERT_OK(finish());
  EXPECT_EQ(end_profile(), 5u);
  EXPECT_TRUE(filled(out, 5 * kGroup, 3));
}

TEST_F(ProfiledIndirect, ADispatchThatWaits) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 3), counts(4), When(next()).after(gate, 1)));
  ASSERT_OK(gate->signal(1));
  EXPECT_EQ(end_profile(), 1u);
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 4 * kGroup, 3));
}

TEST_F(ProfiledIndirect, ARecording) {
  const Ref<Buffer> number = counts(0);
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange(*number, 0, 4), 1, 1, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 3), number));
  ASSERT_OK(commands->finish());
  ASSERT_OK(device().begin_profile());
  for (int i = 0; i < 3; ++i) ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  end_profile();  // how many events a recording has is the driver's to say
  EXPECT_TRUE(filled(out, 3 * kGroup, 3));
}

// --- Of nothing: a dispatch without work still waits before it signals.

TEST_F(Indirect, NoGroupsStillWait) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Buffer> out = poisoned(kGroup * 4);
  ASSERT_OK(
      queue().dispatch_indirect(fill_ids(out, 5), counts(0), When().after(gate, 1).then(done, 1)));
  EXPECT_FAILS(done->wait(1, Deadline::after_ns(2'000'000)), StatusCode::kDeadlineExceeded);
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(done->wait(1, time_limit()));
  EXPECT_TRUE(filled(out, 0, 0));
}

TEST_F(Indirect, NoGroupsInARecordingStillWait) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Buffer> out = poisoned(kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 5), counts(0, 3, 3)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, When().after(gate, 1).then(done, 1)));
  EXPECT_FAILS(done->wait(1, Deadline::after_ns(2'000'000)), StatusCode::kDeadlineExceeded);
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(done->wait(1, time_limit()));
  EXPECT_TRUE(filled(out, 0, 0));
}

// The wait is for work of another queue, which the device knows of.
TEST_F(Indirect, NoGroupsWaitForAnotherQueue) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> ready = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Buffer> out = poisoned(kGroup * 4);
  ASSERT_OK(other->barrier(When().after(gate, 1).then(ready, 1)));
  ASSERT_OK(
      queue().dispatch_indirect(fill_ids(out, 5), counts(0), When().after(ready, 1).then(done, 1)));
  EXPECT_EQ(take(done->query()), 0u);
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(done->wait(1, time_limit()));
}

TEST_F(Indirect, NoGroupsBehindAFailedWaitFail) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Buffer> out = poisoned(kGroup * 4);
  ASSERT_OK(
      queue().dispatch_indirect(fill_ids(out, 5), counts(0), When().after(gate, 1).then(done, 1)));
  gate->fail(Status(StatusCode::kAborted, "The tea is cold."));
  EXPECT_FAILS(done->wait(1, time_limit()), StatusCode::kAborted, "The tea is cold.");
}

}  // namespace
}  // namespace halyard::cts
