#include "vgpu/kfd/pci_files.h"

#include <fmt/printf.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "vgpu/kfd/gpu_ids.h"
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

std::string live_text(uint32_t index, uint64_t limit) {
  return fmt::sprintf(kLiveFormat, index, limit);
}

// Seven windows: the six of a device, and its ROM.
std::string no_resources() {
  std::string text;
  for (int i = 0; i < 7; ++i) text += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
  return text;
}

void add_drm_node(FileTree& tree, const std::string& device, const std::string& pci,
                  const std::string& name, uint32_t minor) {
  const std::string node = device + "/drm/" + name;
  tree.files[node + "/dev"] = fmt::format("226:{}\n", minor);
  tree.files[node + "/uevent"] =
      fmt::format("MAJOR=226\nMINOR={}\nDEVNAME=dri/{}\nDEVTYPE=drm_minor\n", minor, name);
  tree.links[node + "/device"] = "../../../" + pci;
  tree.links[node + "/subsystem"] = "../../../../../../class/drm";
  const std::string target = fmt::format("../../devices/virtual/pci/{}/drm/{}", pci, name);
  tree.links["/sys/class/drm/" + name] = target;
  tree.links[fmt::format("/sys/dev/char/226:{}", minor)] = target;
}

void add_gpu(FileTree& tree, const GpuProfile& gpu, uint32_t index) {
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

  const uint64_t visible = gpu.visible_memory_bytes();
  add("mem_info_vram_total", fmt::format("{}\n", gpu.memory_bytes));
  add("mem_info_vis_vram_total", fmt::format("{}\n", visible));
  add("mem_info_vram_used", live_text(index, gpu.memory_bytes));
  add("mem_info_vis_vram_used", live_text(index, visible));

  tree.links[device + "/driver"] = "../../../../bus/pci/drivers/amdgpu";
  tree.links[device + "/subsystem"] = "../../../../bus/pci";
  tree.links[fmt::format("{}/{}", kHostDevices, name)] = kToDevices + ("virtual/pci/" + name);
  tree.links["/sys/bus/pci/drivers/amdgpu/" + name] = "../../../../devices/virtual/pci/" + name;
  add_drm_node(tree, device, name, fmt::format("card{}", index), index);
  const uint32_t minor = render_minor_of(index);
  add_drm_node(tree, device, name, fmt::format("renderD{}", minor), minor);
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
  for (uint32_t i = 0; i < profile.gpus.size(); ++i) add_gpu(tree, profile.gpus[i], i);
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
