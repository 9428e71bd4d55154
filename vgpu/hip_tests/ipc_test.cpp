// HIP programs hand memory and events to another process.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/hip_tests/hip_test.h"
#include "vgpu/machine/tests/two_processes.h"

namespace halyard::vgpu::hip_testing {
namespace {

using testing::in_two_processes;
using testing::Partner;

// A part of one of the runtime's blocks, and a block of its own.
constexpr int kCounts[] = {1000, 1 << 20};

int* open(const hipIpcMemHandle_t& handle) {
  void* memory = nullptr;
  EXPECT_EQ(hipIpcOpenMemHandle(&memory, handle, hipIpcMemLazyEnablePeerAccess), hipSuccess);
  return static_cast<int*>(memory);
}

hipError_t try_open(const hipIpcMemHandle_t& handle) {
  void* memory = nullptr;
  return hipIpcOpenMemHandle(&memory, handle, hipIpcMemLazyEnablePeerAccess);
}

hipIpcMemHandle_t handle_of(const DeviceArray<int>& array) {
  hipIpcMemHandle_t handle = {};
  EXPECT_EQ(hipIpcGetMemHandle(&handle, array.data()), hipSuccess);
  return handle;
}

std::vector<int> read(const int* memory, int count) {
  std::vector<int> values(static_cast<size_t>(count));
  EXPECT_EQ(hipMemcpy(values.data(), memory, values.size() * sizeof(int), hipMemcpyDeviceToHost),
            hipSuccess);
  return values;
}

std::vector<int> same(int count, int value) {
  return std::vector<int>(static_cast<size_t>(count), value);
}

void add(int* memory, int count, int amount) {
  EXPECT_EQ(launch("add_to_all", 8, 256, memory, count, amount), hipSuccess);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
}

// Each of the two starts HIP for itself.
class HipIpc : public ::testing::Test {
 protected:
  template <typename One, typename Other>
  static void run(One exporter, Other importer) {
    in_two_processes(
        [&](Partner partner) {
          register_kernels();
          exporter(partner);
        },
        [&](Partner partner) {
          register_kernels();
          importer(partner);
        });
  }
};

TEST_F(HipIpc, KernelsSeeWhatTheOtherProcessWrote) {
  run(
      [](Partner importer) {
        for (const int count : kCounts) {
          const DeviceArray<int> array(same(count, 5));
          add(array.data(), count, 1);
          importer.send(handle_of(array));
          importer.meet();
          add(array.data(), count, 100);
          EXPECT_EQ(array.read(), same(count, 116)) << count;
          importer.meet();
        }
      },
      [](Partner exporter) {
        for (const int count : kCounts) {
          int* const memory = open(exporter.receive<hipIpcMemHandle_t>());
          EXPECT_EQ(read(memory, count), same(count, 6));
          add(memory, count, 10);
          exporter.meet();
          exporter.meet();
          EXPECT_EQ(read(memory, count), same(count, 116));
          EXPECT_EQ(hipIpcCloseMemHandle(memory), hipSuccess);
        }
      });
}

// A kernel that waits for what the other process's kernel writes.
TEST_F(HipIpc, KernelsWaitForTheOtherProcess) {
  run(
      [](Partner importer) {
        const DeviceArray<int> array(2);
        importer.send(handle_of(array));
        ASSERT_EQ(launch("wait_for_flag", 1, 1, array.data(), array.data() + 1), hipSuccess);
        importer.meet();
        ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
        EXPECT_EQ(array.read(), same(2, 9));
      },
      [](Partner exporter) {
        int* const flag = open(exporter.receive<hipIpcMemHandle_t>());
        exporter.meet();
        ASSERT_EQ(launch("write_where_told", 1, 1, flag, 9), hipSuccess);
        ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
        exporter.wait_for_its_end();
      });
}

TEST_F(HipIpc, OpenedMemoryOutlivesItsExporter) {
  run(
      [](Partner importer) {
        for (const int count : kCounts) {
          const DeviceArray<int> array(same(count, 3));
          importer.send(handle_of(array));
          importer.meet();
        }
      },
      [](Partner exporter) {
        std::vector<int*> opened;
        for (int i = 0; i < 2; ++i) {
          opened.push_back(open(exporter.receive<hipIpcMemHandle_t>()));
          exporter.meet();
        }
        exporter.wait_for_its_end();
        for (size_t i = 0; i < opened.size(); ++i) {
          add(opened[i], kCounts[i], 1);
          EXPECT_EQ(read(opened[i], kCounts[i]), same(kCounts[i], 4));
          EXPECT_EQ(hipIpcCloseMemHandle(opened[i]), hipSuccess);
        }
      });
}

TEST_F(HipIpc, HandlesOfNothingAreRefused) {
  run(
      [](Partner importer) {
        const DeviceArray<int> kept(1 << 20);
        importer.send(handle_of(kept));
        importer.meet();
        {
          const DeviceArray<int> array(1 << 20);
          importer.send(handle_of(array));
        }
        importer.meet();
      },
      [](Partner exporter) {
        // The four words that the kernel driver made. A damaged one of the others crashes the
        // vendor's thunk 5.2.3, which looks for an aperture by its number.
        auto damaged = exporter.receive<hipIpcMemHandle_t>();
        for (const size_t word : {0, 1, 2, 3}) {
          uint32_t* const words = reinterpret_cast<uint32_t*>(&damaged);
          words[word] ^= 1;
          EXPECT_EQ(try_open(damaged), hipErrorInvalidDevicePointer) << word;
          words[word] ^= 1;
        }
        exporter.meet();
        const auto handle = exporter.receive<hipIpcMemHandle_t>();
        exporter.meet();
        EXPECT_EQ(try_open(handle), hipErrorInvalidDevicePointer) << "it has been freed";
        EXPECT_EQ(try_open({}), hipErrorInvalidValue);
        hipIpcMemHandle_t noise;
        int here = 0;
        EXPECT_NE(hipIpcCloseMemHandle(&here), hipSuccess);
        EXPECT_NE(hipIpcGetMemHandle(&noise, &here), hipSuccess);
        // HIP goes on.
        const DeviceArray<int> array(same(100, 1));
        add(array.data(), 100, 1);
        EXPECT_EQ(array.read(), same(100, 2));
      });
}

// Asked in a process of its own: one that has asked HIP anything cannot start children that use it.
bool runs_on_hip_57() {
  const pid_t child = fork();
  if (child == 0) _exit(is_hip_57() ? 1 : 0);
  int end = 0;
  EXPECT_EQ(waitpid(child, &end, 0), child);
  return WIFEXITED(end) && WEXITSTATUS(end) == 1;
}

TEST_F(HipIpc, EventsReachTheOtherProcess) {
  if (runs_on_hip_57()) {
    GTEST_SKIP() << "HIP 5.7 records such an event like any other: it writes nothing for the other "
                    "process.";
  }
  run(
      [](Partner importer) {
        hipEvent_t event = nullptr;
        HIP_OK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
        hipIpcEventHandle_t handle = {};
        HIP_OK(hipIpcGetEventHandle(&handle, event));
        const DeviceArray<int> array(2);
        importer.send(handle);
        importer.send(handle_of(array));
        // What the event stands for waits for the other process.
        HIP_OK(launch("wait_for_flag", 1, 1, array.data(), array.data() + 1));
        HIP_OK(hipEventRecord(event, nullptr));
        importer.meet();
        importer.meet();
        HIP_OK(hipEventDestroy(event));
        // HIP leaves its shared memory behind, and the file that it has taken the name from.
        const std::string name(reinterpret_cast<const char*>(&handle));
        EXPECT_EQ(shm_unlink(name.c_str()), 0) << name;
        EXPECT_EQ(std::remove(("/tmp/" + name.substr(std::strlen("/hip_"))).c_str()), 0) << name;
      },
      [](Partner exporter) {
        const auto handle = exporter.receive<hipIpcEventHandle_t>();
        hipEvent_t event = nullptr;
        HIP_OK(hipIpcOpenEventHandle(&event, handle));
        int* const memory = open(exporter.receive<hipIpcMemHandle_t>());
        exporter.meet();
        EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
        HIP_OK(launch("write_where_told", 1, 1, memory, 4));
        HIP_OK(hipEventSynchronize(event));
        EXPECT_EQ(hipEventQuery(event), hipSuccess);
        EXPECT_EQ(read(memory, 2), same(2, 4));
        HIP_OK(hipEventDestroy(event));
        exporter.meet();
        exporter.wait_for_its_end();
      });
}

// For a profile with several GPUs: the importer uses the memory from another one.
TEST(HipIpcPeers, TheOtherGpuSeesIt) {
  in_two_processes(
      [](Partner importer) {
        register_kernels();
        const DeviceArray<int> array(same(1000, 5));
        importer.send(handle_of(array));
        importer.meet();
        EXPECT_EQ(array.read(), same(1000, 7));
      },
      [](Partner exporter) {
        register_kernels();
        HIP_OK(hipSetDevice(1));
        int* const memory = open(exporter.receive<hipIpcMemHandle_t>());
        add(memory, 1000, 2);
        EXPECT_EQ(read(memory, 1000), same(1000, 7));
        EXPECT_EQ(hipIpcCloseMemHandle(memory), hipSuccess);
        exporter.meet();
      });
}

// For the checking mode, which then says where the fault was.
// Too large for the blocks in which newer runtimes put several allocations, which they export
// whole.
constexpr size_t kCheckedWords = size_t{1} << 20;
// Since 6.1 the runtime's allocations of such memory are a page larger.
constexpr size_t kPageWords = 1024;

TEST(HipIpcChecked, WritesBehindAnImportAreFound) {
  const std::array<int, 2> ends = testing::run_two_processes(
      [](Partner importer) {
        register_kernels();
        const DeviceArray<int> array(kCheckedWords);
        importer.send(handle_of(array));
        importer.wait_for_its_end();
      },
      [](Partner exporter) {
        register_kernels();
        int* const memory = open(exporter.receive<hipIpcMemHandle_t>());
        ASSERT_EQ(launch("write_where_told", 1, 1, memory + kCheckedWords - 1, 1), hipSuccess);
        ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
        ASSERT_EQ(launch("write_where_told", 1, 1, memory + kCheckedWords + kPageWords, 1),
                  hipSuccess);
        ASSERT_NE(hipDeviceSynchronize(), hipSuccess);
      });
  EXPECT_EQ(ends[0], 0);
  EXPECT_TRUE(WIFSIGNALED(ends[1])) << ends[1];
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
