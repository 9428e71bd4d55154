#include "hal/device.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "check.h"
#include "driver_call.h"
#include "hal/error.h"
#include "host_call.h"
#include "input_struct.h"

namespace halyard {
namespace {

[[gnu::cold]] Status bad_index(const char* operation, const char* what, size_t index,
                               size_t count) {
  return error(StatusCode::kOutOfRange, "{} is given {} {}; the device has {}.", operation, what,
               index, count);
}

// Whether there are pages behind all of it. msync() looks that up; MS_ASYNC writes nothing (Linux).
bool is_mapped(const void* pointer, uint64_t size) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint64_t before = address % page;
  if (size > UINT64_MAX - before || address > UINT64_MAX - size) return false;
  void* const first = reinterpret_cast<void*>(address - before);
  return msync(first, size + before, MS_ASYNC) == 0 || errno != ENOMEM;
}

}  // namespace

size_t Device::heap_count() const {
  return contract()->functions->heap_count(contract());
}

Result<HeapInfo> Device::heap(size_t index) const {
  if (const size_t count = heap_count(); index >= count) {
    return bad_index("Device::heap", "heap", index, count);
  }
  HeapInfo info;
  HALYARD_RETURN_IF_ERROR(internal::call(contract()->functions->heap, *this, index, &info));
  return info;
}

Result<HeapStatistics> Device::heap_statistics(size_t index) const {
  if (const size_t count = heap_count(); index >= count) {
    return bad_index("Device::heap_statistics", "heap", index, count);
  }
  HeapStatistics statistics;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->heap_statistics, *this, index, &statistics));
  return statistics;
}

namespace {

Status check_gpu(const char* operation, const Device& device, size_t gpu) {
  if (gpu < device.gpu_count()) return {};
  return bad_index(operation, "GPU", gpu, device.gpu_count());
}

}  // namespace

Result<PoolStatistics> Device::pool_statistics(MemoryType type) const {
  HALYARD_RETURN_IF_ERROR(internal::check_memory_type("Device::pool_statistics", type));
  PoolStatistics statistics;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::pool_statistics", *this, contract()->functions,
                              &HalyardDeviceFunctions::pool_statistics, *this, type, &statistics));
  return statistics;
}

Status Device::trim_pool(MemoryType type, uint64_t keep_bytes) {
  HALYARD_RETURN_IF_ERROR(internal::check_memory_type("Device::trim_pool", type));
  return internal::call_optional("Device::trim_pool", *this, contract()->functions,
                                 &HalyardDeviceFunctions::trim_pool, *this, type, keep_bytes);
}

Result<Ref<MemoryPool>> Device::create_pool(const PoolInfo& info) {
  constexpr const char* kName = "Device::create_pool";
  PoolInfo known;
  HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, info, &known));
  HALYARD_RETURN_IF_ERROR(internal::check_memory_of(kName, *this, known.type));
  HalyardMemoryPool* pool = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::create_pool", *this, contract()->functions,
                              &HalyardDeviceFunctions::create_pool, *this, known, &pool));
  return internal::take<MemoryPool>(kName, pool);
}

Result<AllocationInfo> Device::find_allocation(const void* pointer) const {
  AllocationInfo info;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::find_allocation", *this, contract()->functions,
                              &HalyardDeviceFunctions::find_allocation, *this, pointer, &info));
  return info;
}

Result<ClockReading> Device::read_clocks() const {
  ClockReading reading;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::read_clocks", *this, contract()->functions,
                              &HalyardDeviceFunctions::read_clocks, *this, &reading));
  return reading;
}

Result<DeviceDetails> Device::details() const {
  DeviceDetails details;
  HALYARD_RETURN_IF_ERROR(internal::call_optional("Device::details", *this, contract()->functions,
                                                  &HalyardDeviceFunctions::details, *this,
                                                  &details));
  return details;
}

bool Device::can_access(const Device& peer) const noexcept {
  if (&peer == this) return true;
  if (peer.info().driver.view() != info().driver.view()) return false;
  if (peer.gpu_count() == 1) {
    if (is_fork_of_user()) return false;
    const auto ask = internal::optional(contract()->functions, &HalyardDeviceFunctions::can_access);
    return ask != nullptr && ask(contract(), peer.contract());
  }
  for (size_t i = 0; i < peer.gpu_count(); ++i) {
    if (!can_access(peer.gpu(i))) return false;
  }
  return true;
}

Result<Ref<Queue>> Device::import_queue(void* native_queue) {
  if (!info().imports_queues) {
    return error(StatusCode::kFailedPrecondition,
                 "Device::import_queue is called on device \"{}\" of driver \"{}\", which does not "
                 "import queues (DeviceInfo::imports_queues is false). Use Device::create_queue.",
                 info().name, info().driver);
  }
  HalyardQueue* queue = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::import_queue", *this, contract()->functions,
                              &HalyardDeviceFunctions::import_queue, *this, native_queue, &queue));
  return internal::take<Queue>("Device::import_queue", queue);
}

Result<Ref<Queue>> Device::create_queue(const QueueOptions& options) {
  using Priority = QueueOptions::Priority;
  QueueOptions known;
  HALYARD_RETURN_IF_ERROR(internal::take_struct("Device::create_queue", options, &known));
  if (known.priority != Priority::kLow && known.priority != Priority::kNormal &&
      known.priority != Priority::kHigh) {
    return error(StatusCode::kInvalidArgument,
                 "Device::create_queue is given a priority ({}) that does not exist. Legal are low "
                 "(0), normal (1) and high (2).",
                 static_cast<uint32_t>(known.priority));
  }
  HALYARD_RETURN_IF_ERROR(check_gpu("Device::create_queue", *this, known.gpu));
  HalyardQueue* queue = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->create_queue, *this, known, &queue));
  return internal::take<Queue>("Device::create_queue", queue);
}

Result<Ref<Buffer>> Device::allocate(uint64_t size, const BufferOptions& options) {
  constexpr const char* kName = "Device::allocate";
  BufferOptions known;
  HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, options, &known));
  HALYARD_RETURN_IF_ERROR(check_gpu(kName, *this, known.gpu));
  if (known.reserve && size != 0) {
    HALYARD_RETURN_IF_ERROR(internal::check_reserve(kName, gpu(known.gpu), size, known));
  } else {
    HALYARD_RETURN_IF_ERROR(
        internal::check_allocation(kName, gpu(known.gpu), size, known.type, known.alignment));
    HALYARD_RETURN_IF_ERROR(internal::check_managed(kName, gpu(known.gpu), known));
  }
  HalyardBuffer* buffer = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->allocate, *this, size, known, &buffer));
  return internal::take<Buffer>("Device::allocate", buffer);
}

namespace {

// What an import's options name as a dma-buf, if it can be one.
Status take_dmabuf(const Device& device, const ImportOptions& options, Dmabuf* dmabuf) {
  constexpr const char* kName = "Device::import_buffer";
  // An older driver would take the kind for another one.
  if (internal::optional(device.contract()->functions, &HalyardDeviceFunctions::export_dmabuf) ==
      nullptr) {
    return internal::unimplemented("Device::import_buffer of a dma-buf", device);
  }
  HALYARD_RETURN_IF_ERROR(
      internal::take_struct(kName, *static_cast<const Dmabuf*>(options.pointer), dmabuf));
  if (fcntl(dmabuf->fd, F_GETFD) < 0) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a dma-buf by a descriptor ({}) that is not open in this process. "
                 "A descriptor of another process must be received from it (SCM_RIGHTS).",
                 kName, dmabuf->fd);
  }
  if (options.size > UINT64_MAX - dmabuf->offset) {
    return error(StatusCode::kOutOfRange,
                 "{} is given {} bytes from byte {} of a dma-buf on. No dma-buf has so many.",
                 kName, options.size, dmabuf->offset);
  }
  return {};
}

}  // namespace

Result<Ref<Buffer>> Device::import_buffer(const ImportOptions& options) {
  using Kind = ImportOptions::Kind;
  ImportOptions known;
  HALYARD_RETURN_IF_ERROR(internal::take_struct("Device::import_buffer", options, &known));
  if (known.kind != Kind::kHostMemory && known.kind != Kind::kDevicePointer &&
      known.kind != Kind::kIpcHandle && known.kind != Kind::kDmabuf) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_buffer is given a kind ({}) that does not exist. Legal are host "
                 "memory (0), device pointer (1), IPC handle (2) and dma-buf (3).",
                 static_cast<uint32_t>(known.kind));
  }
  if (known.pointer == nullptr) {
    return error(StatusCode::kInvalidArgument, "Device::import_buffer is given no memory (null).");
  }
  if (known.size == 0) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_buffer is given a size of 0 bytes. A buffer has at least one.");
  }
  if (options.kind == Kind::kHostMemory && !is_mapped(options.pointer, options.size)) {
    return error(
        StatusCode::kInvalidArgument,
        "Device::import_buffer is given {} bytes of host memory at {}, not all of which are "
        "mapped in this process. Import memory that is allocated, and free it only after "
        "the buffer.",
        options.size, options.pointer);
  }
  Dmabuf dmabuf;
  if (known.kind == Kind::kDmabuf) {
    HALYARD_RETURN_IF_ERROR(take_dmabuf(*this, known, &dmabuf));
    known.pointer = &dmabuf;
  }
  HalyardBuffer* buffer = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::import_buffer", *this, contract()->functions,
                              &HalyardDeviceFunctions::import_buffer, *this, known, &buffer));
  return internal::take<Buffer>("Device::import_buffer", buffer);
}

Result<ExportedHandle> Device::export_buffer(Buffer& buffer) {
  HALYARD_RETURN_IF_ERROR(internal::check_own("Device::export_buffer", *this, buffer));
  ExportedHandle handle;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::export_buffer", *this, contract()->functions,
                              &HalyardDeviceFunctions::export_buffer, *this, buffer, &handle));
  return handle;
}

Result<Dmabuf> Device::export_dmabuf(Buffer& buffer) {
  constexpr const char* kName = "Device::export_dmabuf";
  HALYARD_RETURN_IF_ERROR(internal::check_own(kName, *this, buffer));
  Dmabuf dmabuf;
  HALYARD_RETURN_IF_ERROR(internal::call_optional(kName, *this, contract()->functions,
                                                  &HalyardDeviceFunctions::export_dmabuf, *this,
                                                  buffer, &dmabuf));
  return dmabuf;
}

Result<Ref<Semaphore>> Device::create_semaphore(uint64_t initial_value) {
  HalyardSemaphore* semaphore = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->create_semaphore, *this, initial_value, &semaphore));
  return internal::take<Semaphore>("Device::create_semaphore", semaphore);
}

Result<ExportedSemaphore> Device::export_semaphore(Semaphore& semaphore) {
  constexpr const char* kName = "Device::export_semaphore";
  if (!internal::is_part_of(semaphore.device(), *this)) {
    const internal::DeviceNames names = internal::names_of(*this, semaphore.device());
    return error(StatusCode::kInvalidArgument,
                 "{} on device \"{}\" is given a semaphore of another device (\"{}\").", kName,
                 names.one, names.other);
  }
  ExportedSemaphore exported;
  HALYARD_RETURN_IF_ERROR(internal::call_optional(
      "Device::export_semaphore", *this, contract()->functions,
      &HalyardDeviceFunctions::export_semaphore, *this, semaphore, &exported));
  return exported;
}

Result<Ref<Semaphore>> Device::import_semaphore(const ExportedSemaphore& exported) {
  constexpr const char* kName = "Device::import_semaphore";
  ExportedSemaphore known;
  HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, exported, &known));
  HalyardSemaphore* semaphore = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::import_semaphore", *this, contract()->functions,
                              &HalyardDeviceFunctions::import_semaphore, *this, known, &semaphore));
  return internal::take<Semaphore>("Device::import_semaphore", semaphore);
}

Status Device::wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                    size_t* index) {
  HALYARD_RETURN_IF_ERROR(internal::check_points("Device::wait", *this, points));
  if (mode != WaitMode::kAny && mode != WaitMode::kAll) {
    return error(StatusCode::kInvalidArgument,
                 "Device::wait is given a mode ({}) that does not exist. Legal are any (0) and all "
                 "(1).",
                 static_cast<uint32_t>(mode));
  }
  if (points.empty()) {
    if (mode == WaitMode::kAll) return {};
    return error(StatusCode::kInvalidArgument,
                 "Device::wait waits for any of 0 points, which never happens.");
  }
  size_t reached = 0;
  HALYARD_RETURN_IF_ERROR(
      internal::call(contract()->functions->wait, *this, points, mode, deadline, &reached));
  if (index != nullptr) *index = reached;
  return {};
}

Result<Ref<CommandBuffer>> Device::create_command_buffer() {
  HalyardCommandBuffer* commands = nullptr;
  HALYARD_RETURN_IF_ERROR(
      internal::call_optional("Device::create_command_buffer", *this, contract()->functions,
                              &HalyardDeviceFunctions::create_command_buffer, *this, &commands));
  return internal::take<CommandBuffer>("Device::create_command_buffer", commands);
}

Status Device::let_in(Buffer& buffer) {
  if (&buffer.device() == this) return {};
  if (!internal::reaches(*this, buffer)) {
    const internal::DeviceNames names = internal::names_of(*this, buffer.device());
    return error(StatusCode::kFailedPrecondition,
                 "Device::let_in is called on device \"{}\", which cannot access memory of device "
                 "\"{}\" (Device::can_access). Use host memory (MemoryType::kHost), or memory of a "
                 "device that it can access.",
                 names.one, names.other);
  }
  return internal::call_optional("Device::let_in", *this, contract()->functions,
                                 &HalyardDeviceFunctions::let_in, *this, buffer);
}

Status Device::advise(const BufferRange& range, MemoryAdvice advice) {
  constexpr const char* kName = "Device::advise";
  if (advice > MemoryAdvice::kNotAccessedByDevice) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given an advice ({}) that does not exist. Legal are 0 to 6 (MemoryAdvice).",
                 kName, static_cast<uint32_t>(advice));
  }
  BufferRange known;
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "range", *this, range, &known));
  if (known.length == 0) return {};
  return internal::call_optional(kName, *this, contract()->functions,
                                 &HalyardDeviceFunctions::advise, *this, known, advice);
}

namespace {

// Resolves a range of a reserved buffer, and checks that it is whole granules of the GPU that has
// the buffer.
Status resolve_granules(const char* operation, const Device& device, const BufferRange& range,
                        BufferRange* known) {
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(operation, "range", device, range, known));
  const uint64_t granule = known->buffer->device().info().commit_granule;
  if (granule == 0) return internal::unimplemented(operation, device);
  if (known->offset % granule == 0 && known->length % granule == 0) return {};
  return error(StatusCode::kInvalidArgument,
               "{} is given {} bytes from byte {} on. Both must be multiples of {} "
               "(DeviceInfo::commit_granule).",
               operation, known->length, known->offset, granule);
}

}  // namespace

Status Device::commit(const BufferRange& range) {
  constexpr const char* kName = "Device::commit";
  BufferRange known;
  HALYARD_RETURN_IF_ERROR(resolve_granules(kName, *this, range, &known));
  if (known.length == 0) return {};
  return internal::call_optional(kName, *this, contract()->functions,
                                 &HalyardDeviceFunctions::commit, *this, known);
}

Status Device::decommit(const BufferRange& range) {
  constexpr const char* kName = "Device::decommit";
  BufferRange known;
  HALYARD_RETURN_IF_ERROR(resolve_granules(kName, *this, range, &known));
  if (known.length == 0) return {};
  return internal::call_optional(kName, *this, contract()->functions,
                                 &HalyardDeviceFunctions::decommit, *this, known);
}

size_t Device::link_count() const {
  const auto count = internal::optional(contract()->functions, &HalyardDeviceFunctions::link_count);
  return count != nullptr ? count(contract()) : 0;
}

Result<LinkInfo> Device::link(size_t index) const {
  if (const size_t count = link_count(); index >= count) {
    return bad_index("Device::link", "link", index, count);
  }
  LinkInfo info;
  HALYARD_RETURN_IF_ERROR(internal::call_optional("Device::link", *this, contract()->functions,
                                                  &HalyardDeviceFunctions::link, *this, index,
                                                  &info));
  return info;
}

Status Device::begin_profile() {
  return begin_profile(ProfileOptions());
}

Status Device::begin_profile(const ProfileOptions& options) {
  ProfileOptions known;
  HALYARD_RETURN_IF_ERROR(internal::take_struct("Device::begin_profile", options, &known));
  constexpr uint64_t kAll = (uint64_t{1} << kProfileKinds) - 1;
  if ((known.kinds & ~kAll) != 0 || (known.kinds & profile_bit(ProfileKind::kUnknown)) != 0) {
    return error(StatusCode::kInvalidArgument,
                 "Device::begin_profile is given kinds ({:#x}) that do not exist. Legal are the "
                 "bits 1 (dispatch) to {} ({}), and 0 for all kinds.",
                 known.kinds, kProfileKinds - 1,
                 to_string(static_cast<ProfileKind>(kProfileKinds - 1)));
  }
  return internal::call_optional("Device::begin_profile", *this, contract()->functions,
                                 &HalyardDeviceFunctions::begin_profile, *this, known);
}

Status Device::end_profile(ProfileSink sink, void* context) {
  if (sink == nullptr) {
    return error(StatusCode::kInvalidArgument, "Device::end_profile is given no sink (null).");
  }
  // Through the driver's code goes no exception of the program's.
  struct Guarded {
    ProfileSink sink;
    void* context;
    Status failure;
  } guarded = {sink, context, {}};
  const HalyardProfileSink forward = [](void* to, const HalyardProfileEvent* event) {
    auto& g = *static_cast<Guarded*>(to);
    if (!g.failure.ok()) return;
    g.failure = internal::caught("The sink of Device::end_profile", [&] {
      g.sink(g.context, known_part(*reinterpret_cast<const ProfileEvent*>(event)));
      return Status();
    });
  };
  HALYARD_RETURN_IF_ERROR(internal::call_optional(
      "Device::end_profile", *this, contract()->functions, &HalyardDeviceFunctions::end_profile,
      *this, forward, static_cast<void*>(&guarded)));
  return guarded.failure;
}

Status Device::fault() const {
  return internal::call(contract()->functions->fault, *this);
}

}  // namespace halyard
