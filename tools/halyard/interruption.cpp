#include "tools/halyard/interruption.h"

#include <cstdlib>
#include <iterator>

namespace halyard::cli {
namespace {

volatile sig_atomic_t caught = 0;

void write_down(int number) {
  caught = number;
}

}  // namespace

Interruption::Interruption() {
  caught = 0;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action = {};
    action.sa_handler = write_down;
    action.sa_flags = SA_RESTART;  // a vendor's library may take EINTR for a failure
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, &before_[i]);
    // Ignored, as nohup has it: stays so.
    if (before_[i].sa_handler == SIG_IGN) sigaction(kSignals[i], &before_[i], nullptr);
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

int Interruption::signal() noexcept {
  return caught;
}

void Interruption::end_process() {
  const int number = caught;
  ::signal(number, SIG_DFL);
  raise(number);
  std::_Exit(128 + number);
}

}  // namespace halyard::cli
