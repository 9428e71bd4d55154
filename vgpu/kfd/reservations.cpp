#include "vgpu/kfd/reservations.h"

#include <algorithm>
#include <iterator>

namespace halyard::vgpu::kfd {

void Reservations::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  auto it = ends_.upper_bound(begin);
  if (it != ends_.begin() && std::prev(it)->second >= begin) --it;
  while (it != ends_.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = ends_.erase(it);
  }
  ends_.emplace_hint(it, begin, end);
}

void Reservations::remove(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  auto it = ends_.upper_bound(begin);
  if (it != ends_.begin() && std::prev(it)->second > begin) --it;
  while (it != ends_.end() && it->first < end) {
    const auto [first, last] = *it;
    it = ends_.erase(it);
    if (first < begin) ends_.emplace(first, begin);
    if (last > end) ends_.emplace(end, last);
  }
}

AddressRange Reservations::around(uint64_t begin, uint64_t end) const {
  AddressRange found = {begin, end};
  for (const uint64_t at : {begin, end}) {
    const auto above = ends_.upper_bound(at);
    if (above == ends_.begin() || std::prev(above)->second < at) continue;
    found.begin = std::min(found.begin, std::prev(above)->first);
    found.end = std::max(found.end, std::prev(above)->second);
  }
  return found;
}

bool Reservations::contains(uint64_t begin, uint64_t end) const {
  const auto above = ends_.upper_bound(begin);
  return above != ends_.begin() && std::prev(above)->second >= end;
}

}  // namespace halyard::vgpu::kfd
