// Every float atomic against a scalar model, lane by lane, on random and edge-case operands and in
// every denormal mode.

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/isa/float_atomics.h"
#include "vgpu/isa/tests/machine.h"
#include "vgpu/isa/valu/tests/half_oracle.h"

namespace halyard::vgpu::isa::testing {
namespace {

constexpr unsigned kLaneCount = 64;

enum class Space { kGlobal, kFlat, kBuffer, kLds };

// old, data → new. `denormals` is MODE's field: bit 0 keeps those that come in, bit 1 those that go
// out.
using Model = std::function<uint64_t(uint64_t old, uint64_t data, unsigned denormals)>;

template <class T>
T flushed(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T{0}, x) : x;
}
template <class T, class Bits>
Bits add(Bits old, Bits data, unsigned denormals) {
  T a = std::bit_cast<T>(old), b = std::bit_cast<T>(data);
  if (!(denormals & 1)) {
    a = flushed(a);
    b = flushed(b);
  }
  T sum = a + b;
  if (!(denormals & 2)) sum = flushed(sum);
  return std::bit_cast<Bits>(sum);
}
uint64_t add_f32(uint64_t old, uint64_t data, unsigned denormals) {
  return add<float>(static_cast<uint32_t>(old), static_cast<uint32_t>(data), denormals);
}
uint64_t add_f64(uint64_t old, uint64_t data, unsigned denormals) {
  return add<double>(old, data, denormals);
}
// "tmp = MEM[addr]; src = DATA; MEM[addr] = (src < tmp) ? src : tmp"
template <class T, class Bits, bool kMin>
uint64_t select(uint64_t old, uint64_t data, unsigned) {
  const T tmp = std::bit_cast<T>(static_cast<Bits>(old));
  const T src = std::bit_cast<T>(static_cast<Bits>(data));
  return (kMin ? src < tmp : src > tmp) ? static_cast<Bits>(data) : static_cast<Bits>(old);
}
uint64_t pk_add_f16(uint64_t old, uint64_t data, unsigned) {
  uint64_t result = 0;
  for (const unsigned shift : {0u, 16u}) {
    const auto a = static_cast<uint16_t>(old >> shift), b = static_cast<uint16_t>(data >> shift);
    const bool both_negative = a >> 15 && b >> 15;
    const test::Exact sum = test::Exact{test::half_value(a)} + test::Exact{test::half_value(b)};
    result |= uint64_t{test::round_half(sum, 0, both_negative)} << shift;
  }
  return result;
}

struct Case {
  const char* name;  // without the space's prefix
  Space space;
  unsigned dwords;
  Model model;
  bool finite = false;       // keep infinities and NaNs out of f16
  int fixed_denormals = -1;  // whatever MODE says
  bool gfx90a_only = false;
  // The form that returns the old value: "glc", "_rtn_", or none.
  bool returns = true;
};

std::vector<Case> cases() {
  const auto min64 = select<double, uint64_t, true>, max64 = select<double, uint64_t, false>;
  const auto min32 = select<float, uint32_t, true>, max32 = select<float, uint32_t, false>;
  std::vector<Case> all = {
      {"add_f32", Space::kGlobal, 1, add_f32, false, 0, false, false},
      {"add_f32", Space::kBuffer, 1, add_f32, false, 0, false, false},
      {"pk_add_f16", Space::kGlobal, 1, pk_add_f16, true, 3, false, false},
      {"pk_add_f16", Space::kBuffer, 1, pk_add_f16, true, 3, false, false},
      {"add_f32", Space::kGlobal, 1, add_f32, false, 0, true},
      {"add_f32", Space::kBuffer, 1, add_f32, false, 0, true},
      {"pk_add_f16", Space::kGlobal, 1, pk_add_f16, true, 3, true},
      {"pk_add_f16", Space::kBuffer, 1, pk_add_f16, true, 3, true},
  };
  for (const Space space : {Space::kGlobal, Space::kFlat, Space::kBuffer}) {
    all.push_back({"add_f64", space, 2, add_f64, false, 3, true});
    all.push_back({"min_f64", space, 2, min64, false, 3, true});
    all.push_back({"max_f64", space, 2, max64, false, 3, true});
  }
  for (const bool returns : {false, true}) {
    all.push_back({"add_f32", Space::kLds, 1, add_f32, false, -1, false, returns});
    all.push_back({"min_f32", Space::kLds, 1, min32, false, 3, false, returns});
    all.push_back({"max_f32", Space::kLds, 1, max32, false, 3, false, returns});
    all.push_back({"min_f64", Space::kLds, 2, min64, false, 3, false, returns});
    all.push_back({"max_f64", Space::kLds, 2, max64, false, 3, false, returns});
    all.push_back({"add_f64", Space::kLds, 2, add_f64, false, -1, true, returns});
  }
  return all;
}

// One lane's slot is 8 bytes. v2 is the slot's offset, v[4:5] its address, v[6:7] the data, v[8:9]
// takes the old value, s[12:15] is a buffer over the memory.
std::string text(const Case& c) {
  const std::string data = c.dwords == 2 ? "v[6:7]" : "v6", old = c.dwords == 2 ? "v[8:9]" : "v8";
  const std::string name = c.name;
  std::string t = R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    s_load_dwordx2 s[16:17], s[0:1], 0x10
    v_and_b32 v0, 0x3ff, v0
    v_lshlrev_b32 v2, 3, v0
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s12, s8
    s_and_b32 s13, s9, 0xffff
    s_movk_i32 s14, 512
    s_mov_b32 s15, 0
    v_mov_b32 v4, s8
    v_mov_b32 v5, s9
    v_add_co_u32 v4, vcc, v4, v2
    v_addc_co_u32 v5, vcc, 0, v5, vcc
    global_load_dwordx2 v[6:7], v2, s[10:11]
    global_load_dwordx2 v[10:11], v2, s[8:9]
    v_mov_b32 v8, 0
    v_mov_b32 v9, 0
    s_waitcnt vmcnt(0)
  )";
  const std::string glc = c.returns ? " glc\n" : "\n", result = c.returns ? old + ", " : "";
  switch (c.space) {
    case Space::kGlobal:
      t += "global_atomic_" + name + " " + result + "v2, " + data + ", s[8:9]" + glc;
      break;
    case Space::kFlat:
      t += "flat_atomic_" + name + " " + result + "v[4:5], " + data + glc;
      break;
    case Space::kBuffer:
      // VDATA takes the old value.
      t += "v_mov_b32 v8, v6\nv_mov_b32 v9, v7\n";
      t += "buffer_atomic_" + name + " " + old + ", v2, s[12:15], 0 offen" + glc;
      break;
    case Space::kLds: {
      const size_t type = name.rfind('_');
      t += "ds_write_b64 v2, v[10:11]\n";
      t += "ds_" + (c.returns ? name.substr(0, type) + "_rtn" + name.substr(type) : name) + " " +
           result + "v2, " + data + "\n";
      t += "ds_read_b64 v[10:11], v2\ns_waitcnt lgkmcnt(0)\n";
      t += "global_store_dwordx2 v2, v[10:11], s[8:9]\n";
      break;
    }
  }
  return t + "s_waitcnt vmcnt(0)\nglobal_store_dwordx2 v2, v[8:9], s[16:17]";
}

class FloatAtomics : public ::testing::TestWithParam<const char*> {
 protected:
  std::mt19937_64 random{77};

  uint64_t operand(const Case& c) {
    static constexpr double kEdges[] = {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 65504.0, 1e30};
    const auto pick = random() % 8;
    uint64_t bits = random();
    if (c.finite) {  // two finite f16
      for (const unsigned shift : {0u, 16u}) {
        if ((bits >> shift & 0x7c00) == 0x7c00) bits ^= uint64_t{0x4000} << shift;
        if (pick == 0) bits &= ~(uint64_t{0x7c00} << shift);  // denormals
      }
      return bits & 0xffffffff;
    }
    const double edge = kEdges[random() % std::size(kEdges)];
    if (c.dwords == 2) {
      if (pick == 0) return bits & 0x800fffffffffffff;
      if (pick == 1) return std::bit_cast<uint64_t>(edge);
      if (pick == 2) return bits & 1 ? 0x7ff0000000000000 : 0xfff0000000000000;
      if (pick < 6) return (bits & 0x800fffffffffffff) | uint64_t{1020 + random() % 7} << 52;
      return (bits >> 52 & 0x7ff) == 0x7ff ? bits & 0xbfffffffffffffff : bits;
    }
    bits &= 0xffffffff;
    if (pick == 0) return bits & 0x807fffff;
    if (pick == 1) return std::bit_cast<uint32_t>(static_cast<float>(edge));
    if (pick == 2) return bits & 1 ? 0x7f800000 : 0xff800000;
    if (pick == 3) return (bits & 0x80ffffff) | uint64_t{1} << 23;  // sums that get denormal
    if (pick < 6) return (bits & 0x807fffff) | uint64_t{124 + random() % 7} << 23;
    return (bits >> 23 & 0xff) == 0xff ? bits & 0xbfffffff : bits;
  }

  static bool is_nan(const Case& c, uint64_t bits) {
    if (c.finite) return false;
    return c.dwords == 2 ? std::isnan(std::bit_cast<double>(bits))
                         : std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }

  void check(Machine& m, const Case& c, unsigned mode) {
    auto* const memory = m.allocate<uint64_t>(kLaneCount);
    auto* const data = m.allocate<uint64_t>(kLaneCount);
    auto* const old = m.allocate<uint64_t>(kLaneCount);
    uint64_t before[kLaneCount];
    for (unsigned l = 0; l < kLaneCount; ++l) {
      before[l] = memory[l] = operand(c);
      data[l] = operand(c);
    }
    KernelOptions options;
    options.float_mode = mode << 4 | mode << 6 | 0x5;  // rounds up: which must not matter
    options.rsrc3 = 15;
    Dispatch dispatch;
    dispatch.group_segment_size = 512;
    m.expect_ok(text(c), {address_of(memory), address_of(data), address_of(old)}, dispatch,
                options);
    const unsigned denormals =
        c.fixed_denormals < 0 ? mode : static_cast<unsigned>(c.fixed_denormals);
    for (unsigned l = 0; l < kLaneCount; ++l) {
      const uint64_t expected = c.model(before[l], data[l], denormals);
      if (is_nan(c, expected)) {
        EXPECT_TRUE(is_nan(c, memory[l])) << c.name;
      } else {
        EXPECT_EQ(memory[l], expected) << std::hex << text(c) << "\nold " << before[l] << " data "
                                       << data[l] << " denormals " << denormals;
      }
      if (c.returns) {
        EXPECT_EQ(old[l], before[l]) << text(c);
      }
      if (HasFailure()) return;
    }
  }
};

TEST_P(FloatAtomics, AgreeWithTheModel) {
  EngineOptions options;
  options.processor = GetParam();
  Machine m(options);
  for (const Case& c : cases()) {
    if (c.gfx90a_only && options.processor != "gfx90a") continue;
    for (unsigned mode = 0; mode < 4; ++mode) {
      for (int round = 0; round < 4; ++round) check(m, c, mode);
      if (HasFailure()) return;
    }
  }
}

// The even lanes' memory carries float atomics out, that of the others does not.
class DroppedFloatAtomics : public ::testing::Test {
 protected:
  DroppedFloatAtomics() {
    EngineOptions options;
    options.processor = "gfx90a";
    options.float_atomics = &coarse_;
    options.dropped_atomic = [this](const DroppedAtomic& atomic) {
      dropped_.emplace_back(atomic.lane, atomic.address);
    };
    machine_ = std::make_unique<Machine>(options);
    memory_ = machine_->allocate<uint64_t>(kLaneCount);
    for (unsigned l = 0; l < kLaneCount; l += 2) coarse_.map(memory_ + l, 8);
  }

  // v[4:5]: the lane's own address, v[6:7]: data; the result is in v[8:9].
  void run(const std::string& instruction, uint64_t data) {
    dropped_.clear();
    old_ = machine_->allocate<uint64_t>(kLaneCount);
    KernelOptions options;
    options.rsrc3 = 15;
    machine_->expect_ok(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
        "s_load_dwordx2 s[8:9], s[0:1], 0x10\n"
        "s_mov_b32 s14, -1\ns_mov_b32 s15, 0\n"
        "s_waitcnt lgkmcnt(0)\n"
        "s_mov_b32 s12, s4\ns_mov_b32 s13, s5\n"
        "v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v5, s5\n"
        "v_add_co_u32 v4, vcc, s4, v1\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n"
        "v_mov_b32 v6, s8\nv_mov_b32 v7, s9\n"
        "v_mov_b32 v8, -1\nv_mov_b32 v9, -1\n" +
            instruction +
            "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
            "global_store_dwordx2 v1, v[8:9], s[6:7]",
        {address_of(memory_), address_of(old_), data}, {}, options);
  }
  // What odd lanes, whose atomics are dropped, have: as it was, and 0.
  void expect_dropped(uint64_t before, uint64_t after, unsigned words) {
    for (unsigned l = 0; l < kLaneCount; ++l) {
      EXPECT_EQ(memory_[l], l % 2 == 0 ? after : before) << l;
      const uint64_t unwritten = words == 1 ? 0xffffffff00000000 : 0;
      EXPECT_EQ(old_[l], (l % 2 == 0 ? before : 0) | unwritten) << l;
    }
    ASSERT_EQ(dropped_.size(), 1u) << "An instruction is told of once.";
    EXPECT_EQ(dropped_[0].first, 1u);
    EXPECT_EQ(dropped_[0].second, address_of(memory_ + 1));
  }
  void fill(uint64_t value) { std::fill_n(memory_, kLaneCount, value); }

  FakeMemory coarse_;
  std::unique_ptr<Machine> machine_;
  uint64_t* memory_ = nullptr;
  uint64_t* old_ = nullptr;
  std::vector<std::pair<unsigned, uint64_t>> dropped_;
};

constexpr uint64_t kTwo = 0x4000000000000000, kThree = 0x4008000000000000;

TEST_F(DroppedFloatAtomics, FloatsOfEveryKindAreDroppedAndReturnZero) {
  for (const std::string address : {"flat_", "global_"}) {
    const std::string form =
        address == "flat_" ? " v[8:9], v[4:5], v[6:7] glc" : " v[8:9], v[4:5], v[6:7], off glc";
    fill(kTwo);
    run(address + "atomic_add_f64" + form, 0x3ff0000000000000);
    expect_dropped(kTwo, kThree, 2);
    fill(kThree);
    run(address + "atomic_min_f64" + form, kTwo);
    expect_dropped(kThree, kTwo, 2);
    fill(kTwo);
    run(address + "atomic_max_f64" + form, kThree);
    expect_dropped(kTwo, kThree, 2);
  }
  fill(0x40000000);
  run("global_atomic_add_f32 v8, v[4:5], v6, off glc", 0x3f800000);
  expect_dropped(0x40000000, 0x40400000, 1);
  fill(0x40004000);
  run("global_atomic_pk_add_f16 v8, v[4:5], v6, off glc", 0x3c003c00);
  expect_dropped(0x40004000, 0x42004200, 1);
  fill(kTwo);
  run("v_mov_b32 v8, v6\nv_mov_b32 v9, v7\n"
      "buffer_atomic_add_f64 v[8:9], v1, s[12:15], 0 offen glc",
      0x3ff0000000000000);
  expect_dropped(kTwo, kThree, 2);
}

TEST_F(DroppedFloatAtomics, IntegersAndSwapsAreCarriedOut) {
  fill(5);
  run("global_atomic_add_x2 v[8:9], v[4:5], v[6:7], off glc", 2);
  for (unsigned l = 0; l < kLaneCount; ++l) EXPECT_EQ(memory_[l], 7u);
  run("global_atomic_swap_x2 v[8:9], v[4:5], v[6:7], off glc", kTwo);
  for (unsigned l = 0; l < kLaneCount; ++l) EXPECT_EQ(memory_[l], kTwo);
  EXPECT_TRUE(dropped_.empty());
}

TEST_F(DroppedFloatAtomics, WhatIsNotAccessibleIsAFaultAllTheSame) {
  KernelOptions options;
  options.rsrc3 = 15;
  const uint64_t kernel = machine_->kernel(
      "v_mov_b32 v4, 0x1000\nv_mov_b32 v5, 0\nflat_atomic_add_f64 v[4:5], v[6:7]", options);
  EXPECT_EQ(machine_->run(kernel, {}).fault.kind, Fault::Kind::kMemory);
}

INSTANTIATE_TEST_SUITE_P(Processors, FloatAtomics, ::testing::Values("gfx908", "gfx90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::testing
