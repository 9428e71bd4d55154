// The files of the virtual kernel driver: their text for each profile, against what is checked in,
// and what must hold between them; and the folder that they are written to.
//
// HALYARD_UPDATE_EXPECTED=1 vgpu_kfd_files_test writes what is checked in anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "vgpu/kfd/file_folder.h"
#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/topology_files.h"
#include "vgpu/machine/profile.h"

namespace halyard::vgpu::kfd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const HostFacts kHost = {
    8,
    4,
    uint64_t{16} << 30,
    {{"0000:00:00.0", "../../../devices/pci0000:00/0000:00:00.0"},
     {"0000:03:00.0", "../../../devices/pci0000:00/0000:00:01.0/0000:03:00.0"}}};
const std::string kNodes = "/sys/devices/virtual/kfd/kfd/topology/nodes/";

machine::Profile profile_of(const std::string& name) {
  machine::Profile profile;
  std::string error;
  EXPECT_TRUE(machine::load_profile(name, HALYARD_VGPU_PROFILES, profile, error)) << error;
  return profile;
}

FileTree tree_of(const std::string& name) {
  return driver_files(profile_of(name), kHost);
}

// A file of bytes in hexadecimal digits.
std::string printable(const std::string& content) {
  if (content.find('\0') == std::string::npos) return content;
  std::string text;
  for (size_t i = 0; i < content.size(); ++i) {
    const auto byte = static_cast<unsigned char>(content[i]);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
    text += i % 16 == 15 ? '\n' : ' ';
  }
  return text;
}

std::string text_of(const FileTree& tree) {
  std::string text;
  for (const auto& [path, content] : tree.files) text += "== " + path + "\n" + printable(content);
  for (const std::string& path : tree.folders) text += "== " + path + "/\n";
  for (const auto& [path, target] : tree.links) text += "== " + path + " -> " + target + "\n";
  return text;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The value of a property; -1 if the file has none of that name.
int64_t property(const FileTree& tree, const std::string& path, const std::string& name) {
  const auto file = tree.files.find(path);
  if (file == tree.files.end()) return -1;
  std::istringstream lines(file->second);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return std::stoll(line.substr(name.size() + 1));
  }
  return -1;
}

int64_t count_folders(const FileTree& tree, const std::string& folder) {
  int64_t count = 0;
  for (const auto& [path, content] : tree.files)
    count += path.starts_with(folder + "/") && path.ends_with("/properties") ? 1 : 0;
  return count;
}

// -1 if no link leads from one node to the other.
int64_t link_type(const FileTree& tree, int64_t from, int64_t to) {
  const std::string node = kNodes + std::to_string(from) + "/";
  for (const auto& [path, content] : tree.files) {
    const bool is_link =
        path.starts_with(node + "io_links/") || path.starts_with(node + "p2p_links/");
    if (is_link && property(tree, path, "node_to") == to) return property(tree, path, "type");
  }
  return -1;
}

class Files : public ::testing::TestWithParam<std::string> {};

class KnownFiles : public Files {};

TEST_P(KnownFiles, AreThoseCheckedIn) {
  const std::string text = text_of(tree_of(GetParam()));
  const fs::path expected = fs::path(HALYARD_EXPECTED_FILES) / (GetParam() + ".txt");
  if (std::getenv("HALYARD_UPDATE_EXPECTED") != nullptr) std::ofstream(expected) << text;
  EXPECT_EQ(text, read(expected)) << "HALYARD_UPDATE_EXPECTED=1 writes " << expected << " anew.";
}

// The thunk reads as many folders as the properties say, and calls a missing one an error.
TEST_P(Files, CountsAreThoseOfTheFolders) {
  const FileTree tree = tree_of(GetParam());
  const machine::Profile profile = profile_of(GetParam());
  for (size_t node = 0; node <= profile.gpus.size(); ++node) {
    const std::string folder = kNodes + std::to_string(node);
    for (const std::string kind : {"mem_banks", "caches", "io_links", "p2p_links"}) {
      EXPECT_EQ(property(tree, folder + "/properties", kind + "_count"),
                count_folders(tree, folder + "/" + kind))
          << folder << " " << kind;
    }
  }
}

// rocm-smi opens them all.
TEST_P(Files, EveryNodeHasItsFoldersEvenIfTheyAreEmpty) {
  const FileTree tree = tree_of(GetParam());
  for (size_t node = 0; node <= profile_of(GetParam()).gpus.size(); ++node) {
    for (const std::string kind : {"mem_banks", "caches", "io_links", "p2p_links"})
      EXPECT_TRUE(tree.folders.contains(kNodes + std::to_string(node) + "/" + kind)) << kind;
  }
}

TEST_P(Files, EveryGpuHasItsIdAndItsRenderNode) {
  const FileTree tree = tree_of(GetParam());
  const machine::Profile profile = profile_of(GetParam());
  const auto gpus = static_cast<uint32_t>(profile.gpus.size());
  for (uint32_t i = 0; i < gpus; ++i) {
    const std::string folder = kNodes + std::to_string(i + 1);
    const auto id = static_cast<uint32_t>(std::stoul(tree.files.at(folder + "/gpu_id")));
    EXPECT_EQ(node_of_gpu_id(id, gpus), i + 1);
    const int64_t minor = property(tree, folder + "/properties", "drm_render_minor");
    EXPECT_TRUE(tree.files.contains("/dev/dri/renderD" + std::to_string(minor)));
    const int64_t version = property(tree, folder + "/properties", "gfx_target_version");
    const std::map<std::string, int64_t> versions = {{"gfx900", 90000}, {"gfx906", 90006},
                                                     {"gfx908", 90008}, {"gfx90a", 90010},
                                                     {"gfx942", 90402}, {"gfx950", 90500}};
    EXPECT_EQ(version, versions.at(profile.gpus[i].processor));
  }
}

// The name and the other end of a link must agree, or the thunk refuses the topology.
TEST_P(Files, LinksLeaveTheirNodeAndLeadToAnother) {
  const FileTree tree = tree_of(GetParam());
  for (const auto& [path, content] : tree.files) {
    if (path.find("_links/") == std::string::npos) continue;
    const std::string node =
        path.substr(kNodes.size(), path.find('/', kNodes.size()) - kNodes.size());
    EXPECT_EQ(property(tree, path, "node_from"), std::stoll(node)) << path;
    const int64_t to = property(tree, path, "node_to");
    EXPECT_NE(to, std::stoll(node)) << path;
    EXPECT_TRUE(tree.files.contains(kNodes + std::to_string(to) + "/properties")) << path;
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Profiles, KnownFiles,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "mixed",
                                           "two-gfx90a", "mi300x"),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Profiles, Files,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "mixed",
                                           "two-gfx90a", "mi300x", "mi300a", "mi308x", "mi350x",
                                           "mi355x", "mi300x-cpx"),
                         test_name);

// The path that a symbolic link of the driver's leads to. Links on the way are not followed.
std::string target_of(const FileTree& tree, const std::string& link) {
  const auto found = tree.links.find(link);
  if (found == tree.links.end()) return "no link: " + link;
  return (fs::path(link).parent_path() / found->second).lexically_normal().string();
}

bool is_folder(const FileTree& tree, const std::string& path) {
  for (const auto& [file, content] : tree.files) {
    if (file.starts_with(path + "/")) return true;
  }
  return false;
}

// Linux, amdgpu_discovery.c: what tinygrad and rocm-smi read.
TEST(IpDiscovery, NamesTheBlocksOfGfx942AndGfx950) {
  const std::string pci = "/sys/devices/virtual/pci/0000:03:00.0/";
  const auto version = [&](const FileTree& tree, const std::string& block) {
    std::string text;
    for (const char* const part : {"major", "minor", "revision"})
      text += tree.files.at(pci + "ip_discovery/die/0/" + block + "/0/" + part);
    return text;
  };
  const FileTree mi300x = tree_of("mi300x");
  EXPECT_EQ(version(mi300x, "11"), "9\n4\n3\n");
  EXPECT_EQ(version(mi300x, "42"), "4\n4\n2\n");
  EXPECT_EQ(version(mi300x, "108"), "7\n9\n0\n");
  EXPECT_EQ(mi300x.links.at(pci + "ip_discovery/die/0/GC"), "11");
  EXPECT_TRUE(mi300x.files.contains(pci + "ip_discovery/die/0/11/7/hw_id"));
  EXPECT_FALSE(mi300x.files.contains(pci + "ip_discovery/die/0/11/8/hw_id"));
  EXPECT_TRUE(mi300x.files.contains(pci + "ip_discovery/die/0/42/15/hw_id"));
  const FileTree mi350x = tree_of("mi350x");
  EXPECT_EQ(version(mi350x, "11"), "9\n5\n0\n");
  EXPECT_EQ(version(mi350x, "42"), "4\n4\n5\n");
  EXPECT_FALSE(tree_of("gfx90a").files.contains(pci + "ip_discovery/die/0/num_ips"));
}

TEST(Partitions, AreGpusWithOnePciDevice) {
  const FileTree tree = tree_of("mi300x-cpx");
  const std::string pci = "/sys/devices/virtual/pci/0000:03:00.0";
  EXPECT_EQ(tree.files.at(pci + "/current_compute_partition"), "CPX\n");
  EXPECT_EQ(tree.files.at(pci + "/available_compute_partition"), "SPX, DPX, QPX, CPX\n");
  EXPECT_EQ(tree.files.at(pci + "/current_memory_partition"), "NPS1\n");
  EXPECT_EQ(tree.files.at(pci + "/mem_info_vram_total"), "206158430208\n");
  EXPECT_TRUE(tree.files.contains(pci + "/ip_discovery/die/0/11/7/hw_id"));
  for (int64_t node = 1; node <= 8; ++node) {
    const std::string properties = kNodes + std::to_string(node) + "/properties";
    EXPECT_EQ(property(tree, properties, "location_id"), 0x0300 + node - 1);
    EXPECT_EQ(property(tree, properties, "num_xcc"), 1);
    EXPECT_EQ(property(tree, properties, "array_count"), 4);
    EXPECT_NE(property(tree, properties, "hive_id"), 0);
    EXPECT_EQ(link_type(tree, node, 0), 2);
    EXPECT_EQ(link_type(tree, node, node % 8 + 1), 11);
    const std::string link = "/sys/class/drm/renderD" + std::to_string(127 + node);
    const std::string device = target_of(tree, link);
    EXPECT_TRUE(is_folder(tree, target_of(tree, device + "/device"))) << device;
    EXPECT_EQ(device.find("devices/virtual/pci/") != std::string::npos, node == 1) << device;
  }
  EXPECT_EQ(tree_of("mi300x").files.at(pci + "/current_compute_partition"), "SPX\n");
}

TEST(Apu, IsLinkedInsideOfItsPackage) {
  const FileTree tree = tree_of("mi300a");
  const std::string properties = kNodes + "1/properties";
  EXPECT_EQ(property(tree, properties, "num_xcc"), 6);
  EXPECT_NE(property(tree, properties, "capability") & 1 << 28, 0);
  EXPECT_EQ(link_type(tree, 1, 0), 11);
  EXPECT_EQ(property(tree, kNodes + "1/io_links/0/properties", "weight"), 13);
}

// Each of several GPUs has its own PCI device, from which its card and its render node are found,
// and the other way around.
TEST(PciFiles, NodesOfDrmAndPciDevicesLeadToEachOther) {
  const FileTree tree = tree_of("two-gfx90a");
  const std::string pci = "/sys/devices/virtual/pci/";
  for (const auto& [index, name] : {std::pair("0", "0000:43:00.0"), {"1", "0000:46:00.0"}}) {
    const std::string device = pci + name;
    const std::string card = std::string("card") + index;
    const std::string render = std::string("renderD12") + (index[0] == '0' ? "8" : "9");
    for (const std::string& node : {card, render}) {
      const std::string folder = device + "/drm/" + node;
      EXPECT_EQ(target_of(tree, "/sys/class/drm/" + node), folder);
      EXPECT_EQ(target_of(tree, folder + "/device"), device);
      EXPECT_EQ(target_of(tree, folder + "/subsystem"), "/sys/class/drm");
    }
    EXPECT_EQ(target_of(tree, std::string("/sys/dev/char/226:") + index), device + "/drm/" + card);
    EXPECT_EQ(target_of(tree, std::string("/sys/bus/pci/devices/") + name), device);
    EXPECT_EQ(target_of(tree, std::string("/sys/bus/pci/drivers/amdgpu/") + name), device);
    EXPECT_EQ(target_of(tree, device + "/driver"), "/sys/bus/pci/drivers/amdgpu");
    EXPECT_EQ(target_of(tree, device + "/subsystem"), "/sys/bus/pci");
  }
  for (const auto& [link, target] : tree.links) {
    const std::string end = target_of(tree, link);
    EXPECT_TRUE(end == "/sys/bus/pci" || end == "/sys/bus/pci/drivers/amdgpu" ||
                end == "/sys/class/drm" || end.starts_with("/sys/devices/pci0000:00") ||
                is_folder(tree, end))
        << link << " leads nowhere";
  }
}

// Tools print "not supported" where a file is missing.
TEST(PciFiles, WhatAVirtualGpuLacksHasNoFile) {
  for (const auto& [path, content] : tree_of("mixed").files) {
    for (const char* const sensor : {"busy_percent", "pp_", "power", "temp", "fan"})
      EXPECT_EQ(path.find(sensor), std::string::npos) << path;
    if (path.find("/hwmon/") != std::string::npos) {
      EXPECT_TRUE(path.ends_with("/name") || path.ends_with("_label")) << path;
    }
  }
}

TEST(PciFiles, MemoryIsTheProfiles) {
  const FileTree gfx90a = tree_of("gfx90a");
  const std::string device = "/sys/devices/virtual/pci/0000:03:00.0/";
  const std::string bytes = std::to_string(profile_of("gfx90a").gpus[0].memory_bytes) + "\n";
  EXPECT_EQ(gfx90a.files.at(device + "mem_info_vram_total"), bytes);
  EXPECT_EQ(gfx90a.files.at(device + "mem_info_vis_vram_total"), bytes);
  // Without a large BAR.
  const FileTree gfx900 = tree_of("gfx900");
  EXPECT_EQ(gfx900.files.at(device + "mem_info_vram_total"), "8589934592\n");
  EXPECT_EQ(gfx900.files.at(device + "mem_info_vis_vram_total"), "268435456\n");
}

TEST(PciFiles, TheHostsDevicesStayWhereTheyAre) {
  const FileTree tree = tree_of("gfx906");
  EXPECT_EQ(tree.links.at("/sys/bus/pci/devices/0000:00:00.0"),
            "../../../devices/pci0000:00/0000:00:00.0");
  EXPECT_EQ(tree.links.at("/sys/devices/pci0000:00"), "/sys/devices/pci0000:00");
  // One at the address of a GPU is hidden.
  EXPECT_EQ(target_of(tree, "/sys/bus/pci/devices/0000:03:00.0"),
            "/sys/devices/virtual/pci/0000:03:00.0");
}

TEST(PciFiles, TheHostsDevicesAreFound) {
  const fs::path folder = "/sys/bus/pci/devices";
  std::error_code none;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    ++count;
    EXPECT_EQ(host_facts().pci_devices.count(entry.path().filename().string()), 1u) << entry.path();
  }
  EXPECT_EQ(host_facts().pci_devices.size(), count);
}

TEST(Links, MemoryWithoutALargeBarHasNone) {
  // gfx900 has none: only the GPU reaches the CPU's memory.
  const FileTree tree = tree_of("gfx900");
  EXPECT_EQ(property(tree, kNodes + "0/properties", "io_links_count"), 0);
  EXPECT_EQ(property(tree, kNodes + "1/properties", "io_links_count"), 1);
  EXPECT_EQ(property(tree, kNodes + "1/mem_banks/0/properties", "heap_type"), 2);
  EXPECT_EQ(property(tree_of("gfx90a"), kNodes + "0/properties", "io_links_count"), 1);
}

TEST(Links, GpusOfAHiveShareItsNumber) {
  const FileTree tree = tree_of("two-gfx90a");
  const int64_t hive = property(tree, kNodes + "1/properties", "hive_id");
  EXPECT_GT(hive, 0);
  EXPECT_EQ(property(tree, kNodes + "2/properties", "hive_id"), hive);
  EXPECT_EQ(property(tree_of("mixed"), kNodes + "2/properties", "hive_id"), 0);
}

class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/halyard-files-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    parent_ = name;
  }
  FileTree tree_of_profile(const std::string& text) const {
    std::ofstream(parent_ + "/mine.yaml") << text;
    return tree_of(parent_ + "/mine.yaml");
  }
  void TearDown() override { fs::remove_all(parent_); }

  std::string make(const FileTree& tree) {
    error_.clear();
    return make_file_folder(tree, parent_, error_);
  }

  std::string parent_;
  std::string error_;
};

TEST_F(FolderTest, LinksOfAProfileFormHives) {
  const FileTree tree = tree_of_profile(
      "gpu: {processor: gfx90a, xgmi_sdma_engines: 3}\n"
      "gpus: [{count: 5}]\n"
      "links:\n"
      "  - {from: 1, to: 0, type: xgmi}\n"
      "  - {from: 1, to: 2, type: xgmi}\n"
      "  - {from: 3, to: 4, type: none}\n");
  const auto hive = [&](int node) {
    return property(tree, kNodes + std::to_string(node) + "/properties", "hive_id");
  };
  EXPECT_NE(hive(1), 0);
  EXPECT_EQ(hive(1), hive(2));
  EXPECT_EQ(hive(1), hive(3));
  EXPECT_EQ(hive(4), 0);
  EXPECT_EQ(hive(5), 0);
  constexpr int64_t kPcie = 2;
  constexpr int64_t kXgmi = 11;
  EXPECT_EQ(link_type(tree, 1, 2), kXgmi);
  EXPECT_EQ(link_type(tree, 2, 1), kXgmi);
  EXPECT_EQ(link_type(tree, 1, 4), kPcie);
  EXPECT_EQ(link_type(tree, 4, 5), -1);
  EXPECT_EQ(link_type(tree, 5, 4), -1);
}

// Without one neither the host nor a GPU behind PCIe reaches the memory; over xGMI they do.
TEST_F(FolderTest, MemoryWithoutALargeBarIsReachedByXgmiOnly) {
  const FileTree tree = tree_of_profile(
      "gpu: {processor: gfx90a, xgmi_sdma_engines: 3}\n"
      "gpus: [{}, {gpu: {large_bar: false}}, {gpu: {large_bar: false}}]\n"
      "links: [{from: 1, to: 2, type: xgmi}]\n");
  EXPECT_EQ(property(tree, kNodes + "1/mem_banks/0/properties", "heap_type"), 1);
  EXPECT_EQ(property(tree, kNodes + "2/mem_banks/0/properties", "heap_type"), 2);
  const auto reached_from = [&tree](int64_t node) {
    std::vector<int64_t> nodes;
    for (int64_t to = 0; to <= 3; ++to) {
      if (link_type(tree, node, to) >= 0) nodes.push_back(to);
    }
    return nodes;
  };
  using Nodes = std::vector<int64_t>;
  EXPECT_EQ(reached_from(0), (Nodes{1}));
  EXPECT_EQ(reached_from(1), (Nodes{0}));
  EXPECT_EQ(reached_from(2), (Nodes{0, 1, 3}));
  EXPECT_EQ(reached_from(3), (Nodes{0, 1, 2}));
}

TEST_F(FolderTest, HoldsAllFiles) {
  const FileTree tree = tree_of("mixed");
  const std::string root = make(tree);
  ASSERT_NE(root, "") << error_;
  for (const auto& [path, content] : tree.files) EXPECT_EQ(read(root + path), content) << path;
  for (const std::string& path : tree.folders) EXPECT_TRUE(fs::is_directory(root + path)) << path;
  EXPECT_EQ(read(root + "/sys/class/kfd/kfd/topology/generation_id"), "1\n");
}

TEST_F(FolderTest, IsSharedByEqualProfilesAndByNoOthers) {
  const std::string root = make(tree_of("gfx900"));
  struct stat before;
  ASSERT_EQ(stat((root + "/dev/kfd").c_str(), &before), 0);
  EXPECT_EQ(make(tree_of("gfx900")), root);
  struct stat after;
  ASSERT_EQ(stat((root + "/dev/kfd").c_str(), &after), 0);
  // Programs tell a device by its inode.
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_NE(make(tree_of("gfx906")), root);
}

TEST_F(FolderTest, WhatIsMissingIsMadeAnew) {
  const FileTree tree = tree_of("gfx900");
  const std::string root = make(tree);
  fs::remove_all(root + "/sys");
  EXPECT_EQ(make(tree), root);
  EXPECT_EQ(read(root + kNodes + "1/gpu_id"), tree.files.at(kNodes + "1/gpu_id"));
}

TEST_F(FolderTest, AFolderThatOthersCanWriteToIsRefused) {
  const std::string own = parent_ + "/halyard-vgpu-" + std::to_string(geteuid());
  ASSERT_EQ(mkdir(own.c_str(), 0700), 0);
  ASSERT_EQ(chmod(own.c_str(), 0777), 0);
  EXPECT_EQ(make(tree_of("gfx900")), "");
  EXPECT_THAT(error_, HasSubstr(own));
  EXPECT_THAT(error_, HasSubstr("nobody else can write"));
}

TEST_F(FolderTest, AnErrorNamesTheFolder) {
  parent_ += "/nowhere";
  EXPECT_EQ(make(tree_of("gfx900")), "");
  EXPECT_THAT(error_, HasSubstr(parent_));
  parent_ = fs::path(parent_).parent_path().string();
}

}  // namespace
}  // namespace halyard::vgpu::kfd
