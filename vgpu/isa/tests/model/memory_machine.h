// A wave with registers, memory, LDS and scratch, and the model's copy of all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/machine.h"
#include "vgpu/isa/tests/model/case.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::model {

// A target of the memory instructions: what is not said of a processor but of its features.
struct MemoryTarget {
  const char* processor;
  const char* features;  // as LLVM takes them
  bool ecc;              // of the registers
};

// Each processor with SRAM-ECC and without, where it has both. On gfx90a the registers have ECC in
// any case (docs/virtual-gpu.md).
inline constexpr MemoryTarget kMemoryTargets[] = {
    {"gfx900", "", false},         {"gfx906", "-sramecc", false}, {"gfx906", "+sramecc", true},
    {"gfx908", "-sramecc", false}, {"gfx908", "+sramecc", true},  {"gfx90a", "-sramecc", true},
    {"gfx90a", "+sramecc", true},  {"gfx942", "+sramecc", true},  {"gfx950", "+sramecc", true},
};
// "gfx906", "gfx906_sramecc"
inline std::string name_of(const MemoryTarget& target) {
  return std::string(target.processor) + (target.features[0] == '+' ? "_sramecc" : "");
}

class MemoryMachine {
 public:
  static constexpr unsigned kBytes = 1 << 18, kLdsBytes = 1 << 15, kScratchBytes = 1024;
  static constexpr uint64_t kSharedBase = 0x1000'0000'0000, kPrivateBase = 0x2000'0000'0000;

  explicit MemoryMachine(const std::string& processor, const std::string& features = "");

  const Target& target() const { return decoder_->target(); }

  Random random{17};
  Registers r;  // the model's
  Mode mode;

  uint64_t base() const { return reinterpret_cast<uint64_t>(memory_.data()); }
  uint64_t scratch_base() const { return reinterpret_cast<uint64_t>(scratch_.data()); }
  // The model's byte for an address of memory, an offset in LDS, or a lane's offset in scratch.
  uint8_t* at(uint64_t address) { return model_memory_.data() + (address - base()); }
  uint8_t* lds_at(uint64_t offset) {
    return offset < kLdsBytes ? model_lds_.data() + offset : nullptr;
  }
  uint8_t* scratch_at(unsigned lane, uint64_t offset) {
    return model_scratch_.data() + offset / 4 * 256 + lane * 4 + offset % 4;
  }
  uint64_t exec() const { return r.pair(kExecRegister); }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random() % n); }

  // Random registers and mode, and now and then memory.
  void randomize();
  // Turns a bit around, counted from an address, in both copies of memory.
  void replace_bit(uint64_t address, unsigned bit);
  // `lane`'s data for an operation: 4 dwords from a register on.
  Dwords data(unsigned first, unsigned lane) const;

  // Runs the text in the engine from the model's present state; `expect` then says what differs
  // from what the model has become.
  void run(const std::vector<uint8_t>& code, const std::string& text);
  void expect_same(const std::string& text) const;

 private:
  std::vector<uint8_t> memory_, lds_, scratch_, model_memory_, model_lds_, model_scratch_;
  std::unique_ptr<VectorRegister[]> vgprs_;
  std::unique_ptr<Decoder> decoder_;
  testing::FakeMemory map_;
  Wave wave_;
  unsigned cases_ = 0;
};

}  // namespace halyard::vgpu::isa::model
