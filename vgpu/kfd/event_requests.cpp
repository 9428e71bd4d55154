// Requests for events.
#include <cerrno>
#include <memory>
#include <vector>

#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {
namespace {

// What the GPU writes to: a slot for each event.
constexpr uint64_t kEventPageBytes = uint64_t{abi::kEventLimit} * sizeof(uint64_t);

int error_of(HSAKMT_STATUS status) {
  switch (status) {
    case HSAKMT_STATUS_SUCCESS:
      return 0;
    case HSAKMT_STATUS_NO_MEMORY:
      return -ENOSPC;  // all events are taken
    default:
      return -EINVAL;
  }
}

abi::MemoryException exception_of(const HsaMemoryAccessFault& fault) {
  abi::MemoryException exception;
  exception.not_present = fault.Failure.NotPresent;
  exception.read_only = fault.Failure.ReadOnly;
  exception.no_execute = fault.Failure.NoExecute;
  exception.imprecise = fault.Failure.Imprecise;
  exception.address = fault.VirtualAddress;
  exception.gpu_id = gpu_id_of(fault.NodeId - 1);
  exception.error_type = fault.Failure.ErrorType;
  return exception;
}

bool has_fault(const HsaEvent& event) {
  return event.EventData.EventType == HSA_EVENTTYPE_MEMORY &&
         event.EventData.EventData.MemoryAccessFault.Flags == HSA_EVENTID_MEMORY_FATAL_PROCESS;
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
  HsaEventDescriptor descriptor = {};
  descriptor.EventType = static_cast<HSA_EVENTTYPE>(arguments.type);
  HsaEvent* event = nullptr;
  const HSAKMT_STATUS status =
      machine_.events().create(descriptor, arguments.auto_reset == 0, false, &event);
  if (status != HSAKMT_STATUS_SUCCESS) return error_of(status);
  // Where the page would be mapped, if the driver had made it. The thunk only looks whether there
  // is one.
  arguments.event_page_offset = abi::kEventPage;
  arguments.event_id = event->EventId;
  arguments.event_trigger_data = event->EventId;
  arguments.event_slot_index = event->EventId;
  return 0;
}

int Kfd::destroy_event(abi::EventId& arguments) {
  return error_of(machine_.events().destroy(machine_.events().find(arguments.event_id)));
}

// Programs may only set and reset what they alone signal.
int Kfd::set_event(abi::EventId& arguments) {
  HsaEvent* const event = machine_.events().find(arguments.event_id);
  if (event == nullptr || event->EventData.EventType != HSA_EVENTTYPE_SIGNAL) return -EINVAL;
  return error_of(machine_.events().set(event));
}

int Kfd::reset_event(abi::EventId& arguments) {
  HsaEvent* const event = machine_.events().find(arguments.event_id);
  if (event == nullptr || event->EventData.EventType != HSA_EVENTTYPE_SIGNAL) return -EINVAL;
  return error_of(machine_.events().reset(event));
}

int Kfd::wait_events(abi::WaitEvents& arguments) {
  if (arguments.count == 0 || arguments.count > abi::kEventLimit) return -EINVAL;
  constexpr uint32_t kFew = 16;
  abi::EventData few_data[kFew];
  HsaEvent* few_events[kFew];
  std::vector<abi::EventData> many_data;
  std::vector<HsaEvent*> many_events;
  abi::EventData* data = few_data;
  HsaEvent** events = few_events;
  if (arguments.count > kFew) {
    many_data.resize(arguments.count);
    many_events.resize(arguments.count);
    data = many_data.data();
    events = many_events.data();
  }
  const uint64_t bytes = uint64_t{arguments.count} * sizeof *data;
  if (!copy_from_user(data, arguments.events_pointer, bytes)) return -EFAULT;
  for (uint32_t i = 0; i < arguments.count; ++i) {
    events[i] = machine_.events().find(data[i].event_id);
    if (events[i] == nullptr) return -EINVAL;
  }
  const HSAKMT_STATUS status = machine_.events().wait(
      events, arguments.count, arguments.wait_for_all != 0, arguments.timeout);
  switch (status) {
    case HSAKMT_STATUS_SUCCESS:
      arguments.wait_result = abi::WaitResult::kComplete;
      break;
    case HSAKMT_STATUS_WAIT_TIMEOUT:
      arguments.wait_result = abi::WaitResult::kTimeout;
      return 0;
    case HSAKMT_STATUS_WAIT_FAILURE:
      arguments.wait_result = abi::WaitResult::kFail;
      return -EIO;
    default:
      return error_of(status);
  }
  for (uint32_t i = 0; i < arguments.count; ++i) {
    if (!has_fault(*events[i])) continue;
    data[i].memory_exception = exception_of(events[i]->EventData.EventData.MemoryAccessFault);
    const uint64_t to = arguments.events_pointer + i * sizeof *data;
    if (!copy_to_user(to, &data[i], sizeof *data)) return -EFAULT;
  }
  return 0;
}

}  // namespace halyard::vgpu::kfd
