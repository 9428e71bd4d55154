// The driver's binary interface is Linux's: sizes and places of what both declare.
#include "vgpu/kfd/abi.h"

#include <gtest/gtest.h>
#include <linux/kfd_ioctl.h>

#include <cstddef>

namespace halyard::vgpu::kfd::abi {
namespace {

TEST(Abi, CodesAreThoseOfLinux) {
  EXPECT_EQ(code<Version>(Request::kGetVersion, _IOC_READ), AMDKFD_IOC_GET_VERSION);
  // Linux adds members at an argument's end, and takes shorter ones: 6.12 has the number of an
  // engine here.
  constexpr unsigned kSize = _IOC_SIZEMASK << _IOC_SIZESHIFT;
  EXPECT_EQ(code<CreateQueue>(Request::kCreateQueue) & ~kSize, AMDKFD_IOC_CREATE_QUEUE & ~kSize);
  EXPECT_LE(sizeof(CreateQueue), sizeof(kfd_ioctl_create_queue_args));
  EXPECT_EQ(code<DestroyQueue>(Request::kDestroyQueue), AMDKFD_IOC_DESTROY_QUEUE);
  EXPECT_EQ(code<SetMemoryPolicy>(Request::kSetMemoryPolicy, _IOC_WRITE),
            AMDKFD_IOC_SET_MEMORY_POLICY);
  EXPECT_EQ(code<ClockCounters>(Request::kGetClockCounters), AMDKFD_IOC_GET_CLOCK_COUNTERS);
  EXPECT_EQ(code<ProcessApertures>(Request::kGetProcessApertures, _IOC_READ),
            AMDKFD_IOC_GET_PROCESS_APERTURES);
  EXPECT_EQ(code<UpdateQueue>(Request::kUpdateQueue, _IOC_WRITE), AMDKFD_IOC_UPDATE_QUEUE);
  EXPECT_EQ(code<CreateEvent>(Request::kCreateEvent), AMDKFD_IOC_CREATE_EVENT);
  EXPECT_EQ(code<EventId>(Request::kDestroyEvent, _IOC_WRITE), AMDKFD_IOC_DESTROY_EVENT);
  EXPECT_EQ(code<EventId>(Request::kSetEvent, _IOC_WRITE), AMDKFD_IOC_SET_EVENT);
  EXPECT_EQ(code<EventId>(Request::kResetEvent, _IOC_WRITE), AMDKFD_IOC_RESET_EVENT);
  EXPECT_EQ(code<WaitEvents>(Request::kWaitEvents), AMDKFD_IOC_WAIT_EVENTS);
  EXPECT_EQ(code<SetScratchBackingVa>(Request::kSetScratchBackingVa),
            AMDKFD_IOC_SET_SCRATCH_BACKING_VA);
  EXPECT_EQ(code<TileConfig>(Request::kGetTileConfig), AMDKFD_IOC_GET_TILE_CONFIG);
  EXPECT_EQ(code<SetTrapHandler>(Request::kSetTrapHandler, _IOC_WRITE),
            AMDKFD_IOC_SET_TRAP_HANDLER);
  EXPECT_EQ(code<ProcessAperturesNew>(Request::kGetProcessAperturesNew),
            AMDKFD_IOC_GET_PROCESS_APERTURES_NEW);
  EXPECT_EQ(code<AcquireVm>(Request::kAcquireVm, _IOC_WRITE), AMDKFD_IOC_ACQUIRE_VM);
  EXPECT_EQ(code<AllocMemory>(Request::kAllocMemoryOfGpu), AMDKFD_IOC_ALLOC_MEMORY_OF_GPU);
  EXPECT_EQ(code<FreeMemory>(Request::kFreeMemoryOfGpu, _IOC_WRITE), AMDKFD_IOC_FREE_MEMORY_OF_GPU);
  EXPECT_EQ(code<MapMemory>(Request::kMapMemoryToGpu), AMDKFD_IOC_MAP_MEMORY_TO_GPU);
  EXPECT_EQ(code<MapMemory>(Request::kUnmapMemoryFromGpu), AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU);
  EXPECT_EQ(code<SetCuMask>(Request::kSetCuMask, _IOC_WRITE), AMDKFD_IOC_SET_CU_MASK);
  EXPECT_EQ(code<AllocQueueGws>(Request::kAllocQueueGws), AMDKFD_IOC_ALLOC_QUEUE_GWS);
  EXPECT_EQ(code<SetXnackMode>(Request::kSetXnackMode), AMDKFD_IOC_SET_XNACK_MODE);
  EXPECT_EQ(code<Svm>(Request::kSvm), AMDKFD_IOC_SVM);
  EXPECT_EQ(code<AvailableMemory>(Request::kAvailableMemory), AMDKFD_IOC_AVAILABLE_MEMORY);
}

// Sizes are in the codes; of each argument with several sizes of fields, one that lies behind them.
TEST(Abi, FieldsAreWhereLinuxHasThem) {
  EXPECT_EQ(offsetof(CreateQueue, queue_id), offsetof(kfd_ioctl_create_queue_args, queue_id));
  EXPECT_EQ(offsetof(CreateQueue, type), offsetof(kfd_ioctl_create_queue_args, queue_type));
  EXPECT_EQ(offsetof(CreateQueue, control_stack_size),
            offsetof(kfd_ioctl_create_queue_args, ctl_stack_size));
  EXPECT_EQ(offsetof(UpdateQueue, percentage),
            offsetof(kfd_ioctl_update_queue_args, queue_percentage));
  EXPECT_EQ(offsetof(SetCuMask, mask_pointer), offsetof(kfd_ioctl_set_cu_mask_args, cu_mask_ptr));
  EXPECT_EQ(offsetof(AvailableMemory, gpu_id),
            offsetof(kfd_ioctl_get_available_memory_args, gpu_id));
  EXPECT_EQ(offsetof(SetMemoryPolicy, alternate_policy),
            offsetof(kfd_ioctl_set_memory_policy_args, alternate_policy));
  EXPECT_EQ(offsetof(ClockCounters, system_frequency),
            offsetof(kfd_ioctl_get_clock_counters_args, system_clock_freq));
  EXPECT_EQ(offsetof(DeviceApertures, gpuvm_limit),
            offsetof(kfd_process_device_apertures, gpuvm_limit));
  EXPECT_EQ(offsetof(DeviceApertures, gpu_id), offsetof(kfd_process_device_apertures, gpu_id));
  EXPECT_EQ(offsetof(ProcessAperturesNew, count),
            offsetof(kfd_ioctl_get_process_apertures_new_args, num_of_nodes));
  EXPECT_EQ(offsetof(CreateEvent, event_slot_index),
            offsetof(kfd_ioctl_create_event_args, event_slot_index));
  EXPECT_EQ(offsetof(CreateEvent, event_id), offsetof(kfd_ioctl_create_event_args, event_id));
  EXPECT_EQ(offsetof(MemoryException, address), offsetof(kfd_hsa_memory_exception_data, va));
  EXPECT_EQ(offsetof(MemoryException, error_type),
            offsetof(kfd_hsa_memory_exception_data, ErrorType));
  EXPECT_EQ(sizeof(EventData), sizeof(kfd_event_data));
  EXPECT_EQ(offsetof(EventData, event_id), offsetof(kfd_event_data, event_id));
  EXPECT_EQ(offsetof(WaitEvents, wait_result), offsetof(kfd_ioctl_wait_events_args, wait_result));
  EXPECT_EQ(offsetof(TileConfig, gb_addr_config),
            offsetof(kfd_ioctl_get_tile_config_args, gb_addr_config));
  EXPECT_EQ(offsetof(AllocMemory, mmap_offset),
            offsetof(kfd_ioctl_alloc_memory_of_gpu_args, mmap_offset));
  EXPECT_EQ(offsetof(AllocMemory, flags), offsetof(kfd_ioctl_alloc_memory_of_gpu_args, flags));
  EXPECT_EQ(sizeof(SvmAttribute), sizeof(kfd_ioctl_svm_attribute));
  EXPECT_EQ(offsetof(SvmAttribute, value), offsetof(kfd_ioctl_svm_attribute, value));
  EXPECT_EQ(offsetof(Svm, count), offsetof(kfd_ioctl_svm_args, nattr));
  EXPECT_EQ(offsetof(MapMemory, done), offsetof(kfd_ioctl_map_memory_to_gpu_args, n_success));
}

TEST(Abi, FlagsAreThoseOfLinux) {
  EXPECT_EQ(kVram, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_VRAM});
  EXPECT_EQ(kGtt, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_GTT});
  EXPECT_EQ(kUserPointer, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_USERPTR});
  EXPECT_EQ(kDoorbell, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL});
  EXPECT_EQ(kMmioRemap, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP});
  EXPECT_EQ(kCoherent, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_COHERENT});
  EXPECT_EQ(kUncached, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED});
  EXPECT_EQ(kAqlQueueMemory, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM});
  EXPECT_EQ(kPublic, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC});
  EXPECT_EQ(kExecutable, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE});
  EXPECT_EQ(kWritable, static_cast<uint32_t>(KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE));
  EXPECT_EQ(static_cast<unsigned>(QueueType::kComputeAql), KFD_IOC_QUEUE_TYPE_COMPUTE_AQL + 0u);
  EXPECT_EQ(static_cast<unsigned>(EventType::kMemory), KFD_IOC_EVENT_MEMORY + 0u);
  EXPECT_EQ(static_cast<unsigned>(SvmOperation::kGet), KFD_IOCTL_SVM_OP_GET_ATTR + 0u);
  EXPECT_EQ(static_cast<unsigned>(SvmAttributeType::kNoAccess), KFD_IOCTL_SVM_ATTR_NO_ACCESS + 0u);
  EXPECT_EQ(static_cast<unsigned>(SvmAttributeType::kGranularity),
            KFD_IOCTL_SVM_ATTR_GRANULARITY + 0u);
  EXPECT_EQ(kNoLocation, uint32_t{KFD_IOCTL_SVM_LOCATION_UNDEFINED});
  EXPECT_EQ(kSvmCoherent, KFD_IOCTL_SVM_FLAG_COHERENT + 0u);
  EXPECT_EQ(kSvmHostAccess, KFD_IOCTL_SVM_FLAG_HOST_ACCESS + 0u);
  EXPECT_EQ(kEventLimit, KFD_SIGNAL_EVENT_LIMIT + 0u);
}

}  // namespace
}  // namespace halyard::vgpu::kfd::abi
