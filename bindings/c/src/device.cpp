// The C interface's devices, their profiles and semaphores.
#include "hal/fork.h"
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

halyard_device::halyard_device(Ref<Device> d)
    : Handle(kKind),
      object(std::move(d)),
      driver(text(object->info().driver)),
      name(text(object->info().name)),
      uuid(text(object->info().uuid)),
      target(text(object->info().target)),
      pci_address(text(object->info().pci_address)) {}

void halyard_device_retain(halyard_device* device) {
  retain(device);
}

void halyard_device_release(halyard_device* device) {
  release(device);
}

halyard_error* halyard_device_get_info(halyard_device* device, halyard_device_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    const DeviceInfo& from = device->object->info();
    halyard_device_info value = {};
    value.driver = device->driver.c_str();
    value.name = device->name.c_str();
    value.uuid = device->uuid.c_str();
    value.target = device->target.c_str();
    value.compute_units = from.compute_units;
    value.wavefront_size = from.wavefront_size;
    value.max_workgroup_size = from.max_workgroup_size;
    value.max_workgroup = to_c(from.max_workgroup);
    value.max_grid = to_c(from.max_grid);
    value.lds_bytes = from.lds_bytes;
    value.max_grid_size = from.max_grid_size;
    value.memory_bytes = from.memory_bytes;
    value.max_allocation_bytes = from.max_allocation_bytes;
    value.allocation_alignment = from.allocation_alignment;
    value.max_clock_mhz = from.max_clock_mhz;
    value.timestamp_hz = from.timestamp_hz;
    value.maps_device_memory = from.maps_device_memory;
    value.coherent_map = from.coherent_map;
    value.imports_queues = from.imports_queues;
    value.pci_address = device->pci_address.c_str();
    value.gpu_count = static_cast<uint32_t>(device->object->gpu_count());
    value.managed_memory = from.managed_memory;
    value.commit_granule = from.commit_granule;
    return give(name, info, value);
  });
}

halyard_error* halyard_device_get_details(halyard_device* device, halyard_device_details* details) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_ASSIGN_OR_RETURN(const DeviceDetails from, device->object->details());
    halyard_device_details value = {};
    value.numa_node = from.numa_node;
    value.cache_line_bytes = from.cache_line_bytes;
    value.l1_cache_bytes = from.l1_cache_bytes;
    value.l2_cache_bytes = from.l2_cache_bytes;
    value.l3_cache_bytes = from.l3_cache_bytes;
    value.simds_per_compute_unit = from.simds_per_compute_unit;
    value.waves_per_compute_unit = from.waves_per_compute_unit;
    value.shader_engines = from.shader_engines;
    value.copy_engines = from.copy_engines;
    value.max_queues = from.max_queues;
    value.min_queue_packets = from.min_queue_packets;
    value.max_queue_packets = from.max_queue_packets;
    return give(name, details, value);
  });
}

size_t halyard_device_heap_count(halyard_device* device) {
  return is_a(device) ? device->object->heap_count() : 0;
}

halyard_error* halyard_device_heap(halyard_device* device, size_t index, halyard_heap_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_ASSIGN_OR_RETURN(const HeapInfo heap, device->object->heap(index));
    halyard_heap_info value = {};
    value.type = static_cast<halyard_memory_type>(heap.type);
    value.size = heap.size;
    value.max_allocation = heap.max_allocation;
    value.granule = heap.granule;
    return give(name, info, value);
  });
}

halyard_error* halyard_device_heap_statistics(halyard_device* device, size_t index,
                                              halyard_heap_statistics* statistics) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_ASSIGN_OR_RETURN(const HeapStatistics heap, device->object->heap_statistics(index));
    halyard_heap_statistics value = {};
    value.live_bytes = heap.live_bytes;
    value.live_buffers = heap.live_buffers;
    value.peak_bytes = heap.peak_bytes;
    return give(name, statistics, value);
  });
}

halyard_error* halyard_device_pool_statistics(halyard_device* device, halyard_memory_type type,
                                              halyard_pool_statistics* statistics) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_ASSIGN_OR_RETURN(const PoolStatistics pool,
                             device->object->pool_statistics(to_memory_type(type)));
    return give(name, statistics, to_c(pool));
  });
}

halyard_error* halyard_device_trim_pool(halyard_device* device, halyard_memory_type type,
                                        uint64_t keep_bytes) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    return device->object->trim_pool(to_memory_type(type), keep_bytes);
  });
}

halyard_error* halyard_device_find_allocation(halyard_device* device, const void* pointer,
                                              halyard_allocation_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_ASSIGN_OR_RETURN(const AllocationInfo found, device->object->find_allocation(pointer));
    halyard_allocation_info value = {};
    value.type = static_cast<halyard_memory_type>(found.type);
    value.owner = static_cast<halyard_allocation_owner>(found.owner);
    value.device_address = found.device_address;
    value.size = found.size;
    value.host_pointer = found.host_pointer;
    return give(name, info, value);
  });
}

halyard_error* halyard_device_read_clocks(halyard_device* device, halyard_clock_reading* reading) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_ASSIGN_OR_RETURN(const ClockReading read, device->object->read_clocks());
    halyard_clock_reading value = {};
    value.device_ticks = read.device_ticks;
    value.device_hz = read.device_hz;
    value.host_ns = read.host_ns;
    value.uncertainty_ns = read.uncertainty_ns;
    return give(name, reading, value);
  });
}

size_t halyard_device_link_count(halyard_device* device) {
  return is_a(device) ? device->object->link_count() : 0;
}

halyard_error* halyard_device_link(halyard_device* device, size_t index, halyard_link_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_ASSIGN_OR_RETURN(const LinkInfo link, device->object->link(index));
    halyard_link_info value = {};
    value.peer_ordinal = link.peer_ordinal;
    value.hops = link.hops;
    value.min_bandwidth_mbps = link.min_bandwidth_mbps;
    value.max_bandwidth_mbps = link.max_bandwidth_mbps;
    value.coherent = link.coherent;
    value.kind = static_cast<halyard_link_kind>(link.kind);
    value.gpu = link.gpu;
    value.peer_gpu = link.peer_gpu;
    return give(name, info, value);
  });
}

bool halyard_device_can_access(halyard_device* device, halyard_device* peer) {
  return is_a(device) && is_a(peer) && device->object->can_access(*peer->object);
}

size_t halyard_device_gpu_count(halyard_device* device) {
  return is_a(device) ? device->object->gpu_count() : 0;
}

halyard_error* halyard_device_gpu(halyard_device* device, size_t index, halyard_device** gpu) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "GPU", gpu));
    HALYARD_RETURN_IF_ERROR(check_index(name, "GPU", index, device->object->gpu_count()));
    *gpu = new halyard_device(Ref<Device>::retain(&device->object->gpu(index)));
    return {};
  });
}

halyard_error* halyard_device_let_in(halyard_device* device, halyard_buffer* buffer) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    return device->object->let_in(*buffer->object);
  });
}

halyard_error* halyard_device_fault(halyard_device* device) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    return device->object->fault();
  });
}

bool halyard_device_validates(halyard_device* device) {
  return is_a(device) && device->object->validates();
}

halyard_error* halyard_device_set_validation(halyard_device* device, bool on) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    device->object->set_validation(on);
    return {};
  });
}

// ---- Profiles

const char* halyard_profile_kind_name(halyard_profile_kind kind) {
  return to_string(static_cast<ProfileKind>(kind));
}

halyard_error* halyard_device_begin_profile(halyard_device* device) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    return device->object->begin_profile();
  });
}

halyard_error* halyard_device_begin_profile_of(halyard_device* device, uint64_t kinds) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    ProfileOptions options;
    options.kinds = kinds;
    return device->object->begin_profile(options);
  });
}

halyard_error* halyard_device_end_profile(halyard_device* device, halyard_profile_sink sink,
                                          void* context) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    if (sink == nullptr) {
      return error(StatusCode::kInvalidArgument, "{} is given no sink (null).", name);
    }
    struct To {
      halyard_profile_sink sink;
      void* context;
    } to = {sink, context};
    const ProfileSink forward = [](void* given, const ProfileEvent& event) {
      const auto& t = *static_cast<const To*>(given);
      const std::string event_name = text(event.name);
      halyard_profile_event value = {};
      value.struct_size = sizeof value;
      value.name = event_name.c_str();
      value.begin_ns = event.begin_ns;
      value.end_ns = event.end_ns;
      value.kind = static_cast<halyard_profile_kind>(event.kind);
      value.command = event.command;
      value.execution = event.execution;
      value.queue = event.queue;
      value.bytes = event.bytes;
      value.grid = to_c(event.grid);
      value.workgroup = to_c(event.workgroup);
      t.sink(t.context, &value);
    };
    return device->object->end_profile(forward, &to);
  });
}

// ---- Semaphores

halyard_error* halyard_device_create_semaphore(halyard_device* device, uint64_t initial_value,
                                               halyard_semaphore** semaphore) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "semaphore", semaphore));
    HALYARD_ASSIGN_OR_RETURN(Ref<Semaphore> made, device->object->create_semaphore(initial_value));
    *semaphore = new halyard_semaphore(device, std::move(made));
    return {};
  });
}

halyard_error* halyard_device_export_semaphore(halyard_device* device, halyard_semaphore* semaphore,
                                               halyard_exported_semaphore* exported) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check(name, semaphore));
    HALYARD_RETURN_IF_ERROR(check_output(name, "exported semaphore", exported));
    HALYARD_RETURN_IF_ERROR(check_size<halyard_exported_semaphore>(name, exported->struct_size));
    HALYARD_ASSIGN_OR_RETURN(const ExportedSemaphore made,
                             device->object->export_semaphore(*semaphore->object));
    halyard_exported_semaphore value = {};
    static_assert(sizeof value.ipc == sizeof made.ipc);
    std::memcpy(value.ipc, made.ipc, sizeof value.ipc);
    return give(name, exported, value);
  });
}

halyard_error* halyard_device_import_semaphore(halyard_device* device,
                                               const halyard_exported_semaphore* exported,
                                               halyard_semaphore** semaphore) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "semaphore", semaphore));
    if (exported == nullptr) {
      return error(StatusCode::kInvalidArgument, "{} is given no exported semaphore (null).", name);
    }
    halyard_exported_semaphore known;
    HALYARD_RETURN_IF_ERROR(take(name, exported, &known));
    ExportedSemaphore converted;
    std::memcpy(converted.ipc, known.ipc, sizeof converted.ipc);
    HALYARD_ASSIGN_OR_RETURN(Ref<Semaphore> made, device->object->import_semaphore(converted));
    *semaphore = new halyard_semaphore(device, std::move(made));
    return {};
  });
}

void halyard_semaphore_retain(halyard_semaphore* semaphore) {
  retain(semaphore);
}

void halyard_semaphore_release(halyard_semaphore* semaphore) {
  release(semaphore);
}

halyard_error* halyard_semaphore_query(halyard_semaphore* semaphore, uint64_t* value) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, semaphore));
    HALYARD_RETURN_IF_ERROR(check_output(name, "value", value));
    HALYARD_ASSIGN_OR_RETURN(*value, semaphore->object->query());
    return {};
  });
}

halyard_error* halyard_semaphore_signal(halyard_semaphore* semaphore, uint64_t value) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, semaphore));
    return semaphore->object->signal(value);
  });
}

halyard_error* halyard_semaphore_wait(halyard_semaphore* semaphore, uint64_t value,
                                      uint64_t deadline_ns) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, semaphore));
    return semaphore->object->wait(value, Deadline{deadline_ns});
  });
}

halyard_error* halyard_semaphore_fail(halyard_semaphore* semaphore, halyard_code code,
                                      const char* message) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, semaphore));
    HALYARD_RETURN_IF_ERROR(check_text(name, "message", message));
    if (code <= HALYARD_OK || code > HALYARD_UNAUTHENTICATED) {
      return error(StatusCode::kInvalidArgument,
                   "{} is given a code ({}) that is not a failure. Legal are CANCELLED (1) to "
                   "UNAUTHENTICATED (16).",
                   name, static_cast<int>(code));
    }
    HALYARD_RETURN_IF_ERROR(check_fork());
    semaphore->object->fail(Status(static_cast<StatusCode>(code), message));
    return {};
  });
}

halyard_error* halyard_device_wait(halyard_device* device, const halyard_point* points,
                                   size_t count, halyard_wait_mode mode, uint64_t deadline_ns,
                                   size_t* index) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_list(name, "points", points, count));
    ShortList<SemaphorePoint> converted(count);
    HALYARD_RETURN_IF_ERROR(to_points(name, points, count, converted.data()));
    return device->object->wait(converted.span(), static_cast<WaitMode>(mode),
                                Deadline{deadline_ns}, index);
  });
}
