// A trace in the format of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) opens: what the
// host did, and what each device did at the time.
// (Trace Event Format, Google, 2016: complete events "X" and metadata "M".)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hal/device.h"
#include "tools/halyard/table.h"
#include "tools/runner/run.h"

namespace halyard::cli {

// An operation of a device's, kept beyond the call that told of it.
struct DeviceEvent {
  std::string name;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
};

// A ProfileSink: `context` is a std::vector<DeviceEvent>.
void collect_event(void* context, const ProfileEvent& event);

class Trace {
 public:
  // A process of the trace. `name`: the device. Its operations are of one queue, as a run has one.
  void add_device(std::string_view name, const std::vector<DeviceEvent>& events);
  // Beside the device's, which has been added last.
  void add_host(std::string_view name, const std::vector<runner::HostSpan>& spans);

  // Times are in microseconds from the first event on.
  std::string to_text() const;

 private:
  struct Span {
    int process;
    const char* category;
    std::string name;
    uint64_t begin_ns, end_ns;
  };
  // A process with a thread of its own.
  int add_process(std::string_view name, std::string_view thread);

  std::vector<Span> spans_;
  Json names_ = Json::array();
  int processes_ = 0;
};

}  // namespace halyard::cli
