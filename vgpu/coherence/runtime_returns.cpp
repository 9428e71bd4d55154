#include "vgpu/coherence/runtime_returns.h"

#include <sys/mman.h>

#include <array>
#include <atomic>

#include "vgpu/coherence/shadow.h"

namespace halyard::vgpu::coherence {
namespace {

// A slot is taken once and for all: pages of code that call the runtime are few. A handler that
// interrupts another one may come in between any two steps.
struct Slot {
  std::atomic<uint64_t> page{0};  // 0: free
  std::atomic<bool> is_taken{false};
};
std::array<Slot, 64> slots;

bool set_executable(uint64_t page, bool executable) {
  const int protection = PROT_READ | (executable ? PROT_EXEC : 0);
  return mprotect(reinterpret_cast<void*>(page), kPageBytes, protection) == 0;
}

Slot* slot_of(uint64_t page, bool make) {
  for (Slot& slot : slots) {
    uint64_t known = slot.page.load();
    if (known == page) return &slot;
    if (known != 0) continue;
    if (!make) return nullptr;
    if (slot.page.compare_exchange_strong(known, page) || known == page) return &slot;
  }
  return nullptr;
}

}  // namespace

void expect_return(uint64_t pc) {
  const uint64_t page = pc / kPageBytes * kPageBytes;
  Slot* const slot = slot_of(page, true);
  if (slot == nullptr || slot->is_taken.exchange(true)) return;
  if (!set_executable(page, false)) slot->is_taken.store(false);
}

bool has_returned(uint64_t address, uint64_t pc) {
  if (address != pc) return false;
  const uint64_t page = pc / kPageBytes * kPageBytes;
  Slot* const slot = slot_of(page, false);
  if (slot == nullptr) return false;
  // Another thread may have been faster: then it can be executed, or will be in a moment.
  set_executable(page, true);
  slot->is_taken.store(false);
  return true;
}

}  // namespace halyard::vgpu::coherence
