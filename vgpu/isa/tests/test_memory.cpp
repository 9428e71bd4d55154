// FLAT, GLOBAL, SCRATCH and MUBUF: widths, halves, atomics, address forms, ranges.

#include <gmock/gmock.h>

#include <cstring>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

constexpr uint32_t kMemoryLanes = 64;

// Registers v8..v15 of every lane, as the kernel left them.
struct Lanes {
  uint32_t v[8][kMemoryLanes];
};

class Memory : public ::testing::Test {
 protected:
  Machine machine;
  uint8_t* data = machine.allocate<uint8_t>(65536);

  template <class T>
  T at(size_t byte) const {
    T value;
    std::memcpy(&value, data + byte, sizeof value);
    return value;
  }
  template <class T>
  void put(size_t byte, T value) {
    std::memcpy(data + byte, &value, sizeof value);
  }

  // Runs `text` with s[4:5] = data, v0 = lane, v1 = lane * 4, v[2:3] = data + lane * 4,
  // s[12:15] = a raw buffer over `records` bytes of data, v8..v15 = 0xd0d0d0d0.
  Lanes run(const std::string& text, uint32_t private_size = 0, uint32_t records = 65536,
            uint32_t word1 = 0, uint32_t word3 = 0) {
    auto* out = machine.allocate<Lanes>(1);
    std::string prologue = R"(
      s_load_dwordx4 s[4:7], s[0:1], 0x0
      s_load_dwordx4 s[12:15], s[0:1], 0x10
      s_waitcnt lgkmcnt(0)
      v_lshlrev_b32 v1, 2, v0
      v_mov_b32 v3, s5
      v_add_co_u32 v2, vcc, s4, v1
      v_addc_co_u32 v3, vcc, 0, v3, vcc
      )";
    std::string epilogue = "\ns_mov_b64 exec, -1\nv_lshlrev_b32 v1, 2, v0\n";
    for (int r = 0; r < 8; ++r) {
      prologue += "v_mov_b32 v" + std::to_string(8 + r) + ", 0xd0d0d0d0\n";
      epilogue += "global_store_dword v1, v" + std::to_string(8 + r) +
                  ", s[6:7] offset:" + std::to_string(r * 256) + "\n";
    }
    Dispatch dispatch = Machine::grid(64, 64);
    dispatch.private_segment_size = private_size;
    dispatch.group_segment_size = 4096;
    const uint64_t base = address_of(data);
    machine.expect_ok(prologue + text + epilogue,
                      {base, address_of(out), base | static_cast<uint64_t>(word1) << 32,
                       records | static_cast<uint64_t>(word3) << 32},
                      dispatch, kernel_options());
    return *out;
  }
  virtual KernelOptions kernel_options() { return {}; }
};

TEST_F(Memory, LoadsWidenAndSignExtend) {
  for (uint32_t n = 0; n < 1024; ++n) data[n] = static_cast<uint8_t>(n * 7 + 0x80);
  for (const std::string prefix : {"flat_load_", "global_load_"}) {
    const std::string off = prefix[0] == 'g' ? ", v[2:3], off offset:" : ", v[2:3] offset:";
    const Lanes r =
        run(prefix + "ubyte v8" + off + "1\n" + prefix + "sbyte v9" + off + "1\n" + prefix +
            "ushort v10" + off + "2\n" + prefix + "sshort v11" + off + "2\n" + prefix +
            "dword v12" + off + "3\n" + prefix + "dwordx2 v[14:15]" + off + "4");
    for (uint32_t l = 0; l < kMemoryLanes; ++l) {
      ASSERT_EQ(r.v[0][l], at<uint8_t>(4 * l + 1));
      ASSERT_EQ(r.v[1][l], static_cast<uint32_t>(at<int8_t>(4 * l + 1)));
      ASSERT_EQ(r.v[2][l], at<uint16_t>(4 * l + 2));
      ASSERT_EQ(r.v[3][l], static_cast<uint32_t>(at<int16_t>(4 * l + 2)));
      ASSERT_EQ(r.v[4][l], at<uint32_t>(4 * l + 3)) << "unaligned";
      ASSERT_EQ(r.v[6][l], at<uint32_t>(4 * l + 4));
      ASSERT_EQ(r.v[7][l], at<uint32_t>(4 * l + 8));
    }
  }
}

TEST_F(Memory, HalfRegisterLoadsKeepTheOtherHalf) {
  for (uint32_t n = 0; n < 256; ++n) data[n] = static_cast<uint8_t>(n + 0x70);
  const Lanes r = run(R"(
      global_load_ubyte_d16 v8, v[2:3], off
      global_load_ubyte_d16_hi v9, v[2:3], off
      global_load_sbyte_d16 v10, v[2:3], off
      global_load_sbyte_d16_hi v11, v[2:3], off
      global_load_short_d16 v12, v[2:3], off
      global_load_short_d16_hi v13, v[2:3], off)");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    const uint32_t byte = at<uint8_t>(4 * l), half = at<uint16_t>(4 * l);
    const uint32_t sbyte = static_cast<uint16_t>(at<int8_t>(4 * l));
    ASSERT_EQ(r.v[0][l], 0xd0d00000 | byte);
    ASSERT_EQ(r.v[1][l], 0xd0d0 | byte << 16);
    ASSERT_EQ(r.v[2][l], 0xd0d00000 | sbyte);
    ASSERT_EQ(r.v[3][l], 0xd0d0 | sbyte << 16);
    ASSERT_EQ(r.v[4][l], 0xd0d00000 | half);
    ASSERT_EQ(r.v[5][l], 0xd0d0 | half << 16);
  }
}

TEST_F(Memory, ContiguousAndScatteredWideAccessesAgree) {
  for (uint32_t n = 0; n < 16384; ++n) put<uint32_t>(4 * n, n * 2654435761u);
  // v4: lane * 16, side by side; v5: (63 - lane) * 16, not.
  const Lanes a =
      run("v_lshlrev_b32 v4, 4, v0\nglobal_load_dwordx4 v[8:11], v4, s[4:5]\n"
          "v_sub_u32 v5, 63, v0\nv_lshlrev_b32 v5, 4, v5\n"
          "global_load_dwordx4 v[12:15], v5, s[4:5]");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    for (uint32_t k = 0; k < 4; ++k) {
      ASSERT_EQ(a.v[k][l], (4 * l + k) * 2654435761u);
      ASSERT_EQ(a.v[4 + k][l], (4 * (63 - l) + k) * 2654435761u);
    }
  }
  run("v_lshlrev_b32 v4, 4, v0\nglobal_load_dwordx3 v[8:10], v4, s[4:5]\n"
      "v_mul_u32_u24 v5, 12, v0\ns_movk_i32 s16, 0x4000\nv_add_u32 v5, s16, v5\n"
      "global_store_dwordx3 v5, v[8:10], s[4:5]");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    for (uint32_t k = 0; k < 3; ++k)
      ASSERT_EQ(at<uint32_t>(0x4000 + 12 * l + 4 * k), (4 * l + k) * 2654435761u);
  }
}

TEST_F(Memory, AllLanesMayReadOneAddress) {
  put<uint64_t>(16, 0x1122334455667788);
  const Lanes r =
      run("v_mov_b32 v4, 16\nglobal_load_dwordx2 v[8:9], v4, s[4:5]\n"
          "global_load_ushort v10, v4, s[4:5]");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 0x55667788u);
    ASSERT_EQ(r.v[1][l], 0x11223344u);
    ASSERT_EQ(r.v[2][l], 0x7788u);
  }
}

TEST_F(Memory, StoresOfEveryWidth) {
  run(R"(
      v_or_b32 v4, 0xa1b2c300, v0
      global_store_byte v[2:3], v4, off
      global_store_byte_d16_hi v[2:3], v4, off offset:1
      global_store_short v[2:3], v4, off offset:1024
      global_store_short_d16_hi v[2:3], v4, off offset:1026
      flat_store_dword v[2:3], v4 offset:2048)");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(data[4 * l], l);
    ASSERT_EQ(data[4 * l + 1], 0xb2);
    ASSERT_EQ(at<uint16_t>(1024 + 4 * l), 0xc300 | l);
    ASSERT_EQ(at<uint16_t>(1026 + 4 * l), 0xa1b2);
    ASSERT_EQ(at<uint32_t>(2048 + 4 * l), 0xa1b2c300 | l);
  }
}

TEST_F(Memory, InactiveLanesTouchNothing) {
  const Lanes r = run(R"(
      s_mov_b64 exec, 0x5
      v_mov_b32 v4, 7
      global_store_dword v1, v4, s[4:5]
      global_load_dword v8, v1, s[4:5])");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    const bool active = l == 0 || l == 2;
    ASSERT_EQ(at<uint32_t>(4 * l), active ? 7u : 0u);
    ASSERT_EQ(r.v[0][l], active ? 7u : 0xd0d0d0d0u);
  }
}

TEST_F(Memory, AddressesMayBeOverwrittenByTheirOwnLoad) {
  for (uint32_t l = 0; l < kMemoryLanes; ++l) put<uint64_t>(4 * l, 0x100000000ull * l + 5 * l);
  const Lanes r =
      run("v_sub_u32 v4, 63, v0\nv_lshlrev_b32 v4, 3, v4\n"
          "v_add_co_u32 v8, vcc, s4, v4\nv_mov_b32 v9, s5\n"
          "v_addc_co_u32 v9, vcc, 0, v9, vcc\nglobal_load_dwordx2 v[8:9], v[8:9], off");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], at<uint32_t>(8 * (63 - l)));
    ASSERT_EQ(r.v[1][l], at<uint32_t>(8 * (63 - l) + 4));
  }
}

struct AtomicCase {
  const char* name;
  uint64_t before, operand, after;
};

TEST_F(Memory, AtomicsReturnTheOldValueAndStoreTheNew) {
  const AtomicCase cases[] = {
      {"swap", 5, 9, 9},
      {"add", 0xffffffff, 2, 1},
      {"sub", 1, 2, 0xffffffff},
      {"smin", 0xfffffffe, 1, 0xfffffffe},
      {"umin", 0xfffffffe, 1, 1},
      {"smax", 0xfffffffe, 1, 1},
      {"umax", 0xfffffffe, 1, 0xfffffffe},
      {"and", 0xff, 0xf0f, 0x0f},
      {"or", 0xff, 0xf00, 0xfff},
      {"xor", 0xff, 0xf0f, 0xff0},
      {"inc", 4, 5, 5},
      {"inc", 5, 5, 0},
      {"dec", 0, 5, 5},
      {"dec", 6, 5, 5},
      {"dec", 3, 5, 2},
  };
  for (const AtomicCase& c : cases) {
    for (const std::string prefix : {"flat_atomic_", "global_atomic_", "buffer_atomic_"}) {
      for (uint32_t l = 0; l < kMemoryLanes; ++l)
        put<uint32_t>(4 * l, static_cast<uint32_t>(c.before));
      const std::string move = "v_mov_b32 v8, " + std::to_string(c.operand) + "\n";
      std::string text = prefix + c.name + " v9, v[2:3], v8";
      if (prefix[0] == 'g') text += ", off";
      if (prefix[0] == 'b')
        text = "v_mov_b32 v9, v8\n" + prefix + c.name + " v9, v1, s[12:15], 0 offen";
      const Lanes r = run(move + text + " glc");
      for (uint32_t l = 0; l < kMemoryLanes; ++l) {
        ASSERT_EQ(at<uint32_t>(4 * l), static_cast<uint32_t>(c.after)) << text;
        ASSERT_EQ(r.v[1][l], static_cast<uint32_t>(c.before)) << text;
      }
    }
  }
}

TEST_F(Memory, SixtyFourBitAtomicsAndCompareSwaps) {
  for (uint32_t l = 0; l < kMemoryLanes; ++l) put<uint64_t>(8 * l, 0xffffffff + uint64_t{l % 2});
  const Lanes r = run(R"(
      v_lshlrev_b32 v1, 3, v0
      v_mov_b32 v8, 1
      v_mov_b32 v9, 0
      global_atomic_add_x2 v[10:11], v1, v[8:9], s[4:5] glc
      v_mov_b32 v4, 7
      v_mov_b32 v5, 8
      v_mov_b32 v6, 1
      v_mov_b32 v7, 1
      global_atomic_cmpswap_x2 v[12:13], v1, v[4:7], s[4:5] glc
      s_movk_i32 s16, 0x1000
      v_add_u32 v1, s16, v1
      v_mov_b32 v4, 3
      v_mov_b32 v5, 0
      global_atomic_cmpswap v14, v1, v[4:5], s[4:5] glc)");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    const uint64_t before = 0xffffffff + uint64_t{l % 2};
    ASSERT_EQ(r.v[2][l], static_cast<uint32_t>(before));
    ASSERT_EQ(r.v[3][l], before >> 32);
    // before + 1 is 0x100000000 or 0x100000001: only the latter matches.
    ASSERT_EQ(r.v[4][l], static_cast<uint32_t>(before + 1));
    ASSERT_EQ(at<uint64_t>(8 * l), l % 2 ? 0x800000007u : 0x100000000u);
    ASSERT_EQ(r.v[6][l], 0u);
    ASSERT_EQ(at<uint32_t>(0x1000 + 8 * l), 3u);
  }
}

TEST_F(Memory, AtomicsOnOneAddressRunInLaneOrder) {
  const Lanes r =
      run("v_mov_b32 v4, 0\nv_mov_b32 v5, 1\n"
          "global_atomic_add v8, v4, v5, s[4:5] glc");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) ASSERT_EQ(r.v[0][l], l);
  EXPECT_EQ(at<uint32_t>(0), 64u);
}

TEST_F(Memory, FlatReachesLdsThroughItsAperture) {
  const Lanes r = run(R"(
      s_mov_b64 s[16:17], src_shared_base
      v_mov_b32 v4, v1
      v_mov_b32 v5, s17
      v_add_u32 v6, 100, v0
      flat_store_dword v[4:5], v6
      ds_read_b32 v8, v1
      v_mov_b32 v7, 1
      flat_atomic_add v9, v[4:5], v7 glc
      flat_load_dword v10, v[4:5]
      s_mov_b64 exec, 0xffffffff
      v_mov_b32 v4, v2
      v_mov_b32 v5, v3
      s_mov_b64 exec, -1
      flat_load_dword v11, v[4:5])");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 100 + l);
    ASSERT_EQ(r.v[1][l], 100 + l);
    ASSERT_EQ(r.v[2][l], 101 + l);
    ASSERT_EQ(r.v[3][l], l < 32 ? 0 : 101 + l) << "global and LDS in one instruction";
  }
}

class Scratch : public Memory {
 protected:
  // s[0:3]: the private segment buffer would take the kernarg's place, so the kernel gets it
  // behind.
  KernelOptions kernel_options() override {
    KernelOptions options;
    options.rsrc2 |= 1;  // scratch wave offset, behind the work-group ids
    return options;
  }
};

TEST_F(Scratch, ScratchAndFlatReachTheSameByte) {
  const Lanes r = run(R"(
      v_mov_b32 v4, 20
      v_add_u32 v6, 1000, v0
      v_add_u32 v7, 2000, v0
      scratch_store_dwordx2 v4, v[6:7], off offset:4
      s_mov_b64 s[16:17], src_private_base
      v_mov_b32 v4, 24
      v_mov_b32 v5, s17
      flat_load_dwordx2 v[8:9], v[4:5]
      flat_load_ushort v10, v[4:5] offset:2
      s_movk_i32 s18, 26
      scratch_load_dword v11, off, s18
      flat_load_dwordx2 v[12:13], v[4:5] offset:3
      v_mov_b32 v5, 0
      v_lshlrev_b32 v5, 3, v0
      v_add_u32 v5, 64, v5
      scratch_store_dword v5, v6, off
      scratch_load_dword v14, v5, off)",
                      1024);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    const uint64_t value = (2000ull + l) << 32 | (1000 + l);
    ASSERT_EQ(r.v[0][l], 1000 + l);
    ASSERT_EQ(r.v[1][l], 2000 + l);
    ASSERT_EQ(r.v[2][l], 0u);
    ASSERT_EQ(r.v[3][l], static_cast<uint32_t>(value >> 16)) << "straddles two dwords";
    ASSERT_EQ(r.v[4][l], static_cast<uint32_t>(value >> 24)) << "unaligned two dwords";
    ASSERT_EQ(r.v[6][l], 1000 + l) << "an address for each lane";
  }
}

TEST_F(Memory, BufferAndFlatReachTheSamePrivateByte) {
  // s[0:3]: private segment buffer, s[4:5]: kernarg, s[6:7]: flat scratch, s8: scratch wave offset.
  KernelOptions options;
  options.properties = 1 | 8 | 32;
  options.user_sgprs = 8;
  options.rsrc2 = 1;
  auto* out = machine.allocate<Lanes>(1);
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 256;
  machine.expect_ok(R"(
      s_add_u32 flat_scratch_lo, s6, s8
      s_addc_u32 flat_scratch_hi, s7, 0
      s_add_u32 s0, s0, s8
      s_addc_u32 s1, s1, 0
      s_load_dwordx2 s[12:13], s[4:5], 0x0
      v_lshlrev_b32 v1, 2, v0
      v_add_u32 v2, 500, v0
      buffer_store_dword v2, off, s[0:3], 0 offset:12
      v_mov_b32 v3, 40
      v_add_u32 v2, 1, v2
      buffer_store_byte v2, v3, s[0:3], 0 offen offset:1
      s_mov_b64 s[16:17], src_private_base
      v_mov_b32 v4, 12
      v_mov_b32 v5, s17
      flat_load_dword v8, v[4:5]
      v_mov_b32 v4, 41
      flat_load_ubyte v9, v[4:5]
      v_mov_b32 v4, 12
      scratch_load_dword v10, v4, off
      buffer_load_dword v11, v4, s[0:3], 0 offen
      s_movk_i32 s9, 0x300
      buffer_load_dword v12, off, s[0:3], s9
      s_waitcnt vmcnt(0) lgkmcnt(0)
      global_store_dword v1, v8, s[12:13]
      global_store_dword v1, v9, s[12:13] offset:256
      global_store_dword v1, v10, s[12:13] offset:512
      global_store_dword v1, v11, s[12:13] offset:768
      global_store_dword v1, v12, s[12:13] offset:1024)",
                    {address_of(out)}, dispatch, options);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(out->v[0][l], 500 + l);
    ASSERT_EQ(out->v[1][l], (501 + l) & 0xff);
    ASSERT_EQ(out->v[2][l], 500 + l);
    ASSERT_EQ(out->v[3][l], 500 + l);
    ASSERT_EQ(out->v[4][l], 500 + l) << "SOFFSET counts bytes of all lanes: 12 * 64";
  }
}

// An array of 24 dwords for each lane, of which every lane writes others, through each of the three
// ways to scratch, and reads them back all.
TEST_F(Memory, PrivateArraysMayBeIndexedByLane) {
  KernelOptions options;
  options.properties = 1 | 8 | 32;
  options.user_sgprs = 8;
  options.rsrc2 = 1;
  auto* out = machine.allocate<uint32_t>(24 * kMemoryLanes);
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 256;
  std::string text = R"(
      s_add_u32 flat_scratch_lo, s6, s8
      s_addc_u32 flat_scratch_hi, s7, 0
      s_load_dwordx2 s[12:13], s[4:5], 0x0
      s_mov_b64 s[16:17], src_private_base
      s_movk_i32 s18, 0x1000
      v_mov_b32 v20, 0
      v_lshlrev_b32 v1, 2, v0)";
  // The array begins at 64, as s18 (64 bytes of 64 lanes) and the flat offsets say.
  for (int dword = 0; dword < 24; ++dword)
    text += "\nbuffer_store_dword v20, off, s[0:3], s18 offset:" + std::to_string(4 * dword);
  text += R"(
      v_add_u32 v6, 1000, v0
      v_add_u32 v7, 2000, v0
      v_mul_u32_u24 v2, 5, v0
      v_and_b32 v2, 15, v2
      v_lshlrev_b32 v2, 2, v2
      buffer_store_dword v6, v2, s[0:3], s18 offen
      s_mov_b32 exec_lo, 0x0ff0f0f0
      s_mov_b32 exec_hi, 0x12345678
      buffer_store_dwordx2 v[6:7], v2, s[0:3], s18 offen offset:4
      v_add_u32 v3, 64, v2
      v_add_u32 v6, 1000, v6
      scratch_store_dword v3, v6, off offset:12
      v_mov_b32 v4, v3
      v_mov_b32 v5, s17
      v_add_u32 v7, 1000, v7
      flat_store_dwordx2 v[4:5], v[6:7] offset:16
      flat_store_byte v[4:5], v0 offset:30
      buffer_load_dword v8, v2, s[0:3], s18 offen
      buffer_load_dwordx2 v[10:11], v2, s[0:3], s18 offen offset:16
      buffer_load_ushort v9, v2, s[0:3], s18 offen offset:30
      s_waitcnt vmcnt(0)
      v_add_u32 v8, v8, v10
      v_add_u32 v8, v8, v11
      v_add_u32 v8, v8, v9
      scratch_store_dword v3, v8, off offset:24
      s_mov_b64 exec, -1)";
  for (int dword = 0; dword < 24; ++dword) {
    text += "\nbuffer_load_dword v9, off, s[0:3], s18 offset:" + std::to_string(4 * dword) +
            "\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v9, s[12:13]" +
            "\ns_add_u32 s12, s12, 256\ns_addc_u32 s13, s13, 0";
  }
  machine.expect_ok(text, {address_of(out)}, dispatch, options);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    uint32_t expected[24] = {};
    const uint32_t first = l * 5 & 15;
    expected[first] = 1000 + l;
    if ((0x123456780ff0f0f0 >> l & 1) != 0) {
      expected[first + 1] = 1000 + l;
      expected[first + 2] = 2000 + l;
      expected[first + 3] = 2000 + l;
      expected[first + 4] = 2000 + l;
      expected[first + 5] = 3000 + l;
      expected[first + 7] = l << 16;
      expected[first + 6] = (1000 + l) + (2000 + l) + (3000 + l) + l;
    }
    for (uint32_t dword = 0; dword < 24; ++dword)
      ASSERT_EQ(out[dword * kMemoryLanes + l], expected[dword])
          << "lane " << l << " dword " << dword;
  }
}

// Of a private array too, the first lane that leaves its segment is a fault.
TEST_F(Memory, APrivateArrayEndsWithTheSegment) {
  KernelOptions options;
  options.properties = 1 | 8;
  options.user_sgprs = 6;
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 128;
  const uint64_t kernel = machine.kernel(
      "v_lshlrev_b32 v1, 1, v0\nv_and_b32 v1, 0x7c, v1\n"
      "buffer_store_dword v0, v1, s[0:3], 0 offen\nbuffer_store_dword v0, v1, s[0:3], 0 offen "
      "offset:8",
      options);
  const DispatchResult result = machine.run(kernel, {0}, dispatch);
  EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory);
  EXPECT_EQ(result.fault.lane, 60);
  EXPECT_EQ(result.fault.address & 0xffffffff, 128u);
}

TEST_F(Memory, RawBuffersEndWhereTheirRecordsDo) {
  for (uint32_t n = 0; n < 256; ++n) put<uint32_t>(4 * n, 100 + n);
  // 130 bytes: lanes 0 to 31 are inside, lane 32 partly.
  const Lanes r = run(R"(
      buffer_load_dword v8, v1, s[12:15], 0 offen
      buffer_load_dwordx2 v[10:11], v1, s[12:15], 0 offen
      s_movk_i32 s16, 64
      buffer_load_dword v9, v1, s[12:15], s16 offen
      buffer_load_ubyte v12, v1, s[12:15], 0 offen offset:1
      v_mov_b32 v4, 1
      buffer_store_dword v4, v1, s[12:15], 0 offen
      v_mov_b32 v13, 5
      buffer_atomic_add v13, v1, s[12:15], 0 offen glc)",
                      0, 130);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], l < 32 ? 100 + l : 0u) << l;
    ASSERT_EQ(r.v[2][l], l < 32 ? 100 + l : 0u) << l;
    ASSERT_EQ(r.v[3][l], l < 31 ? 101 + l : 0u) << l;
    ASSERT_EQ(r.v[1][l], l < 16 ? 116 + l : 0u) << "SOFFSET shortens the buffer " << l;
    ASSERT_EQ(r.v[4][l], 0u);
    ASSERT_EQ(at<uint32_t>(4 * l), l < 32 ? 6u : 100 + l) << l;
    ASSERT_EQ(r.v[5][l], l < 32 ? 1u : 0u) << l;
  }
}

TEST_F(Memory, StructuredBuffersCountRecords) {
  for (uint32_t n = 0; n < 1024; ++n) put<uint32_t>(4 * n, n);
  const Lanes r = run(R"(
      buffer_load_dword v8, v0, s[12:15], 0 idxen offset:8
      v_mov_b32 v4, v0
      v_mov_b32 v5, 4
      buffer_load_dword v9, v[4:5], s[12:15], 0 idxen offen
      buffer_load_dword v10, v0, s[12:15], 0 idxen offset:16)",
                      0, 40, 16u << 16);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], l < 40 ? 4 * l + 2 : 0u) << l;
    ASSERT_EQ(r.v[1][l], l < 40 ? 4 * l + 1 : 0u) << l;
    ASSERT_EQ(r.v[2][l], 0u) << "beyond the stride";
  }
}

TEST_F(Memory, SwizzledBuffersInterleaveRecords) {
  for (uint32_t n = 0; n < 4096; ++n) put<uint32_t>(4 * n, n);
  // Stride 8, index stride 16: records i of a block of 16 have element e at e * 16 + i.
  const Lanes r =
      run("buffer_load_dword v8, v0, s[12:15], 0 idxen offset:4\n"
          "buffer_load_dwordx2 v[10:11], v0, s[12:15], 0 idxen",
          0, 64, 1u << 31 | 8u << 16, 1u << 21);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], l / 16 * 32 + 16 + l % 16) << l;
    ASSERT_EQ(r.v[2][l], l / 16 * 32 + l % 16) << l;
    ASSERT_EQ(r.v[3][l], l / 16 * 32 + 16 + l % 16) << l;
  }
}

TEST_F(Memory, BufferLoadsMayGoToLds) {
  for (uint32_t n = 0; n < 64; ++n) put<uint32_t>(4 * n, 900 + n);
  const Lanes r =
      run("s_movk_i32 m0, 0x40\nbuffer_load_dword v1, s[12:15], 0 offen lds\n"
          "ds_read_b32 v8, v1 offset:64");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) ASSERT_EQ(r.v[0][l], 900 + l);
}

// What clang makes of __builtin_amdgcn_global_load_lds: the offset counts at both ends.
TEST_F(Memory, GlobalLoadsMayGoToLds) {
  for (uint32_t n = 0; n < 80; ++n) put<uint32_t>(4 * n, 900 + n);
  const Lanes r = run(R"(
      s_movk_i32 m0, 0x100
      global_load_dword v[2:3], off lds
      ds_read_b32 v8, v1 offset:0x100
      global_load_dword v1, s[4:5] offset:32 lds
      ds_read_b32 v9, v1 offset:0x120
      s_movk_i32 m0, 0x400
      s_mov_b64 exec, 2
      global_load_ubyte v[2:3], off lds
      global_load_sshort v1, s[4:5] offset:256 lds
      ds_read_b32 v10, v1 offset:0x400
      ds_read_b32 v11, v1 offset:0x500)");
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 900 + l);
    ASSERT_EQ(r.v[1][l], 908 + l);
    ASSERT_EQ(r.v[2][l], l == 1 ? (901 & 0xff) : 0xd0d0d0d0) << l;
    ASSERT_EQ(r.v[3][l], l == 1 ? 900u + 65 : 0xd0d0d0d0) << l;
  }
}

// Lane l's private dword at 16 is 700 + l. The spill is one of all lanes at one offset.
TEST_F(Memory, ScratchLoadsMayGoToLds) {
  const Lanes r = run(R"(
      v_add_u32 v4, 700, v0
      s_movk_i32 s8, 16
      scratch_store_dword off, v4, s8
      s_movk_i32 m0, 0x100
      scratch_load_dword off, s8 lds
      ds_read_b32 v8, v1 offset:0x100
      v_mov_b32 v5, 8
      scratch_load_ubyte v5, off offset:8 lds
      ds_read_b32 v9, v1 offset:0x108
      s_mov_b64 exec, 2
      s_movk_i32 m0, 0x400
      scratch_load_sshort off, s8 lds
      ds_read_b32 v10, v1 offset:0x400)",
                      64);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) {
    ASSERT_EQ(r.v[0][l], 700 + l);
    ASSERT_EQ(r.v[1][l], (700 + l) & 0xff) << l;
    ASSERT_EQ(r.v[2][l], l == 1 ? 701u : 0xd0d0d0d0) << l;
  }
}

TEST_F(Memory, FormattedLoadsOfOneComponentMayGoToLds) {
  for (uint32_t n = 0; n < 64; ++n) put<uint32_t>(4 * n, 0x01010100 + n);
  // Format 8_8_8_8, uint.
  const Lanes r =
      run("s_movk_i32 m0, 0x40\nbuffer_load_format_x v1, s[12:15], 0 offen lds\n"
          "ds_read_b32 v8, v1 offset:64",
          0, 65536, 0, 4 | 4u << 12 | 10u << 15);
  for (uint32_t l = 0; l < kMemoryLanes; ++l) ASSERT_EQ(r.v[0][l], l);
}

TEST_F(Memory, OnlyGlobalAndScratchLoadsOfADwordMayGoToLds) {
  // With the LDS bit (13): flat_load_dword, global_load_dwordx2, global_load_short_d16,
  // scratch_store_dword and global_store_dword.
  for (const char* words :
       {"0xdc502000, 0x08000002", "0xdc54a000, 0x087f0002", "0xdc80a000, 0x007f0002",
        "0xdc706000, 0x007f0802", "0xdc70a000, 0x007f0802"}) {
    const uint64_t kernel = machine.kernel(std::string(".long ") + words);
    const DispatchResult result = machine.run(kernel, {}, Machine::grid(64, 64));
    EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction) << words;
  }
}

TEST_F(Memory, TypedLoadsConvert) {
  // dfmt 10 (8_8_8_8), nfmt 0 (unorm) and 4 (uint); dfmt 2 (16), nfmt 7 (float).
  put<uint32_t>(0, 0xff008040);
  put<uint16_t>(4, 0xc400);  // -4
  const Lanes r = run(R"(
      v_mov_b32 v4, 0
      tbuffer_load_format_xyzw v[8:11], v4, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offen
      tbuffer_load_format_xy v[12:13], v4, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UINT] offen
      tbuffer_load_format_x v14, v4, s[12:15], 0 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT] offen offset:4)",
                      0, 65536, 0, 4 | 5 << 3 | 6 << 6 | 7 << 9);
  const auto f = [&](int v) { return std::bit_cast<float>(r.v[v][5]); };
  EXPECT_FLOAT_EQ(f(0), 64.0f / 255);
  EXPECT_FLOAT_EQ(f(1), 128.0f / 255);
  EXPECT_FLOAT_EQ(f(2), 0);
  EXPECT_FLOAT_EQ(f(3), 1);
  EXPECT_EQ(r.v[4][5], 0x40u);
  EXPECT_EQ(r.v[5][5], 0x80u);
  EXPECT_FLOAT_EQ(f(6), -4);
}

TEST_F(Memory, TypedStoresConvert) {
  run(R"(
      v_mov_b32 v4, 0
      v_mov_b32 v8, 1.0
      v_mov_b32 v9, 0.5
      v_mov_b32 v10, -1.0
      v_mov_b32 v11, 0x7fc00000
      tbuffer_store_format_xyzw v[8:11], v4, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offen
      tbuffer_store_format_xy v[9:10], v4, s[12:15], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] offen offset:4)");
  EXPECT_EQ(at<uint32_t>(0), 0x000080ffu);
  EXPECT_EQ(at<uint32_t>(4), 0xbc003800u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
