#include "vgpu/coherence/shadow.h"

#include <bit>
#include <cstring>

namespace halyard::vgpu::coherence {

uint64_t CachedLine::stale(uint64_t mask, const uint8_t* memory) const {
  mask &= valid;
  if (mask == 0 || std::memcmp(data.data(), memory, kLineBytes) == 0) return 0;
  uint64_t differ = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto at = static_cast<unsigned>(std::countr_zero(mask));
    if (data[at] != memory[at]) differ |= uint64_t{1} << at;
  }
  return differ;
}

void CachedLine::take(uint64_t mask, const uint8_t* memory, uint64_t now) {
  if ((valid & ~mask) == 0) as_of = now;
  valid |= mask;
  if (mask == ~uint64_t{0}) {
    std::memcpy(data.data(), memory, kLineBytes);
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto at = static_cast<unsigned>(std::countr_zero(mask));
    data[at] = memory[at];
  }
}

void Shadow::add(const Allocation& allocation) {
  allocations_[allocation.begin] = allocation;
  last_ = nullptr;
}

std::vector<ShadowPage*> Shadow::pages_of(const Allocation& allocation) const {
  std::vector<ShadowPage*> pages;
  // Whichever is less to look through.
  if (allocation.size / kPageBytes < pages_.size()) {
    const uint64_t end = allocation.begin + allocation.size;
    for (uint64_t at = allocation.begin / kPageBytes * kPageBytes; at < end; at += kPageBytes) {
      if (const auto known = pages_.find(at); known != pages_.end())
        pages.push_back(known->second.get());
    }
    return pages;
  }
  for (const auto& [base, page] : pages_) {
    if (base - allocation.begin < allocation.size) pages.push_back(page.get());
  }
  return pages;
}

void Shadow::remove(uint64_t begin) {
  const auto found = allocations_.find(begin);
  if (found == allocations_.end()) return;
  const uint64_t first = begin / kPageBytes * kPageBytes;
  const uint64_t end = begin + found->second.size;
  allocations_.erase(found);
  last_ = nullptr;
  // Whichever is less to look through.
  if ((end - first) / kPageBytes < pages_.size()) {
    for (uint64_t at = first; at < end; at += kPageBytes) pages_.erase(at);
  } else {
    std::erase_if(pages_,
                  [&](const auto& page) { return page.first >= first && page.first < end; });
  }
}

void Shadow::share(uint64_t begin) {
  const auto found = allocations_.find(begin);
  if (found == allocations_.end()) return;
  Allocation& allocation = found->second;
  allocation.placement.is_shared = true;
  allocation.watch = nullptr;
  for (ShadowPage* const page : pages_of(allocation)) {
    page->allocation = allocation;
    page->window.reset();
  }
}

std::optional<Allocation> Shadow::find(uint64_t address) const {
  const auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) return std::nullopt;
  const Allocation& allocation = std::prev(above)->second;
  if (address - allocation.begin >= allocation.size) return std::nullopt;
  return allocation;
}

ShadowPage* Shadow::page(uint64_t address) {
  const uint64_t base = address / kPageBytes * kPageBytes;
  if (last_ != nullptr && last_->base == base) return last_;
  const auto known = pages_.find(base);
  if (known != pages_.end()) return last_ = known->second.get();
  const auto allocation = find(address);
  if (!allocation) return nullptr;
  auto page = std::make_unique<ShadowPage>();
  page->base = base;
  page->allocation = *allocation;
  if (allocation->watch != nullptr) {
    page->rights = allocation->watch->is_stopped ? HostRights::kAll : HostRights::kReads;
    page->was_taken = true;
  }
  if (has_window(allocation->placement)) {
    page->window = std::make_unique<WindowPage>();
    // The system gives memory as zeros.
    page->window->known.fill(~uint64_t{0});
  }
  page->l2.resize(l2s_);
  page->scalar.resize(gpus_);
  last_ = page.get();
  pages_.emplace(base, std::move(page));
  return last_;
}

}  // namespace halyard::vgpu::coherence
