// What becomes of a HIP process whose kernel does something wrong: the runtime ends it, as it does
// on hardware, and the virtual GPU says which kernel it was and where.
#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

class HipFaultDeathTest : public HipTest {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using HipWatchdogDeathTest = HipFaultDeathTest;

template <typename... Arguments>
void run(const char* name, Arguments... arguments) {
  register_kernels();
  static_cast<void>(launch(name, 1, 1, arguments...));
  static_cast<void>(hipDeviceSynchronize());
}

TEST_F(HipFaultDeathTest, AnAddressThatIsNowhere) {
  EXPECT_DEATH(
      run("write_where_told", reinterpret_cast<int*>(0x10000), 1),
      "memory access fault in kernel write_where_told(.|\n)*cannot write 4 bytes at address "
      "0x10000(.|\n)*Memory access fault by GPU node-1");
}

TEST_F(HipFaultDeathTest, FreedMemory) {
  EXPECT_DEATH(
      {
        void* memory = nullptr;
        static_cast<void>(hipMalloc(&memory, size_t{64} << 20));
        static_cast<void>(hipFree(memory));
        run("read_where_told", static_cast<const int*>(memory), static_cast<int*>(memory));
      },
      "memory access fault in kernel read_where_told");
}

// As on hardware, the GPU does not see the host's memory at the host's address.
TEST_F(HipFaultDeathTest, TheHostsOwnMemory) {
  EXPECT_DEATH(
      {
        static int here = 0;
        run("write_where_told", &here, 1);
      },
      "memory access fault in kernel write_where_told");
}

TEST_F(HipFaultDeathTest, ATrap) {
  EXPECT_DEATH(run("trap"), "trap in kernel trap(.|\n)*s_trap 2");
}

// The kernel driver lets the GPU execute all memory: what ends it is what it finds there.
TEST_F(HipFaultDeathTest, DataThatIsExecuted) {
  EXPECT_DEATH(
      {
        void* memory = nullptr;
        static_cast<void>(hipMalloc(&memory, 4096));
        static_cast<void>(hipMemset(memory, 0xff, 4096));
        run("execute_data", memory);
      },
      "illegal instruction in kernel execute_data(.|\n)*bytes: ff ff ff ff");
}

TEST_F(HipWatchdogDeathTest, AKernelThatNeverEnds) {
  EXPECT_DEATH(
      {
        void* memory = nullptr;
        static_cast<void>(hipMalloc(&memory, 4));
        static_cast<void>(hipMemset(memory, 0, 4));
        run("spin_for_ever", static_cast<volatile int*>(memory));
      },
      "no progress in kernel spin_for_ever(.|\n)*watchdog allows \\(500 ms\\)");
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
