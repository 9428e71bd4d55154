// The state behind the mgpu* functions: devices, streams, events, modules and memory.
//
// Made at the first call, which may come from a constructor of the program's, and never destroyed:
// destructors that unload modules run when everything else may be gone. Once exit handlers have
// run, the vendor's runtime may be shut down, so what only gives things back does nothing then.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bindings/mlir/launch.h"
#include "bindings/mlir/memory_table.h"
#include "bindings/mlir/stream.h"
#include "hal/device.h"
#include "hal/status.h"
#include "registry/device_uri.h"
#include "registry/registry.h"

namespace halyard::mlir {

// What the environment chooses.
struct RuntimeOptions {
  std::string device = "amdgpu";          // HALYARD_DEVICE
  std::optional<std::string> vgpu = {};   // HALYARD_VGPU; empty text: the default profile
  std::vector<std::string> configs = {};  // HALYARD_CONFIG, which has colons between
};
RuntimeOptions options_from_environment();

struct LoadedFunction;

// A module that the program has loaded; on each device when something of it is used there.
struct LoadedModule {
  std::vector<std::byte> bytes;
  std::vector<Ref<Executable>> executables;  // by the device's index
  std::map<std::string, std::unique_ptr<LoadedFunction>, std::less<>> functions;
};

struct LoadedFunction {
  LoadedModule* module = nullptr;
  std::string name;
  std::vector<const Function*> functions = {};  // by the device's index
};

struct Event {
  std::mutex mutex;
  StreamPoint point;  // guarded by mutex
};

// Handles that were given out and are still valid, with what they stand for.
template <typename T>
class HandleTable {
 public:
  T* add(std::unique_ptr<T> object) {
    T* const handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  bool contains(const T* handle) const { return objects_.contains(handle); }
  // Null if it is not one.
  std::unique_ptr<T> take(const T* handle) {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

// Any thread may use any method. A null stream: see mgpu.h.
class Runtime {
 public:
  // The process's one.
  static Runtime& instance();

  // `hook` is called behind each device that is opened: an exit handler that is registered there
  // runs before those of the vendor's runtime. To be set before anything else.
  void on_device_opened(void (*hook)()) { device_opened_ = hook; }

  Result<LoadedModule*> load_module(const void* data, size_t size);
  Status unload_module(LoadedModule* module);
  Result<LoadedFunction*> function(LoadedModule* module, const char* name);
  Result<GlobalInfo> global(LoadedModule* module, const char* name);

  Status launch(LoadedFunction* function, const LaunchShape& shape, Stream* stream,
                void* const* params, void* const* extra, size_t count);
  // As many params as the function has arguments.
  Status launch_cooperative(LoadedFunction* function, const LaunchShape& shape, Stream* stream,
                            void* const* params, void* const* extra);

  Result<Stream*> create_stream();
  Status destroy_stream(Stream* stream);
  Status synchronize(Stream* stream);
  Status wait_event(Stream* stream, Event* event);
  Result<Event*> create_event();
  Status destroy_event(Event* event);
  Status synchronize(Event* event);
  Status record(Event* event, Stream* stream);

  Result<void*> allocate(uint64_t bytes, Stream* stream, bool host_shared);
  Status free(void* pointer, Stream* stream);
  Status copy(void* target, const void* source, size_t bytes, Stream* stream);
  // `width`: bytes of the pattern.
  Status fill(void* target, const void* pattern, uint32_t width, size_t count, Stream* stream);

  Status register_memory(void* pointer, uint64_t bytes);
  Status unregister_memory(void* pointer);
  // The device's address for a pointer into registered memory.
  Result<void*> device_pointer(void* pointer);

  // For the calling thread.
  Status set_default_device(int32_t index);

  // From now on, nothing is freed through the vendor's runtime. Waits for all work first, so that
  // failures of work without a waiter are reported.
  Status end();

 private:
  struct DeviceState {
    Ref<Device> device;
    std::vector<Stream*> idle = {};                     // given back; the oldest first
    std::vector<std::unique_ptr<Stream>> streams = {};  // all there ever were
    Stream* own = nullptr;                              // the one that null stands for
    std::mutex cooperative = {};                        // one such launch at a time
    StreamPoint last_cooperative = {};                  // guarded by cooperative
  };

  explicit Runtime(RuntimeOptions options) : options_(std::move(options)) {}

  // The calling thread's.
  static size_t default_device_index();
  // The device with that index, opened if it was not; those with "locked" want mutex_.
  Result<DeviceState*> device(size_t index);
  Result<DeviceState*> device_locked(size_t index);
  Status open_registry_locked();
  Result<Stream*> new_stream_locked(DeviceState& state, size_t index);
  Result<Executable*> executable_locked(LoadedModule& module, size_t index);
  Result<const Function*> resolve(LoadedFunction* function, size_t index);
  Status check_stream(Stream* stream);
  Status check_event(Event* event);
  Status check_module_locked(LoadedModule* module);
  // Waits for everything that was submitted to the device.
  Status synchronize_device(size_t index);
  Status synchronize_all();
  // Runs `work` on the stream, or, where that is null, alone on the device.
  using Work = std::function<Status(Stream&)>;
  Status on_stream(Stream* stream, const Work& work);
  // The rest of the buffer at the address, for the device; none if it is not known.
  Result<std::optional<BufferRange>> find_memory(uint64_t address, size_t index);
  Result<std::optional<BufferRange>> find_range(const void* pointer, uint64_t bytes, size_t index);
  Status copy_to_host(void* target, const BufferRange& source, Stream& stream);
  Status prepare(LoadedFunction* function, const LaunchShape& shape, Stream& stream,
                 void* const* params, void* const* extra, std::optional<size_t> count,
                 LaunchArguments* arguments, Dispatch* dispatch);
  Status check_cooperative(const Device& device, const Dispatch& dispatch);

  const RuntimeOptions options_;
  void (*device_opened_)() = [] {};
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;  // all below; not held while waiting for a device
  std::unique_ptr<Registry> registry_;
  DeviceUri uri_;                                      // HALYARD_DEVICE
  std::vector<DeviceUri> uris_;                        // what HALYARD_DEVICE stands for
  std::vector<DeviceUri> gpus_;                        // GPU by GPU; empty: not known yet
  std::vector<std::unique_ptr<DeviceState>> devices_;  // by index; null: not opened
  HandleTable<LoadedModule> modules_;
  std::unordered_set<const LoadedFunction*> functions_;
  std::unordered_set<const Stream*> live_streams_;  // those that the program holds
  HandleTable<Event> events_;
  MemoryTable memory_;
};

}  // namespace halyard::mlir
