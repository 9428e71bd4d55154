// How the types of hal/include/hal stand to those of the contract (hal/contract/driver.h): which C
// struct is which C++ one, and the conversions, none of which copies anything. For hal and for
// hal/contract/objects.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hal/buffer.h"
#include "hal/command_buffer.h"
#include "hal/contract/driver.h"
#include "hal/device.h"
#include "hal/dispatch.h"
#include "hal/driver.h"
#include "hal/executable.h"
#include "hal/memory_pool.h"
#include "hal/profile.h"
#include "hal/queue.h"
#include "hal/semaphore.h"
#include "hal/status.h"
#include "hal/types.h"

namespace halyard::internal {

// Objects: `type` is what T is in the contract.
template <typename T>
struct ContractObject {};
// Structs that are passed by address, with the same members in both languages.
template <typename T>
struct ContractStruct {};
// Values that are passed as they are, bit by bit.
template <typename T>
struct ContractValue {};

#define HALYARD_CONTRACT_OBJECT(T, C) \
  template <>                         \
  struct ContractObject<T> {          \
    using type = C;                   \
  };
#define HALYARD_CONTRACT_STRUCT(T, C)                                  \
  template <>                                                          \
  struct ContractStruct<T> {                                           \
    using type = C;                                                    \
    static_assert(sizeof(T) == sizeof(C) && alignof(T) == alignof(C)); \
    static_assert(std::is_standard_layout_v<T>);                       \
  };
#define HALYARD_CONTRACT_VALUE(T, C)                                          \
  template <>                                                                 \
  struct ContractValue<T> {                                                   \
    using type = C;                                                           \
    static_assert(sizeof(T) == sizeof(C) && std::is_trivially_copyable_v<T>); \
  };

HALYARD_CONTRACT_OBJECT(Buffer, HalyardBuffer)
HALYARD_CONTRACT_OBJECT(CommandBuffer, HalyardCommandBuffer)
HALYARD_CONTRACT_OBJECT(Device, HalyardDevice)
HALYARD_CONTRACT_OBJECT(Driver, HalyardDriver)
HALYARD_CONTRACT_OBJECT(Executable, HalyardExecutable)
HALYARD_CONTRACT_OBJECT(MemoryPool, HalyardMemoryPool)
HALYARD_CONTRACT_OBJECT(Queue, HalyardQueue)
HALYARD_CONTRACT_OBJECT(Semaphore, HalyardSemaphore)

HALYARD_CONTRACT_STRUCT(AllocationInfo, HalyardAllocationInfo)
HALYARD_CONTRACT_STRUCT(Argument, HalyardArgument)
HALYARD_CONTRACT_STRUCT(ArgumentInfo, HalyardArgumentInfo)
HALYARD_CONTRACT_STRUCT(BufferOptions, HalyardBufferOptions)
HALYARD_CONTRACT_STRUCT(BufferRange, HalyardRange)
HALYARD_CONTRACT_STRUCT(ClockReading, HalyardClockReading)
HALYARD_CONTRACT_STRUCT(DeviceDetails, HalyardDeviceDetails)
HALYARD_CONTRACT_STRUCT(DeviceInfo, HalyardDeviceInfo)
HALYARD_CONTRACT_STRUCT(DeviceOptionInfo, HalyardDeviceOption)
HALYARD_CONTRACT_STRUCT(DeviceSummary, HalyardDeviceSummary)
HALYARD_CONTRACT_STRUCT(Dispatch, HalyardDispatch)
HALYARD_CONTRACT_STRUCT(Dmabuf, HalyardDmabuf)
HALYARD_CONTRACT_STRUCT(DriverInfo, HalyardDriverInfo)
HALYARD_CONTRACT_STRUCT(ExecutableInfo, HalyardExecutableInfo)
HALYARD_CONTRACT_STRUCT(ExportedHandle, HalyardExportedHandle)
HALYARD_CONTRACT_STRUCT(ExportedSemaphore, HalyardExportedSemaphore)
HALYARD_CONTRACT_STRUCT(FileRange, HalyardFileRange)
HALYARD_CONTRACT_STRUCT(FunctionInfo, HalyardFunctionInfo)
HALYARD_CONTRACT_STRUCT(GlobalInfo, HalyardGlobalInfo)
HALYARD_CONTRACT_STRUCT(HeapInfo, HalyardHeapInfo)
HALYARD_CONTRACT_STRUCT(HeapStatistics, HalyardHeapStatistics)
HALYARD_CONTRACT_STRUCT(HostCall, HalyardHostCall)
HALYARD_CONTRACT_STRUCT(HostCompletion, HalyardHostCompletion)
HALYARD_CONTRACT_STRUCT(ImportOptions, HalyardImportOptions)
HALYARD_CONTRACT_STRUCT(LinkInfo, HalyardLinkInfo)
HALYARD_CONTRACT_STRUCT(Option, HalyardOption)
HALYARD_CONTRACT_STRUCT(PoolInfo, HalyardPoolInfo)
HALYARD_CONTRACT_STRUCT(PoolOptions, HalyardPoolOptions)
HALYARD_CONTRACT_STRUCT(PoolStatistics, HalyardPoolStatistics)
HALYARD_CONTRACT_STRUCT(ProfileEvent, HalyardProfileEvent)
HALYARD_CONTRACT_STRUCT(ProfileOptions, HalyardProfileOptions)
HALYARD_CONTRACT_STRUCT(QueueOptions, HalyardQueueOptions)
HALYARD_CONTRACT_STRUCT(RectangleCopy, HalyardRectangleCopy)
HALYARD_CONTRACT_STRUCT(SemaphorePoint, HalyardPoint)
HALYARD_CONTRACT_STRUCT(Sync, HalyardSync)

HALYARD_CONTRACT_VALUE(StringView, HalyardText)
HALYARD_CONTRACT_VALUE(Span<const BufferRange>, HalyardRanges)
HALYARD_CONTRACT_VALUE(Span<const Option>, HalyardOptions)
HALYARD_CONTRACT_VALUE(Span<const SemaphorePoint>, HalyardPoints)

#undef HALYARD_CONTRACT_OBJECT
#undef HALYARD_CONTRACT_STRUCT
#undef HALYARD_CONTRACT_VALUE

template <typename T>
concept AnObject = requires { typename ContractObject<T>::type; };
template <typename T>
concept AStruct = requires { typename ContractStruct<T>::type; };
template <typename T>
concept ASizedStruct = AStruct<T> && requires(T t) { t.struct_size; };
template <typename T>
concept AValue = requires { typename ContractValue<T>::type; };

// What a function of the contract is given for `t`.
template <AnObject T>
typename ContractObject<T>::type* to_contract(const T& t) noexcept {
  return t.contract();
}
template <AStruct T>
const typename ContractStruct<T>::type* to_contract(const T& t) noexcept {
  return reinterpret_cast<const typename ContractStruct<T>::type*>(&t);
}
template <AStruct T>
typename ContractStruct<T>::type* to_contract(T* t) noexcept {
  return reinterpret_cast<typename ContractStruct<T>::type*>(t);
}
template <AValue T>
typename ContractValue<T>::type to_contract(const T& t) noexcept {
  return std::bit_cast<typename ContractValue<T>::type>(t);
}
inline uint64_t to_contract(const Deadline& deadline) noexcept {
  return deadline.monotonic_ns;
}
inline HalyardStatus* to_contract(const Status& status) noexcept {
  return status.contract();
}
template <typename T>
  requires std::is_enum_v<T>
uint32_t to_contract(T t) noexcept {
  return static_cast<uint32_t>(t);
}
template <typename T>
  requires(std::is_arithmetic_v<T> || (std::is_pointer_v<T> && !AStruct<std::remove_pointer_t<T>>))
T to_contract(T t) noexcept {
  return t;
}
// Whether a table has a function, which may be missing at its end or be null.
template <typename Functions, typename Function>
Function optional(const Functions* functions, Function Functions::* slot) noexcept {
  const Function* const at = &(functions->*slot);
  const auto end = reinterpret_cast<const char*>(at + 1) - reinterpret_cast<const char*>(functions);
  return static_cast<size_t>(end) <= functions->struct_size ? *at : nullptr;
}

}  // namespace halyard::internal
