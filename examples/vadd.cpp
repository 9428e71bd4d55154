// Adds two vectors on a GPU: open a device, load a file with kernels, launch one, read the result.
//
//   vadd cts/kernels/vadd_c_v6.hipfb                  on the first AMD GPU
//   vadd cts/kernels/vadd_c_v6.hipfb amdgpu gfx90a    on a virtual one
#include <halyard/halyard.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

using namespace halyard::host;

int main(int argc, char** argv) try {
  if (argc < 2) throw Error({HALYARD_INVALID_ARGUMENT, "Give the file with the kernel."});
  OpenOptions options;
  if (argc > 3) options.virtual_gpu = argv[3];
  Device device = Device::open(argc > 2 ? argv[2] : "amdgpu", options);
  Kernel vadd = device.load(argv[1]).kernel("vadd");
  Queue queue = device.queue();

  const uint32_t n = 1000;
  std::vector<float> ones(n, 1.0f), numbers(n), sums(n);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  auto a = device.array<float>(n), b = device.array<float>(n), out = device.array<float>(n);
  queue.upload(ones, a);  // a queue is in order
  queue.upload(numbers, b);
  queue.launch(vadd, {n}, {256}, a, b, out, n);
  queue.download(out, sums);  // waits

  std::printf("%s: %g %g %g … %g\n", device.info().name, sums[0], sums[1], sums[2], sums[n - 1]);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
