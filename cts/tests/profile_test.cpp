// Profiling: when each operation ran, on the host's clock.
#include <ctime>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

struct Event {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;
};

uint64_t now_ns() {
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
              {std::string(event.name.view()), event.begin_ns, event.end_ns});
        },
        &events));
    return events;
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
  const uint64_t before = now_ns();
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().dispatch(affine(data, 64, 1, 1), next()));
  ASSERT_OK(finish());
  const uint64_t after = now_ns();
  const std::vector<Event> events = named(end_profile(), "affine");
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
  const uint64_t before = now_ns();
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().update(target, &word, sizeof(word)));
  ASSERT_OK(queue().host_call([](void*) { return Status(); }, nullptr));
  const std::vector<Event> events = end_profile();
  EXPECT_EQ(named(events, "update").size(), 1u);
  const std::vector<Event> calls = named(events, "host_call");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_GE(calls[0].begin, before);
  EXPECT_LE(calls[0].begin, calls[0].end);
  EXPECT_LE(calls[0].end, now_ns());
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

TEST_F(Profile, CoversTheDispatchesOfARecording) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(commands->dispatch(affine(data, 64, 1, 1)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(device().begin_profile());
  ASSERT_OK(queue().execute(*commands));
  EXPECT_FALSE(end_profile().empty());
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
