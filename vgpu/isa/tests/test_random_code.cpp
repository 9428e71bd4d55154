// Whatever the bytes, an instruction executes or faults: it never touches anything but its
// registers, LDS, scratch and mapped memory. Meant to be run under AddressSanitizer and UBSan as
// well.

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/tests/machine.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::isa::testing {
namespace {

class NoServices final : public WaveServices {
 public:
  void raise_event(uint32_t) override {}
  void invalidate_code() override {}
  uint64_t shader_clock() override { return 1; }
  uint64_t reference_clock() override { return 2; }
};

// Two random dwords with one of the formats' encodings at the top, so that most are instructions.
uint64_t random_instruction(std::mt19937_64& random) {
  static constexpr uint32_t kHeads[][2] = {
      // bits that are set, bits that are not random
      {0xbe800000, 0xff800000},  // SOP1
      {0x80000000, 0xc0000000},  // SOP2 and its subsets
      {0xc0000000, 0xfc000000},  // SMEM
      {0x7e000000, 0xfe000000},  // VOP1
      {0x00000000, 0x80000000},  // VOP2 and its subsets
      {0x7c000000, 0xfe000000},  // VOPC
      {0xd0000000, 0xfc000000},  // VOP3
      {0xd3800000, 0xff800000},  // VOP3P
      {0xd8000000, 0xfc000000},  // DS
      {0xdc000000, 0xfc002000},  // FLAT
      {0xe0000000, 0xfc000000},  // MUBUF
      {0xe8000000, 0xfc000000},  // MTBUF
  };
  const auto& head = kHeads[random() % std::size(kHeads)];
  const uint64_t bits = random();
  const auto low = static_cast<uint32_t>(bits);
  return ((low & ~head[1]) | head[0]) | (bits & 0xffffffff00000000);
}

void run_random_code(const std::string& processor, uint64_t seed) {
  constexpr uint32_t kInstructions = 4000;
  constexpr uint64_t kDataBytes = 1 << 16;
  FakeMemory memory;
  std::string error;
  auto decoder = Decoder::create(processor, "", error);
  ASSERT_TRUE(decoder) << error;
  const Target target = decoder->target();
  Program program(std::move(decoder), memory);

  std::mt19937_64 random(seed);
  std::vector<uint64_t> code(kInstructions + 1);
  for (uint64_t& instruction : code) instruction = random_instruction(random);
  memory.map(code.data(), code.size() * 8);
  std::vector<uint8_t> data(kDataBytes);
  memory.map(data.data(), data.size());

  NoServices services;
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.group_segment_size = 2048;
  dispatch.private_segment_size = 256;
  dispatch.shared_aperture_hi = Machine::kSharedHigh;
  dispatch.private_aperture_hi = Machine::kPrivateHigh;
  Kernel kernel;
  kernel.entry = reinterpret_cast<uint64_t>(code.data());
  kernel.vgprs = 128;
  kernel.agprs = target.accumulators ? 128 : 0;
  kernel.sgprs = 102;
  GroupContext context;
  context.dispatch = &dispatch;
  context.kernel = &kernel;
  context.target = &target;
  context.program = &program;
  context.memory = &memory;
  context.services = &services;
  context.groups[0] = context.groups[1] = context.groups[2] = 1;
  WorkGroup group;
  PageCache pages(program);
  uint32_t executed = 0;
  for (uint32_t n = 0; n < kInstructions; ++n) {
    if (n % 16 == 0) {
      ASSERT_TRUE(group.start(context, 0, {}));
    }
    Wave& wave = group.waves[0];
    // Pointers, descriptors and small numbers, so that accesses reach something.
    if (n % 16 == 0) {
      const uint64_t where = reinterpret_cast<uint64_t>(data.data()) + random() % 4096 * 4;
      for (unsigned s = 0; s < scalar::kFlatScratch; s += 2)
        wave.set_scalar64(s, s % 4 ? (random() % kDataBytes) : where);
      wave.set_exec(random() % 3 ? random() : ~uint64_t{0});
      for (unsigned r = 0; r < kernel.registers(); ++r) {
        for (unsigned l = 0; l < kLanes; ++l) {
          const uint64_t pointer = where + l * 8;
          wave.vgpr[r].lane[l] = random() % 4 == 0 ? static_cast<uint32_t>(random())
                                 : r % 2           ? static_cast<uint32_t>(pointer >> 32)
                                                   : static_cast<uint32_t>(pointer);
          if (random() % 64 == 0) wave.vgpr[r].lane[l] = Machine::kSharedHigh << (random() % 2);
          if (r > 64) wave.vgpr[r].lane[l] = static_cast<uint32_t>(random() % 3000);
        }
      }
    }
    wave.pc = kernel.entry + n * 8;
    wave.fault = {};
    uint32_t budget = 1;
    const Stop stop = run_wave(wave, program, pages, budget);
    if (stop == Stop::kFault) {
      EXPECT_NE(wave.fault.kind, Fault::Kind::kNone);
      EXPECT_FALSE(wave.fault.message.empty());
    } else {
      ++executed;
    }
  }
  EXPECT_GT(executed, kInstructions / 10) << "the random code is not worth running";
}

class RandomCode : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Processors, RandomCode,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a"));

TEST_P(RandomCode, ExecutesOrFaults) {
  for (uint64_t seed = 1; seed <= 4; ++seed) run_random_code(GetParam(), seed);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
