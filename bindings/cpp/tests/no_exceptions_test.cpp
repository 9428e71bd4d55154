// A program that is built without exceptions: every failure is a Status.
//
//   halyard_hpp_no_exceptions_test DEVICE CODE_OBJECT
#include <halyard/halyard.hpp>

#include <cstdio>
#include <vector>

#if defined(HALYARD_HOST_EXCEPTIONS)
#error "This program is built with -fno-exceptions."
#endif

using namespace halyard::host;

static Status run(const char* uri, const char* path) {
  Result<Device> device = Device::try_open(uri, {.virtual_gpu = "gfx90a"});
  if (!device.ok()) return device.status();
  Result<Executable> program = device->try_load(path);
  if (!program.ok()) return program.status();
  Result<Kernel> kernel = program->try_kernel("vadd");
  if (!kernel.ok()) return kernel.status();
  const uint32_t n = 100;
  Result<Array<float>> a = device->try_array<float>(n);
  if (!a.ok()) return a.status();
  Result<Array<float>> out = device->try_array<float>(n);
  if (!out.ok()) return out.status();
  Result<Queue> queue = device->try_queue();
  if (!queue.ok()) return queue.status();
  if (auto done = queue->try_fill(*a, 1.5f); !done.ok()) return done.status();
  auto refused = queue->try_launch(*kernel, {n}, {64}, *a, *a, *out);
  if (refused.ok() || refused.status().code() != HALYARD_INVALID_ARGUMENT) {
    return {HALYARD_INTERNAL, "A launch with too few arguments is not refused."};
  }
  auto launched = queue->try_launch(*kernel, {n}, {64}, *a, *a, *out, n);
  if (!launched.ok()) return launched.status();
  std::vector<float> sums(n);
  if (Status status = queue->try_download(*out, std::span<float>(sums)); !status.ok())
    return status;
  for (const float sum : sums) {
    if (sum != 3.0f) return {HALYARD_DATA_LOSS, "1.5 + 1.5 gives " + std::to_string(sum) + "."};
  }
  return {};
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Status status = run(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
