#include "vgpu/kfd/pci_files.h"

#include <fmt/printf.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/ip_discovery.h"
#include "vgpu/kfd/live_files.h"

namespace halyard::vgpu::kfd {
namespace {

using machine::GpuProfile;
using machine::Profile;

constexpr const char* kHostDevices = "/sys/bus/pci/devices";
constexpr const char* kToDevices = "../../../devices/";  // from there
// Devices that are no hardware's have their place in "virtual", where no other PCI device is.
constexpr const char* kVirtualDevices = "/sys/devices/virtual/pci";
constexpr uint32_t kDisplayController = 0x038000;  // without VGA

std::string pci_name(const GpuProfile& gpu) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", gpu.pci_domain, gpu.pci_location >> 8,
                     gpu.pci_location >> 3 & 0x1f, gpu.pci_location & 7);
}

// The header of the configuration space: identity alone. The GPU has no addresses on a bus.
std::string configuration_of(const GpuProfile& gpu) {
  std::string bytes(64, '\0');
  const auto put = [&bytes](size_t at, uint32_t value, size_t size) {
    for (size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(0, kVendorAmd, 2);
  put(2, gpu.device_id, 2);
  put(9, kDisplayController, 3);
  return bytes;
}

std::string live_text(const GpuProfile& gpu, uint32_t index, uint64_t limit) {
  return fmt::sprintf(kLiveFormat, index, gpu.partition_count, limit);
}

// Seven windows: the six of a device, and its ROM.
std::string no_resources() {
  std::string text;
  for (int i = 0; i < 7; ++i) text += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
  return text;
}

// A node of DRM in the folder of its device, which is at `place` in /sys/devices.
void add_drm_node(FileTree& tree, const std::string& place, const std::string& name,
                  uint32_t minor) {
  const std::string node = fmt::format("/sys/devices/{}/drm/{}", place, name);
  std::string up = "../../../../";  // from the node to /sys
  for (const char c : place) up += c == '/' ? "../" : "";
  tree.files[node + "/dev"] = fmt::format("226:{}\n", minor);
  tree.files[node + "/uevent"] =
      fmt::format("MAJOR=226\nMINOR={}\nDEVNAME=dri/{}\nDEVTYPE=drm_minor\n", minor, name);
  tree.links[node + "/device"] = "../../../" + place.substr(place.rfind('/') + 1);
  tree.links[node + "/subsystem"] = up + "class/drm";
  const std::string target = fmt::format("../../devices/{}/drm/{}", place, name);
  tree.links["/sys/class/drm/" + name] = target;
  tree.links[fmt::format("/sys/dev/char/226:{}", minor)] = target;
}

void add_drm_nodes(FileTree& tree, const std::string& place, uint32_t index) {
  add_drm_node(tree, place, fmt::format("card{}", index), index);
  const uint32_t minor = render_minor_of(index);
  add_drm_node(tree, place, fmt::format("renderD{}", minor), minor);
}

// What amdgpu has for devices with several dies (amdgpu_gfx.c, amdgpu_gmc.c).
void add_partitions(FileTree& tree, const std::string& device, const GpuProfile& gpu) {
  constexpr const char* kModes[] = {"SPX", "DPX", "TPX", "QPX", "CPX"};
  const uint32_t dies = gpu.xcds * gpu.partition_count;
  const char* const available = dies == 8   ? "SPX, DPX, QPX, CPX"
                                : dies == 6 ? "SPX, TPX, CPX"
                                : dies == 4 ? "SPX, DPX, CPX"
                                : dies == 2 ? "SPX, CPX"
                                            : "SPX";
  tree.files[device + "/available_compute_partition"] = fmt::format("{}\n", available);
  tree.files[device + "/current_compute_partition"] =
      fmt::format("{}\n", kModes[static_cast<size_t>(gpu.partition)]);
  tree.files[device + "/available_memory_partition"] = "NPS1\n";
  tree.files[device + "/current_memory_partition"] = "NPS1\n";
}

// The first partition of a device has the PCI device's own nodes of DRM. The others have those of
// devices that are no hardware's (amdgpu_xcp_drv.c).
void add_further_partition(FileTree& tree, const GpuProfile& gpu, uint32_t index) {
  const std::string place = fmt::format("platform/amdgpu_xcp_{}", index);
  tree.files[fmt::format("/sys/devices/{}/uevent", place)] = "DRIVER=amdgpu_xcp\n";
  tree.files[fmt::format("/sys/devices/{}/unique_id", place)] = fmt::format("{:016x}\n", gpu.uuid);
  add_drm_nodes(tree, place, index);
}

void add_device(FileTree& tree, const GpuProfile& gpu, uint32_t index) {
  const std::string name = pci_name(gpu);
  const std::string device = fmt::format("{}/{}", kVirtualDevices, name);
  const auto add = [&](const char* file, const std::string& text) {
    tree.files[fmt::format("{}/{}", device, file)] = text;
  };
  add("class", fmt::format("0x{:06x}\n", kDisplayController));
  add("config", configuration_of(gpu));
  add("device", fmt::format("0x{:04x}\n", gpu.device_id));
  // A monitor without sensors. rocm-smi 5.2.3 does not start without one, or without the name of
  // the voltage, which has no value.
  add("hwmon/hwmon0/in0_label", "vddgfx\n");
  add("hwmon/hwmon0/name", "amdgpu\n");
  add("irq", "0\n");
  add("numa_node", "-1\n");  // no affinity
  add("product_name", gpu.marketing_name + "\n");
  add("resource", no_resources());
  add("revision", "0x00\n");
  add("subsystem_device", "0x0000\n");
  add("subsystem_vendor", "0x0000\n");
  add("uevent", fmt::format("DRIVER=amdgpu\nPCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\n"
                            "PCI_SUBSYS_ID=0000:0000\nPCI_SLOT_NAME={}\n",
                            kDisplayController, kVendorAmd, gpu.device_id, name));
  add("unique_id", fmt::format("{:016x}\n", gpu.uuid));
  // There is none, but rocm-smi 5.2.3 takes only devices with this file for AMD's GPUs, and prints
  // what is behind the '-' as the SKU.
  add("vbios_version", "virtual-none\n");
  add("vendor", fmt::format("0x{:04x}\n", kVendorAmd));

  const uint64_t total = gpu.memory_bytes * gpu.partition_count;
  const uint64_t visible = gpu.visible_memory_bytes() * gpu.partition_count;
  add("mem_info_vram_total", fmt::format("{}\n", total));
  add("mem_info_vis_vram_total", fmt::format("{}\n", visible));
  add("mem_info_vram_used", live_text(gpu, index, total));
  add("mem_info_vis_vram_used", live_text(gpu, index, visible));
  if (gpu.target().has_xcds) add_partitions(tree, device, gpu);
  add_ip_discovery(tree, device, gpu);

  tree.links[device + "/driver"] = "../../../../bus/pci/drivers/amdgpu";
  tree.links[device + "/subsystem"] = "../../../../bus/pci";
  tree.links[fmt::format("{}/{}", kHostDevices, name)] = kToDevices + ("virtual/pci/" + name);
  tree.links["/sys/bus/pci/drivers/amdgpu/" + name] = "../../../../devices/virtual/pci/" + name;
  add_drm_nodes(tree, "virtual/pci/" + name, index);
}

}  // namespace

// The targets of the links are relative. So the folder of a link's device leads to the host's own.
void add_pci_files(FileTree& tree, const Profile& profile, const HostFacts& host) {
  for (const auto& [name, target] : host.pci_devices) {
    tree.links[fmt::format("{}/{}", kHostDevices, name)] = target;
    const std::string place = target.substr(std::string(kToDevices).size());
    const std::string folder = "/sys/devices/" + place.substr(0, place.find('/'));
    tree.links[folder] = folder;
  }
  for (uint32_t i = 0; i < profile.gpus.size(); ++i) {
    const GpuProfile& gpu = profile.gpus[i];
    gpu.partition_id == 0 ? add_device(tree, gpu, i) : add_further_partition(tree, gpu, i);
  }
  tree.files["/sys/class/drm/version"] = "drm 1.1.0 20060810\n";
}

std::map<std::string, std::string> host_pci_devices() {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> devices;
  std::error_code failed;
  for (fs::directory_iterator entry(kHostDevices, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string target = fs::read_symlink(entry->path(), failed).string();
    if (failed || !target.starts_with(kToDevices)) continue;
    // The GPUs' own folder is a real one here.
    if (target.starts_with(std::string(kToDevices) + "virtual/")) continue;
    devices[entry->path().filename().string()] = target;
  }
  return devices;
}

}  // namespace halyard::vgpu::kfd
