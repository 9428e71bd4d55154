// Devices, drivers, the virtual GPU and profiles.
#include <array>
#include <cstring>

#include "core.h"

namespace halyard::python {
namespace {

using Options = std::vector<std::pair<Text, Text>>;

host::internal::RegistryHandle registry() {
  host::internal::RegistryHandle handle;
  unlocked([&] { return halyard_registry_default(handle.out()); });
  return handle;
}

struct Device {
  HeldDevice handle;
};

Device open_device(const Text& uri, const py::dict& given) {
  const host::internal::RegistryHandle from = registry();
  Options options;
  for (const auto& [key, value] : given) options.emplace_back(key.cast<Text>(), value.cast<Text>());
  std::vector<halyard_option> list;
  for (const auto& [key, value] : options) list.push_back({key.c_str(), value.c_str()});
  Device device;
  unlocked([&] {
    return halyard_registry_open_device(from.get(), uri.c_str(), list.data(), list.size(),
                                        device.handle.out());
  });
  return device;
}

py::tuple tuple_of(const halyard_dim3& d) {
  return py::make_tuple(d.x, d.y, d.z);
}

// A driver may leave them out.
void add_details(py::dict& dict, const Device& device) {
  auto details = host::internal::with_size<halyard_device_details>();
  if (halyard_error* const error = halyard_device_get_details(device.handle.get(), &details)) {
    halyard_error_free(error);
    return;
  }
  dict["numa_node"] = details.numa_node;
  dict["cache_line_bytes"] = details.cache_line_bytes;
  dict["l1_cache_bytes"] = details.l1_cache_bytes;
  dict["l2_cache_bytes"] = details.l2_cache_bytes;
  dict["l3_cache_bytes"] = details.l3_cache_bytes;
  dict["simds_per_compute_unit"] = details.simds_per_compute_unit;
  dict["waves_per_compute_unit"] = details.waves_per_compute_unit;
  dict["shader_engines"] = details.shader_engines;
  dict["copy_engines"] = details.copy_engines;
  dict["max_queues"] = details.max_queues;
  dict["min_queue_packets"] = details.min_queue_packets;
  dict["max_queue_packets"] = details.max_queue_packets;
}

py::dict device_info(const Device& device) {
  const auto info = read<halyard_device_info>(&halyard_device_get_info, device.handle.get());
  py::dict dict;
  dict["driver"] = to_str(info.driver);
  dict["name"] = to_str(info.name);
  dict["uuid"] = to_str(info.uuid);
  dict["target"] = to_str(info.target);
  // As `halyard dump devices` calls them.
  const std::string target = info.target;
  dict["gpu_target"] = to_str(target.c_str());
  dict["gpu_arch_name"] = to_str(target.substr(0, target.find(':')).c_str());
  dict["compute_units"] = info.compute_units;
  dict["wavefront_size"] = info.wavefront_size;
  dict["max_workgroup_size"] = info.max_workgroup_size;
  dict["max_workgroup"] = tuple_of(info.max_workgroup);
  dict["max_grid"] = tuple_of(info.max_grid);
  dict["max_grid_size"] = info.max_grid_size;
  dict["lds_bytes"] = info.lds_bytes;
  dict["memory_bytes"] = info.memory_bytes;
  dict["max_allocation_bytes"] = info.max_allocation_bytes;
  dict["allocation_alignment"] = info.allocation_alignment;
  dict["max_clock_mhz"] = info.max_clock_mhz;
  dict["timestamp_hz"] = info.timestamp_hz;
  dict["maps_device_memory"] = info.maps_device_memory;
  dict["coherent_map"] = info.coherent_map;
  dict["imports_queues"] = info.imports_queues;
  dict["pci_address"] = to_str(info.pci_address);
  dict["gpu_count"] = info.gpu_count;
  dict["managed_memory"] = info.managed_memory;
  dict["commit_granule"] = info.commit_granule;
  add_details(dict, device);
  return dict;
}

py::list drivers() {
  const host::internal::RegistryHandle from = registry();
  size_t count = 0;
  unlocked([&] { return halyard_registry_driver_count(from.get(), &count); });
  py::list list;
  for (size_t i = 0; i < count; ++i) {
    using Handle =
        host::internal::Handle<halyard_driver, &halyard_driver_retain, &halyard_driver_release>;
    Handle driver;
    check(halyard_registry_driver_at(from.get(), i, driver.out()));
    const auto info = read<halyard_driver_info>(&halyard_driver_get_info, driver.get());
    py::list devices;
    const size_t device_count = halyard_driver_device_count(driver.get());
    for (size_t j = 0; j < device_count; ++j) {
      const auto summary = read<halyard_device_summary>(&halyard_driver_device, driver.get(), j);
      py::dict device;
      device["ordinal"] = summary.ordinal;
      device["name"] = to_str(summary.name);
      device["uuid"] = to_str(summary.uuid);
      device["target"] = to_str(summary.target);
      device["compute_units"] = summary.compute_units;
      device["memory_bytes"] = summary.memory_bytes;
      devices.append(device);
    }
    py::dict dict;
    dict["name"] = to_str(info.name);
    dict["version"] = to_str(info.version);
    dict["description"] = to_str(info.description);
    dict["path"] = to_str(info.path);
    dict["library_name"] = to_str(info.library_name);
    dict["library_path"] = to_str(info.library_path);
    dict["library_version"] = to_str(info.library_version);
    dict["devices"] = devices;
    list.append(dict);
  }
  return list;
}

// The device's place among its driver's. No other driver is loaded for it.
uint32_t ordinal_of(const Text& driver_name, const Text& uuid) {
  const host::internal::RegistryHandle from = registry();
  halyard_driver* driver = nullptr;
  unlocked([&] { return halyard_registry_driver(from.get(), driver_name.c_str(), &driver); });
  uint32_t ordinal = 0;
  const size_t count = halyard_driver_device_count(driver);
  for (size_t i = 0; i < count; ++i) {
    auto summary = host::internal::with_size<halyard_device_summary>();
    halyard_error* const error = halyard_driver_device(driver, i, &summary);
    if (error == nullptr && uuid.value == summary.uuid) ordinal = summary.ordinal;
    halyard_error_free(error);
  }
  halyard_driver_release(driver);
  return ordinal;
}

py::object load_report() {
  const host::internal::RegistryHandle from = registry();
  halyard_load_report* report = nullptr;
  unlocked(
      [&] { return halyard_registry_report(from.get(), HALYARD_REPORT_COMPLETE, 0, &report); });
  const std::string text = halyard_load_report_text(report);
  halyard_load_report_release(report);
  return to_message(text);
}

// What ProfileEvent of _device.py has, in its order, of each operation.
py::list end_profile(const Device& device) {
  std::vector<host::ProfileEvent> events;
  unlocked([&] {
    return halyard_device_end_profile(
        device.handle.get(),
        [](void* context, const halyard_profile_event* event) {
          static_cast<std::vector<host::ProfileEvent>*>(context)->push_back(
              {event->name, event->begin_ns, event->end_ns, event->kind, event->queue, event->bytes,
               event->execution, event->command, event->grid, event->workgroup});
        },
        &events);
  });
  py::list list;
  for (const host::ProfileEvent& event : events) {
    list.append(py::make_tuple(to_str(event.name.c_str()), event.begin_ns, event.end_ns,
                               halyard_profile_kind_name(event.kind), event.queue, event.bytes,
                               event.execution, event.command, tuple_of(event.grid),
                               tuple_of(event.group)));
  }
  return list;
}

std::unique_ptr<Memory> import(const Device& device, halyard_import_kind kind, const void* pointer,
                               uint64_t size, py::object owner) {
  auto options = host::internal::with_size<halyard_import_options>();
  options.kind = kind;
  options.pointer = pointer;
  options.size = size;
  auto buffer = made<HeldBuffer>(&halyard_device_import_buffer, device.handle.get(), &options);
  return make_memory(device.handle, std::move(buffer), false, std::move(owner));
}

py::dict find_allocation(const Device& device, uintptr_t address) {
  const auto info = read_unlocked<halyard_allocation_info>(
      &halyard_device_find_allocation, device.handle.get(), reinterpret_cast<const void*>(address));
  const std::array owners = {"device", "imported", "host memory"};
  py::dict dict;
  dict["memory_type"] = static_cast<int>(info.type);
  dict["owner"] = static_cast<size_t>(info.owner) < owners.size() ? owners[info.owner] : "unknown";
  dict["device_address"] = info.device_address;
  dict["size"] = info.size;
  dict["host_address"] = reinterpret_cast<uintptr_t>(info.host_pointer);
  return dict;
}

py::dict read_clocks(const Device& device) {
  const auto reading =
      read_unlocked<halyard_clock_reading>(&halyard_device_read_clocks, device.handle.get());
  py::dict dict;
  dict["device_ticks"] = reading.device_ticks;
  dict["device_hz"] = reading.device_hz;
  dict["host_ns"] = reading.host_ns;
  dict["uncertainty_ns"] = reading.uncertainty_ns;
  return dict;
}

Pool create_pool(const Device& device, int type, uint64_t limit, uint64_t keep) {
  auto info = host::internal::with_size<halyard_memory_pool_info>();
  info.type = static_cast<halyard_memory_type>(type);
  info.limit_bytes = limit;
  info.keep_bytes = keep;
  Pool pool = {device.handle, {}, type};
  unlocked([&] {
    return halyard_device_create_memory_pool(device.handle.get(), &info, pool.handle.out());
  });
  return pool;
}

py::dict pool_statistics(const Pool& pool) {
  const auto statistics =
      read_unlocked<halyard_pool_statistics>(&halyard_memory_pool_statistics, pool.handle.get());
  py::dict dict;
  dict["reserved_bytes"] = statistics.reserved_bytes;
  dict["used_bytes"] = statistics.used_bytes;
  dict["peak_reserved_bytes"] = statistics.peak_reserved_bytes;
  dict["allocations"] = statistics.allocations;
  dict["reuses"] = statistics.reuses;
  return dict;
}

// A handle of another process, as export gives it.
void check_exported(const char* what, const std::string& handle, const char* exported_by) {
  constexpr size_t kBytes = sizeof(halyard_exported_semaphore::ipc);
  static_assert(kBytes == sizeof(halyard_exported_handle::ipc));
  if (handle.size() == kBytes) return;
  fail(HALYARD_INVALID_ARGUMENT, std::string(what) + " has " + std::to_string(handle.size()) +
                                     " bytes; it has " + std::to_string(kBytes) + ", as " +
                                     exported_by + " gives them.");
}

py::object import_semaphore(const Device& device, const std::string& handle) {
  auto exported = host::internal::with_size<halyard_exported_semaphore>();
  check_exported("A semaphore's handle", handle, "Semaphore.export()");
  std::memcpy(exported.ipc, handle.data(), sizeof exported.ipc);
  auto semaphore =
      made<HeldSemaphore>(&halyard_device_import_semaphore, device.handle.get(), &exported);
  return make_semaphore(device.handle, std::move(semaphore));
}

std::unique_ptr<Memory> import_dmabuf(const Device& device, int descriptor, uint64_t offset,
                                      uint64_t size) {
  auto dmabuf = host::internal::with_size<halyard_dmabuf>();
  dmabuf.fd = descriptor;
  dmabuf.offset = offset;
  return import(device, HALYARD_IMPORT_DMABUF, &dmabuf, size, py::object());
}

std::unique_ptr<Memory> import_ipc(const Device& device, const std::string& handle, uint64_t size) {
  check_exported("An IPC handle", handle, "Array.export_ipc()");
  return import(device, HALYARD_IMPORT_IPC_HANDLE, handle.data(), size, py::object());
}

}  // namespace

void define_device(py::module_& module) {
  py::class_<Device>(module, "Device")
      .def_property_readonly(
          "_held", [](const Device& d) { return &d.handle; },
          py::return_value_policy::reference_internal)
      .def_property_readonly("info", &device_info)
      .def("allocate",
           [](const Device& device, uint64_t size, int type, uint32_t gpu, bool shared,
              bool managed) {
             auto options = host::internal::with_size<halyard_buffer_options>();
             options.type = static_cast<halyard_memory_type>(type);
             options.managed = managed;
             options.gpu = gpu;
             options.shared = shared;
             auto buffer =
                 made<HeldBuffer>(&halyard_device_allocate, device.handle.get(), size, &options);
             return make_memory(device.handle, std::move(buffer), type != HALYARD_MEMORY_DEVICE,
                                py::object());
           })
      .def("advise",
           [](const Device& device, Memory& memory, int advice) {
             unlocked([&] {
               return halyard_device_advise(device.handle.get(), halyard_whole(memory.buffer.get()),
                                            static_cast<halyard_memory_advice>(advice));
             });
           })
      .def("import_pointer",
           [](const Device& device, uintptr_t pointer, uint64_t size, py::object owner) {
             return import(device, HALYARD_IMPORT_DEVICE_POINTER,
                           reinterpret_cast<const void*>(pointer), size, std::move(owner));
           })
      .def("import_ipc", &import_ipc)
      .def("import_dmabuf", &import_dmabuf)
      .def("load_file",
           [](const Device& device, const Text& path) {
             HeldExecutable executable;
             unlocked([&]() -> halyard_error* {
               host::internal::ModuleHandle file;
               if (halyard_error* error = halyard_module_open(path.c_str(), nullptr, file.out())) {
                 return error;
               }
               return halyard_device_load_module(device.handle.get(), file.get(), executable.out());
             });
             return executable;
           })
      .def("load_bytes",
           [](const Device& device, const std::string& bytes) {
             auto executable = made<HeldExecutable>(
                 &halyard_device_load_executable, device.handle.get(), bytes.data(), bytes.size());
             return executable;
           })
      .def("create_queue",
           [](const Device& device, int priority, uint32_t gpu) {
             auto options = host::internal::with_size<halyard_queue_options>();
             options.priority = static_cast<halyard_priority>(priority);
             options.gpu = gpu;
             auto queue =
                 made<HeldQueue>(&halyard_device_create_queue, device.handle.get(), &options);
             return make_queue(device.handle, std::move(queue));
           })
      .def("import_queue",
           [](const Device& device, uintptr_t native) {
             auto queue = made<HeldQueue>(&halyard_device_import_queue, device.handle.get(),
                                          reinterpret_cast<void*>(native));
             return make_queue(device.handle, std::move(queue));
           })
      .def("create_semaphore",
           [](const Device& device, uint64_t value) {
             auto semaphore =
                 made<HeldSemaphore>(&halyard_device_create_semaphore, device.handle.get(), value);
             return make_semaphore(device.handle, std::move(semaphore));
           })
      .def("can_access",
           [](const Device& device, const Device& peer) {
             return halyard_device_can_access(device.handle.get(), peer.handle.get());
           })
      .def("heap_statistics",
           [](const Device& device) {
             py::list heaps;
             const size_t count = halyard_device_heap_count(device.handle.get());
             for (size_t i = 0; i < count; ++i) {
               auto info = host::internal::with_size<halyard_heap_info>();
               auto statistics = host::internal::with_size<halyard_heap_statistics>();
               check(halyard_device_heap(device.handle.get(), i, &info));
               check(halyard_device_heap_statistics(device.handle.get(), i, &statistics));
               py::dict heap;
               heap["memory_type"] = static_cast<int>(info.type);
               heap["size"] = info.size;
               heap["live_bytes"] = statistics.live_bytes;
               heap["live_buffers"] = statistics.live_buffers;
               heap["peak_bytes"] = statistics.peak_bytes;
               heaps.append(heap);
             }
             return heaps;
           })
      .def("fault",
           [](const Device& device) {
             unlocked([&] { return halyard_device_fault(device.handle.get()); });
           })
      .def("find_allocation", &find_allocation)
      .def("read_clocks", &read_clocks)
      .def("create_pool", &create_pool)
      .def("import_semaphore", &import_semaphore)
      .def("begin_profile",
           [](const Device& device, uint64_t kinds) {
             unlocked([&] { return halyard_device_begin_profile_of(device.handle.get(), kinds); });
           })
      .def("end_profile", &end_profile);

  py::class_<Pool>(module, "Pool")
      .def_property_readonly("statistics", &pool_statistics)
      .def("trim", [](const Pool& pool, uint64_t keep) {
        unlocked([&] { return halyard_memory_pool_trim(pool.handle.get(), keep); });
      });

  module.def("open_device", &open_device);
  module.def("drivers", &drivers);
  module.def("load_report", &load_report);
  module.def("ordinal_of", &ordinal_of);
  module.def("load_virtual_gpu", [](const Text& profile) {
    unlocked([&] { return halyard_load_virtual_gpu(profile.c_str(), nullptr); });
  });
  module.def("virtual_gpu_loaded", [] { return halyard_virtual_gpu_loaded(); });
  module.def("code_name",
             [](int code) { return halyard_code_name(static_cast<halyard_code>(code)); });
}

}  // namespace halyard::python
