// A program as MLIR makes them: its module is loaded before main and unloaded after it.
//
//   whole_life          prints "5 8 11"; exit code 0
//   whole_life fault    starts a kernel that faults and waits for nothing
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "bindings/mlir/mgpu.h"

namespace {

MgpuModule* loaded_module = nullptr;

// The command line is not there yet, so a variable names the file.
__attribute__((constructor(123))) void load() {
  std::ifstream file(HALYARD_BUSY_MODULE, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  loaded_module = mgpuModuleLoad(bytes.data(), bytes.size());
}

__attribute__((destructor(123))) void unload() {
  mgpuModuleUnload(loaded_module);
}

}  // namespace

int main(int argc, char** argv) {
  const bool faults = argc > 1 && std::strcmp(argv[1], "fault") == 0;
  MgpuStream* stream = mgpuStreamCreate();
  auto* data = static_cast<uint32_t*>(mgpuMemAlloc(12, nullptr, true));
  auto* target = faults ? reinterpret_cast<uint32_t*>(uintptr_t{0x10000}) : data;
  for (uint32_t i = 0; i < 3; ++i) data[i] = i + 1;
  uint32_t count = 3;
  uint32_t multiplier = 3;
  uint32_t addend = 2;
  void* params[] = {&target, &count, &multiplier, &addend};
  mgpuLaunchKernel(mgpuModuleGetFunction(loaded_module, "affine"), 1, 1, 1, 64, 1, 1, 0, stream,
                   params, nullptr, 4);
  if (!faults) {
    mgpuStreamSynchronize(stream);
    std::printf("%u %u %u\n", data[0], data[1], data[2]);
  }
  mgpuStreamDestroy(stream);
  return 0;
}
