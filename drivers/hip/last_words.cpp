#include "drivers/hip/last_words.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <string_view>

#include "drivers/hip/stream.h"
#include "hal/base/signals.h"
#include "hal/contract/objects.h"
#include "hal/executable.h"

namespace halyard::hip {

namespace {

// The kernels of a stream's first unfinished launches, each once.
void describe(const Stream& stream) {
  constexpr size_t kMost = 4;
  std::array<std::string_view, kMost> names;
  size_t count = 0;
  const uint64_t first = stream.first_running();
  // One more than there are: it is maybe being put onto the stream.
  const uint64_t last = std::min(stream.number() + 1, first + Stream::kRemembered - 1);
  for (uint64_t number = first; number <= last && count < kMost; ++number) {
    const Function* const function = stream.launch_at(number);
    if (function == nullptr) continue;
    const std::string_view name = driver::info_of(*function).name;
    const auto end = names.begin() + count;
    if (std::find(names.begin(), end, name) == end) names[count++] = name;
  }
  if (count == 0) return;
  base::SignalLine line;
  line.add("halyard: abort() is called while HIP device ");
  line.add(stream.device());
  line.add(count == 1 ? " runs the kernel \"" : " runs one of the kernels \"");
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) line.add("\", \"");
    line.add(names[i]);
  }
  line.add("\". HIP calls it when a kernel faults.\n");
  line.write();
}

// Only what a signal handler may do. When it returns, abort() goes on.
void on_abort(int) {
  const int saved = errno;
  for (const Stream* stream = Streams::instance().newest(); stream != nullptr;
       stream = stream->older()) {
    describe(*stream);
  }
  errno = saved;
}

}  // namespace

void install_last_words() {
  static std::once_flag once;
  std::call_once(once, [] {
    Streams::instance();  // makes it
    struct sigaction current = {};
    if (sigaction(SIGABRT, nullptr, &current) != 0) return;
    if ((current.sa_flags & SA_SIGINFO) != 0 || current.sa_handler != SIG_DFL) return;
    struct sigaction mine = {};
    mine.sa_handler = &on_abort;
    mine.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&mine.sa_mask);
    sigaction(SIGABRT, &mine, nullptr);
  });
}

}  // namespace halyard::hip
