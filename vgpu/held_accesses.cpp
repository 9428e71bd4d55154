#include "vgpu/held_accesses.h"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace halyard::vgpu {
namespace {

// Which addresses accesses wait for, or waited for last.
struct Held {
  std::atomic<uint64_t> begin{0};
  std::atomic<uint64_t> end{0};
  std::atomic<uint64_t> number{0};  // odd while accesses wait
};
Held held;
std::mutex held_mutex;

// The hold after which this thread has last repeated an access: a second refusal is a real one.
[[gnu::tls_model("initial-exec")]] thread_local uint64_t repeated = 0;

}  // namespace

bool detail::waited_for_holder(uint64_t address) {
  const uint64_t number = held.number.load();
  if (number == 0) return false;
  const bool is_held = number % 2 != 0 && address >= held.begin.load() && address < held.end.load();
  // The hold that refused the access may have ended since.
  if (!is_held) return std::exchange(repeated, number) != number;
  while (held.number.load() == number) sched_yield();
  return true;
}

HeldAccesses::HeldAccesses(const void* begin, uint64_t size) {
  held_mutex.lock();
  held.begin = 0;
  held.end = reinterpret_cast<uintptr_t>(begin) + size;
  held.begin = reinterpret_cast<uintptr_t>(begin);
  ++held.number;
}

HeldAccesses::~HeldAccesses() {
  ++held.number;
  held_mutex.unlock();
}

}  // namespace halyard::vgpu
