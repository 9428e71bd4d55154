// The vendor's runtime: its library, opened at run time, and the functions that the driver calls.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <string>
#include <string_view>

#include "hal/status.h"
#include "plugins/sdk/vendor_runtime.h"

namespace halyard::skeleton {

// A library without one of them is refused.
#define SKELETON_HSA_FUNCTIONS(X)                    \
  X(hsa_init)                                        \
  X(hsa_status_string)                               \
  X(hsa_system_get_info)                             \
  X(hsa_iterate_agents)                              \
  X(hsa_agent_get_info)                              \
  X(hsa_agent_iterate_isas)                          \
  X(hsa_isa_get_info_alt)                            \
  X(hsa_amd_register_system_event_handler)           \
  X(hsa_queue_create)                                \
  X(hsa_queue_destroy)                               \
  X(hsa_queue_add_write_index_scacq_screl)           \
  X(hsa_signal_create)                               \
  X(hsa_signal_destroy)                              \
  X(hsa_signal_store_screlease)                      \
  X(hsa_signal_wait_scacquire)                       \
  X(hsa_amd_agent_iterate_memory_pools)              \
  X(hsa_amd_memory_pool_get_info)                    \
  X(hsa_amd_memory_pool_allocate)                    \
  X(hsa_amd_memory_pool_free)                        \
  X(hsa_amd_agents_allow_access)                     \
  X(hsa_amd_memory_async_copy)                       \
  X(hsa_amd_memory_lock_to_pool)                     \
  X(hsa_amd_memory_unlock)                           \
  X(hsa_amd_pointer_info)                            \
  X(hsa_amd_ipc_memory_create)                       \
  X(hsa_amd_ipc_memory_attach)                       \
  X(hsa_amd_ipc_memory_detach)                       \
  X(hsa_amd_profiling_set_profiler_enabled)          \
  X(hsa_amd_profiling_get_dispatch_time)             \
  X(hsa_amd_profiling_convert_tick_to_system_domain) \
  X(hsa_code_object_reader_create_from_memory)       \
  X(hsa_code_object_reader_destroy)                  \
  X(hsa_executable_create_alt)                       \
  X(hsa_executable_load_agent_code_object)           \
  X(hsa_executable_freeze)                           \
  X(hsa_executable_destroy)                          \
  X(hsa_executable_get_symbol_by_name)               \
  X(hsa_executable_symbol_get_info)

class Hsa final : public VendorRuntime {
 public:
#define SKELETON_MEMBER(name) decltype(&::name) name = nullptr;
  SKELETON_HSA_FUNCTIONS(SKELETON_MEMBER)
#undef SKELETON_MEMBER

  static const VendorLibrary& library();
  // HSA's own words.
  std::string words(hsa_status_t status) const;
  // "<doing> fails: <HSA's own words>."
  Status check(hsa_status_t status, std::string_view doing) const;
  // Tells GpuFaults of the memory faults of the process from now on, with agents for GPUs. Once.
  Status listen_for_faults();

 private:
  friend class VendorRuntime;
  Hsa() : VendorRuntime(library()) {}
  Status resolve() override;
  bool is_running() const override { return !version_text().empty(); }
  std::string start() override;
  std::string version_text() const override;
};

}  // namespace halyard::skeleton
