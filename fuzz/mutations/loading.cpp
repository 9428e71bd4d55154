#include "fuzz/mutations/loading.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "hal/device.h"
#include "registry/registry.h"
#include "registry/vgpu.h"

namespace halyard::mutations {
namespace {

constexpr uint64_t kMeasureEvery = 256;

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

bool complain(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return false;
}

Result<Ref<Device>> open(const Options& options, Registry& registry) {
  HALYARD_RETURN_IF_ERROR(load_virtual_gpu(options.vgpu));
  return registry.open_device(options.device);
}

// Drivers say of a vendor's call that it "fails: …".
bool is_the_vendors(const Status& status) {
  return status.message().view().find(" fails: ") != std::string_view::npos;
}

bool load_unchanged(Device& device, const std::vector<Seed>& seeds) {
  for (const Seed& seed : seeds) {
    const auto executable = device.load_executable(seed.bytes.data(), seed.bytes.size());
    if (!executable.ok()) {
      return complain("The file " + seed.name +
                      " does not load as it is: " + executable.status().to_string());
    }
  }
  return true;
}

}  // namespace

bool load_mutations(const Options& options, const std::vector<Seed>& seeds, uint64_t end,
                    Progress* progress) {
  const auto registry = Registry::create();
  const Result<Ref<Device>> device = open(options, *registry);
  if (!device.ok()) return complain(device.status().to_string());
  if (!load_unchanged(**device, seeds)) return false;
  progress->started = true;
  for (uint64_t number = progress->next; number < end; ++number) {
    progress->next = number;
    if (number % kMeasureEvery == 0) progress->resident_bytes = resident_bytes();
    const Seed& seed = seeds[file_of(options.seed, number, seeds.size())];
    const Bytes mutant = mutate(seed.bytes, seed.parts, options.seed, number);
    const auto executable = (*device)->load_executable(mutant.data(), mutant.size());
    if (executable.ok()) {
      ++progress->accepted;
    } else {
      ++progress->refused;
      if (executable.status().message().empty()) {
        return complain("The refusal has no message.");
      }
      if (is_the_vendors(executable.status())) ++progress->by_the_vendor;
    }
    if (const Status fault = (*device)->fault(); !fault.ok()) {
      return complain("The device has failed: " + fault.to_string());
    }
  }
  progress->resident_bytes = resident_bytes();
  progress->done = true;
  return true;
}

}  // namespace halyard::mutations
