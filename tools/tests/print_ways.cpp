// Runs a kernel that prints in the ways that `halyard run` does not: held back by a semaphore, as a
// recording that is replayed, and with counts that the device reads. cli_print_test.cpp looks at
// what it prints.
//
//   print_ways DEVICE PROFILE MODULE
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "hal/device.h"
#include "registry/registry.h"
#include "registry/vgpu.h"

using namespace halyard;

namespace {

constexpr uint32_t kGroup = 64;

// The items that print differ from way to way, so that the lines tell which way they came.
constexpr int kHeld = 3;
constexpr int kReplayed = 5;
constexpr int kReplays = 3;
constexpr int kIndirect = 70;  // more than one work-group has

Status print(const char* uri, const char* profile, const char* path) {
  HALYARD_RETURN_IF_ERROR(load_virtual_gpu(profile));
  const auto registry = Registry::create();
  HALYARD_ASSIGN_OR_RETURN(const Ref<Device> device, registry->open_device(uri));
  std::ifstream file(path, std::ios::binary);
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  HALYARD_ASSIGN_OR_RETURN(const Ref<Executable> executable,
                           device->load_executable(code.data(), code.size()));
  HALYARD_ASSIGN_OR_RETURN(const Function* kernel, executable->find("print"));

  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> text, device->allocate(8));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> result, device->allocate(2 * kGroup * sizeof(float)));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> counts, device->allocate(3 * sizeof(uint32_t)));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Queue> queue, device->create_queue());
  HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> gate, device->create_semaphore());
  HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> semaphore, device->create_semaphore());
  const SemaphorePoint open = {gate.get(), 1};
  const SemaphorePoint done = {semaphore.get(), 1};
  const uint32_t two_groups[] = {2, 1, 1};
  HALYARD_RETURN_IF_ERROR(queue->update(text, "text", 5, {.wait = {&open, 1}, .signal = {}}));
  HALYARD_RETURN_IF_ERROR(queue->update(counts, two_groups, sizeof two_groups));

  const auto launch = [&](int count, const auto& submit) {
    const Argument arguments[] = {text, Argument::of(count), result};
    Dispatch dispatch;
    dispatch.function = kernel;
    dispatch.grid = {kGroup, 1, 1};
    dispatch.workgroup = {kGroup, 1, 1};
    dispatch.arguments = arguments;
    return submit(dispatch);
  };
  HALYARD_RETURN_IF_ERROR(
      launch(kHeld, [&](const Dispatch& dispatch) { return queue->dispatch(dispatch); }));

  HALYARD_ASSIGN_OR_RETURN(const Ref<CommandBuffer> commands, device->create_command_buffer());
  HALYARD_RETURN_IF_ERROR(
      launch(kReplayed, [&](const Dispatch& dispatch) { return commands->dispatch(dispatch); }));
  HALYARD_RETURN_IF_ERROR(commands->finish());
  for (int i = 0; i < kReplays; ++i) HALYARD_RETURN_IF_ERROR(queue->execute(*commands));

  HALYARD_RETURN_IF_ERROR(launch(kIndirect, [&](const Dispatch& dispatch) {
    return queue->dispatch_indirect(dispatch, counts, {.wait = {}, .signal = {&done, 1}});
  }));
  HALYARD_RETURN_IF_ERROR(gate->signal(1));
  return semaphore->wait(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s DEVICE PROFILE MODULE\n", argv[0]);
    return 2;
  }
  const Status status = print(argv[1], argv[2], argv[3]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}
