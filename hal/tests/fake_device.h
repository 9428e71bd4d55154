// A device without hardware: records what reaches the driver's side of the interface, so that a
// test sees both what validation refuses and what it lets through, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hal/code_object.h"
#include "hal/command_buffer.h"
#include "hal/contract/objects.h"
#include "hal/device.h"

namespace halyard::testing {

// Fits any of the interface's classes: deletes itself when the last reference goes.
#define HALYARD_FAKE_DESTROY         \
  void destroy() noexcept override { \
    delete this;                     \
  }

// What reached the driver, in words: "fill 16@8 pattern 4".
struct Log {
  std::vector<std::string> calls;
  HostCall host_call;  // the last one
  Status queue_fault;
  const Function* dispatched = nullptr;  // the last one
  bool refuses_barriers = false;
  bool refuses_deallocas = false;
  std::vector<std::string> failures;  // of semaphores
  std::vector<std::string> profile;   // names of the events that a profile has
};

class FakeBuffer final : public driver::BufferBase {
 public:
  FakeBuffer(Device& device, MemoryType type, uint64_t size, uint64_t address, Log& log)
      : BufferBase(device, type, size, address), log_(log) {}

 private:
  HALYARD_FAKE_DESTROY
  Status do_map(uint64_t offset, uint64_t length, MapAccess, void** pointer) override {
    log_.calls.push_back("map " + std::to_string(length) + "@" + std::to_string(offset));
    *pointer = &log_;
    return {};
  }
  Status do_unmap(void*) override { return {}; }
  Status do_flush(uint64_t offset, uint64_t length) override {
    log_.calls.push_back("flush " + std::to_string(length) + "@" + std::to_string(offset));
    return {};
  }
  Status do_invalidate(uint64_t, uint64_t) override { return {}; }
  Status do_subspan(uint64_t offset, uint64_t length, Buffer** view) override {
    *view = new FakeBuffer(device(), type(), length, device_address() + offset, log_);
    return {};
  }
  Log& log_;
};

class FakeSemaphore final : public driver::SemaphoreBase {
 public:
  explicit FakeSemaphore(Device& device, Log* log = nullptr) : SemaphoreBase(device), log_(log) {}
  Status failure;

 private:
  HALYARD_FAKE_DESTROY
  Status do_query(uint64_t* value) const override {
    *value = 7;
    return failure;
  }
  Status do_signal(uint64_t) override { return {}; }
  Status do_wait(uint64_t, Deadline) const override { return {}; }
  void do_fail(const Status& cause) override {
    failure = cause;
    if (log_ != nullptr) log_->failures.emplace_back(cause.message().view());
  }
  Log* log_;
};

class FakeFunction final : public driver::FunctionBase {
 public:
  FakeFunction(Executable& executable, const FunctionInfo& info) : FunctionBase(executable, info) {}
};

class FakeExecutable final : public driver::ExecutableBase {
 public:
  explicit FakeExecutable(Device& device) : ExecutableBase(device) {}
  // With the functions and globals of a code object.
  FakeExecutable(Device& device, CodeObject object)
      : ExecutableBase(device), object_(std::move(object)) {
    for (const KernelInfo& kernel : object_->kernels()) add(kernel.function);
  }
  FakeFunction& add(const FunctionInfo& info) {
    functions_.push_back(std::make_unique<FakeFunction>(*this, info));
    return *functions_.back();
  }

 private:
  HALYARD_FAKE_DESTROY
  void do_info(ExecutableInfo* info) const override { info->target = "gfx900"; }
  size_t do_function_count() const override { return functions_.size(); }
  const Function* do_function(size_t index) const override { return functions_[index].get(); }
  Status do_global(StringView name, GlobalInfo* info) const override {
    for (size_t i = 0; object_ && i < object_->globals().size(); ++i) {
      const GlobalSymbol& global = object_->globals()[i];
      if (global.name.view() != name.view()) continue;
      info->size = global.size;
      return {};
    }
    return Status(StatusCode::kNotFound, "There is no such global.");
  }
  std::optional<CodeObject> object_;
  std::vector<std::unique_ptr<FakeFunction>> functions_;
};

// What a log says of an argument: " 16@8" of a range, " 4" of a number, and nothing of most.
template <typename T>
std::string words(const T& argument) {
  if constexpr (std::is_integral_v<T>) {
    return " " + std::to_string(argument);
  } else if constexpr (std::is_enum_v<T>) {
    return " " + std::to_string(static_cast<int>(argument));
  } else {
    return {};
  }
}
inline std::string words(const BufferRange& range) {
  return " " + std::to_string(range.length) + "@" + std::to_string(range.offset);
}
inline std::string words(const Span<const BufferRange>& bindings) {
  return words(bindings.size());
}
inline std::string words(const HostCall& call) {
  return call.deferred != nullptr ? " deferred" : "";
}
inline std::string words(const RectangleCopy& shape) {
  return " pitches " + std::to_string(shape.source_row_pitch) + "/" +
         std::to_string(shape.source_slice_pitch) + " " + std::to_string(shape.target_row_pitch) +
         "/" + std::to_string(shape.target_slice_pitch);
}

// An operation, called with its arguments: puts it into the log.
struct Noting {
  Log& log;
  std::string prefix;
  std::string_view name;

  template <typename... A>
  Status operator()(const A&... arguments) const {
    if (log.refuses_barriers && name == "barrier")
      return Status(StatusCode::kResourceExhausted, "There is no more.");
    (keep(arguments), ...);
    log.calls.push_back((prefix + std::string(name) + ... + words(arguments)));
    return {};
  }
  template <typename T>
  void keep(const T& argument) const {
    if constexpr (std::is_same_v<T, Dispatch>) log.dispatched = argument.function;
    if constexpr (std::is_same_v<T, HostCall>) log.host_call = known_part(argument);
  }
};

class FakeCommandBuffer final : public driver::CommandBufferBase {
 public:
  FakeCommandBuffer(Device& device, Log& log) : CommandBufferBase(device), log_(log) {}

 private:
  HALYARD_FAKE_DESTROY
#define HALYARD_COMMAND(name, need, arguments, ...) \
  Status do_##name(__VA_ARGS__) override { return Noting{log_, "record ", #name} arguments; }
#include "hal/contract/operations.inl"
  Status do_finish() override { return Noting{log_, "record ", "finish"}(); }
  Log& log_;
};

class FakeQueue final : public driver::QueueBase {
 public:
  FakeQueue(Device& device, Log& log) : QueueBase(device), log_(log) {}

 private:
  HALYARD_FAKE_DESTROY
#define HALYARD_QUEUE_OPERATION(name, need, arguments, ...) \
  Status do_##name(__VA_ARGS__) override { return Noting{log_, "", #name} arguments; }
#include "hal/contract/operations.inl"
  Status do_alloca(uint64_t size, const PoolOptions& options, const Sync&,
                   Buffer** buffer) override {
    *buffer = new FakeBuffer(device(), options.type, size, 0x9000, log_);
    log_.calls.push_back("alloca " + std::to_string(size) +
                         (options.pool != nullptr ? " of a pool" : ""));
    return {};
  }
  Status do_dealloca(Buffer&, const Sync&) override {
    if (log_.refuses_deallocas) return Status(StatusCode::kResourceExhausted, "There is no more.");
    return Noting{log_, "", "dealloca"}();
  }
  void* do_native_handle() const noexcept override { return &log_; }
  Status do_fault() const override { return log_.queue_fault; }
  Status do_abandon() override { return Noting{log_, "", "abandon"}(); }
  uint64_t do_id() const noexcept override { return 7; }
  Log& log_;
};

class FakePool final : public driver::MemoryPoolBase {
 public:
  FakePool(Device& device, const PoolInfo& info, Log& log)
      : MemoryPoolBase(device, info), log_(log) {}

 private:
  HALYARD_FAKE_DESTROY
  Status do_statistics(PoolStatistics* statistics) const override {
    statistics->reserved_bytes = 77;
    return {};
  }
  Status do_trim(uint64_t keep_bytes) override {
    log_.calls.push_back("trim " + std::to_string(keep_bytes));
    return {};
  }
  Log& log_;
};

class FakeDevice final : public driver::DeviceBase {
 public:
  explicit FakeDevice(StringView name = "Fake A", StringView driver = "fake")
      : DeviceBase(facts_), facts_(make_info(name, driver)) {}

  Log log;
  // Another device whose buffers this one can use.
  void set_peer(const Device* peer) { peer_ = peer; }
  void set_next_address(uint64_t address) { next_address_ = address; }
  void reach_all(bool on) { reaches_all_ = on; }
  void refuse_barriers(bool on) { log.refuses_barriers = on; }
  void set_links(std::vector<LinkInfo> links) { links_ = std::move(links); }
  // The host reads them again.
  DeviceInfo& facts() {
    if (HalyardHostState*& host = contract()->host; host != nullptr) {
      host->destroy(host);
      host = nullptr;
    }
    return facts_;
  }
  // Lives as long as the text.
  void set_target(StringView target) { facts().target = target; }
  void set_imports_queues(bool on) { facts().imports_queues = on; }
  // As an older driver's device: the functions from `slot` on are not there.
  template <typename Function>
  void lacks_from(Function HalyardDeviceFunctions::* slot) {
    functions_ = *contract()->functions;
    functions_.struct_size = static_cast<uint32_t>(reinterpret_cast<char*>(&(functions_.*slot)) -
                                                   reinterpret_cast<char*>(&functions_));
    contract()->functions = &functions_;
  }
  // … whose profile events are that short.
  uint32_t event_size = sizeof(ProfileEvent);
  Status fault_of_device;

 private:
  static DeviceInfo make_info(StringView name, StringView driver) {
    DeviceInfo info;
    info.driver = driver;
    info.name = name;
    info.target = "gfx900";
    info.compute_units = 64;
    info.wavefront_size = 64;
    info.max_workgroup_size = 1024;
    info.max_workgroup = {1024, 1024, 512};
    info.max_grid = {UINT32_MAX, 65536, 65535};
    info.max_grid_size = uint64_t{1} << 32;
    info.lds_bytes = 65536;
    info.memory_bytes = 1 << 20;
    info.max_allocation_bytes = 1 << 19;
    return info;
  }

  HALYARD_FAKE_DESTROY
  size_t do_heap_count() const override { return 2; }
  Status do_heap(size_t index, HeapInfo* info) const override {
    info->type = index == 0 ? MemoryType::kDevice : MemoryType::kHost;
    info->size = 1 << 20;
    info->max_allocation = index == 0 ? 1 << 19 : 1 << 18;
    info->granule = 4096;
    return {};
  }
  Status do_heap_statistics(size_t, HeapStatistics* statistics) const override {
    statistics->live_bytes = 4096;
    return {};
  }
  Status do_pool_statistics(MemoryType, PoolStatistics* statistics) const override {
    statistics->allocations = 3;
    return {};
  }
  Status do_trim_pool(MemoryType, uint64_t keep_bytes) override {
    log.calls.push_back("trim_pool " + std::to_string(keep_bytes));
    return {};
  }
  bool do_can_access(const Device& peer) const noexcept override {
    return reaches_all_ || &peer == peer_;
  }
  Status do_import_queue(void*, Queue** queue) override {
    *queue = new FakeQueue(*this, log);
    return {};
  }
  Status do_create_queue(const QueueOptions&, Queue** queue) override {
    *queue = new FakeQueue(*this, log);
    return {};
  }
  Status do_advise(const BufferRange& range, MemoryAdvice advice) override {
    log.calls.push_back("advise " + std::to_string(range.length) + "@" +
                        std::to_string(range.offset) + " " + to_string(advice));
    return {};
  }
  Status do_commit(const BufferRange& range) override {
    log.calls.push_back("commit " + std::to_string(range.length) + "@" +
                        std::to_string(range.offset));
    return {};
  }
  Status do_decommit(const BufferRange& range) override {
    log.calls.push_back("decommit " + std::to_string(range.length) + "@" +
                        std::to_string(range.offset));
    return {};
  }
  Status do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) override {
    if (options.reserve) log.calls.push_back("reserve " + std::to_string(size));
    if (options.managed) log.calls.push_back("allocate managed " + std::to_string(size));
    *buffer = new FakeBuffer(*this, options.type, size, next_address_, log);
    next_address_ += 1 << 20;
    return {};
  }
  Status do_import_buffer(const ImportOptions& options, Buffer** buffer) override {
    if (options.release != nullptr) log.calls.push_back("import with release");
    if (options.kind == ImportOptions::Kind::kDmabuf) {
      const auto& dmabuf = *static_cast<const Dmabuf*>(options.pointer);
      log.calls.push_back("import of dma-buf from " + std::to_string(dmabuf.offset));
    }
    *buffer = new FakeBuffer(*this, MemoryType::kHost, options.size, next_address_, log);
    return {};
  }
  Status do_export_buffer(Buffer&, ExportedHandle*) override { return {}; }
  Status do_export_dmabuf(Buffer&, Dmabuf* exported) override {
    *exported = {.fd = 7, .offset = 4096};
    return {};
  }
  Status do_create_semaphore(uint64_t, Semaphore** semaphore) override {
    *semaphore = new FakeSemaphore(*this, &log);
    return {};
  }
  Status do_wait(Span<const SemaphorePoint>, WaitMode, Deadline, size_t* index) override {
    *index = 1;
    return {};
  }
  Status do_create_command_buffer(CommandBuffer** commands) override {
    *commands = new FakeCommandBuffer(*this, log);
    return {};
  }
  // Takes any bytes; of a code object it has the functions.
  Status do_load_executable(const void* data, size_t size, Executable** executable) override {
    log.calls.push_back("load " + std::to_string(size));
    Result<CodeObject> object = CodeObject::read(data, size);
    *executable = object.ok() ? new FakeExecutable(*this, std::move(object).value())
                              : new FakeExecutable(*this);
    return {};
  }
  size_t do_link_count() const override { return links_.size(); }
  Status do_link(size_t index, LinkInfo* info) const override {
    *info = links_[index];
    return {};
  }
  Status do_end_profile(ProfileSink sink, void* context) override {
    for (const std::string& name : log.profile) {
      ProfileEvent event;
      event.name = name;
      event.queue = 3;
      event.struct_size = event_size;
      sink(context, event);
    }
    return {};
  }
  Status do_fault() const override { return fault_of_device; }
  Status do_let_in(Buffer& buffer) override {
    log.calls.push_back("let_in " + std::to_string(buffer.size()));
    return {};
  }
  Status do_begin_profile(const ProfileOptions& options) override {
    log.calls.push_back("begin_profile " + std::to_string(options.kinds));
    return {};
  }
  Status do_create_pool(const PoolInfo& info, MemoryPool** pool) override {
    *pool = new FakePool(*this, info, log);
    return {};
  }
  Status do_export_semaphore(Semaphore&, ExportedSemaphore* exported) override {
    exported->ipc[0] = 5;
    return {};
  }
  Status do_import_semaphore(const ExportedSemaphore&, Semaphore** semaphore) override {
    *semaphore = new FakeSemaphore(*this);
    return {};
  }
  Status do_find_allocation(const void*, AllocationInfo* info) const override {
    info->size = 99;
    return {};
  }

  DeviceInfo facts_;
  HalyardDeviceFunctions functions_ = {};
  uint64_t next_address_ = 0x100000;
  const Device* peer_ = nullptr;
  bool reaches_all_ = false;
  std::vector<LinkInfo> links_;
};

#undef HALYARD_FAKE_DESTROY

}  // namespace halyard::testing
