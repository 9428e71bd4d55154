#include "tools/halyard/schedule.h"

#include <cstdlib>

namespace halyard::cli {

void add_schedule_flag(Command command, std::string& schedule, const std::string& when) {
  command
      .add_option(
          "--schedule", schedule,
          when +
              "the order of waves: waves (one after another), waits (they change at waits "
              "for memory), every:COUNT (after COUNT instructions), or seed:NUMBER (drawn); "
              "by default that of HALYARD_VGPU_SCHEDULE or of the profile. \",serial\" "
              "behind it uses one thread, \",until:COUNT\" returns to waves after COUNT "
              "instructions")
      ->type_name("SCHEDULE");
}

void use_schedule(const std::string& schedule) {
  if (!schedule.empty()) setenv(kScheduleVariable, schedule.c_str(), 1);
}

}  // namespace halyard::cli
