// The virtual kernel driver as one process sees it through /dev/kfd: what ioctl() and mmap() do.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "vgpu/kfd/abi.h"
#include "vgpu/kfd/buffers.h"
#include "vgpu/kfd/gem.h"
#include "vgpu/kfd/queues.h"
#include "vgpu/kfd/smi_events.h"
#include "vgpu/kfd/submissions.h"
#include "vgpu/kfd/svm.h"
#include "vgpu/kfd/usage.h"
#include "vgpu/machine/machine.h"

namespace halyard::vgpu::kfd {

// Any thread. What a program passes may be anything: it gets errno values.
class Kfd {
 public:
  // The machine outlives this.
  explicit Kfd(machine::Machine& machine);

  // 0, or an errno value below 0.
  int ioctl(unsigned long code, void* argument);
  // The address, or MAP_FAILED with errno set.
  void* map(void* address, uint64_t bytes, int protection, int flags, uint64_t offset);

  // The program is about to unmap these addresses, or to map something else over them. What
  // munmap() itself refuses changes nothing.
  void unmapped_by_host(uint64_t begin, uint64_t bytes);
  // The program has mapped these addresses privately and without access.
  void reserved_by_host(uint64_t begin, uint64_t bytes);
  // The program has changed the protection of these addresses.
  void protected_by_host(uint64_t begin, uint64_t bytes);

  // The same of a render node. Its offsets are those of all.
  void* map_render_node(void* address, uint64_t bytes, int protection, int flags, uint64_t offset);

  Buffers& buffers() { return buffers_; }
  Svm& svm() { return svm_; }
  Gem& gem() { return gem_; }
  Submissions& submissions() { return submissions_; }
  Usage& usage() { return usage_; }
  SmiEvents& smi_events() { return smi_events_; }
  machine::Machine& machine() { return machine_; }

 private:
  struct Entry;
  static const Entry* find_entry(unsigned number);
  template <class T, int (Kfd::*kHandler)(T&)>
  static int call(Kfd& kfd, void* argument);

  // device_requests.cpp
  int get_version(abi::Version& arguments);
  int get_clock_counters(abi::ClockCounters& arguments);
  int get_process_apertures(abi::ProcessApertures& arguments);
  int get_process_apertures_new(abi::ProcessAperturesNew& arguments);
  int acquire_vm(abi::AcquireVm& arguments);
  int set_memory_policy(abi::SetMemoryPolicy& arguments);
  int get_tile_config(abi::TileConfig& arguments);
  int set_trap_handler(abi::SetTrapHandler& arguments);
  int old_debugging(abi::OldDebugging& arguments);
  int runtime_enable(abi::RuntimeEnable& arguments);
  int debug_trap(abi::DebugTrap& arguments);
  abi::DeviceApertures apertures_of(uint32_t index) const;

  // memory_requests.cpp
  int alloc_memory(abi::AllocMemory& arguments);
  int free_memory(abi::FreeMemory& arguments);
  int map_memory(abi::MapMemory& arguments);
  int unmap_memory(abi::MapMemory& arguments);
  int set_scratch_backing(abi::SetScratchBackingVa& arguments);
  int available_memory(abi::AvailableMemory& arguments);
  int ipc_export(abi::IpcExport& arguments);
  int ipc_import(abi::IpcImport& arguments);
  int get_dmabuf_info(abi::GetDmabufInfo& arguments);
  int export_dmabuf(abi::ExportDmabuf& arguments);
  int import_dmabuf(abi::ImportDmabuf& arguments);
  int change_mapping(abi::MapMemory& arguments, int (Buffers::*change)(uint64_t, uint32_t));

  // svm_requests.cpp
  int svm(uint64_t user, uint32_t bytes);
  int set_xnack_mode(abi::SetXnackMode& arguments);

  // event_requests.cpp
  int create_event(abi::CreateEvent& arguments);
  int destroy_event(abi::EventId& arguments);
  int set_event(abi::EventId& arguments);
  int reset_event(abi::EventId& arguments);
  int wait_events(abi::WaitEvents& arguments);

  int smi_events(abi::SmiEvents& arguments);

  // queue_requests.cpp
  int create_queue(abi::CreateQueue& arguments);
  int destroy_queue(abi::DestroyQueue& arguments);
  int update_queue(abi::UpdateQueue& arguments);
  int set_cu_mask(abi::SetCuMask& arguments);
  int alloc_queue_gws(abi::AllocQueueGws& arguments);

  // The node of a GPU that the program has named, or 0.
  uint32_t node_of(uint32_t gpu_id) const;

  machine::Machine& machine_;
  Usage usage_;
  Buffers buffers_;
  Svm svm_;
  Gem gem_;
  Submissions submissions_;
  SmiEvents smi_events_;
  Queues queues_;
  std::mutex event_page_mutex_;
  bool has_event_page_ = false;
  std::atomic<bool> runtime_enabled_{false};
};

}  // namespace halyard::vgpu::kfd
