#include "plugins/sdk/serial_profiler.h"

#include "plugins/sdk/serial_core.h"
#include "plugins/sdk/serial_device.h"
#include "plugins/sdk/serial_progress.h"

namespace halyard {

// Of a lost queue no more comes.
void SerialProfiler::wait_for_work() {
  for (SerialCore* const core : device_.cores()) {
    SerialProgress::instance().wait_until(
        [core] {
          return core->is_lost() || !core->has_timed() ? PointState::kReached
                                                       : PointState::kPending;
        },
        Deadline::infinite());
  }
}

Status SerialProfiler::read(std::vector<Event>* events) {
  for (Event& event : *events) {
    event.span = event.marks;
    event.has_span = true;
  }
  return {};
}

}  // namespace halyard
