// SerialProfiler: when the operations of a SerialDevice began and ended. A queue's thread knows
// both when an operation is done, so that nothing is left to be read.
#pragma once

#include <utility>
#include <vector>

#include "plugins/sdk/profile_recorder.h"

namespace halyard {

class SerialDevice;

// Any thread may use any method.
class SerialProfiler final : public ProfileRecorder<TimeSpan> {
 public:
  explicit SerialProfiler(SerialDevice& device) : device_(device) {}
  // Of several kinds, a profile_bit() each.
  bool wants_any(uint64_t kinds) const {
    if (!active()) return false;
    for (uint32_t kind = 0; kind < kProfileKinds; ++kind) {
      if ((kinds >> kind & 1) != 0 && wants(ProfileKind{kind})) return true;
    }
    return false;
  }
  void add_ended(ProfileNote note, const TimeSpan& span) { add(std::move(note), span); }

 private:
  void wait_for_work() override;
  Status read(std::vector<Event>* events) override;

  SerialDevice& device_;
};

}  // namespace halyard
