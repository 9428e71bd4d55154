#include "vgpu/isa/tests/model/memory_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace halyard::vgpu::isa::model {

MemoryMachine::MemoryMachine(const std::string& processor, const std::string& features)
    : memory_(kBytes),
      lds_(kLdsBytes),
      scratch_(size_t{kScratchBytes} * kLaneCount),
      vgprs_(new VectorRegister[kVgprs]()) {
  std::string error;
  decoder_ = Decoder::create(processor, features, error);
  map_.map(memory_.data(), kBytes);
  wave_.vgpr = vgprs_.get();
  wave_.vgpr_count = kVgprs;
  wave_.memory = &map_;
  wave_.target = &decoder_->target();
  wave_.lds = lds_.data();
  wave_.lds_size = kLdsBytes;
  wave_.scratch_base = scratch_base();
  wave_.scratch_bytes_per_lane = kScratchBytes;
  wave_.apertures[0] = kSharedBase;
  wave_.apertures[1] = kSharedBase | 0xffffffff;
  wave_.apertures[2] = kPrivateBase;
  wave_.apertures[3] = kPrivateBase | 0xffffffff;
}

void MemoryMachine::randomize() {
  // Small numbers, and floats of all kinds, among the bits.
  const auto value = [&]() -> uint32_t {
    const auto x = static_cast<uint32_t>(random());
    constexpr uint32_t kEdges[] = {0,          1,          0x7fffffff, 0x80000000, 0xffffffff,
                                   0x7f800000, 0xff800000, 0x7f800001, 0x00000007, 0x80000007,
                                   0x3f800000, 0x7ff00000, 0x000fffff, 0x7c00fc00};
    switch (random() % 4) {
      case 0:
        return kEdges[x % std::size(kEdges)];
      case 1:
        return x % 8;
      case 2:
        return (x & 0x83ffffff) | 0x3c000000;
      default:
        return x;
    }
  };
  for (auto& row : r.v) {
    for (uint32_t& x : row) x = value();
  }
  for (uint32_t& x : r.s) x = static_cast<uint32_t>(random());
  if (random() % 2 == 0) r.set_pair(kExecRegister, ~uint64_t{0});
  // The next case begins with what this one left.
  if (cases_++ % 32 == 0) {
    for (auto* block : {&memory_, &lds_, &scratch_}) {
      for (size_t at = 0; at < block->size(); at += 4) {
        const uint32_t x = value();
        std::memcpy(block->data() + at, &x, 4);
      }
    }
    model_memory_ = memory_;
    model_lds_ = lds_;
    model_scratch_ = scratch_;
  }
  mode = {};
  mode.denormals32 = below(4);
  mode.denormals16_64 = below(4);
  mode.round32 = below(4);
  mode.round16_64 = below(4);
  mode.ieee = below(2) != 0;
}

void MemoryMachine::replace_bit(uint64_t address, unsigned bit) {
  const size_t byte = address - base() + bit / 8;
  memory_[byte] = static_cast<uint8_t>(memory_[byte] ^ 1u << bit % 8);
  model_memory_[byte] = memory_[byte];
}

Dwords MemoryMachine::data(unsigned first, unsigned lane) const {
  return {r.v[first][lane], r.v[first + 1][lane], r.v[first + 2][lane], r.v[first + 3][lane]};
}

void MemoryMachine::run(const std::vector<uint8_t>& code, const std::string& text) {
  std::memcpy(vgprs_.get(), r.v, sizeof r.v);
  std::memcpy(wave_.sgpr, r.s, sizeof r.s);
  wave_.set_mode(mode.bits());
  DecodedInstruction in;
  decoder_->decode(std::span(code), in);
  const Outcome outcome = in.execute(wave_, in);
  EXPECT_EQ(outcome, Outcome::kNext) << text << ": " << wave_.fault.message;
}

void MemoryMachine::expect_same(const std::string& text) const {
  for (unsigned v = 0; v < kVgprs; ++v) {
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      ASSERT_EQ(vgprs_[v].lane[lane], r.v[v][lane])
          << text << ": v" << v << ", lane " << lane << std::hex << "; the model has 0x"
          << r.v[v][lane] << ", the engine 0x" << vgprs_[v].lane[lane];
    }
  }
  ASSERT_EQ(std::memcmp(wave_.sgpr, r.s, sizeof r.s), 0) << text;
  const auto same = [&](const char* what, const auto& engine, const auto& model) {
    if (std::memcmp(engine.data(), model.data(), engine.size()) == 0) return;
    const auto [got, expected] = std::mismatch(engine.begin(), engine.end(), model.begin());
    ASSERT_TRUE(got == engine.end())
        << text << ": " << what << " differs from byte " << got - engine.begin()
        << " on: " << unsigned{*got} << ", the model has " << unsigned{*expected};
  };
  same("memory", memory_, model_memory_);
  same("LDS", lds_, model_lds_);
  same("scratch", scratch_, model_scratch_);
}

}  // namespace halyard::vgpu::isa::model
