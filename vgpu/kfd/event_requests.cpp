// Requests for events.
#include <cerrno>
#include <optional>
#include <vector>

#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {
namespace {

// What the GPU writes to: a slot for each event.
constexpr uint64_t kEventPageBytes = uint64_t{abi::kEventLimit} * sizeof(uint64_t);

using machine::EventStatus;
using machine::EventType;

constexpr EventType type_of(abi::EventType type) {
  return static_cast<EventType>(type);
}
static_assert(type_of(abi::EventType::kSignal) == EventType::kSignal);
static_assert(type_of(abi::EventType::kMemory) == EventType::kMemory);

int error_of(EventStatus status) {
  switch (status) {
    case EventStatus::kSuccess:
      return 0;
    case EventStatus::kNoRoom:
      return -ENOSPC;
    default:
      return -EINVAL;
  }
}

abi::MemoryException exception_of(const queue::MemoryFault& fault) {
  abi::MemoryException exception;
  exception.not_present = fault.is_hang || fault.is_protected ? 0 : 1;
  exception.read_only = fault.is_protected ? 1 : 0;
  // Hardware tells of pages. The windows of LDS and scratch have none.
  exception.address = fault.address < kUserEnd ? fault.address / kPage * kPage : fault.address;
  exception.gpu_id = gpu_id_of(fault.node - 1);
  exception.error_type = fault.is_hang ? abi::kMemoryErrorHang : 0;
  return exception;
}

}  // namespace

int Kfd::create_event(abi::CreateEvent& arguments) {
  // The first event brings the page along that all events use; the program keeps it for good.
  if (arguments.event_page_offset != 0) {
    const std::lock_guard lock(event_page_mutex_);
    void* const page =
        has_event_page_ ? nullptr : buffers_.keep(arguments.event_page_offset, kEventPageBytes);
    if (page == nullptr) return -EINVAL;
    if (!machine_.events().use_page(static_cast<uint64_t*>(page))) return -EINVAL;
    has_event_page_ = true;
  }
  uint32_t id = 0;
  const EventStatus status =
      machine_.events().create(type_of(arguments.type), arguments.auto_reset == 0, &id);
  if (status != EventStatus::kSuccess) return error_of(status);
  // Where the page would be mapped, if the driver had made it. The thunk only looks whether there
  // is one.
  arguments.event_page_offset = abi::kEventPage;
  arguments.event_id = id;
  arguments.event_trigger_data = id;
  arguments.event_slot_index = id;
  return 0;
}

int Kfd::destroy_event(abi::EventId& arguments) {
  return error_of(machine_.events().destroy(arguments.event_id));
}

// Programs may only set and reset what they alone signal.
int Kfd::set_event(abi::EventId& arguments) {
  if (machine_.events().type_of(arguments.event_id) != EventType::kSignal) return -EINVAL;
  return error_of(machine_.events().set(arguments.event_id));
}

int Kfd::reset_event(abi::EventId& arguments) {
  if (machine_.events().type_of(arguments.event_id) != EventType::kSignal) return -EINVAL;
  return error_of(machine_.events().reset(arguments.event_id));
}

int Kfd::smi_events(abi::SmiEvents& arguments) {
  const uint32_t node = node_of(arguments.gpu_id);
  if (node == 0) return -EINVAL;
  const int descriptor = smi_events_.open(node);
  if (descriptor < 0) return descriptor;
  arguments.fd = static_cast<uint32_t>(descriptor);
  return 0;
}

int Kfd::wait_events(abi::WaitEvents& arguments) {
  if (arguments.count == 0 || arguments.count > abi::kEventLimit) return -EINVAL;
  constexpr uint32_t kFew = 16;
  abi::EventData few_data[kFew];
  uint32_t few_ids[kFew];
  uint64_t few_ages[kFew];
  std::vector<abi::EventData> many_data;
  std::vector<uint32_t> many_ids;
  std::vector<uint64_t> many_ages;
  abi::EventData* data = few_data;
  uint32_t* ids = few_ids;
  uint64_t* ages = few_ages;
  if (arguments.count > kFew) {
    many_data.resize(arguments.count);
    many_ids.resize(arguments.count);
    many_ages.resize(arguments.count);
    data = many_data.data();
    ids = many_ids.data();
    ages = many_ages.data();
  }
  const uint64_t bytes = uint64_t{arguments.count} * sizeof *data;
  if (!copy_from_user(data, arguments.events_pointer, bytes)) return -EFAULT;
  for (uint32_t i = 0; i < arguments.count; ++i) {
    ids[i] = data[i].event_id;
    // What stands there of other events is not the program's.
    const bool has_age = machine_.events().type_of(ids[i]) == EventType::kSignal;
    ages[i] = has_age ? data[i].last_event_age : 0;
  }
  const EventStatus status = machine_.events().wait(
      ids, arguments.count, arguments.wait_for_all != 0, arguments.timeout, ages);
  switch (status) {
    case EventStatus::kSuccess:
      arguments.wait_result = abi::WaitResult::kComplete;
      break;
    case EventStatus::kTimeout:
      arguments.wait_result = abi::WaitResult::kTimeout;
      return 0;
    case EventStatus::kDestroyed:
      arguments.wait_result = abi::WaitResult::kFail;
      return -EIO;
    default:
      return error_of(status);
  }
  for (uint32_t i = 0; i < arguments.count; ++i) {
    const uint64_t to = arguments.events_pointer + i * sizeof *data;
    if (ages[i] != 0 && !copy_to_user(to, &ages[i], sizeof ages[i])) return -EFAULT;
    const std::optional<queue::MemoryFault> fault = machine_.events().fault_of(ids[i]);
    if (!fault) continue;
    data[i].memory_exception = exception_of(*fault);
    if (!copy_to_user(to, &data[i], sizeof *data)) return -EFAULT;
  }
  return 0;
}

}  // namespace halyard::vgpu::kfd
