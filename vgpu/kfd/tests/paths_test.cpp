// Which paths are redirected, and where to.
#include "vgpu/kfd/paths.h"

#include <gtest/gtest.h>

#include <string>

namespace halyard::vgpu::kfd {
namespace {

Redirection of(const std::string& path) {
  Redirection own;
  redirect(path.c_str(), "/made/x", own);
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
        "/usr/share/libdrm/amdgpu.ids", "/dev/dri/card0", "/dev/dri/renderD", "/dev/dri/renderDx",
        "/dev/dri/renderD1280"}) {
    EXPECT_EQ(of(path).place, Place::kFile) << path;
    EXPECT_EQ(of(path).path, "/made/x" + path);
  }
}

TEST(Paths, OthersAreNot) {
  for (const std::string path :
       {"", "/", "/dev", "/dev/kfd2", "/dev/kf", "/dev/driver", "/sys/module/amdgpu2", "dev/kfd",
        "./dev/kfd", "/sys/dev/char/22:6", "/sys/devices/virtual", "/proc/modules.old", "/tmp/x",
        "/home/dev/kfd"})
    EXPECT_TRUE(is_elsewhere(path)) << path;
  Redirection own;
  redirect(nullptr, "/made/x", own);
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

TEST(Paths, WhatDoesNotFitIsElsewhere) {
  const std::string inside = "/dev/dri/" + std::string(kPathBytes, 'a');
  EXPECT_TRUE(is_elsewhere(inside));
  // The longest that fits, with the root and the final zero.
  const std::string longest =
      "/dev/dri/" + std::string(kPathBytes - 1 - std::string("/made/x/dev/dri/").size(), 'a');
  EXPECT_EQ(of(longest).place, Place::kFile);
  EXPECT_TRUE(is_elsewhere(longest + "a"));
  Redirection own;
  redirect("/dev/kfd", std::string(kPathBytes, 'r').c_str(), own);
  EXPECT_EQ(own.place, Place::kElsewhere);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
