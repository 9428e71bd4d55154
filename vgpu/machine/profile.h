// Profiles: which GPUs the virtual machine has. config/vgpu/README.md documents the files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/isa/schedule.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::machine {

// How a device's dies (XCDs) make GPUs: all of them one, or two, three, four, or each its own.
enum class Partition : uint8_t { kSpx, kDpx, kTpx, kQpx, kCpx };

// The schedule of a profile that names none.
inline isa::Schedule near_to_hardware() {
  isa::Schedule schedule;
  schedule.kind = isa::Schedule::Kind::kWaits;
  return schedule;
}

// One GPU's facts and settings.
struct GpuProfile {
  std::string processor;
  std::string marketing_name = "Halyard virtual GPU";
  uint32_t device_id = 0x687f;
  uint64_t uuid = 0x48414c5944000000;
  uint32_t pci_domain = 0;
  uint32_t pci_location = 0x0300;  // bus << 8 | device << 3 | function
  uint32_t compute_units = 64;
  uint32_t simds_per_cu = 4;
  uint32_t waves_per_simd = 10;
  uint32_t shader_engines = 4;
  uint32_t xcds = 1;  // that the compute units and shader engines are spread over
  uint64_t engine_clock_hz = 1500000000;
  uint64_t memory_bytes = uint64_t{8} << 30;
  uint64_t memory_clock_hz = 945000000;
  uint32_t memory_width = 2048;
  uint64_t lds_bytes = 65536;
  uint64_t l1_bytes = 16384;
  uint64_t l2_bytes = uint64_t{4} << 20;  // of each XCD
  uint64_t l3_bytes = 0;                  // the Infinity Cache; 0: none
  uint64_t cache_line_bytes = 64;
  uint32_t sdma_engines = 2;
  uint32_t xgmi_sdma_engines = 0;
  uint32_t compute_queues = 24;
  uint32_t asic_revision = 0;
  bool fine_grained_memory = false;
  bool large_bar = true;
  bool apu = false;  // it is in one package with the host's processor, and shares its memory
  bool sramecc = false;
  bool svm = false;

  // Partitions of one device are GPUs with the same place on the bus.
  Partition partition = Partition::kSpx;
  uint32_t partition_id = 0;
  uint32_t partition_count = 1;

  bool execute = true;
  uint32_t workers = 0;
  uint32_t wave_budget = 4096;
  isa::Schedule schedule = near_to_hardware();
  uint64_t watchdog_ns = 0;
  uint64_t clock_hz = 100000000;

  uint64_t spin_ns = 100000;
  uint64_t max_sleep_ns = 1000000;
  bool watch_doorbells = true;

  // gfx9 version numbers: "gfx90a" is 9.0.10.
  uint32_t major_version() const;
  uint32_t minor_version() const;
  uint32_t stepping() const;
  // The processor's facts. It must be one of isa::kKnownProcessors.
  isa::Target target() const;
  bool retries_faults() const { return svm && target().xnack_per_process; }
  // What LLVM takes as target features: "-xnack", "+sramecc,-xnack".
  std::string features() const;
  // What the PCI device's window shows. Without a large one it is of the size that all devices
  // have.
  uint64_t visible_memory_bytes() const {
    return large_bar ? memory_bytes : std::min(memory_bytes, uint64_t{256} << 20);
  }
  // What the topology reports, and so what s_memtime counts in.
  uint32_t engine_clock_mhz() const { return static_cast<uint32_t>(engine_clock_hz / 1000000); }
  bool is_same_device(const GpuProfile& other) const {
    return pci_domain == other.pci_domain && pci_location == other.pci_location;
  }
  // The first of its dies, as XCC_ID counts those of the device.
  uint32_t first_xcc() const { return partition_id * xcds; }
};

enum class LinkType { kNone, kPcie, kXgmi };

// How two GPUs, counted from 0, reach each other. Without a link neither sees the other's memory.
struct LinkProfile {
  uint32_t from = 0;
  uint32_t to = 0;
  LinkType type = LinkType::kPcie;
};

struct Profile {
  std::string name;
  std::vector<GpuProfile> gpus;
  std::vector<LinkProfile> links;  // one for each pair of GPUs, from < to
};

// `choice`: a name, or a path if it contains a '/' or ends in ".yaml"; empty: gfx900. Limits can
// follow (shrink.h): "mi210,memory_size=4GiB". On failure, `error` names the mistake, the file, and
// the existing profiles.
bool load_profile(const std::string& choice, const std::string& directory, Profile& profile,
                  std::string& error);

// The names of the profiles in a directory, sorted.
std::vector<std::string> list_profiles(const std::string& directory);

// Where profiles are, seen from this library: <prefix>/lib/halyard/vgpu/libhalyard-kfd.so.0
// belongs to <prefix>/share/halyard/config/vgpu.
std::string profile_directory();

}  // namespace halyard::vgpu::machine
