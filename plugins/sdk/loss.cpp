#include "plugins/sdk/loss.h"

#include "hal/error.h"

namespace halyard {

namespace {

std::string name_all(const std::vector<std::string>& running) {
  std::string names;
  for (const std::string& name : running) names += (names.empty() ? " Running: " : ", ") + name;
  return names.empty() ? names : names + '.';
}

}  // namespace

Status device_lost(StringView device, std::string_view what,
                   const std::vector<std::string>& running) {
  return error(StatusCode::kInternal, "The device {} is lost: {}.{}", device, what,
               name_all(running));
}

Status work_failed(StringView device, std::string_view what,
                   const std::vector<std::string>& running) {
  return error(StatusCode::kInternal,
               "On {} {}. The queues that had work are lost; make new ones.{}", device, what,
               name_all(running));
}

Status device_was_lost(StringView device, std::string_view fault) {
  return error(StatusCode::kUnavailable,
               "The device {} is lost to this process since an earlier fault ({}). Start a new "
               "process to use it again.",
               device, fault);
}

Status queue_abandoned(StringView device, std::string_view doing) {
  return error(StatusCode::kCancelled,
               "A queue on {} is abandoned (Queue::abandon) while {}. It takes no work any more; "
               "make a new one.",
               device, doing);
}

std::string describe_held(StringView operation, bool host_runs) {
  if (operation.view().empty()) return "nothing is queued";
  if (!host_runs) return "operations that wait for semaphores are queued";
  return fmt::format("the host's part of a {} has not ended", operation);
}

}  // namespace halyard
