// What the driver calls in libamdhip64: one row for each function.
//
// HALYARD_HIP_REQUIRED(name, type): every release from ROCm 5.2.3 (Debian 12) on has it; without it
// the library is refused.
// HALYARD_HIP_OPTIONAL(name, symbol, type): some release lacks it; the pointer is then null, and
// whoever calls it looks first.

// Runtime
HALYARD_HIP_REQUIRED(hipInit, hipError_t(unsigned))
HALYARD_HIP_REQUIRED(hipRuntimeGetVersion, hipError_t(int*))
HALYARD_HIP_REQUIRED(hipGetErrorName, const char*(hipError_t))
HALYARD_HIP_REQUIRED(hipGetErrorString, const char*(hipError_t))

// Devices
HALYARD_HIP_REQUIRED(hipGetDeviceCount, hipError_t(int*))
HALYARD_HIP_REQUIRED(hipGetDevice, hipError_t(int*))
HALYARD_HIP_REQUIRED(hipSetDevice, hipError_t(int))
HALYARD_HIP_REQUIRED(hipDeviceGetAttribute, hipError_t(int*, hipDeviceAttribute_t, int))
HALYARD_HIP_REQUIRED(hipDeviceTotalMem, hipError_t(size_t*, hipDevice_t))
HALYARD_HIP_REQUIRED(hipDeviceCanAccessPeer, hipError_t(int*, int, int))
HALYARD_HIP_REQUIRED(hipDeviceEnablePeerAccess, hipError_t(int, unsigned))
HALYARD_HIP_REQUIRED(hipDeviceGetStreamPriorityRange, hipError_t(int*, int*))
// HIP 6 keeps the old name for the old layout.
HALYARD_HIP_OPTIONAL(hipGetDeviceProperties, "hipGetDeviceProperties",
                     hipError_t(DeviceProperties*, int))
HALYARD_HIP_OPTIONAL(hipGetDevicePropertiesR0600, "hipGetDevicePropertiesR0600",
                     hipError_t(DeviceProperties*, int))
HALYARD_HIP_REQUIRED(hipDeviceGetPCIBusId, hipError_t(char*, int, int))
HALYARD_HIP_OPTIONAL(hipDeviceGetUuid, "hipDeviceGetUuid", hipError_t(hipUUID*, hipDevice_t))
HALYARD_HIP_OPTIONAL(hipExtGetLinkTypeAndHopCount, "hipExtGetLinkTypeAndHopCount",
                     hipError_t(int, int, uint32_t*, uint32_t*))

// Of the HSA runtime that the library is linked with; looked up through it, so that it is the same.
HALYARD_HIP_OPTIONAL(hsa_amd_register_system_event_handler, "hsa_amd_register_system_event_handler",
                     hsa_status_t(hsa_amd_system_event_callback_t, void*))
HALYARD_HIP_OPTIONAL(hsa_agent_get_info, "hsa_agent_get_info",
                     hsa_status_t(hsa_agent_t, int, void*))
HALYARD_HIP_OPTIONAL(hsa_system_get_info, "hsa_system_get_info", hsa_status_t(int, void*))
HALYARD_HIP_OPTIONAL(hsa_amd_profiling_convert_tick_to_system_domain,
                     "hsa_amd_profiling_convert_tick_to_system_domain",
                     hsa_status_t(hsa_agent_t, uint64_t, uint64_t*))
HALYARD_HIP_OPTIONAL(hsa_signal_create, "hsa_signal_create",
                     hsa_status_t(int64_t, uint32_t, const hsa_agent_t*, hsa_signal_t*))
HALYARD_HIP_OPTIONAL(hsa_signal_destroy, "hsa_signal_destroy", hsa_status_t(hsa_signal_t))
HALYARD_HIP_OPTIONAL(hsa_amd_pointer_info, "hsa_amd_pointer_info",
                     hsa_status_t(const void*, hsa_amd_pointer_info_t*, void* (*)(size_t),
                                  uint32_t*, hsa_agent_t**))
HALYARD_HIP_OPTIONAL(hsa_amd_portable_export_dmabuf, "hsa_amd_portable_export_dmabuf",
                     hsa_status_t(const void*, size_t, int*, uint64_t*))
HALYARD_HIP_OPTIONAL(hsa_amd_interop_map_buffer, "hsa_amd_interop_map_buffer",
                     hsa_status_t(uint32_t, hsa_agent_t*, int, uint32_t, size_t*, void**, size_t*,
                                  const void**))
HALYARD_HIP_OPTIONAL(hsa_amd_interop_unmap_buffer, "hsa_amd_interop_unmap_buffer",
                     hsa_status_t(void*))
HALYARD_HIP_OPTIONAL(hsa_init, "hsa_init", hsa_status_t())
HALYARD_HIP_OPTIONAL(hsa_iterate_agents, "hsa_iterate_agents",
                     hsa_status_t(hsa_status_t (*)(hsa_agent_t, void*), void*))

// Streams and events
HALYARD_HIP_REQUIRED(hipStreamCreateWithPriority, hipError_t(hipStream_t*, unsigned, int))
HALYARD_HIP_REQUIRED(hipStreamDestroy, hipError_t(hipStream_t))
HALYARD_HIP_REQUIRED(hipStreamSynchronize, hipError_t(hipStream_t))
HALYARD_HIP_REQUIRED(hipStreamQuery, hipError_t(hipStream_t))
HALYARD_HIP_REQUIRED(hipStreamGetFlags, hipError_t(hipStream_t, unsigned*))
HALYARD_HIP_REQUIRED(hipStreamWaitEvent, hipError_t(hipStream_t, hipEvent_t, unsigned))
HALYARD_HIP_OPTIONAL(hipStreamWriteValue64, "hipStreamWriteValue64",
                     hipError_t(hipStream_t, void*, uint64_t, unsigned))
HALYARD_HIP_REQUIRED(hipStreamAddCallback,
                     hipError_t(hipStream_t, hipStreamCallback_t, void*, unsigned))
HALYARD_HIP_OPTIONAL(hipLaunchHostFunc, "hipLaunchHostFunc",
                     hipError_t(hipStream_t, hipHostFn_t, void*))
HALYARD_HIP_OPTIONAL(hipGetStreamDeviceId, "hipGetStreamDeviceId", int(hipStream_t))
HALYARD_HIP_REQUIRED(hipEventCreateWithFlags, hipError_t(hipEvent_t*, unsigned))
HALYARD_HIP_REQUIRED(hipEventDestroy, hipError_t(hipEvent_t))
HALYARD_HIP_REQUIRED(hipEventRecord, hipError_t(hipEvent_t, hipStream_t))
HALYARD_HIP_REQUIRED(hipEventQuery, hipError_t(hipEvent_t))
HALYARD_HIP_REQUIRED(hipEventSynchronize, hipError_t(hipEvent_t))
HALYARD_HIP_REQUIRED(hipEventElapsedTime, hipError_t(float*, hipEvent_t, hipEvent_t))

// Memory
HALYARD_HIP_REQUIRED(hipMalloc, hipError_t(void**, size_t))
HALYARD_HIP_REQUIRED(hipExtMallocWithFlags, hipError_t(void**, size_t, unsigned))
HALYARD_HIP_REQUIRED(hipFree, hipError_t(void*))
HALYARD_HIP_OPTIONAL(hipMallocManaged, "hipMallocManaged", hipError_t(void**, size_t, unsigned))
HALYARD_HIP_OPTIONAL(hipMemPrefetchAsync, "hipMemPrefetchAsync",
                     hipError_t(const void*, size_t, int, hipStream_t))
HALYARD_HIP_OPTIONAL(hipMemAdvise, "hipMemAdvise",
                     hipError_t(const void*, size_t, hipMemoryAdvise, int))
HALYARD_HIP_REQUIRED(hipHostMalloc, hipError_t(void**, size_t, unsigned))
HALYARD_HIP_REQUIRED(hipHostFree, hipError_t(void*))
HALYARD_HIP_REQUIRED(hipHostRegister, hipError_t(void*, size_t, unsigned))
HALYARD_HIP_REQUIRED(hipHostUnregister, hipError_t(void*))
HALYARD_HIP_REQUIRED(hipHostGetDevicePointer, hipError_t(void**, void*, unsigned))
HALYARD_HIP_REQUIRED(hipPointerGetAttributes, hipError_t(hipPointerAttribute_t*, const void*))
HALYARD_HIP_REQUIRED(hipMemGetAddressRange, hipError_t(hipDeviceptr_t*, size_t*, hipDeviceptr_t))
HALYARD_HIP_REQUIRED(hipIpcGetMemHandle, hipError_t(hipIpcMemHandle_t*, void*))
HALYARD_HIP_REQUIRED(hipIpcOpenMemHandle, hipError_t(void**, hipIpcMemHandle_t, unsigned))
HALYARD_HIP_REQUIRED(hipIpcCloseMemHandle, hipError_t(void*))
// Before HIP 5.6, what is mapped cannot be copied: it is in no table of HIP's.
HALYARD_HIP_OPTIONAL(hipImportExternalMemory, "hipImportExternalMemory",
                     hipError_t(hipExternalMemory_t*, const hipExternalMemoryHandleDesc*))
HALYARD_HIP_OPTIONAL(hipExternalMemoryGetMappedBuffer, "hipExternalMemoryGetMappedBuffer",
                     hipError_t(void**, hipExternalMemory_t, const hipExternalMemoryBufferDesc*))
HALYARD_HIP_OPTIONAL(hipDestroyExternalMemory, "hipDestroyExternalMemory",
                     hipError_t(hipExternalMemory_t))
HALYARD_HIP_OPTIONAL(hipMemAddressReserve, "hipMemAddressReserve",
                     hipError_t(void**, size_t, size_t, void*, unsigned long long))
HALYARD_HIP_OPTIONAL(hipMemAddressFree, "hipMemAddressFree", hipError_t(void*, size_t))
HALYARD_HIP_OPTIONAL(hipMemGetAllocationGranularity, "hipMemGetAllocationGranularity",
                     hipError_t(size_t*, const hipMemAllocationProp*, int))
HALYARD_HIP_OPTIONAL(hipMemCreate, "hipMemCreate",
                     hipError_t(hipMemGenericAllocationHandle_t*, size_t,
                                const hipMemAllocationProp*, unsigned long long))
HALYARD_HIP_OPTIONAL(hipMemRelease, "hipMemRelease", hipError_t(hipMemGenericAllocationHandle_t))
HALYARD_HIP_OPTIONAL(hipMemMap, "hipMemMap",
                     hipError_t(void*, size_t, size_t, hipMemGenericAllocationHandle_t,
                                unsigned long long))
HALYARD_HIP_OPTIONAL(hipMemUnmap, "hipMemUnmap", hipError_t(void*, size_t))
HALYARD_HIP_OPTIONAL(hipMemSetAccess, "hipMemSetAccess",
                     hipError_t(void*, size_t, const hipMemAccessDesc*, size_t))
HALYARD_HIP_REQUIRED(hipMemcpyAsync,
                     hipError_t(void*, const void*, size_t, hipMemcpyKind, hipStream_t))
HALYARD_HIP_REQUIRED(hipMemcpy2DAsync, hipError_t(void*, size_t, const void*, size_t, size_t,
                                                  size_t, hipMemcpyKind, hipStream_t))
HALYARD_HIP_REQUIRED(hipMemsetD8Async,
                     hipError_t(hipDeviceptr_t, unsigned char, size_t, hipStream_t))
HALYARD_HIP_REQUIRED(hipMemsetD16Async,
                     hipError_t(hipDeviceptr_t, unsigned short, size_t, hipStream_t))
HALYARD_HIP_REQUIRED(hipMemsetD32Async, hipError_t(hipDeviceptr_t, int, size_t, hipStream_t))

// Code
HALYARD_HIP_REQUIRED(hipModuleLoadData, hipError_t(hipModule_t*, const void*))
HALYARD_HIP_REQUIRED(hipModuleUnload, hipError_t(hipModule_t))
HALYARD_HIP_REQUIRED(hipModuleGetFunction, hipError_t(hipFunction_t*, hipModule_t, const char*))
HALYARD_HIP_REQUIRED(hipModuleGetGlobal,
                     hipError_t(hipDeviceptr_t*, size_t*, hipModule_t, const char*))
// The launch that counts work-items. HIP 6 exports it as C, HIP 5 as C++.
HALYARD_HIP_OPTIONAL(hipExtModuleLaunchKernel, "hipExtModuleLaunchKernel",
                     hipError_t(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                uint32_t, size_t, hipStream_t, void**, void**, hipEvent_t,
                                hipEvent_t, uint32_t))
HALYARD_HIP_OPTIONAL(hipExtModuleLaunchKernelCxx,
                     "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_"
                     "P11ihipEvent_tS6_j",
                     hipError_t(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                uint32_t, size_t, hipStream_t, void**, void**, hipEvent_t,
                                hipEvent_t, uint32_t))
