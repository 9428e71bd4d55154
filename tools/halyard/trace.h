// A trace in the format of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) opens: what the
// host did, what each queue of a device did at the time, and ranges that the program named.
// (Trace Event Format, Google, 2016: complete events "X", instants "i", asynchronous ranges "b" and
// "e", flows "s", "t" and "f", metadata "M".)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hal/device.h"
#include "tools/halyard/roctx.h"
#include "tools/halyard/table.h"
#include "tools/runner/run.h"

namespace halyard::cli {

// An operation of a device, kept beyond the callback.
struct DeviceEvent {
  ProfileEvent facts;  // without its name
  std::string name;
};

// A ProfileSink: `context` is a std::vector<DeviceEvent>.
void collect_event(void* context, const ProfileEvent& event);

class Trace {
 public:
  // A process for a device and one for its host. The device's has a track for each queue. An arrow
  // goes from each submission of a dispatch to where it ran, and through the commands of one
  // execution of a recording.
  void add_device(std::string_view name, std::vector<DeviceEvent> events,
                  const std::vector<runner::HostSpan>& host);
  // A process with a track for each thread, unless there are no events.
  void add_roctx(const std::vector<RoctxEvent>& events);

  // Times are in microseconds from the first event on.
  std::string to_text() const;

 private:
  // A row of the trace.
  struct Track {
    int process = 0;
    int thread = 0;
  };
  struct Entry {
    Json json;  // without its time
    uint64_t ns = 0;
  };
  using QueueTracks = std::map<uint64_t, Track>;  // by Queue::id()

  int add_process(std::string_view name);
  Track add_track(int process, int thread, std::string_view name);
  void add(Track track, char phase, const char* category, std::string_view name, uint64_t ns,
           const Json& more);
  void add_span(Track track, const char* category, std::string_view name, uint64_t begin_ns,
                uint64_t end_ns, Json arguments = {});
  // A part of a flow, on the span that begins at `ns`. `phase`: s, t or f.
  void add_flow(Track track, char phase, const char* category, uint64_t id, uint64_t ns);
  void add_submissions(const std::vector<DeviceEvent>& events, const QueueTracks& queues,
                       const std::vector<runner::HostSpan>& host, Track host_track);
  void add_executions(const std::vector<DeviceEvent>& events, const QueueTracks& queues);

  std::vector<Entry> entries_;
  Json names_ = Json::array();
  int processes_ = 0;
  uint64_t flows_ = 0;
};

}  // namespace halyard::cli
