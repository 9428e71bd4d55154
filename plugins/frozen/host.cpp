// A program that uses a driver: host-2.0 is this, built when the contract was version 2.0
// (plugins/frozen/README.md). It loads the plugin that it is given, and prints "All is well." if
// what it asks of it works; otherwise what does not.
//
//   host PLUGIN [KERNELS]    KERNELS: a module with the function vadd; without it none is run
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "hal/driver.h"
#include "hal/file.h"

namespace halyard {
namespace {

#define EXPECT(condition)                                                                        \
  if (!(condition)) {                                                                            \
    return Status(StatusCode::kInternal,                                                         \
                  "host.cpp:" + std::to_string(__LINE__) + ": this does not hold: " #condition); \
  }

Result<Ref<Driver>> load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return Status(StatusCode::kNotFound, dlerror());
  const auto entry = reinterpret_cast<HalyardPluginEntry>(dlsym(library, HALYARD_PLUGIN_SYMBOL));
  if (entry == nullptr) return Status(StatusCode::kNotFound, "There is no entry point.");
  const HalyardHost host = {sizeof host, HALYARD_ABI_MAJOR, HALYARD_ABI_MINOR};
  char message[256] = {};
  HalyardPlugin plugin = {};
  plugin.struct_size = sizeof plugin;
  plugin.error = message;
  plugin.error_size = sizeof message;
  if (entry(&host, &plugin) != 0) return Status(StatusCode::kFailedPrecondition, message);
  if (plugin.abi_major != HALYARD_ABI_MAJOR) {
    return Status(StatusCode::kFailedPrecondition, "The plugin is of another major version.");
  }
  std::printf("The host speaks %u.%u, the plugin %s %u.%u.\n", HALYARD_ABI_MAJOR, HALYARD_ABI_MINOR,
              plugin.name, plugin.abi_major, plugin.abi_minor);
  return Driver::create(plugin.create_driver, {});
}

Status use_memory(Device& device, Queue& queue) {
  BufferOptions host_memory;
  host_memory.type = MemoryType::kHost;
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> a, device.allocate(4096, host_memory));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> b, device.allocate(4096, host_memory));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> done, device.create_semaphore());
  const uint32_t pattern = 0x01020304;
  const SemaphorePoint points[] = {{done.get(), 1}, {done.get(), 2}};
  HALYARD_RETURN_IF_ERROR(
      queue.fill(a, &pattern, sizeof pattern, {.wait = {}, .signal = {points, 1}}));
  HALYARD_RETURN_IF_ERROR(queue.copy(a, b, {.wait = {points, 1}, .signal = {points + 1, 1}}));
  HALYARD_RETURN_IF_ERROR(done->wait(2, Deadline::after_ns(20'000'000'000)));
  HALYARD_ASSIGN_OR_RETURN(const uint64_t value, done->query());
  EXPECT(value == 2);
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> view, b->subspan(1024, 16));
  HALYARD_ASSIGN_OR_RETURN(void* const pointer, view->map(0, 16, MapAccess::kRead));
  EXPECT(std::memcmp(pointer, "\4\3\2\1\4\3\2\1", 8) == 0);
  HALYARD_RETURN_IF_ERROR(view->unmap(pointer));
  EXPECT(queue.fill(BufferRange(*a, 4090, 8), &pattern, 4).code() == StatusCode::kOutOfRange);
  // What the driver refuses comes back with its sentence.
  const Status refused = done->signal(1);
  EXPECT(refused.code() == StatusCode::kInvalidArgument && !refused.message().empty());
  done->fail(Status(StatusCode::kAborted, "The host gives it up."));
  const Status failed = done->wait(3);
  EXPECT(failed.code() == StatusCode::kAborted);
  EXPECT(failed.message().view().find("gives it up") != std::string::npos);
  return {};
}

// Works, or is UNIMPLEMENTED with a sentence.
Status expect_known(const Status& status) {
  EXPECT(status.ok() || (status.code() == StatusCode::kUnimplemented && !status.message().empty()));
  return {};
}

Status use_what_is_optional(Device& device, Queue& queue) {
  HALYARD_RETURN_IF_ERROR(expect_known(device.create_pool({}).status()));
  HALYARD_RETURN_IF_ERROR(expect_known(device.read_clocks().status()));
  HALYARD_RETURN_IF_ERROR(expect_known(queue.host_call([](void*) { return Status(); }, nullptr)));
#if HALYARD_ABI_MINOR >= 1
  HALYARD_RETURN_IF_ERROR(expect_known(device.details().status()));
  BufferOptions host_memory;
  host_memory.type = MemoryType::kHost;
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> buffer, device.allocate(64, host_memory));
  HALYARD_RETURN_IF_ERROR(expect_known(buffer->map(0, 64, MapAccess::kDiscardWrite).status()));
#endif
  const Result<Ref<CommandBuffer>> commands = device.create_command_buffer();
  HALYARD_RETURN_IF_ERROR(expect_known(commands.status()));
  if (!commands.ok()) return {};
  HALYARD_RETURN_IF_ERROR((*commands)->begin_debug_group("a group"));
  HALYARD_RETURN_IF_ERROR((*commands)->barrier());
  HALYARD_RETURN_IF_ERROR((*commands)->end_debug_group());
  HALYARD_RETURN_IF_ERROR((*commands)->finish());
  return queue.execute(**commands);
}

Status run_vadd(Device& device, Queue& queue, const char* path) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> module, read_file(path));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Executable> executable,
                           device.load_executable(module.data(), module.size()));
  HALYARD_ASSIGN_OR_RETURN(const Function* const vadd, executable->find("vadd"));
  EXPECT(vadd->info().arguments.size() == 4);
  constexpr uint32_t kCount = 1000;
  BufferOptions host_memory;
  host_memory.type = MemoryType::kHost;
  Ref<Buffer> buffers[3];
  float* values[3] = {};
  for (int i = 0; i < 3; ++i) {
    HALYARD_ASSIGN_OR_RETURN(buffers[i], device.allocate(kCount * sizeof(float), host_memory));
    HALYARD_ASSIGN_OR_RETURN(void* const pointer,
                             buffers[i]->map(0, kCount * sizeof(float), MapAccess::kReadWrite));
    values[i] = static_cast<float*>(pointer);
    for (uint32_t k = 0; k < kCount; ++k) values[i][k] = static_cast<float>(i * 10000 + k);
  }
  const Argument arguments[] = {buffers[0], buffers[1], buffers[2], Argument::of(kCount)};
  Dispatch dispatch;
  dispatch.function = vadd;
  dispatch.grid = {1024, 1, 1};
  dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> done, device.create_semaphore());
  const SemaphorePoint end = {done.get(), 1};
  HALYARD_RETURN_IF_ERROR(queue.dispatch(dispatch, {.wait = {}, .signal = {&end, 1}}));
  HALYARD_RETURN_IF_ERROR(done->wait(1, Deadline::after_ns(60'000'000'000)));
  for (uint32_t k = 0; k < kCount; ++k) {
    EXPECT(values[2][k] == static_cast<float>(10000 + 2 * k));
  }
  return {};
}

Status run(int count, char** words) {
  if (count < 2) return Status(StatusCode::kInvalidArgument, "host PLUGIN [KERNELS]");
  HALYARD_ASSIGN_OR_RETURN(const Ref<Driver> driver, load(words[1]));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceSummary> devices, driver->enumerate());
  EXPECT(!devices.empty() && !devices[0].name.empty());
#if HALYARD_ABI_MINOR >= 1
  HALYARD_RETURN_IF_ERROR(expect_known(driver->device_options().status()));
#endif
  HALYARD_ASSIGN_OR_RETURN(const Ref<Device> device, driver->create_device(0));
  EXPECT(device->info().driver.view() == driver->info().name.view());
  EXPECT(device->heap_count() >= 1);
  HALYARD_ASSIGN_OR_RETURN(const HeapInfo heap, device->heap(0));
  EXPECT(heap.size > 0 && heap.struct_size == sizeof heap);
  HALYARD_ASSIGN_OR_RETURN(const Ref<Queue> queue, device->create_queue());
  HALYARD_RETURN_IF_ERROR(use_memory(*device, *queue));
  HALYARD_RETURN_IF_ERROR(use_what_is_optional(*device, *queue));
  if (count > 2) HALYARD_RETURN_IF_ERROR(run_vadd(*device, *queue, words[2]));
  HALYARD_RETURN_IF_ERROR(queue->fault());
  return queue->abandon();
}

}  // namespace
}  // namespace halyard

int main(int count, char** words) {
  const halyard::Status status = halyard::run(count, words);
  std::puts(status.ok() ? "All is well." : status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
