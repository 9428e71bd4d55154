// How much memory the processes use that share a folder.
#include "vgpu/kfd/usage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "vgpu/kfd/live_files.h"

namespace halyard::vgpu::kfd {
namespace {

namespace fs = std::filesystem;

class UsageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/halyard-usage-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string own_file() const { return root_ + "/usage/" + std::to_string(getpid()); }

  // What a program gets that opens a live file with these contents on disk.
  std::string read_live(const std::string& on_disk, int flags = O_RDONLY) {
    std::ofstream(root_ + "/mem_info_vram_used") << on_disk;
    const int file =
        open_live_file(root_.c_str(), open((root_ + "/mem_info_vram_used").c_str(), flags), flags);
    if (file < 0) return "not open";
    char text[64] = "";
    const ssize_t length = read(file, text, sizeof text);
    close(file);
    return length < 0 ? "not readable" : std::string(text, static_cast<size_t>(length));
  }

  // A process that uses so much of GPU 1, and lives until the pipe that is returned is closed.
  int start_process(uint64_t bytes, pid_t& process) {
    int ready[2];
    int end[2];
    if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(end, O_CLOEXEC) != 0) return -1;
    process = fork();
    if (process == 0) {
      close(end[1]);
      Usage usage;
      usage.start(root_.c_str());
      usage.set(1, bytes);
      char byte = 0;
      if (write(ready[1], &byte, 1) == 1 && read(end[0], &byte, 1) == 0) _exit(0);
      _exit(1);
    }
    close(ready[1]);
    close(end[0]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return end[1];
  }

  std::string root_;
};

TEST_F(UsageTest, IsTheSumOfAllProcesses) {
  EXPECT_EQ(usage_of_all(root_.c_str(), 1), 0u);
  Usage own;
  own.start(root_.c_str());
  own.set(0, 1);
  own.set(1, 10);
  pid_t other = 0;
  const int end = start_process(100, other);
  EXPECT_EQ(usage_of_all(root_.c_str(), 0), 1u);
  EXPECT_EQ(usage_of_all(root_.c_str(), 1), 110u);
  EXPECT_EQ(own.of_all(1), 110u);
  own.set(1, 20);
  EXPECT_EQ(own.of_all(1), 120u);
  // It ends without a chance to clean up.
  close(end);
  ASSERT_EQ(waitpid(other, nullptr, 0), other);
  EXPECT_EQ(own.of_all(1), 20u);
  EXPECT_FALSE(fs::exists(root_ + "/usage/" + std::to_string(other)));
}

TEST_F(UsageTest, EndsWithItsProcess) {
  Usage own;
  own.start(root_.c_str());
  own.set(1, 10);
  EXPECT_TRUE(fs::exists(own_file()));
  own.remove();
  EXPECT_FALSE(fs::exists(own_file()));
  EXPECT_EQ(usage_of_all(root_.c_str(), 1), 0u);
}

// What a process of the same number has left is replaced.
TEST_F(UsageTest, BeginsAnewWhereAnotherHasEnded) {
  fs::create_directory(root_ + "/usage");
  std::ofstream(own_file()) << std::string(4096, 'x');
  Usage own;
  own.start(root_.c_str());
  EXPECT_EQ(own.of_all(1), 0u);
  own.set(1, 3);
  EXPECT_EQ(own.of_all(1), 3u);
}

TEST_F(UsageTest, AChildOfForkUsesNothingAndLeavesTheParentsFile) {
  Usage own;
  own.start(root_.c_str());
  own.set(1, 10);
  const pid_t child = fork();
  if (child == 0) {
    own.leave_to_parent();
    own.remove();
    Usage mine;
    mine.start(root_.c_str());
    mine.set(1, 5);
    const bool sum = mine.of_all(1) == 15;
    mine.remove();
    _exit(sum ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(own.of_all(1), 10u);
}

TEST_F(UsageTest, IsThisProcesssAloneWithoutAFolder) {
  Usage nowhere;
  nowhere.start(nullptr);
  nowhere.set(1, 7);
  EXPECT_EQ(nowhere.of_all(1), 7u);
  Usage missing;
  missing.start((root_ + "/none").c_str());
  missing.set(1, 8);
  EXPECT_EQ(missing.of_all(1), 8u);
  missing.set(kMaxGpus, 1);
  EXPECT_EQ(missing.of_all(kMaxGpus), 0u);
}

TEST_F(UsageTest, ALiveFileSaysHowMuchIsInUse) {
  Usage own;
  own.start(root_.c_str());
  own.set(1, 300);
  EXPECT_EQ(read_live("0 1 1000\n"), "0\n");
  EXPECT_EQ(read_live("1 1 1000\n"), "300\n");
  // No more than there is: each process may use all of it.
  EXPECT_EQ(read_live("1 1 256\n"), "256\n");
  // Of a device with two partitions.
  EXPECT_EQ(read_live("0 2 1000\n"), "300\n");
  // Other text, and a file that is open for writing, are read as they are.
  EXPECT_EQ(read_live("text\n"), "text\n");
  EXPECT_EQ(read_live("1 1000\n", O_RDWR), "1 1000\n");
}

TEST(LiveFiles, AreToldByTheirNames) {
  EXPECT_TRUE(is_live_file("/made/x/sys/class/drm/card0/device/mem_info_vram_used"));
  EXPECT_TRUE(is_live_file("mem_info_vis_vram_used"));
  EXPECT_FALSE(is_live_file("/sys/class/drm/card0/device/mem_info_vram_total"));
  EXPECT_FALSE(is_live_file("/mem_info_vram_used/x"));
}

}  // namespace
}  // namespace halyard::vgpu::kfd
