#include "vgpu/races/dispatch.h"

#include <fmt/format.h>

#include "vgpu/isa/program.h"

namespace halyard::vgpu::races {
namespace {

constexpr uint64_t kPublishedBytes = 64;

uint32_t key_of(WaveId wave) {
  return wave.group << Access::kIndexBits | wave.index;
}

}  // namespace

SiteId Dispatch::site(uint64_t pc, coherence::Use use, bool is_marked) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = numbers_.try_emplace(pc, 0);
  if (!is_new) return found->second;
  if (sites_.size() + 1 >= Access::kSites) return 0;
  sites_.push_back({pc, use, is_marked, context_.program->text(pc)});
  found->second = static_cast<SiteId>(sites_.size());
  return found->second;
}

const Site& Dispatch::site(SiteId id) const {
  const std::lock_guard lock(mutex_);
  return sites_[id - 1];
}

void Dispatch::publish(WaveId wave, const Known& known) {
  bool is_lacking = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = published_.try_emplace(key_of(wave));
    found->second = known;
    if (is_new && budget_.take(kPublishedBytes)) {
      published_bytes_ += kPublishedBytes;
    } else if (is_new) {
      published_.erase(found);
      is_lacking = true;
    }
  }
  if (is_lacking) lose("what waves have learned of each other needs too much memory", true);
}

Known Dispatch::published(WaveId wave) const {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find(key_of(wave));
  return found == published_.end() ? Known() : found->second;
}

void Dispatch::lose(const std::string& what, bool nothing) {
  const std::lock_guard lock(mutex_);
  if (losses_.empty()) losses_ = what;
  if (nothing) is_lost_.store(true, std::memory_order_relaxed);
}

std::string Dispatch::losses() const {
  const std::lock_guard lock(mutex_);
  return losses_;
}

}  // namespace halyard::vgpu::races
