// Traces of what no halyard run does: several queues, recordings, drivers that say less.
#include "tools/halyard/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace halyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

DeviceEvent event(const char* name, ProfileKind kind, uint64_t queue, uint64_t begin_ns) {
  DeviceEvent event;
  event.name = name;
  event.facts.kind = kind;
  event.facts.queue = queue;
  event.facts.begin_ns = begin_ns;
  event.facts.end_ns = begin_ns + 1000;
  return event;
}

DeviceEvent command(uint32_t position, uint64_t execution, uint64_t queue, uint64_t begin_ns) {
  DeviceEvent made = event("vadd", ProfileKind::kDispatch, queue, begin_ns);
  made.facts.execution = execution;
  made.facts.command = position;
  return made;
}

Json trace_of(std::vector<DeviceEvent> events, const std::vector<runner::HostSpan>& host = {}) {
  Trace trace;
  trace.add_device("gpu", std::move(events), host);
  return Json::parse(trace.to_text())["traceEvents"];
}

// One line for each: the phase, the name, the track, the time.
std::vector<std::string> lines(const Json& events, const std::string& phases) {
  std::vector<std::string> lines;
  for (const Json& event : events) {
    const std::string phase = event["ph"];
    if (phases.find(phase) == std::string::npos) continue;
    lines.push_back(phase + " " + std::string(event["name"]) + " " +
                    std::to_string(event["pid"].get<int>()) + "." +
                    std::to_string(event["tid"].get<int>()) + " at " +
                    std::to_string(event["ts"].get<int>()));
  }
  return lines;
}

std::vector<std::string> tracks(const Json& events) {
  std::vector<std::string> names;
  for (const Json& event : events) {
    if (event["name"] == "thread_name") names.push_back(event["args"]["name"]);
  }
  return names;
}

TEST(Trace, EachQueueHasATrack) {
  const Json events = trace_of({event("copy", ProfileKind::kCopy, 9, 3000),
                                event("vadd", ProfileKind::kDispatch, 4, 2000),
                                event("fill", ProfileKind::kFill, 9, 1000)});
  EXPECT_THAT(tracks(events), ElementsAre("queue 4", "queue 9", "halyard run"));
  EXPECT_THAT(lines(events, "X"),
              ElementsAre("X fill 1.2 at 0", "X vadd 1.1 at 1", "X copy 1.2 at 2"));
}

TEST(Trace, ADriverThatDoesNotNameQueuesHasOne) {
  const Json events =
      trace_of({event("vadd", ProfileKind::kUnknown, 0, 1000)}, {{"submit vadd", 500, 600, 0}});
  EXPECT_THAT(tracks(events), ElementsAre("queue", "halyard run"));
  EXPECT_THAT(lines(events, "sf"), IsEmpty());
}

TEST(Trace, TheCommandsOfAnExecutionAreAFlow) {
  const Json events = trace_of({command(2, 7, 1, 5000), command(0, 7, 1, 1000),
                                command(1, 7, 1, 3000), command(0, 8, 1, 9000)});
  EXPECT_THAT(lines(events, "stf"),
              ElementsAre("s execution 1.1 at 0", "t execution 1.1 at 2", "f execution 1.1 at 4"));
  for (const Json& event : events) {
    if (event["ph"] != "X" || event["ts"] != 2.0) continue;
    EXPECT_EQ(event["args"]["execution"], 7);
    EXPECT_EQ(event["args"]["command"], 1);
  }
}

TEST(Trace, SubmissionsAreJoinedWithTheDispatchesOfTheirQueue) {
  const Json events = trace_of(
      {event("a", ProfileKind::kDispatch, 1, 4000), event("fill", ProfileKind::kFill, 2, 4500),
       event("b", ProfileKind::kDispatch, 2, 5000), command(0, 3, 2, 6000)},
      {{"submit a", 1000, 1100, 1}, {"submit b", 2000, 2100, 2}, {"wait", 2200, 9000, 0}});
  EXPECT_THAT(lines(events, "sf"), ElementsAre("s submission 2.1 at 0", "f submission 1.1 at 3",
                                               "s submission 2.1 at 1", "f submission 1.2 at 4"));
}

// A dispatch that failed has no event: an arrow would point at another one.
TEST(Trace, AQueueWithAnUnknownSubmissionHasNoArrows) {
  const Json events = trace_of({event("a", ProfileKind::kDispatch, 1, 4000)},
                               {{"submit a", 1000, 1100, 1}, {"submit a", 2000, 2100, 1}});
  EXPECT_THAT(lines(events, "sf"), IsEmpty());
}

TEST(Trace, AnUnknownGridIsNotShown) {
  DeviceEvent indirect = event("vadd", ProfileKind::kDispatch, 1, 1000);
  indirect.facts.workgroup = {64, 1, 1};
  for (const Json& one : trace_of({indirect})) {
    if (one["ph"] != "X") continue;
    EXPECT_EQ(one["args"].dump(), R"({"workgroup":[64,1,1]})");
  }
}

TEST(Trace, WithoutRoctxEventsThereIsNoProcessForThem) {
  Trace trace;
  trace.add_roctx({});
  EXPECT_THAT(Json::parse(trace.to_text())["traceEvents"], IsEmpty());
}

}  // namespace
}  // namespace halyard::cli
