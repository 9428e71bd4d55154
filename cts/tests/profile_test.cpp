// Profiling: when each operation ran, on the host's clock.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "cts/harness/device_test.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

struct Event {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;
  ProfileEvent facts;  // but for the name, whose text is gone
};

uint64_t host_now_ns() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

class Profile : public DeviceTest {
 protected:
  // Two clocks are brought together: what was measured may be off by this much.
  static constexpr uint64_t kSlack = 2 * 1000 * 1000;

  std::vector<Event> end_profile() {
    std::vector<Event> events;
    require(device().end_profile(
        [](void* context, const ProfileEvent& event) {
          static_cast<std::vector<Event>*>(context)->push_back(
              {std::string(event.name.view()), event.begin_ns, event.end_ns, event});
        },
        &events));
    return events;
  }
  Status begin_profile(std::initializer_list<ProfileKind> kinds) {
    ProfileOptions options;
    for (const ProfileKind kind : kinds) options.kinds |= profile_bit(kind);
    return device().begin_profile(options);
  }
  static std::vector<Event> of_kind(const std::vector<Event>& events, ProfileKind kind) {
    std::vector<Event> found;
    for (const Event& event : events) {
      if (event.facts.kind == kind) found.push_back(event);
    }
    return found;
  }
  static std::vector<Event> named(const std::vector<Event>& events, std::string_view name) {
    std::vector<Event> found;
    for (const Event& event : events) {
      if (event.name.find(name) != std::string::npos) found.push_back(event);
    }
    return found;
  }
};

TEST_F(Profile, GivesEachDispatchByName) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(device().begin_profile());
  for (uint32_t i = 0; i < 10; ++i) ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
  EXPECT_EQ(named(end_profile(), "affine").size(), 10u);
}

TEST_F(Profile, EndsAfterItBegins) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(device().begin_profile());
  for (uint32_t i = 0; i < 10; ++i) ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
  for (const Event& event : end_profile()) EXPECT_LE(event.begin, event.end) << event.name;
}

TEST_F(Profile, IsOnTheHostsClock) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const uint64_t before = host_now_ns();
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1), next()));
  ASSERT_OK(finish());
  const std::vector<Event> events = named(end_profile(), "affine");
  // A driver may set one clock by the other until then.
  const uint64_t after = host_now_ns();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_GE(events[0].begin + kSlack, before);
  EXPECT_LE(events[0].end, after + kSlack);
}

TEST_F(Profile, AQueuesOperationsFollowEachOther) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(device().begin_profile());
  for (uint32_t i = 0; i < 20; ++i) ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
  const std::vector<Event> events = named(end_profile(), "affine");
  ASSERT_EQ(events.size(), 20u);
  for (size_t i = 1; i < events.size(); ++i) EXPECT_GE(events[i].begin, events[i - 1].end);
}

TEST_F(Profile, CoversTransfers) {
  const Ref<Buffer> source = upload(std::vector<uint32_t>(64, 1));
  const Ref<Buffer> target = upload(std::vector<uint32_t>(64, 2));
  const uint32_t word = 5;
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().fill(source, &word, sizeof(word)));
  ASSERT_OK(queue().copy(source, target));
  const std::vector<Event> events = end_profile();
  EXPECT_EQ(events.size(), 2u);
  EXPECT_EQ(named(events, "fill").size(), 1u);
  EXPECT_EQ(named(events, "copy").size(), 1u);
  for (const Event& event : events) EXPECT_LE(event.begin, event.end) << event.name;
}

// A transfer of the host's bytes, and what the host itself does.
TEST_F(Profile, CoversUpdatesAndHostCalls) {
  const Ref<Buffer> target = upload(std::vector<uint32_t>(64, 2));
  const uint32_t word = 5;
  const uint64_t before = host_now_ns();
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().update(target, &word, sizeof(word)));
  ASSERT_OK(queue().host_call([](void*) { return Status(); }, nullptr));
  const std::vector<Event> events = end_profile();
  EXPECT_EQ(named(events, "update").size(), 1u);
  const std::vector<Event> calls = named(events, "host_call");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_GE(calls[0].begin, before);
  EXPECT_LE(calls[0].begin, calls[0].end);
  EXPECT_LE(calls[0].end, host_now_ns());
}

TEST_F(Profile, WaitsForWhatIsHeldBack) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const Ref<Semaphore> go = new_semaphore();
  const Launch launch = affine(data, 64, 1, 1);
  const SemaphorePoint point = {go.get(), 1};
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch(launch, {.wait = {&point, 1}, .signal = {}}));
  std::thread later([&] { go->signal(1).ignore(); });
  const std::vector<Event> events = end_profile();
  later.join();
  EXPECT_EQ(named(events, "affine").size(), 1u);
}

TEST_F(Profile, WaitsForWhatIsInFlight) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const Ref<Buffer> log = upload(std::vector<uint32_t>(2, 0));
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch(Launch(function("busy", "append"), {1, 1, 1}, {1, 1, 1},
                                    {log, Argument::of(1u), Argument::of(20000u)})));
  EXPECT_EQ(named(end_profile(), "append").size(), 1u);
  EXPECT_EQ(download<uint32_t>(log)[0], 1u);
}

TEST_F(Profile, LeavesOutWhatWasBeforeAndAfter) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
  ASSERT_OK(drain(queue()));
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
  const std::vector<Event> events = end_profile();
  ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(named(events, "affine").size(), 1u);
}

TEST_F(Profile, MayBeRepeated) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(device().begin_profile());
    ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
    EXPECT_EQ(named(end_profile(), "affine").size(), 1u);
  }
}

TEST_F(Profile, CoversEveryQueue) {
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> mine = upload(std::vector<uint32_t>(64, 1));
  const Ref<Buffer> theirs = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(device().begin_profile());
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(queue().dispatch(affine(mine, 64, 1, 1)));
    ASSERT_OK(other->dispatch(affine(theirs, 64, 1, 1)));
  }
  EXPECT_EQ(named(end_profile(), "affine").size(), 10u);
}

TEST_F(Profile, SaysWhatEachOperationIs) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const Ref<Buffer> target = upload(std::vector<uint32_t>(64, 2));
  const uint32_t words[2] = {5, 6};
  RectangleCopy shape;
  shape.row_bytes = 12;
  shape.rows = 3;
  shape.source_row_pitch = shape.target_row_pitch = 16;
  const Launch launch = affine(data, 64, 3, 1);
  const Dispatch& given = launch;
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch(launch));
  ASSERT_OK(queue().fill({*data, 0, 40}, words, 4));
  ASSERT_OK(queue().copy({*data, 0, 24}, {*target, 0, 24}));
  ASSERT_OK(queue().copy_rectangle(data, target, shape));
  ASSERT_OK(queue().update(target, words, sizeof(words)));
  ASSERT_OK(queue().host_call([](void*) { return Status(); }, nullptr));
  ASSERT_OK(queue().barrier(next()));
  const std::vector<Event> events = end_profile();
  const auto one = [&](ProfileKind kind) {
    const std::vector<Event> found = of_kind(events, kind);
    EXPECT_EQ(found.size(), 1u) << to_string(kind);
    return found.empty() ? Event() : found[0];
  };
  const Event dispatch = one(ProfileKind::kDispatch);
  EXPECT_NE(dispatch.name.find("affine"), std::string::npos);
  EXPECT_EQ(dispatch.facts.grid, given.grid);
  EXPECT_EQ(dispatch.facts.workgroup, given.workgroup);
  EXPECT_EQ(dispatch.facts.bytes, 0u);
  EXPECT_EQ(one(ProfileKind::kFill).facts.bytes, 40u);
  EXPECT_EQ(one(ProfileKind::kUpdate).facts.bytes, 8u);
  one(ProfileKind::kHostCall);
  one(ProfileKind::kBarrier);
  const std::vector<Event> copies = of_kind(events, ProfileKind::kCopy);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].facts.bytes + copies[1].facts.bytes, 24u + 36u);
  EXPECT_EQ(events.size(), 7u);
  EXPECT_NE(queue().id(), 0u);
  for (const Event& event : events) {
    EXPECT_EQ(event.facts.queue, queue().id()) << event.name;
    EXPECT_EQ(event.facts.execution, 0u) << event.name;
    if (event.facts.kind != ProfileKind::kDispatch) {
      EXPECT_EQ(event.name, to_string(event.facts.kind));
      EXPECT_EQ(event.facts.grid, (Dim3{0, 0, 0})) << event.name;
    }
  }
}

TEST_F(Profile, SaysWhichFilesAndPoolMemoryWereUsed) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  ASSERT_NE(file, nullptr);
  const int descriptor = fileno(file.get());
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().write({*data, 0, 128}, {descriptor, 0}));
  ASSERT_OK(queue().read({descriptor, 0}, {*data, 128, 64}));
  const Ref<Buffer> block = take(queue().alloca_buffer(4096));
  ASSERT_OK(queue().dealloca_buffer(*block));
  const std::vector<Event> events = end_profile();
  EXPECT_EQ(events.size(), 4u);
  for (const auto& [kind, bytes] :
       {std::pair(ProfileKind::kWrite, 128u), std::pair(ProfileKind::kRead, 64u),
        std::pair(ProfileKind::kAlloca, 0u), std::pair(ProfileKind::kDealloca, 0u)}) {
    const std::vector<Event> found = of_kind(events, kind);
    ASSERT_EQ(found.size(), 1u) << to_string(kind);
    EXPECT_EQ(found[0].facts.bytes, bytes) << to_string(kind);
    EXPECT_EQ(found[0].facts.queue, queue().id()) << to_string(kind);
  }
}

TEST_F(Profile, SaysOnWhichQueue) {
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> mine = upload(std::vector<uint32_t>(64, 1));
  const Ref<Buffer> theirs = upload(std::vector<uint32_t>(64, 1));
  EXPECT_NE(queue().id(), other->id());
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch(affine(mine, 64, 1, 1)));
  for (int i = 0; i < 3; ++i) ASSERT_OK(other->dispatch(affine(theirs, 64, 1, 1)));
  ASSERT_OK(other->host_call([](void*) { return Status(); }, nullptr));
  std::map<uint64_t, int> counts;
  for (const Event& event : end_profile()) ++counts[event.facts.queue];
  EXPECT_EQ(counts, (std::map<uint64_t, int>{{queue().id(), 1}, {other->id(), 4}}));
}

TEST_F(Profile, AQueuesNumberIsNeverAnothers) {
  std::set<uint64_t> seen = {queue().id()};
  for (int i = 0; i < 5; ++i) {
    const Ref<Queue> made = new_queue();
    EXPECT_TRUE(seen.insert(made->id()).second) << made->id();
    ASSERT_OK(drain(*made));
  }
}

TEST_F(Profile, OfSomeKindsLeavesOutTheOthers) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const uint32_t word = 5;
  const auto work = [&] {
    ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1)));
    ASSERT_OK(queue().fill(data, &word, sizeof(word)));
    ASSERT_OK(queue().host_call([](void*) { return Status(); }, nullptr));
    ASSERT_OK(queue().barrier(next()));
  };
  ASSERT_OK(begin_profile({ProfileKind::kDispatch, ProfileKind::kHostCall}));
  work();
  std::vector<Event> events = end_profile();
  EXPECT_EQ(events.size(), 2u);
  EXPECT_EQ(of_kind(events, ProfileKind::kDispatch).size(), 1u);
  EXPECT_EQ(of_kind(events, ProfileKind::kHostCall).size(), 1u);
  ASSERT_OK(begin_profile({ProfileKind::kFill}));
  work();
  events = end_profile();
  EXPECT_EQ(events.size(), 1u);
  EXPECT_EQ(of_kind(events, ProfileKind::kFill).size(), 1u);
  ASSERT_OK(device().begin_profile());
  work();
  EXPECT_EQ(end_profile().size(), 4u);
}

// A kernel that is not timed may go on.
TEST_F(Profile, DoesNotWaitForWhatItDoesNotTime) {
  HeldKernel kernel(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  ASSERT_OK(begin_profile({ProfileKind::kFill}));
  ASSERT_OK(kernel.start(queue()));
  EXPECT_TRUE(end_profile().empty());
  EXPECT_FALSE(kernel.has_ended());
  kernel.release();
  EXPECT_OK(drain(queue()));
}

// A recording with each kind of command, in which commands 0 to 2 may overlap.
class ProfileOfARecording : public Profile {
 protected:
  void SetUp() override {
    Profile::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    data_ = upload(std::vector<uint32_t>(64, 1));
    target_ = upload(std::vector<uint32_t>(64, 2));
    counts_ = upload(std::vector<uint32_t>{1, 1, 1});
    commands_ = take(device().create_command_buffer());
    const uint32_t word = 5;
    require(commands_->dispatch(affine(data_, 64, 1, 1)));
    require(commands_->fill({*target_, 0, 64}, &word, sizeof(word)));
    require(commands_->fill({*target_, 64, 66}, "abc", 3));
    require(commands_->barrier());
    require(commands_->update({*target_, 0, 8}, "abcdefg", 8));
    require(commands_->barrier());
    require(commands_->copy({*target_, 0, 32}, {*target_, 128, 32}));
    require(commands_->barrier());
    require(commands_->dispatch(affine(data_, 64, 3, 1)));
    require(commands_->barrier());
    require(commands_->dispatch(affine(BufferRange::binding(0), 64, 3, 1)));
    require(commands_->finish());
  }
  static const std::vector<ProfileKind>& kinds() {
    static const std::vector<ProfileKind> kinds = {
        ProfileKind::kDispatch, ProfileKind::kFill,     ProfileKind::kFill,    ProfileKind::kUpdate,
        ProfileKind::kCopy,     ProfileKind::kDispatch, ProfileKind::kDispatch};
    return kinds;
  }
  // The events of one execution by their place in the recording.
  static std::map<uint32_t, Event> by_command(const std::vector<Event>& events,
                                              uint64_t execution) {
    std::map<uint32_t, Event> found;
    for (const Event& event : events) {
      if (event.facts.execution != execution) continue;
      EXPECT_TRUE(found.emplace(event.facts.command, event).second) << event.facts.command;
    }
    return found;
  }

  Ref<Buffer> data_;
  Ref<Buffer> target_;
  Ref<Buffer> counts_;
  Ref<CommandBuffer> commands_;
};

TEST_F(ProfileOfARecording, HasAnEventForEachCommand) {
  const BufferRange bindings[] = {data_};
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().execute(*commands_, bindings));
  ASSERT_OK(queue().execute(*commands_, bindings));
  const std::vector<Event> events = end_profile();
  EXPECT_EQ(events.size(), 2 * kinds().size());
  std::set<uint64_t> executions;
  for (const Event& event : events) {
    executions.insert(event.facts.execution);
    EXPECT_EQ(event.facts.queue, queue().id());
  }
  EXPECT_EQ(executions.size(), 2u);
  EXPECT_EQ(executions.count(0), 0u);
  const uint64_t bytes[] = {0, 64, 66, 8, 32, 0, 0};
  for (const uint64_t execution : executions) {
    const std::map<uint32_t, Event> commands = by_command(events, execution);
    ASSERT_EQ(commands.size(), kinds().size());
    for (uint32_t i = 0; i < kinds().size(); ++i) {
      const Event& event = commands.at(i);
      EXPECT_EQ(event.facts.kind, kinds()[i]) << i;
      EXPECT_EQ(event.facts.bytes, bytes[i]) << i;
      EXPECT_LE(event.begin, event.end) << i;
      if (event.facts.kind == ProfileKind::kDispatch) {
        EXPECT_NE(event.name.find("affine"), std::string::npos) << i;
        EXPECT_EQ(event.facts.grid, (Dim3{64, 1, 1})) << i;
        EXPECT_EQ(event.facts.workgroup, (Dim3{64, 1, 1})) << i;
      }
      // From command 3 on each is behind a barrier.
      if (i >= 3) {
        EXPECT_GE(event.begin, commands.at(i - 1).end) << i;
      }
    }
  }
  EXPECT_GE(by_command(events, *executions.rbegin()).at(0).begin,
            by_command(events, *executions.begin()).at(6).end);
  // And what was executed has its results.
  const auto executed = [](uint32_t x) { return ((x + 1) * 3 + 1) * 3 + 1; };
  EXPECT_TRUE(same(download<uint32_t>(data_), std::vector<uint32_t>(64, executed(executed(1)))));
}

TEST_F(ProfileOfARecording, WaitsForWhatIsInFlight) {
  HeldKernel kernel(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(kernel.launch()));
  ASSERT_OK(commands->finish());
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().execute(*commands));
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kernel.release();
  });
  const std::vector<Event> events = end_profile();
  EXPECT_TRUE(kernel.has_ended());
  end.join();
  EXPECT_EQ(events.size(), 1u);
}

TEST_F(ProfileOfARecording, IsFilteredByKind) {
  const BufferRange bindings[] = {data_};
  ASSERT_OK(begin_profile({ProfileKind::kCopy, ProfileKind::kFill}));
  ASSERT_OK(queue().execute(*commands_, bindings));
  const std::vector<Event> events = end_profile();
  ASSERT_EQ(events.size(), 3u);
  const std::map<uint32_t, Event> commands = by_command(events, events[0].facts.execution);
  EXPECT_EQ(commands.count(1) + commands.count(2) + commands.count(4), 3u);
}

TEST_F(ProfileOfARecording, OfNothingThatIsAskedForHasNoEvents) {
  const BufferRange bindings[] = {data_};
  ASSERT_OK(begin_profile({ProfileKind::kHostCall}));
  ASSERT_OK(queue().execute(*commands_, bindings));
  EXPECT_TRUE(end_profile().empty());
}

TEST_F(ProfileOfARecording, CoversIndirectDispatches) {
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const Launch launch = affine(data_, 64, 1, 1);
  ASSERT_OK(commands->dispatch(launch));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(launch, counts_));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(launch));
  ASSERT_OK(commands->finish());
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().execute(*commands));
  ASSERT_OK(queue().dispatch_indirect(launch, counts_));
  const std::vector<Event> events = end_profile();
  ASSERT_EQ(events.size(), 4u);
  uint64_t execution = 0;
  for (const Event& event : events) execution = std::max(execution, event.facts.execution);
  const std::map<uint32_t, Event> found = by_command(events, execution);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_GE(found.at(1).begin, found.at(0).end);
  EXPECT_GE(found.at(2).begin, found.at(1).end);
  for (const Event& event : events) {
    EXPECT_EQ(event.facts.kind, ProfileKind::kDispatch);
    EXPECT_NE(event.name.find("affine"), std::string::npos);
    EXPECT_EQ(event.facts.workgroup, (Dim3{64, 1, 1}));
  }
}

// More commands than the ring takes at once, held back, and with more packets than commands.
TEST_F(ProfileOfARecording, CoversRecordingsLargerThanTheRing) {
  QueueOptions small;
  small.capacity = 64;
  const Ref<Queue> queue = take(device().create_queue(small));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  constexpr uint32_t kCommands = 300;
  for (uint32_t i = 0; i < kCommands; ++i) {
    ASSERT_OK(commands->dispatch(affine(data_, 64, 1, 1)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> go = new_semaphore();
  const SemaphorePoint point = {go.get(), 1};
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue->execute(*commands));
  ASSERT_OK(queue->execute(*commands, {}, {.wait = {&point, 1}, .signal = {}}));
  ASSERT_OK(go->signal(1));
  const std::vector<Event> events = end_profile();
  EXPECT_EQ(events.size(), 2 * kCommands);
  std::set<std::pair<uint64_t, uint32_t>> places;
  for (const Event& event : events) places.emplace(event.facts.execution, event.facts.command);
  EXPECT_EQ(places.size(), 2 * kCommands);
  EXPECT_TRUE(same(download<uint32_t>(data_), std::vector<uint32_t>(64, 1 + 2 * kCommands)));
}

TEST_F(Profile, DoesNotChangeResults) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  ASSERT_OK(device().begin_profile());
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 50; ++i) {
    ASSERT_OK(queue().dispatch(affine(data, 64, 3, i)));
    expected = expected * 3 + i;
  }
  end_profile();
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, expected)));
}

TEST_F(Profile, EndWithoutABeginning) {
  const auto sink = [](void*, const ProfileEvent&) {};
  EXPECT_FALSE(device().end_profile(sink, nullptr).ok());
  EXPECT_FAILS(device().end_profile(nullptr, nullptr), StatusCode::kInvalidArgument, "null");
}

TEST_F(Profile, BeginsOnlyOnce) {
  ASSERT_OK(device().begin_profile());
  EXPECT_FALSE(device().begin_profile().ok());
  end_profile();
}

}  // namespace
}  // namespace halyard::cts
