// Which paths are redirected, and where to.
#include "vgpu/kfd/paths.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace halyard::vgpu::kfd {
namespace {

const std::map<std::string, std::string> kLinks = {
    {"/made/x/sys/class/drm/card1", "../../devices/virtual/pci/0000:46:00.0/drm/card1"},
    {"/made/x/sys/devices/virtual/pci/0000:46:00.0/drm/card1/device", "../../../0000:46:00.0"},
    {"/made/x/sys/bus/pci/devices/0000:00:01.0", "../../../devices/pci0000:00/0000:00:01.0"},
    {"/made/x/sys/class/kfd/absolute", "/sys/devices/virtual/kfd/kfd"},
    {"/made/x/sys/class/kfd/circle", "../kfd/circle"},
};

ssize_t read_link(const char* path, char* text, size_t bytes) {
  const auto link = kLinks.find(path);
  if (link == kLinks.end()) return -1;
  return static_cast<ssize_t>(link->second.copy(text, bytes));
}

Redirection of(const std::string& path) {
  Redirection own;
  redirect(path.c_str(), "/made/x", read_link, own);
  return own;
}

bool is_elsewhere(const std::string& path) {
  return of(path).place == Place::kElsewhere;
}

TEST(Paths, DevicesAreTold) {
  EXPECT_EQ(of("/dev/kfd").place, Place::kKfd);
  EXPECT_STREQ(of("/dev/kfd").path, "/made/x/dev/kfd");
  EXPECT_EQ(of("/dev/dri/renderD128").place, Place::kRender);
  EXPECT_EQ(of("/dev/dri/renderD128").minor, 128u);
  EXPECT_EQ(of("/dev/dri/renderD191").minor, 191u);
}

TEST(Paths, FilesAndFoldersOfTheDriverAreRedirected) {
  for (const std::string path :
       {"/dev/dri", "/sys/devices/virtual/kfd/kfd/topology/nodes", "/sys/class/kfd/kfd",
        "/sys/module/amdgpu/initstate", "/sys/dev/char/226:128/device/drm", "/proc/modules",
        "/sys/bus/pci/devices", "/sys/devices/virtual/pci/0000:03:00.0/vendor",
        "/usr/share/libdrm/amdgpu.ids", "/dev/dri/card0", "/dev/dri/renderD", "/dev/dri/renderDx",
        "/dev/dri/renderD1280"}) {
    EXPECT_EQ(of(path).place, Place::kFile) << path;
    EXPECT_EQ(of(path).path, "/made/x" + path);
  }
}

TEST(Paths, OthersAreNot) {
  for (const std::string path :
       {"", "/", "/dev", "/dev/kfd2", "/dev/kf", "/dev/driver", "/sys/module/amdgpu2", "dev/kfd",
        "./dev/kfd", "/sys/dev/char/22:6", "/sys/devices/virtual", "/sys/bus/pci/slots",
        "/proc/modules.old", "/tmp/x", "/home/dev/kfd"})
    EXPECT_TRUE(is_elsewhere(path)) << path;
  Redirection own;
  redirect(nullptr, "/made/x", read_link, own);
  EXPECT_EQ(own.place, Place::kElsewhere);
}

TEST(Paths, DotsAndSlashesAreResolved) {
  EXPECT_EQ(of("//dev///kfd").place, Place::kKfd);
  EXPECT_EQ(of("/dev/./kfd").place, Place::kKfd);
  EXPECT_EQ(of("/dev/dri/../kfd/.").place, Place::kKfd);
  EXPECT_EQ(of("/../../dev/kfd/").place, Place::kKfd);
  EXPECT_TRUE(is_elsewhere("/dev/kfd/.."));
  EXPECT_TRUE(is_elsewhere("/dev/dri/../../tmp"));
}

// amd-smi looks for the render node of a card in "/sys/class/drm/cardN/..".
TEST(Paths, ParentsOfLinksAreThoseOfTheirTargets) {
  const std::string gpu = "/made/x/sys/devices/virtual/pci/0000:46:00.0";
  EXPECT_EQ(of("/sys/class/drm/card1/../").path, gpu + "/drm");
  EXPECT_EQ(of("/sys/class/drm/./card1/device/..").path, gpu.substr(0, gpu.rfind('/')));
  EXPECT_EQ(of("/sys/class/drm/card1/device/../0000:46:00.0/vendor").path, gpu + "/vendor");
  EXPECT_EQ(of("/sys/class/kfd/absolute/../kfd").path,
            std::string("/made/x/sys/devices/virtual/kfd/kfd"));
  // The last one is the caller's to follow.
  EXPECT_EQ(of("/sys/class/kfd/../drm/card1").path, std::string("/made/x/sys/class/drm/card1"));
  EXPECT_EQ(of("/sys/class/drm/card0/../version").path,
            std::string("/made/x/sys/class/drm/version"));
  // A device of the host.
  EXPECT_TRUE(is_elsewhere("/sys/bus/pci/devices/0000:00:01.0/.."));
  EXPECT_TRUE(is_elsewhere("/sys/class/kfd/circle/.."));
  EXPECT_TRUE(is_elsewhere("/sys/class/kfd/absolute/" + std::string(kPathBytes, '/') + ".."));
}

TEST(Paths, WhatDoesNotFitIsElsewhere) {
  const std::string inside = "/dev/dri/" + std::string(kPathBytes, 'a');
  EXPECT_TRUE(is_elsewhere(inside));
  // The longest that fits, with the root and the final zero.
  const std::string longest =
      "/dev/dri/" + std::string(kPathBytes - 1 - std::string("/made/x/dev/dri/").size(), 'a');
  EXPECT_EQ(of(longest).place, Place::kFile);
  EXPECT_TRUE(is_elsewhere(longest + "a"));
  Redirection own;
  redirect("/dev/kfd", std::string(kPathBytes, 'r').c_str(), read_link, own);
  EXPECT_EQ(own.place, Place::kElsewhere);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
