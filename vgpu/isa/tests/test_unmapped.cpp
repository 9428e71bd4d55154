// Memory that the map still has and the host no longer: every kind of access to it ends the
// dispatch with a fault, and the engine goes on.

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "vgpu/host_guard.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::HasSubstr;

constexpr size_t kPage = 4096;

class Unmapped : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const pages =
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    page = static_cast<uint8_t*>(pages);
    machine.memory().map(page, 2 * kPage);
  }
  void TearDown() override { munmap(page, 2 * kPage); }

  void take_away() { ASSERT_EQ(mprotect(page, kPage, PROT_NONE), 0); }

  // s[8:9] and v[4:5] hold the page's address, v1 the lane's dword of it.
  DispatchResult run(const std::string& text, uint16_t group = 64) {
    return machine.run(
        machine.kernel("s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n"
                       "s_waitcnt lgkmcnt(0)\nv_mov_b32 v4, s8\nv_mov_b32 v5, s9\n" +
                       text),
        {address_of(page)}, Machine::grid(group, group));
  }
  void expect_fault(const std::string& text, uint64_t address, bool write) {
    const DispatchResult result = run(text);
    EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory) << text;
    EXPECT_EQ(result.fault.address, address) << text;
    EXPECT_EQ(result.fault.is_write, write) << text;
    EXPECT_THAT(result.fault.message, HasSubstr("the host has unmapped or protected")) << text;
    EXPECT_THAT(result.report, HasSubstr("instruction: " + text));
  }

  Machine machine;
  uint8_t* page = nullptr;
};

TEST_F(Unmapped, LoadsStoresAndAtomicsFault) {
  EXPECT_EQ(run("global_load_dword v3, v1, s[8:9]").fault.kind, Fault::Kind::kNone);
  take_away();
  const uint64_t at = address_of(page);
  expect_fault("global_load_dword v3, v1, s[8:9]", at, false);
  expect_fault("global_load_ubyte v3, v1, s[8:9] offset:1", at + 1, false);
  expect_fault("flat_load_dwordx4 v[8:11], v[4:5]", at, false);
  expect_fault("global_store_dword v[4:5], v0, off", at, true);
  expect_fault("global_atomic_add v[4:5], v0, off", at, true);
  expect_fault("s_load_dword s10, s[8:9], 0x10", at + 0x10, false);
}

TEST_F(Unmapped, TheRestOfTheMemoryWorksOn) {
  take_away();
  EXPECT_EQ(run("global_load_dword v3, v1, s[8:9]").fault.kind, Fault::Kind::kMemory);
  const DispatchResult result =
      run("s_add_u32 s8, s8, 0x1000\ns_addc_u32 s9, s9, 0\n"
          "global_store_dword v1, v0, s[8:9]");
  EXPECT_EQ(result.fault.kind, Fault::Kind::kNone) << result.report;
  uint32_t value = 0;
  std::memcpy(&value, page + kPage + 4 * 9, sizeof value);
  EXPECT_EQ(value, 9u);
}

TEST_F(Unmapped, TheFaultNamesTheWaveThatHadIt) {
  take_away();
  const DispatchResult result =
      run("v_readfirstlane_b32 s10, v0\ns_cmp_eq_u32 s10, 64\ns_cbranch_scc0 end\n"
          "global_load_dword v3, v[4:5], off\nend:",
          192);
  EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory);
  EXPECT_THAT(result.report, HasSubstr("wave 1 of 3"));
}

TEST_F(Unmapped, CodeFaults) {
  // A kernel of its own on the page: the object first, its code behind it.
  const uint64_t kernel = machine.kernel("s_nop 0");
  std::memcpy(page, host_of(kernel), 512);
  const uint64_t copy = address_of(page);
  EXPECT_EQ(machine.run(copy, {}).fault.kind, Fault::Kind::kNone);
  take_away();
  machine.engine().invalidate_code();
  const DispatchResult result = machine.run(copy, {});
  EXPECT_EQ(result.fault.kind, Fault::Kind::kCode) << result.report;
  EXPECT_THAT(result.fault.message, HasSubstr("is not readable memory"));
}

TEST_F(Unmapped, AJumpIntoItFaults) {
  take_away();
  const DispatchResult result = run("s_setpc_b64 s[8:9]");
  EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory);
  EXPECT_EQ(result.fault.address, address_of(page));
  EXPECT_THAT(result.report, HasSubstr("bytes: <not mapped>"));
}

TEST_F(Unmapped, ATruncatedFileFaults) {
  char name[] = "/tmp/halyard-unmapped-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  ASSERT_EQ(ftruncate(file, 2 * kPage), 0);
  ASSERT_NE(mmap(page, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
            MAP_FAILED);
  EXPECT_EQ(run("global_load_dword v3, v1, s[8:9]").fault.kind, Fault::Kind::kNone);
  ASSERT_EQ(ftruncate(file, 0), 0);
  expect_fault("global_load_dword v3, v1, s[8:9]", address_of(page), false);
  close(file);
}

// Signals that no guard asked for are the program's.

void program_handler(int /*signal*/) {
  _exit(42);
}

TEST(HostGuardDeathTest, OtherFaultsReachTheProgramsHandler) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, program_handler);
        install_host_guard();
        raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(42), "");
}

TEST(HostGuard, GuardsNest) {
  install_host_guard();
  void* const hole = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  HostFault outer;
  bool inner = true;
  uint8_t byte = 0;
  EXPECT_TRUE(guarded([&] { inner = read_host(&byte, hole, 1); }, outer));
  EXPECT_FALSE(inner);
  EXPECT_FALSE(guarded([&] { std::memset(hole, 1, 1); }, outer));
  EXPECT_EQ(outer.address, reinterpret_cast<uintptr_t>(hole));
  EXPECT_TRUE(outer.is_write);
  munmap(hole, kPage);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
