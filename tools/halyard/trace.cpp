#include "tools/halyard/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace halyard::cli {
namespace {

double microseconds(uint64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

Json extent(const Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

// What a click on the operation shows.
Json arguments_of(const ProfileEvent& facts) {
  Json arguments = Json::object();
  if (facts.kind == ProfileKind::kDispatch) {
    // The counts of an indirect dispatch may be known to the device only.
    if (facts.grid.x != 0) arguments["grid"] = extent(facts.grid);
    arguments["workgroup"] = extent(facts.workgroup);
  }
  if (facts.bytes != 0) arguments["bytes"] = facts.bytes;
  if (facts.execution != 0) {
    arguments["execution"] = facts.execution;
    arguments["command"] = facts.command;
  }
  return arguments;
}

bool is_dispatch(const DeviceEvent& event) {
  return event.facts.kind == ProfileKind::kDispatch && event.facts.execution == 0;
}

}  // namespace

void collect_event(void* context, const ProfileEvent& event) {
  DeviceEvent kept = {event, std::string(event.name.view())};
  kept.facts.name = {};
  static_cast<std::vector<DeviceEvent>*>(context)->push_back(std::move(kept));
}

int Trace::add_process(std::string_view name) {
  const int process = ++processes_;
  names_.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", process},
                    {"tid", 0},
                    {"args", {{"name", name}}}});
  return process;
}

Trace::Track Trace::add_track(int process, int thread, std::string_view name) {
  names_.push_back({{"ph", "M"},
                    {"name", "thread_name"},
                    {"pid", process},
                    {"tid", thread},
                    {"args", {{"name", name}}}});
  return {process, thread};
}

void Trace::add(Track track, char phase, const char* category, std::string_view name, uint64_t ns,
                const Json& more) {
  Json json = {{"ph", std::string(1, phase)},
               {"name", name},
               {"cat", category},
               {"pid", track.process},
               {"tid", track.thread}};
  if (!more.empty()) json.update(more);
  entries_.push_back({std::move(json), ns});
}

void Trace::add_span(Track track, const char* category, std::string_view name, uint64_t begin_ns,
                     uint64_t end_ns, Json arguments) {
  Json more = {{"dur", microseconds(end_ns - begin_ns)}};
  if (!arguments.empty()) more["args"] = std::move(arguments);
  add(track, 'X', category, name, begin_ns, more);
}

void Trace::add_flow(Track track, char phase, const char* category, uint64_t id, uint64_t ns) {
  Json more = {{"id", id}};
  if (phase == 'f') more["bp"] = "e";  // it ends at this span, and not at the next one
  add(track, phase, category, category, ns, more);
}

void Trace::add_device(std::string_view name, std::vector<DeviceEvent> events,
                       const std::vector<runner::HostSpan>& host) {
  std::ranges::sort(
      events, {}, [](const DeviceEvent& e) { return std::pair(e.facts.begin_ns, e.facts.end_ns); });
  const int device = add_process(name);
  std::set<uint64_t> ids;
  for (const DeviceEvent& event : events) ids.insert(event.facts.queue);
  QueueTracks queues;
  for (const uint64_t id : ids) {
    // A driver that is older than minor 3 does not say which queue it was.
    const std::string queue = id == 0 ? "queue" : fmt::format("queue {}", id);
    queues[id] = add_track(device, static_cast<int>(queues.size()) + 1, queue);
  }
  for (const DeviceEvent& event : events) {
    const ProfileEvent& facts = event.facts;
    add_span(queues[facts.queue], to_string(facts.kind), event.name, facts.begin_ns, facts.end_ns,
             arguments_of(facts));
  }
  const Track host_track =
      add_track(add_process(fmt::format("host of {}", name)), 1, "halyard run");
  for (const runner::HostSpan& span : host) {
    add_span(host_track, "host", span.name, span.begin_ns, span.end_ns);
  }
  add_submissions(events, queues, host, host_track);
  add_executions(events, queues);
}

// A queue is in order: the nth dispatch that was submitted is the nth that ran.
void Trace::add_submissions(const std::vector<DeviceEvent>& events, const QueueTracks& queues,
                            const std::vector<runner::HostSpan>& host, Track host_track) {
  for (const auto& [id, track] : queues) {
    std::vector<uint64_t> submitted, ran;
    for (const runner::HostSpan& span : host) {
      if (id != 0 && span.queue == id) submitted.push_back(span.begin_ns);
    }
    for (const DeviceEvent& event : events) {
      if (event.facts.queue == id && is_dispatch(event)) ran.push_back(event.facts.begin_ns);
    }
    if (submitted.size() != ran.size()) continue;
    for (size_t i = 0; i < ran.size(); ++i) {
      ++flows_;
      add_flow(host_track, 's', "submission", flows_, submitted[i]);
      add_flow(track, 'f', "submission", flows_, ran[i]);
    }
  }
}

void Trace::add_executions(const std::vector<DeviceEvent>& events, const QueueTracks& queues) {
  std::map<uint64_t, std::vector<const ProfileEvent*>> executions;
  for (const DeviceEvent& event : events) {
    if (event.facts.execution != 0) executions[event.facts.execution].push_back(&event.facts);
  }
  for (const auto& [id, commands] : executions) {
    if (commands.size() < 2) continue;
    ++flows_;
    for (const ProfileEvent* const command : commands) {
      const bool first = command == commands.front();
      const bool last = command == commands.back();
      const char phase = first ? 's' : last ? 'f' : 't';
      add_flow(queues.at(command->queue), phase, "execution", flows_, command->begin_ns);
    }
  }
}

void Trace::add_roctx(const std::vector<RoctxEvent>& events) {
  if (events.empty()) return;
  const int process = add_process("ROCTX");
  std::map<int, Track> threads;
  for (const RoctxEvent& event : events) {
    Track& track = threads[event.thread];
    if (track.process == 0) {
      track = add_track(process, event.thread, fmt::format("thread {}", event.thread));
    }
    switch (event.kind) {
      case RoctxEvent::Kind::kNested:
        add_span(track, "roctx", event.text, event.begin_ns, event.end_ns);
        break;
      case RoctxEvent::Kind::kStarted:
        add(track, 'b', "roctx", event.text, event.begin_ns, {{"id", event.id}});
        add(track, 'e', "roctx", event.text, event.end_ns, {{"id", event.id}});
        break;
      case RoctxEvent::Kind::kMark:
        add(track, 'i', "roctx", event.text, event.begin_ns, {{"s", "t"}});  // of the thread
        break;
    }
  }
}

std::string Trace::to_text() const {
  uint64_t first = UINT64_MAX;
  for (const Entry& entry : entries_) first = std::min(first, entry.ns);
  Json events = names_;
  for (const Entry& entry : entries_) {
    Json& event = events.emplace_back(entry.json);
    event["ts"] = microseconds(entry.ns - first);
  }
  return dump({{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}});
}

}  // namespace halyard::cli
