// Tells explore::HostData which memory is the host's, and of copies.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "vgpu/explore/host_data.h"
#include "vgpu/machine/memory_map.h"
#include "vgpu/queue/packet_observer.h"

namespace halyard::vgpu::machine {

class HostDataWatch final : public MemoryObserver, public queue::PacketObserver {
 public:
  // Where the host has what a GPU sees at an address.
  using Addresses = std::function<uint64_t(uint32_t node, uint64_t address)>;
  HostDataWatch(observe::KernelNames names, Addresses addresses, explore::HostData::Report report);

  isa::Observer& kernels() { return data_; }

  void added(const Memory& memory) override;
  void removed(uint64_t begin) override;
  void remapped(uint64_t begin) override { removed(begin); }
  void shared(uint64_t) override {}

  void copy(const Copy& copy, const std::function<void()>& move) override;
  // Other packets bring no data.
  void begin(const AqlPacket&, Ahead&) override {}
  void look(uint32_t, uint32_t) override {}
  void end(const AqlPacket&, uint64_t) override {}
  void stopped(uint32_t) override {}
  void invalidate_code(uint32_t) override {}
  void begin(const Pm4Dispatch&) override {}
  void end(const Pm4Dispatch&) override {}
  void acquire(uint32_t, uint32_t, const Caches&) override {}
  void release(uint32_t, uint32_t, const Pm4Place&, const Caches&, bool) override {}
  void waited(uint32_t, uint32_t) override {}
  void flush_work(uint32_t) override {}
  void flush_window(uint32_t) override {}

 private:
  explore::HostRange find(uint64_t address);

  std::mutex mutex_;
  std::map<uint64_t, uint64_t> hosts_;  // ends of the host's allocations, by begin
  Addresses addresses_;
  explore::HostData data_;
};

}  // namespace halyard::vgpu::machine
