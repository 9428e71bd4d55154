// The engine as its callers see it: grids, a wave's initial state, code that changes.

#include <gmock/gmock.h>

#include <immintrin.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

TEST(Engine, AddsTwoVectorsAcrossManyWorkGroups) {
  Machine machine;
  constexpr uint32_t kCount = 10000;
  auto* a = machine.allocate<float>(kCount);
  auto* b = machine.allocate<float>(kCount);
  auto* c = machine.allocate<float>(kCount);
  for (uint32_t n = 0; n < kCount; ++n) {
    a[n] = static_cast<float>(n);
    b[n] = 0.5f * static_cast<float>(n) + 1;
  }
  machine.expect_ok(R"(
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_load_dwordx2 s[8:9], s[0:1], 0x10
    s_lshl_b32 s3, s2, 8
    v_add_u32_e32 v0, s3, v0
    v_lshlrev_b32_e32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v1, v0, s[4:5]
    global_load_dword v2, v0, s[6:7]
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v1, v1, v2
    global_store_dword v0, v1, s[8:9])",
                    {address_of(a), address_of(b), address_of(c)}, Machine::grid(kCount, 256));
  for (uint32_t n = 0; n < kCount; ++n) ASSERT_EQ(c[n], a[n] + b[n]) << n;
}

// A kernel that adds two denormals, and 1 and a little, which is rounded.
void add_in_environment_of(const std::function<void()>& prepare) {
  Machine machine;
  constexpr uint32_t kCount = 4096;
  auto* result = machine.allocate<uint32_t>(2 * kCount);
  std::thread program([&] {
    prepare();
    machine.expect_ok(R"(
      s_load_dwordx2 s[4:5], s[0:1], 0x0
      s_lshl_b32 s3, s2, 6
      v_add_u32_e32 v0, s3, v0
      v_lshlrev_b32_e32 v0, 3, v0
      v_mov_b32_e32 v1, 1
      v_add_f32_e32 v1, v1, v1
      v_mov_b32_e32 v2, 0x2f800000
      v_add_f32_e32 v2, 1.0, v2
      v_rcp_f32_e32 v3, 0
      s_waitcnt lgkmcnt(0)
      global_store_dwordx2 v0, v[1:2], s[4:5])",
                      {address_of(result)}, Machine::grid(kCount, 64));
  });
  program.join();
  for (uint32_t n = 0; n < kCount; ++n) {
    ASSERT_EQ(result[2 * n], 2u) << n;
    ASSERT_EQ(result[2 * n + 1], 0x3f800000u) << n;
  }
}

TEST(Engine, TheProgramsFloatingPointEnvironmentIsNotTheGpus) {
  add_in_environment_of([] { _mm_setcsr(_mm_getcsr() | 0x8040); });  // FTZ, DAZ: -ffast-math
  add_in_environment_of([] { std::fesetround(FE_UPWARD); });
  add_in_environment_of([] { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_INEXACT); });
}

TEST(Engine, TheProgramGetsItsFloatingPointEnvironmentBack) {
  Machine machine;
  std::thread program([&] {
    std::fesetround(FE_DOWNWARD);
    machine.expect_ok("s_nop 0", {}, Machine::grid(64, 64));
    EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  });
  program.join();
}

TEST(Engine, GridsNeedNotBeMultiplesOfTheWorkGroup) {
  // Each work-item adds 1 at its global position and notes its ids.
  Machine machine;
  constexpr uint32_t kX = 13, kY = 7, kZ = 5;
  auto* count = machine.allocate<uint32_t>(kX * kY * kZ);
  auto* ids = machine.allocate<uint32_t>(kX * kY * kZ);
  Dispatch dispatch;
  dispatch.grid[0] = kX;
  dispatch.grid[1] = kY;
  dispatch.grid[2] = kZ;
  dispatch.group[0] = 5;
  dispatch.group[1] = 4;
  dispatch.group[2] = 4;
  machine.expect_ok(R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    s_mul_i32 s5, s2, 5
    s_mul_i32 s6, s3, 4
    s_mul_i32 s7, s4, 4
    v_lshlrev_b32 v5, 8, v1
    v_or_b32 v5, v5, v0
    v_lshlrev_b32 v6, 16, v2
    v_or_b32 v5, v5, v6
    v_add_u32 v0, s5, v0
    v_add_u32 v1, s6, v1
    v_add_u32 v2, s7, v2
    s_movk_i32 s12, 7
    s_movk_i32 s13, 13
    v_mul_lo_u32 v3, v2, s12
    v_add_u32 v3, v3, v1
    v_mul_lo_u32 v3, v3, s13
    v_add_u32 v3, v3, v0
    v_lshlrev_b32 v3, 2, v3
    v_mov_b32 v4, 1
    s_waitcnt lgkmcnt(0)
    global_atomic_add v3, v4, s[8:9]
    global_store_dword v3, v5, s[10:11])",
                    {address_of(count), address_of(ids)}, dispatch);
  for (uint32_t z = 0; z < kZ; ++z) {
    for (uint32_t y = 0; y < kY; ++y) {
      for (uint32_t x = 0; x < kX; ++x) {
        const uint32_t at = (z * kY + y) * kX + x;
        ASSERT_EQ(count[at], 1u) << x << " " << y << " " << z;
        ASSERT_EQ(ids[at], x % 5 | y % 4 << 8 | z % 4 << 16);
      }
    }
  }
}

TEST(Engine, UserAndSystemRegistersComeInOrder) {
  Machine machine;
  KernelOptions options;
  options.properties = 0x7f;
  options.user_sgprs = 4 + 2 + 2 + 2 + 2 + 2 + 1;
  options.rsrc2 = 15u << 7 | 1 | 2u << 11;  // ids, work-group info, scratch wave offset
  auto* packet = machine.allocate<uint64_t>(1);
  auto* queue = machine.allocate<uint64_t>(1);
  auto* out = machine.allocate<uint32_t>(24);
  Dispatch dispatch = Machine::grid(200, 200);
  dispatch.packet_address = address_of(packet);
  dispatch.queue_address = address_of(queue);
  dispatch.dispatch_id = 0x1122334455667788;
  dispatch.private_segment_size = 100;
  machine.expect_ok(R"(
    s_load_dwordx2 s[30:31], s[8:9], 0x0
    s_bfe_u32 s29, s18, 0x10000+31
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s29, 0
    s_cbranch_scc0 end
    s_store_dwordx4 s[0:3], s[30:31], 0x0
    s_store_dwordx4 s[4:7], s[30:31], 0x10
    s_store_dwordx4 s[8:11], s[30:31], 0x20
    s_store_dwordx4 s[12:15], s[30:31], 0x30
    s_store_dwordx4 s[16:19], s[30:31], 0x40
    end:)",
                    {address_of(out)}, dispatch, options);
  const auto wide = [&](int n) { return out[n] | static_cast<uint64_t>(out[n + 1]) << 32; };
  EXPECT_EQ(out[1] >> 16, 0x8000u) << "swizzled, stride 0";
  EXPECT_EQ(out[2], 112u * 64) << "private segments are a multiple of 16 bytes";
  EXPECT_EQ(out[3], 3u << 21 | 1u << 23);
  EXPECT_EQ(wide(4), address_of(packet));
  EXPECT_EQ(wide(6), address_of(queue));
  EXPECT_EQ(wide(10), 0x1122334455667788u);
  EXPECT_EQ(wide(12), wide(0) & 0xffffffffffff) << "flat scratch init";
  EXPECT_EQ(out[14], 100u);
  EXPECT_EQ(out[15], 0u);
  EXPECT_EQ(out[18], 0x80000000u | 4u) << "first wave of four";
  EXPECT_EQ(out[19], 0u) << "scratch wave offset";
}

TEST(Engine, LegacyKernelCodeGetsGridCounts) {
  Machine machine;
  KernelOptions options;
  options.legacy = true;
  options.properties = 8 | 7u << 7;
  options.user_sgprs = 5;
  auto* out = machine.allocate<uint32_t>(8);
  Dispatch dispatch;
  dispatch.grid[0] = 130;
  dispatch.grid[1] = 3;
  dispatch.group[0] = 64;
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_mov_b32 s10, s2
    s_mov_b32 s11, s3
    s_waitcnt lgkmcnt(0)
    s_store_dwordx2 s[10:11], s[8:9], 0x0
    s_store_dword s4, s[8:9], 0x8
    s_cmp_eq_u32 s5, 2
    s_cbranch_scc0 end
    s_store_dword s6, s[8:9], 0xc
    end:)",
                    {address_of(out)}, dispatch, options);
  EXPECT_EQ(out[0], 3u);
  EXPECT_EQ(out[1], 3u);
  EXPECT_EQ(out[2], 1u);
  EXPECT_LT(out[3], 3u);
}

TEST(Engine, Gfx90aPacksWorkItemIds) {
  EngineOptions options;
  options.processor = "gfx90a";
  Machine machine(options);
  auto* out = machine.allocate<uint32_t>(24);
  Dispatch dispatch;
  dispatch.grid[0] = dispatch.group[0] = 4;
  dispatch.grid[1] = dispatch.group[1] = 3;
  dispatch.grid[2] = dispatch.group[2] = 2;
  KernelOptions kernel;
  kernel.rsrc3 = 7;  // 32 VGPRs, then AGPRs
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mbcnt_lo_u32_b32 v1, -1, 0
    v_lshlrev_b32 v1, 2, v1
    v_accvgpr_write_b32 a3, v0
    v_mov_b32 v0, 0
    v_accvgpr_read_b32 v2, a3
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[8:9])",
                    {address_of(out)}, dispatch, kernel);
  for (uint32_t l = 0; l < 24; ++l) EXPECT_EQ(out[l], l % 4 | l / 4 % 3 << 10 | l / 12 << 20) << l;
}

TEST(Engine, ModeComesFromTheDescriptor) {
  Machine machine;
  auto* out = machine.allocate<uint32_t>(1);
  KernelOptions options;
  options.float_mode = 0xc5;
  options.rsrc1_extra = 1u << 21 | 1u << 26;
  machine.expect_ok(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_getreg_b32 s10, hwreg(HW_REG_MODE)\n"
      "s_waitcnt lgkmcnt(0)\ns_store_dword s10, s[8:9], 0x0",
      {address_of(out)}, {}, options);
  EXPECT_EQ(out[0], 0xc5u | mode_bit::kDx10Clamp | mode_bit::kFp16Overflow);
}

TEST(Engine, VgprIndexingDisplacesTheChosenOperands) {
  Machine machine;
  auto* out = machine.allocate<uint32_t>(4 * 64);
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v10, 100
    v_mov_b32 v11, 101
    v_mov_b32 v12, 102
    v_mov_b32 v20, 0
    s_movk_i32 s3, 2
    s_set_gpr_idx_on s3, gpr_idx(SRC0)
    v_mov_b32 v4, v10
    s_set_gpr_idx_mode gpr_idx(DST)
    s_movk_i32 s3, 1
    s_set_gpr_idx_idx s3
    v_mov_b32 v4, v11
    s_set_gpr_idx_off
    v_mov_b32 v6, v10
    s_movk_i32 s3, 200
    s_set_gpr_idx_on s3, gpr_idx(SRC0)
    v_mov_b32 v7, v10
    s_set_gpr_idx_off
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v4, s[8:9]
    global_store_dword v1, v5, s[8:9] offset:256
    global_store_dword v1, v6, s[8:9] offset:512
    global_store_dword v1, v7, s[8:9] offset:768)",
                    {address_of(out)});
  EXPECT_EQ(out[5], 102u);
  EXPECT_EQ(out[64 + 5], 101u);
  EXPECT_EQ(out[128 + 5], 100u);
  EXPECT_EQ(out[192 + 5], 5u) << "out of range: v0";
}

TEST(Engine, VskipSkipsVectorInstructions) {
  Machine machine;
  auto* out = machine.allocate<uint32_t>(64);
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 1
    s_setvskip -1, 0
    v_mov_b32 v2, 2
    global_store_dword v1, v2, s[50:51]
    s_movk_i32 s3, 7
    s_setvskip 0, 0
    v_add_u32 v2, s3, v2
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[8:9])",
                    {address_of(out)});
  EXPECT_THAT(std::vector<uint32_t>(out, out + 64), Each(8u));
}

// A kernel that stores the constant in its second instruction.
struct Patchable {
  uint64_t kernel;
  uint32_t* literal;
  uint32_t* out;
};

Patchable patchable(Machine& machine) {
  Patchable p;
  p.out = machine.allocate<uint32_t>(1);
  p.kernel = machine.kernel(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_mov_b32 s10, 0x11111111\ns_waitcnt lgkmcnt(0)\n"
      "s_store_dword s10, s[8:9], 0x0");
  p.literal = reinterpret_cast<uint32_t*>(machine.host_code_of(p.kernel) + 12);
  EXPECT_EQ(*p.literal, 0x11111111u);
  return p;
}

TEST(Engine, ShaderClocksHaveTheirOwnRate) {
  EngineOptions options;
  options.shader_clock_hz = 1502000000;
  Machine machine(options);
  auto* out = machine.allocate<uint64_t>(1);
  const auto host_ticks = [&] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    return static_cast<uint64_t>(static_cast<double>(ns) * 1.502);
  };
  const uint64_t before = host_ticks();
  machine.expect_ok(R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_memtime s[6:7]
    s_waitcnt lgkmcnt(0)
    s_store_dwordx2 s[6:7], s[4:5], 0x0
    s_dcache_wb)",
                    {address_of(out)});
  EXPECT_GE(out[0] + 1000, before);
  EXPECT_LE(out[0], host_ticks() + 1000);
}

// Two dispatches whose work-groups each draw a number, in the order in which they are started: once
// that of the higher priority has begun, the other one starts none until it has started them all.
TEST(Engine, AHigherPriorityStartsItsWorkGroupsFirst) {
  EngineOptions options;
  options.workers = 2;
  Machine machine(options);
  constexpr uint32_t kGroups = 4000;
  auto* const next = machine.allocate<uint32_t>(1);
  auto* const low = machine.allocate<uint32_t>(kGroups);
  auto* const high = machine.allocate<uint32_t>(kGroups);
  // Each work-group is at work for a while after it has drawn.
  const uint64_t kernel = machine.kernel(R"(
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_mov_b32 s8, 1
    s_waitcnt lgkmcnt(0)
    s_atomic_add s8, s[4:5], 0x0 glc
    s_lshl_b32 s9, s2, 2
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v1, s8
    v_mov_b32 v2, s9
    global_store_dword v2, v1, s[6:7]
    s_movk_i32 s10, 200
  again:
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 again)");
  const auto dispatch = [&](uint32_t* numbers, int priority) {
    auto* const kernarg = machine.allocate<uint64_t>(2);
    kernarg[0] = address_of(next);
    kernarg[1] = address_of(numbers);
    Dispatch made = Machine::grid(kGroups * 64, 64);
    made.kernarg_address = address_of(kernarg);
    made.priority = priority;
    return made;
  };
  const Dispatch ordinary = dispatch(low, 0), urgent = dispatch(high, 1);
  std::thread background([&] {
    const DispatchResult result = machine.run(kernel, {}, ordinary);
    EXPECT_EQ(result.fault.kind, Fault::Kind::kNone) << result.report;
  });
  while (__atomic_load_n(next, __ATOMIC_RELAXED) < 50) std::this_thread::yield();
  const DispatchResult result = machine.run(kernel, {}, urgent);
  EXPECT_EQ(result.fault.kind, Fault::Kind::kNone) << result.report;
  background.join();
  EXPECT_EQ(*next, 2 * kGroups);
  // Without its last ones: once they are started the other dispatch goes on, maybe before they have
  // drawn.
  constexpr uint32_t kLast = 400;
  std::sort(high, high + kGroups);
  const uint32_t first = high[0], last = high[kGroups - kLast];
  const auto between =
      std::count_if(low, low + kGroups, [&](uint32_t n) { return n > first && n < last; });
  // Those that had been started, on each thread a few.
  EXPECT_LE(between, 8);
}

TEST(Engine, ChangedCodeIsSeenAfterAnInvalidation) {
  Machine machine;
  const Patchable p = patchable(machine);
  machine.run(p.kernel, {address_of(p.out)});
  EXPECT_EQ(*p.out, 0x11111111u);
  *p.literal = 0x22222222;
  machine.engine().invalidate_code();
  machine.run(p.kernel, {address_of(p.out)});
  EXPECT_EQ(*p.out, 0x22222222u);
}

TEST(Engine, ChangedCodeIsSeenAfterItsMemoryWasMappedAnew) {
  Machine machine;
  const Patchable p = patchable(machine);
  machine.run(p.kernel, {address_of(p.out)});
  uint8_t* const object = host_of(p.kernel);
  machine.memory().unmap(object);
  *p.literal = 0x33333333;
  machine.memory().map(object, 512);
  machine.run(p.kernel, {address_of(p.out)});
  EXPECT_EQ(*p.out, 0x33333333u);
}

TEST(Engine, AWaveSeesItsOwnPatchesAfterAnInstructionCacheInvalidate) {
  Machine machine;
  auto* out = machine.allocate<uint32_t>(2);
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_getpc_b64 s[10:11]

    s_mov_b32 s20, 0
    s_mov_b32 s12, 0x44444444
    s_waitcnt lgkmcnt(0)
  again:

    s_mov_b32 s13, 0x55555555
    s_cmp_eq_u32 s20, 1
    s_cbranch_scc1 done
    s_mov_b32 s14, s13
    s_store_dword s12, s[10:11], 0x14
    s_dcache_wb
    s_icache_inv
    s_mov_b32 s20, 1
    s_branch again
  done:
    s_store_dword s14, s[8:9], 0x0
    s_store_dword s13, s[8:9], 0x4)",
                    {address_of(out)});
  EXPECT_EQ(out[0], 0x55555555u);
  EXPECT_EQ(out[1], 0x44444444u);
}

TEST(Engine, CodeMayCrossPages) {
  Machine machine;
  std::string text = "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_mov_b32 s10, 0\n";
  // 8-byte instructions at an offset of 4: one straddles each page boundary.
  for (int n = 0; n < 3000; ++n) text += "s_add_u32 s10, s10, 0x10001\n";
  text += "s_waitcnt lgkmcnt(0)\ns_store_dword s10, s[8:9], 0x0";
  auto* out = machine.allocate<uint32_t>(1);
  machine.expect_ok(text, {address_of(out)});
  EXPECT_EQ(*out, 3000u * 0x10001);
}

TEST(Engine, LargePrivateSegments) {
  Machine machine;
  auto* out = machine.allocate<uint32_t>(64);
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 1 << 20;
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v3, 0xffffc
    scratch_store_dword v3, v0, off
    scratch_load_dword v4, v3, off
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v4, s[8:9])",
                    {address_of(out)}, dispatch);
  for (uint32_t l = 0; l < 64; ++l) ASSERT_EQ(out[l], l);
}

TEST(Engine, RefusesProcessorsThatItCannotExecute) {
  FakeMemory memory;
  EngineOptions options;
  options.processor = "gfx1100";
  std::string error;
  EXPECT_EQ(Engine::create(options, memory, error), nullptr);
  EXPECT_THAT(error, HasSubstr("(gfx1100)"));
  EXPECT_THAT(error, HasSubstr("gfx906"));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
