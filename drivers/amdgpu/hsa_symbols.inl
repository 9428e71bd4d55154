// What the driver calls in libhsa-runtime64.so.1: one row for each function.
//
// HALYARD_HSA_REQUIRED(name): every release from ROCm 5.2.3 (Debian 12) on has it; without it the
// library is refused. Its type is that of the declaration in the HSA headers.
// HALYARD_HSA_OPTIONAL(name, type): newer or older releases lack it; the pointer is then null, and
// whoever calls it looks first. Types are written out where Debian's headers do not declare them.

// Runtime
HALYARD_HSA_REQUIRED(hsa_init)
HALYARD_HSA_REQUIRED(hsa_status_string)
HALYARD_HSA_REQUIRED(hsa_system_get_info)
HALYARD_HSA_REQUIRED(hsa_iterate_agents)
HALYARD_HSA_REQUIRED(hsa_agent_get_info)
HALYARD_HSA_REQUIRED(hsa_agent_iterate_isas)
HALYARD_HSA_REQUIRED(hsa_isa_get_info_alt)
HALYARD_HSA_REQUIRED(hsa_amd_register_system_event_handler)

// Queues
HALYARD_HSA_REQUIRED(hsa_queue_create)
HALYARD_HSA_REQUIRED(hsa_queue_inactivate)
HALYARD_HSA_REQUIRED(hsa_queue_destroy)
HALYARD_HSA_REQUIRED(hsa_queue_load_read_index_scacquire)
HALYARD_HSA_REQUIRED(hsa_queue_load_write_index_scacquire)
HALYARD_HSA_REQUIRED(hsa_queue_add_write_index_scacq_screl)
HALYARD_HSA_REQUIRED(hsa_queue_cas_write_index_scacq_screl)
HALYARD_HSA_OPTIONAL(hsa_amd_queue_set_priority,
                     hsa_status_t(hsa_queue_t*, hsa_amd_queue_priority_t))
// Since ROCm 6.1.
HALYARD_HSA_OPTIONAL(hsa_amd_agent_set_async_scratch_limit, hsa_status_t(hsa_agent_t, size_t))

// Signals
HALYARD_HSA_REQUIRED(hsa_signal_create)
HALYARD_HSA_REQUIRED(hsa_amd_signal_create)
HALYARD_HSA_REQUIRED(hsa_signal_destroy)
HALYARD_HSA_REQUIRED(hsa_signal_load_scacquire)
HALYARD_HSA_REQUIRED(hsa_signal_store_screlease)
HALYARD_HSA_REQUIRED(hsa_signal_exchange_scacq_screl)
HALYARD_HSA_REQUIRED(hsa_signal_wait_scacquire)
HALYARD_HSA_REQUIRED(hsa_amd_signal_wait_any)
HALYARD_HSA_REQUIRED(hsa_amd_signal_value_pointer)

// Memory
HALYARD_HSA_REQUIRED(hsa_amd_agent_iterate_memory_pools)
HALYARD_HSA_REQUIRED(hsa_amd_memory_pool_get_info)
HALYARD_HSA_REQUIRED(hsa_amd_agent_memory_pool_get_info)
HALYARD_HSA_REQUIRED(hsa_amd_memory_pool_allocate)
HALYARD_HSA_REQUIRED(hsa_amd_memory_pool_free)
HALYARD_HSA_REQUIRED(hsa_amd_agents_allow_access)
HALYARD_HSA_REQUIRED(hsa_amd_memory_async_copy)
HALYARD_HSA_REQUIRED(hsa_amd_memory_lock_to_pool)
HALYARD_HSA_REQUIRED(hsa_amd_memory_unlock)
HALYARD_HSA_REQUIRED(hsa_amd_pointer_info)
HALYARD_HSA_REQUIRED(hsa_amd_ipc_memory_create)
HALYARD_HSA_REQUIRED(hsa_amd_ipc_memory_attach)
HALYARD_HSA_REQUIRED(hsa_amd_ipc_memory_detach)
HALYARD_HSA_REQUIRED(hsa_amd_interop_map_buffer)
HALYARD_HSA_REQUIRED(hsa_amd_interop_unmap_buffer)
// Since ROCm 5.6.
HALYARD_HSA_OPTIONAL(hsa_amd_portable_export_dmabuf,
                     hsa_status_t(const void*, size_t, int*, uint64_t*))
HALYARD_HSA_OPTIONAL(hsa_amd_svm_attributes_set,
                     hsa_status_t(void*, size_t, hsa_amd_svm_attribute_pair_t*, size_t))
HALYARD_HSA_OPTIONAL(hsa_amd_svm_prefetch_async, hsa_status_t(void*, size_t, hsa_agent_t, uint32_t,
                                                              const hsa_signal_t*, hsa_signal_t))
// Since ROCm 6.0.
HALYARD_HSA_OPTIONAL(hsa_amd_vmem_address_reserve, hsa_status_t(void**, size_t, uint64_t, uint64_t))
HALYARD_HSA_OPTIONAL(hsa_amd_vmem_address_free, hsa_status_t(void*, size_t))
HALYARD_HSA_OPTIONAL(hsa_amd_vmem_handle_create,
                     hsa_status_t(hsa_amd_memory_pool_t, size_t, int, uint64_t, VmemHandle*))
HALYARD_HSA_OPTIONAL(hsa_amd_vmem_handle_release, hsa_status_t(VmemHandle))
HALYARD_HSA_OPTIONAL(hsa_amd_vmem_map, hsa_status_t(void*, size_t, size_t, VmemHandle, uint64_t))
HALYARD_HSA_OPTIONAL(hsa_amd_vmem_unmap, hsa_status_t(void*, size_t))
HALYARD_HSA_OPTIONAL(hsa_amd_vmem_set_access,
                     hsa_status_t(void*, size_t, const VmemAccess*, size_t))

// Profiling
HALYARD_HSA_REQUIRED(hsa_amd_profiling_set_profiler_enabled)
HALYARD_HSA_REQUIRED(hsa_amd_profiling_get_dispatch_time)
HALYARD_HSA_REQUIRED(hsa_amd_profiling_convert_tick_to_system_domain)

// Code
HALYARD_HSA_REQUIRED(hsa_code_object_reader_create_from_memory)
HALYARD_HSA_REQUIRED(hsa_code_object_reader_destroy)
HALYARD_HSA_REQUIRED(hsa_executable_create_alt)
HALYARD_HSA_REQUIRED(hsa_executable_load_agent_code_object)
HALYARD_HSA_REQUIRED(hsa_executable_freeze)
HALYARD_HSA_REQUIRED(hsa_executable_destroy)
HALYARD_HSA_REQUIRED(hsa_executable_get_symbol_by_name)
HALYARD_HSA_REQUIRED(hsa_executable_symbol_get_info)
