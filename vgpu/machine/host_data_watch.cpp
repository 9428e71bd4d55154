#include "vgpu/machine/host_data_watch.h"

#include <iterator>
#include <utility>

namespace halyard::vgpu::machine {

HostDataWatch::HostDataWatch(observe::KernelNames names, Addresses addresses,
                             explore::HostData::Report report)
    : addresses_(std::move(addresses)),
      data_(
          std::move(names), [this](uint64_t address) { return find(address); }, std::move(report)) {
}

void HostDataWatch::added(const Memory& memory) {
  if (memory.node != 0) return;
  const std::lock_guard lock(mutex_);
  hosts_[memory.begin] = memory.begin + memory.size;
}

void HostDataWatch::removed(uint64_t begin) {
  const std::lock_guard lock(mutex_);
  hosts_.erase(begin);
}

explore::HostRange HostDataWatch::find(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto above = hosts_.upper_bound(address);
  if (above == hosts_.begin()) return {};
  const auto& [begin, end] = *std::prev(above);
  return address < end ? explore::HostRange{begin, end} : explore::HostRange{};
}

void HostDataWatch::copy(const Copy& copy, const std::function<void()>& move) {
  move();
  if (copy.from != 0 && copy.to != 0) data_.copied(addresses_(copy.node, copy.to), copy.bytes);
}

}  // namespace halyard::vgpu::machine
