#include "tools/halyard/trace.h"

#include <algorithm>
#include <utility>

namespace halyard::cli {
namespace {

double microseconds(uint64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

// Metadata: what a process or thread is called.
Json name_of(const char* what, int process, std::string_view name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", 0}, {"args", {{"name", name}}}};
}

}  // namespace

void collect_event(void* context, const ProfileEvent& event) {
  static_cast<std::vector<DeviceEvent>*>(context)->push_back(
      {std::string(event.name.view()), event.begin_ns, event.end_ns});
}

int Trace::add_process(std::string_view name, std::string_view thread) {
  const int process = ++processes_;
  names_.push_back(name_of("process_name", process, name));
  names_.push_back(name_of("thread_name", process, thread));
  return process;
}

void Trace::add_device(std::string_view name, const std::vector<DeviceEvent>& events) {
  const int process = add_process(name, "queue");
  for (const DeviceEvent& event : events)
    spans_.push_back({process, "device", event.name, event.begin_ns, event.end_ns});
}

void Trace::add_host(std::string_view name, const std::vector<runner::HostSpan>& spans) {
  const int process = add_process(name, "halyard run");
  for (const runner::HostSpan& span : spans)
    spans_.push_back({process, "host", span.name, span.begin_ns, span.end_ns});
}

std::string Trace::to_text() const {
  uint64_t first = UINT64_MAX;
  for (const Span& span : spans_) first = std::min(first, span.begin_ns);
  Json events = names_;
  for (const Span& span : spans_) {
    events.push_back({{"ph", "X"},
                      {"name", span.name},
                      {"cat", span.category},
                      {"pid", span.process},
                      {"tid", 0},
                      {"ts", microseconds(span.begin_ns - first)},
                      {"dur", microseconds(span.end_ns - span.begin_ns)}});
  }
  return dump({{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}});
}

}  // namespace halyard::cli
