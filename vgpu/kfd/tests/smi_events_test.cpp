// SMI events: what a program reads from their descriptors.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>

#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;

constexpr uint64_t kVmFaults = 1;
constexpr queue::MemoryFault kFault = {1, 0xabc000, true, false};

class SmiEventsTest : public ::testing::Test {
 protected:
  int open(uint32_t gpu_id = kGpu) {
    abi::SmiEvents request;
    request.gpu_id = gpu_id;
    EXPECT_EQ(process_.request(Request::kSmiEvents, request), 0);
    return static_cast<int>(request.fd);
  }
  static void choose(int file, uint64_t mask) {
    EXPECT_EQ(write(file, &mask, sizeof mask), static_cast<ssize_t>(sizeof mask));
  }
  static std::string read_all(int file) {
    char text[4096];
    const ssize_t count = read(file, text, sizeof text);
    if (count < 0) {
      EXPECT_EQ(errno, EAGAIN);
    }
    return {text, count > 0 ? static_cast<size_t>(count) : 0};
  }
  static bool is_readable(int file) {
    pollfd one = {file, POLLIN, 0};
    return poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0;
  }
  // As Linux prints it: the event, the process in hexadecimal, its name.
  static std::string line_of_fault() {
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    char text[96];
    std::snprintf(text, sizeof text, "1 %x:%s\n", static_cast<unsigned>(getpid()), name);
    return text;
  }
  void fault(const queue::MemoryFault& fault = kFault) {
    process_.machine->events().memory_fault(fault);
  }

  FakeProcess process_;
};

TEST_F(SmiEventsTest, AMemoryFaultIsALine) {
  const int file = open();
  choose(file, kVmFaults);
  EXPECT_FALSE(is_readable(file));
  EXPECT_EQ(read_all(file), "");
  fault();
  EXPECT_TRUE(is_readable(file));
  EXPECT_EQ(read_all(file), line_of_fault());
  EXPECT_FALSE(is_readable(file));
  fault();
  fault();
  EXPECT_EQ(read_all(file), line_of_fault() + line_of_fault());
  close(file);
}

TEST_F(SmiEventsTest, OnlyWhatIsChosenOnThatGpuIsReported) {
  const int nothing = open();
  const int others = open();
  const int other_gpu = open(kOtherGpu);
  choose(others, ~kVmFaults);  // legal: they do not happen
  choose(other_gpu, kVmFaults);
  fault();
  EXPECT_EQ(read_all(nothing), "");
  EXPECT_EQ(read_all(others), "");
  EXPECT_EQ(read_all(other_gpu), "");
  fault({2, 0xabc000, false, false});
  EXPECT_EQ(read_all(other_gpu), line_of_fault());
  // The last mask counts.
  choose(nothing, 0);
  choose(nothing, kVmFaults);
  choose(other_gpu, 0);
  fault();
  fault({2, 0xabc000, false, false});
  EXPECT_EQ(read_all(nothing), line_of_fault());
  EXPECT_EQ(read_all(other_gpu), "");
  for (const int file : {nothing, others, other_gpu}) close(file);
}

TEST_F(SmiEventsTest, AHangIsNotAFault) {
  const int file = open();
  choose(file, kVmFaults);
  fault({1, 0, false, true});
  EXPECT_EQ(read_all(file), "");
  close(file);
}

TEST_F(SmiEventsTest, ClosedDescriptorsAreForgotten) {
  const auto descriptors = [] {
    int count = 0;
    for (int file = 0; file < 4096; ++file) count += fcntl(file, F_GETFD) >= 0 ? 1 : 0;
    return count;
  };
  const int before = descriptors();
  for (int i = 0; i < 20; ++i) {
    const int file = open();
    choose(file, kVmFaults);
    close(file);
  }
  fault();
  EXPECT_EQ(descriptors(), before);
}

TEST_F(SmiEventsTest, AProgramThatReadsNothingStopsNothing) {
  const int file = open();
  choose(file, kVmFaults);
  fcntl(file, F_SETFL, 0);  // the driver's end does not wait
  for (int i = 0; i < 20000; ++i) fault();
  close(file);
  fault();
}

TEST_F(SmiEventsTest, WritesOfAnySizeDoNoHarm) {
  const int file = open();
  const unsigned char bytes[100] = {};
  for (const size_t size : {1, 7, 100, 3})
    EXPECT_EQ(write(file, bytes, size), static_cast<ssize_t>(size));
  fault();
  EXPECT_EQ(read_all(file), "");
  close(file);
}

TEST_F(SmiEventsTest, BadRequestsAreRefused) {
  abi::SmiEvents request;
  EXPECT_EQ(process_.request(Request::kSmiEvents, request), -EINVAL);
  request.gpu_id = kGpu + 1;
  EXPECT_EQ(process_.request(Request::kSmiEvents, request), -EINVAL);
}

// Processes that share the folder of the driver's files.
class SharedSmiEvents : public SmiEventsTest {
 protected:
  void SetUp() override {
    std::string name = "/tmp/halyard-smi-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    process_.kfd->smi_events().start(root_.c_str());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // What another process does in which this happens. Its name is this test's.
  void fault_of_other(const queue::MemoryFault& fault) const {
    FakeProcess other;
    other.kfd->smi_events().start(root_.c_str());
    other.machine->events().memory_fault(fault);
  }
  static std::string wait_and_read(int file) {
    pollfd one = {file, POLLIN, 0};
    while (poll(&one, 1, -1) != 1) {
    }
    return read_all(file);
  }
  size_t names() const {
    const std::filesystem::directory_iterator folder(root_ + "/messages");
    return static_cast<size_t>(std::distance(begin(folder), end(folder)));
  }

  std::string root_;
};

TEST_F(SharedSmiEvents, TheFaultsOfAnotherProcessAreReported) {
  const int file = open();
  choose(file, kVmFaults);
  fault_of_other({2, 0xabc000, false, false});  // on the other GPU
  fault_of_other({1, 0xabc000, false, true});   // a hang
  fault_of_other(kFault);
  EXPECT_EQ(wait_and_read(file), line_of_fault());
  // Its own are, once.
  fault();
  fault_of_other(kFault);
  std::string lines;
  while (lines.size() < 2 * line_of_fault().size()) lines += wait_and_read(file);
  EXPECT_EQ(lines, line_of_fault() + line_of_fault());
  close(file);
}

TEST_F(SharedSmiEvents, AProcessThatDoesNotListenIsNotInTheFolder) {
  fault();
  EXPECT_FALSE(std::filesystem::exists(root_ + "/messages"));
  {
    FakeProcess other;
    other.kfd->smi_events().start(root_.c_str());
    abi::SmiEvents request;
    request.gpu_id = kGpu;
    EXPECT_EQ(other.request(Request::kSmiEvents, request), 0);
    EXPECT_EQ(names(), 1u);
    close(static_cast<int>(request.fd));
  }
  EXPECT_EQ(names(), 0u);
}

TEST_F(SharedSmiEvents, WhatAKilledListenerHasLeftIsRemoved) {
  const pid_t killed = fork();
  if (killed == 0) {
    Mailbox mailbox;
    mailbox.start(root_.c_str());
    mailbox.listen([](const void*, size_t) {});
    _exit(0);
  }
  ASSERT_EQ(waitpid(killed, nullptr, 0), killed);
  ASSERT_EQ(names(), 1u);
  fault();
  EXPECT_EQ(names(), 0u);
}

TEST_F(SharedSmiEvents, AChildOfForkLeavesTheSocketToItsParent) {
  const int file = open();
  choose(file, kVmFaults);
  const pid_t child = fork();
  if (child == 0) {
    process_.kfd->smi_events().leave_to_parent();
    process_.kfd->smi_events().remove();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(names(), 1u);
  fault_of_other(kFault);
  EXPECT_EQ(wait_and_read(file), line_of_fault());
  close(file);
}

TEST_F(SharedSmiEvents, OtherMessagesDoNoHarm) {
  const int file = open();
  choose(file, kVmFaults);
  Mailbox stranger;
  stranger.start(root_.c_str());
  const unsigned char bytes[Mailbox::kMostBytes] = {1};
  for (const size_t size : {1, 95, 96, 97, 256}) stranger.send(bytes, size);
  fault_of_other(kFault);
  EXPECT_EQ(wait_and_read(file), line_of_fault());
  close(file);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
