// The base classes of a driver in C++. Each implements the contract (hal/contract/driver.h): its
// table of functions calls the virtual methods here, turns exceptions into failures, and cuts or
// fills structs of another version of Halyard to this one's size.
//
// A driver can assume valid input: ranges are resolved (no kToEnd) and inside their buffers, sizes
// are not zero, arguments fit the function's metadata, and shapes are within the device's limits. A
// method with a body here is optional; without it, the program gets UNIMPLEMENTED.
//
// A driver keeps its own data about an object, also the data that it has given to the host: info()
// of a device or a function is the driver's here, and the classes of hal have the host's copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hal/contract/contract.h"
#include "hal/contract/guard.h"
#include "hal/device.h"
#include "hal/driver.h"

namespace halyard {

struct ArgumentPlan;  // hal/src/argument_plan.h

namespace driver {

// Converts a parameter of a function of the contract to one of a method, for the duration of the
// call.
template <typename T>
struct Given {
  T get() const noexcept { return static_cast<T>(value); }
  // The contract's type: an integer for an enum.
  std::conditional_t<std::is_enum_v<T>, uint32_t, T> value;
};
template <typename T>
  requires internal::AnObject<std::remove_const_t<T>>
struct Given<T&> {
  using C = typename internal::ContractObject<std::remove_const_t<T>>::type;
  T& get() const noexcept {
    using Plain = std::remove_const_t<T>;
    return *Plain::template from_contract<Plain>(const_cast<C*>(value));
  }
  std::conditional_t<std::is_const_v<T>, const C*, C*> value;
};
// The object that a method creates.
template <internal::AnObject T>
struct Given<T**> {
  explicit Given(typename internal::ContractObject<T>::type** to) noexcept : out(to) {}
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given() { *out = made != nullptr ? made->contract() : nullptr; }
  T** get() noexcept { return &made; }
  typename internal::ContractObject<T>::type** out;
  T* made = nullptr;
};
template <internal::AStruct T>
struct Given<const T&> {
  const T& get() const noexcept { return *reinterpret_cast<const T*>(value); }
  const typename internal::ContractStruct<T>::type* value;
};
// A shorter struct comes from an older host: missing members have their defaults.
template <internal::ASizedStruct T>
struct Given<const T&> {
  explicit Given(const typename internal::ContractStruct<T>::type* from) noexcept : value(from) {}
  const T& get() noexcept {
    const T& given = *reinterpret_cast<const T*>(value);
    if (given.struct_size >= sizeof(T)) [[likely]]
      return given;
    return *new (room) T(known_part(given));
  }
  const typename internal::ContractStruct<T>::type* value;
  alignas(T) unsigned char room[sizeof(T)];
};
// A struct that a method fills in.
template <internal::ASizedStruct T>
struct Given<T*> {
  explicit Given(typename internal::ContractStruct<T>::type* to) noexcept : out(to) {}
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given() {
    own.struct_size = out->struct_size < sizeof(T) ? out->struct_size : uint32_t{sizeof(T)};
    std::memcpy(static_cast<void*>(out), &own, own.struct_size);
  }
  T* get() noexcept { return &own; }
  typename internal::ContractStruct<T>::type* out;
  T own;
};
template <internal::AValue T>
struct Given<T> {
  T get() const noexcept { return std::bit_cast<T>(value); }
  typename internal::ContractValue<T>::type value;
};
template <>
struct Given<Deadline> {
  Deadline get() const noexcept { return {value}; }
  uint64_t value;
};
template <>
struct Given<const Status&> {
  explicit Given(HalyardStatus* borrowed) noexcept : status(Status::adopt(borrowed)) {}
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given() { status.leak(); }
  const Status& get() const noexcept { return status; }
  Status status;
};
template <>
struct Given<ProfileSink> {
  // Passes a pointer for a ProfileSink's reference, which is the same at the machine level (Itanium
  // C++ ABI, 3.1.3.1 "Reference Parameters").
  ProfileSink get() const noexcept {
    return reinterpret_cast<ProfileSink>(reinterpret_cast<void (*)()>(value));
  }
  HalyardProfileSink value;
};
using DeviceSink = void (*)(void* context, const DeviceSummary& summary);
template <>
struct Given<DeviceSink> {
  DeviceSink get() const noexcept {
    return reinterpret_cast<DeviceSink>(reinterpret_cast<void (*)()>(value));
  }
  HalyardDeviceSink value;
};
using DeviceOptionSink = void (*)(void* context, const DeviceOptionInfo& option);
template <>
struct Given<DeviceOptionSink> {
  DeviceOptionSink get() const noexcept {
    return reinterpret_cast<DeviceOptionSink>(reinterpret_cast<void (*)()>(value));
  }
  HalyardDeviceOptionSink value;
};

// Calls `method`, which has this signature, with the arguments of a function of the contract.
template <typename Signature>
struct Call;
template <typename O, typename R, typename... A>
struct Call<R (O::*)(A...)> {
  template <typename Method, typename... C>
  [[gnu::always_inline]] static auto run(Method&& method, C... given) noexcept {
    if constexpr (std::is_same_v<R, Status>) {
      return guarded([&]() -> Status { return method(Given<A>{given}.get()...); }).leak();
    } else if constexpr (std::is_same_v<R, const Function*>) {
      return static_cast<const HalyardFunction*>(method(Given<A>{given}.get()...)->contract());
    } else if constexpr (std::is_void_v<R>) {
      guarded([&]() -> Status {
        method(Given<A>{given}.get()...);
        return {};
      }).ignore();
    } else {
      R result = {};
      guarded([&]() -> Status {
        result = method(Given<A>{given}.get()...);
        return {};
      }).ignore();
      return result;
    }
  }
};
template <typename O, typename R, typename... A>
struct Call<R (O::*)(A...) const> : Call<R (O::*)(A...)> {};
template <typename O, typename R, typename... A>
struct Call<R (O::*)(A...) noexcept> : Call<R (O::*)(A...)> {};
template <typename O, typename R, typename... A>
struct Call<R (O::*)(A...) const noexcept> : Call<R (O::*)(A...)> {};

// An entry of a table: calls Q::method of the object.
#define HALYARD_SLOT(Base, method)                                                           \
  [](auto* object, auto... given) {                                                          \
    auto* const self = static_cast<Q*>(Base::template from_contract<Base>(                   \
        const_cast<std::remove_const_t<std::remove_pointer_t<decltype(object)>>*>(object))); \
    return Call<decltype(&Q::method)>::run(                                                  \
        [self](auto&&... to) -> decltype(auto) {                                             \
          return self->method(std::forward<decltype(to)>(to)...);                            \
        },                                                                                   \
        given...);                                                                           \
  }

// The base of every object of a driver.
#define HALYARD_DRIVER_OBJECT(Object, Functions)    \
  void begin(const Functions& functions) noexcept { \
    Object& object = *this->contract();             \
    object.functions = &functions;                  \
    object.references = 1;                          \
    object.struct_size = sizeof(Object);            \
  }                                                 \
  virtual void destroy() noexcept = 0

// The method of a row of operations.inl: REQUIRED or OPTIONAL, which answers UNIMPLEMENTED.
#define HALYARD_METHOD_REQUIRED(text, arguments) = 0;
#define HALYARD_METHOD_OPTIONAL(text, arguments) \
  {                                              \
    return unused arguments, left_out(text);     \
  }
template <typename... A>
void unused(const A&...) noexcept {}

class BufferBase;
class CommandBufferBase;
class DeviceBase;
class DriverBase;
class ExecutableBase;
class MemoryPoolBase;
class QueueBase;
class SemaphoreBase;

// The tables. If Q is a class of this file, its vtable is used; a driver that needs every
// nanosecond passes its own final class (QueueBase::QueueBase), which is called directly.
template <typename Q>
struct BufferTable {
  static const HalyardBufferFunctions kFunctions;
};
template <typename Q>
struct CommandBufferTable {
  static constinit const HalyardCommandBufferFunctions kFunctions;
};
template <typename Q>
struct DeviceTable {
  static const HalyardDeviceFunctions kFunctions;
};
template <typename Q>
struct DriverTable {
  static const HalyardDriverFunctions kFunctions;
};
template <typename Q>
struct ExecutableTable {
  static const HalyardExecutableFunctions kFunctions;
};
template <typename Q>
struct MemoryPoolTable {
  static const HalyardMemoryPoolFunctions kFunctions;
};
template <typename Q>
struct QueueTable {
  static constinit const HalyardQueueFunctions kFunctions;
};
template <typename Q>
struct SemaphoreTable {
  static const HalyardSemaphoreFunctions kFunctions;
};

// The driver's own facts of an object that it has made. Device::info and Function::info belong to
// the host; a driver must not use them.
inline const DeviceInfo& info_of(const Device& device) noexcept {
  return *reinterpret_cast<const DeviceInfo*>(device.contract()->info);
}
inline const FunctionInfo& info_of(const Function& function) noexcept {
  return *reinterpret_cast<const FunctionInfo*>(function.contract()->info);
}

// UNIMPLEMENTED: the driver does not override the method.
[[gnu::cold]] Status left_out(const char* method);

class BufferBase : public Buffer {
 public:
  // Sets size(). Validation refuses every use of a buffer without bytes, so 0 means that the memory
  // is or will be deallocated (Queue::dealloca_buffer).
  static void set_size(Buffer& buffer, uint64_t bytes) noexcept {
    __atomic_store_n(&buffer.contract()->size, bytes, __ATOMIC_RELAXED);
  }

 protected:
  BufferBase(Device& device, MemoryType type, uint64_t size, uint64_t device_address) noexcept {
    begin(BufferTable<BufferBase>::kFunctions);
    HalyardBuffer& object = *contract();
    object.device = device.contract();
    object.size = size;
    object.device_address = device_address;
    object.type = static_cast<uint32_t>(type);
  }
  ~BufferBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardBuffer, HalyardBufferFunctions);

  virtual Status do_map(uint64_t offset, uint64_t length, MapAccess access, void** pointer) = 0;
  virtual Status do_unmap(void* pointer) = 0;
  virtual Status do_flush(uint64_t offset, uint64_t length) = 0;
  virtual Status do_invalidate(uint64_t offset, uint64_t length) = 0;
  virtual Status do_subspan(uint64_t offset, uint64_t length, Buffer** view) = 0;
};

template <typename Q>
const HalyardBufferFunctions BufferTable<Q>::kFunctions = {
    .struct_size = sizeof(HalyardBufferFunctions),
    .destroy = HALYARD_SLOT(Buffer, destroy),
    .subspan = HALYARD_SLOT(Buffer, do_subspan),
    .map = HALYARD_SLOT(Buffer, do_map),
    .unmap = HALYARD_SLOT(Buffer, do_unmap),
    .flush = HALYARD_SLOT(Buffer, do_flush),
    .invalidate = HALYARD_SLOT(Buffer, do_invalidate),
};

class SemaphoreBase : public Semaphore {
 protected:
  explicit SemaphoreBase(Device& device) noexcept {
    begin(SemaphoreTable<SemaphoreBase>::kFunctions);
    contract()->device = device.contract();
  }
  ~SemaphoreBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardSemaphore, HalyardSemaphoreFunctions);

  virtual Status do_query(uint64_t* value) const = 0;
  virtual Status do_signal(uint64_t value) = 0;
  virtual Status do_wait(uint64_t value, Deadline deadline) const = 0;
  virtual void do_fail(const Status& cause) = 0;
};

template <typename Q>
const HalyardSemaphoreFunctions SemaphoreTable<Q>::kFunctions = {
    .struct_size = sizeof(HalyardSemaphoreFunctions),
    .destroy = HALYARD_SLOT(Semaphore, destroy),
    .query = HALYARD_SLOT(Semaphore, do_query),
    .signal = HALYARD_SLOT(Semaphore, do_signal),
    .wait = HALYARD_SLOT(Semaphore, do_wait),
    .fail = HALYARD_SLOT(Semaphore, do_fail),
};

// An entry point of an executable, with its plan for packing (hal/kernel_arguments.h).
class FunctionBase : public Function {
 public:
  FunctionBase(const FunctionBase&) = delete;
  FunctionBase& operator=(const FunctionBase&) = delete;

  // For a function that this driver has made.
  static const FunctionBase& of(const Function& function) noexcept {
    return static_cast<const FunctionBase&>(function);
  }
  const FunctionInfo& info() const noexcept { return info_; }
  // Null if there was no memory for it.
  const ArgumentPlan* plan() const noexcept { return plan_; }
  // From now on, every dispatch passes the address for the hidden argument of this kind
  // (hal/hidden_buffers.h). Call it before other code knows the function.
  void give_hidden_buffer(ArgumentKind kind, uint64_t address) noexcept;
  // No dispatch of it is possible, for this reason (FunctionInfo::problem): a text that lives as
  // long. Call it before other code knows the function.
  void refuse(StringView problem) noexcept {
    info_.problem = problem;
    // A host of before 2.1 does not know of problems. It refuses every work-group.
    info_.max_workgroup_size = 0;
  }

 protected:
  // The views in `info` stay valid while the function lives.
  FunctionBase(Executable& executable, const FunctionInfo& info) noexcept;
  // For a proxy of another function, whose driver provides the arguments in its info.
  void give_as(const FunctionInfo& info) noexcept { info_.missing_hidden = info.missing_hidden; }
  ~FunctionBase();

 private:
  FunctionInfo info_;
  ArgumentPlan* plan_;
};

class ExecutableBase : public Executable {
 protected:
  explicit ExecutableBase(Device& device) noexcept {
    begin(ExecutableTable<ExecutableBase>::kFunctions);
    contract()->device = device.contract();
  }
  ~ExecutableBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardExecutable, HalyardExecutableFunctions);

  virtual void do_info(ExecutableInfo* info) const = 0;
  virtual size_t do_function_count() const = 0;
  virtual const Function* do_function(size_t index) const = 0;
  virtual Status do_global(StringView name, GlobalInfo* info) const = 0;
};

template <typename Q>
const HalyardExecutableFunctions ExecutableTable<Q>::kFunctions = {
    .struct_size = sizeof(HalyardExecutableFunctions),
    .destroy = HALYARD_SLOT(Executable, destroy),
    .info = HALYARD_SLOT(Executable, do_info),
    .function_count = HALYARD_SLOT(Executable, do_function_count),
    .function = HALYARD_SLOT(Executable, do_function),
    .global = HALYARD_SLOT(Executable, do_global),
};

class CommandBufferBase : public CommandBuffer {
 protected:
  explicit CommandBufferBase(Device& device) noexcept {
    begin(CommandBufferTable<CommandBufferBase>::kFunctions);
    contract()->device = device.contract();
  }
  ~CommandBufferBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardCommandBuffer, HalyardCommandBufferFunctions);

#define HALYARD_COMMAND(name, need, arguments, ...) \
  virtual Status do_##name(__VA_ARGS__) HALYARD_METHOD_##need("CommandBuffer::" #name, arguments)
#include "hal/contract/operations.inl"
  virtual Status do_finish() = 0;
  virtual Status do_begin_debug_group(StringView) { return {}; }
  virtual Status do_end_debug_group() { return {}; }
};

template <typename Q>
constinit const HalyardCommandBufferFunctions CommandBufferTable<Q>::kFunctions = [] {
  HalyardCommandBufferFunctions table = {};
  table.struct_size = sizeof table;
  table.destroy = HALYARD_SLOT(CommandBuffer, destroy);
#define HALYARD_COMMAND(name, ...) table.name = HALYARD_SLOT(CommandBuffer, do_##name);
#include "hal/contract/operations.inl"
  table.finish = HALYARD_SLOT(CommandBuffer, do_finish);
  table.begin_debug_group = HALYARD_SLOT(CommandBuffer, do_begin_debug_group);
  table.end_debug_group = HALYARD_SLOT(CommandBuffer, do_end_debug_group);
  return table;
}();

// The driver's side of a host call: called once with the outcome.
class CompletionBase : public HostCompletion {
 protected:
  CompletionBase() noexcept {
    HalyardHostCompletion::complete = [](HalyardHostCompletion* completion,
                                         HalyardStatus* outcome) {
      static_cast<CompletionBase*>(completion)->do_complete(Status::adopt(outcome));
    };
  }
  ~CompletionBase() = default;

 private:
  virtual void do_complete(const Status& outcome) noexcept = 0;
};

class QueueBase : public Queue {
 protected:
  explicit QueueBase(Device& device) noexcept
      : QueueBase(device, QueueTable<QueueBase>::kFunctions) {}
  // `functions` is the table of Q, the final class of this object, which declares that table
  // (QueueTable) its friend.
  QueueBase(Device& device, const HalyardQueueFunctions& functions) noexcept {
    begin(functions);
    contract()->device = device.contract();
  }
  ~QueueBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardQueue, HalyardQueueFunctions);

#define HALYARD_QUEUE_OPERATION(name, need, arguments, ...) \
  virtual Status do_##name(__VA_ARGS__) HALYARD_METHOD_##need("Queue::" #name, arguments)
#include "hal/contract/operations.inl"
  virtual Status do_alloca(uint64_t, const PoolOptions&, const Sync&, Buffer**) {
    return left_out("Queue::alloca_buffer");
  }
  virtual Status do_dealloca(Buffer&, const Sync&) { return left_out("Queue::dealloca_buffer"); }
  virtual Status do_fault() const = 0;
  virtual Status do_abandon() = 0;
  virtual void* do_native_handle() const noexcept { return nullptr; }
  virtual uint64_t do_id() const noexcept { return 0; }
};

template <typename Q>
constinit const HalyardQueueFunctions QueueTable<Q>::kFunctions = [] {
  HalyardQueueFunctions table = {};
  table.struct_size = sizeof table;
  table.destroy = HALYARD_SLOT(Queue, destroy);
#define HALYARD_QUEUE_OPERATION(name, ...) table.name = HALYARD_SLOT(Queue, do_##name);
#include "hal/contract/operations.inl"
  table.alloca_buffer = HALYARD_SLOT(Queue, do_alloca);
  table.dealloca_buffer = HALYARD_SLOT(Queue, do_dealloca);
  table.fault = HALYARD_SLOT(Queue, do_fault);
  table.abandon = HALYARD_SLOT(Queue, do_abandon);
  table.native_handle = HALYARD_SLOT(Queue, do_native_handle);
  table.id = HALYARD_SLOT(Queue, do_id);
  return table;
}();

class MemoryPoolBase : public MemoryPool {
 protected:
  MemoryPoolBase(Device& device, const PoolInfo& info) noexcept {
    begin(MemoryPoolTable<MemoryPoolBase>::kFunctions);
    HalyardMemoryPool& object = *contract();
    object.device = device.contract();
    object.limit_bytes = info.limit_bytes;
    object.keep_bytes = info.keep_bytes;
    object.type = static_cast<uint32_t>(info.type);
  }
  ~MemoryPoolBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardMemoryPool, HalyardMemoryPoolFunctions);

  virtual Status do_statistics(PoolStatistics* statistics) const = 0;
  virtual Status do_trim(uint64_t keep_bytes) = 0;
};

template <typename Q>
const HalyardMemoryPoolFunctions MemoryPoolTable<Q>::kFunctions = {
    .struct_size = sizeof(HalyardMemoryPoolFunctions),
    .destroy = HALYARD_SLOT(MemoryPool, destroy),
    .statistics = HALYARD_SLOT(MemoryPool, do_statistics),
    .trim = HALYARD_SLOT(MemoryPool, do_trim),
};

class DeviceBase : public Device {
 public:
  const DeviceInfo& info() const noexcept { return *info_; }

 protected:
  // `info` belongs to the driver's object, lives as long, and is complete before the host gets the
  // device.
  explicit DeviceBase(const DeviceInfo& info) noexcept : info_(&info) {
    begin(DeviceTable<DeviceBase>::kFunctions);
    contract()->info = internal::to_contract(info);
  }
  ~DeviceBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardDevice, HalyardDeviceFunctions);

  virtual size_t do_heap_count() const = 0;
  virtual Status do_heap(size_t index, HeapInfo* info) const = 0;
  virtual Status do_heap_statistics(size_t index, HeapStatistics* statistics) const = 0;
  virtual Status do_create_queue(const QueueOptions& options, Queue** queue) = 0;
  virtual Status do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) = 0;
  virtual Status do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) = 0;
  virtual Status do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                         size_t* index) = 0;
  virtual Status do_load_executable(const void* data, size_t size, Executable** executable) = 0;
  virtual Status do_fault() const = 0;
  virtual Status do_create_command_buffer(CommandBuffer**) {
    return left_out("Device::create_command_buffer");
  }
  virtual Status do_pool_statistics(MemoryType, PoolStatistics*) const {
    return left_out("Device::pool_statistics");
  }
  virtual Status do_trim_pool(MemoryType, uint64_t) { return left_out("Device::trim_pool"); }
  virtual Status do_create_pool(const PoolInfo&, MemoryPool**) {
    return left_out("Device::create_pool");
  }
  virtual Status do_import_queue(void*, Queue**) { return left_out("Device::import_queue"); }
  virtual Status do_import_buffer(const ImportOptions&, Buffer**) {
    return left_out("Device::import_buffer");
  }
  virtual Status do_export_buffer(Buffer&, ExportedHandle*) {
    return left_out("Device::export_buffer");
  }
  virtual Status do_find_allocation(const void*, AllocationInfo*) const {
    return left_out("Device::find_allocation");
  }
  virtual Status do_export_semaphore(Semaphore&, ExportedSemaphore*) {
    return left_out("Device::export_semaphore");
  }
  virtual Status do_import_semaphore(const ExportedSemaphore&, Semaphore**) {
    return left_out("Device::import_semaphore");
  }
  // `peer` is another device of the same driver.
  virtual bool do_can_access(const Device&) const noexcept { return false; }
  // `buffer` belongs to another device of the same driver, for which do_can_access is true.
  virtual Status do_let_in(Buffer&) { return left_out("Device::let_in"); }
  virtual size_t do_link_count() const { return 0; }
  virtual Status do_link(size_t, LinkInfo*) const { return left_out("Device::link"); }
  virtual Status do_begin_profile(const ProfileOptions&) {
    return left_out("Device::begin_profile");
  }
  virtual Status do_end_profile(ProfileSink, void*) { return left_out("Device::end_profile"); }
  virtual Status do_read_clocks(ClockReading*) const { return left_out("Device::read_clocks"); }
  virtual Status do_details(DeviceDetails*) const { return left_out("Device::details"); }
  // A driver that has it knows ImportOptions::Kind::kDmabuf too. The descriptor is the caller's.
  virtual Status do_export_dmabuf(Buffer&, Dmabuf*) { return left_out("Device::export_dmabuf"); }
  virtual Status do_advise(const BufferRange&, MemoryAdvice) { return left_out("Device::advise"); }
  virtual Status do_commit(const BufferRange&) { return left_out("Device::commit"); }
  virtual Status do_decommit(const BufferRange&) { return left_out("Device::decommit"); }

 private:
  const DeviceInfo* info_;
};

template <typename Q>
const HalyardDeviceFunctions DeviceTable<Q>::kFunctions = {
    .struct_size = sizeof(HalyardDeviceFunctions),
    .destroy = HALYARD_SLOT(Device, destroy),
    .heap_count = HALYARD_SLOT(Device, do_heap_count),
    .heap = HALYARD_SLOT(Device, do_heap),
    .heap_statistics = HALYARD_SLOT(Device, do_heap_statistics),
    .create_queue = HALYARD_SLOT(Device, do_create_queue),
    .allocate = HALYARD_SLOT(Device, do_allocate),
    .create_semaphore = HALYARD_SLOT(Device, do_create_semaphore),
    .wait = HALYARD_SLOT(Device, do_wait),
    .load_executable = HALYARD_SLOT(Device, do_load_executable),
    .fault = HALYARD_SLOT(Device, do_fault),
    .create_command_buffer = HALYARD_SLOT(Device, do_create_command_buffer),
    .pool_statistics = HALYARD_SLOT(Device, do_pool_statistics),
    .trim_pool = HALYARD_SLOT(Device, do_trim_pool),
    .create_pool = HALYARD_SLOT(Device, do_create_pool),
    .import_queue = HALYARD_SLOT(Device, do_import_queue),
    .import_buffer = HALYARD_SLOT(Device, do_import_buffer),
    .export_buffer = HALYARD_SLOT(Device, do_export_buffer),
    .find_allocation = HALYARD_SLOT(Device, do_find_allocation),
    .export_semaphore = HALYARD_SLOT(Device, do_export_semaphore),
    .import_semaphore = HALYARD_SLOT(Device, do_import_semaphore),
    .can_access = HALYARD_SLOT(Device, do_can_access),
    .let_in = HALYARD_SLOT(Device, do_let_in),
    .link_count = HALYARD_SLOT(Device, do_link_count),
    .link = HALYARD_SLOT(Device, do_link),
    .begin_profile = HALYARD_SLOT(Device, do_begin_profile),
    .end_profile = HALYARD_SLOT(Device, do_end_profile),
    .read_clocks = HALYARD_SLOT(Device, do_read_clocks),
    .details = HALYARD_SLOT(Device, do_details),
    .export_dmabuf = HALYARD_SLOT(Device, do_export_dmabuf),
    .advise = HALYARD_SLOT(Device, do_advise),
    .commit = HALYARD_SLOT(Device, do_commit),
    .decommit = HALYARD_SLOT(Device, do_decommit),
};

class DriverBase : public Driver {
 protected:
  // Receives the devices of an enumeration. The summary's views stay valid while the driver lives.
  using DeviceSink = driver::DeviceSink;
  // Takes what options a device may be opened with. The texts live as long as the driver.
  using DeviceOptionSink = driver::DeviceOptionSink;

  DriverBase() noexcept { begin(DriverTable<DriverBase>::kFunctions); }
  ~DriverBase() = default;

 public:
  // What a driver implements; called by the host, through the table.
  HALYARD_DRIVER_OBJECT(HalyardDriver, HalyardDriverFunctions);

  virtual void do_info(DriverInfo* info) const = 0;
  virtual Status do_enumerate(DeviceSink sink, void* context) = 0;
  virtual Status do_create_device(uint32_t ordinal, Span<const Option> options,
                                  Device** device) = 0;
  virtual Status do_device_options(DeviceOptionSink, void*) {
    return left_out("Driver::device_options");
  }
};

template <typename Q>
const HalyardDriverFunctions DriverTable<Q>::kFunctions = {
    .struct_size = sizeof(HalyardDriverFunctions),
    .destroy = HALYARD_SLOT(Driver, destroy),
    .info = HALYARD_SLOT(Driver, do_info),
    .enumerate = HALYARD_SLOT(Driver, do_enumerate),
    .create_device = HALYARD_SLOT(Driver, do_create_device),
    .device_options = HALYARD_SLOT(Driver, do_device_options),
};

#undef HALYARD_METHOD_REQUIRED
#undef HALYARD_METHOD_OPTIONAL
#undef HALYARD_SLOT
#undef HALYARD_DRIVER_OBJECT

}  // namespace driver
}  // namespace halyard
