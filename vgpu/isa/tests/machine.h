// A virtual GPU's engine with memory of its own, for tests: assemble a kernel, run it, look at
// memory.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vgpu/isa/engine.h"

namespace halyard::vgpu::isa::testing {

// What is mapped has the host's address, and another one so far above it. Kernels get the second
// one (address_of): whoever takes the GPU's address for the host's crashes.
inline constexpr uint64_t kApart = (uint64_t{1} << 46) + 0x5a00000;

// Lookups take no lock, as those of the real map (vgpu/machine/address_table.h), so that benchmarks
// on several threads measure the engine. For that every change costs a copy, which is kept.
class FakeMemory final : public AddressSpace {
 public:
  MemoryRange find(uint64_t address) const override;
  uint64_t address_of_fault(uint64_t host) const override;
  uint64_t epoch() const override { return epoch_.load(std::memory_order_relaxed); }
  void describe(uint64_t address, char* text, uint64_t capacity) const override;

  void map(const void* begin, uint64_t size);
  void unmap(const void* begin);
  // The GPU may only read there from now on.
  void protect(const void* begin);

 private:
  struct Range {
    uint64_t size = 0;
    uint64_t to_host = 0;
    bool writable = true;
  };
  using Ranges = std::map<uint64_t, Range>;  // by begin

  template <class F>
  void change(F&& f);

  std::mutex mutex_;  // one writer at a time
  std::vector<std::unique_ptr<const Ranges>> versions_;
  std::atomic<const Ranges*> ranges_{nullptr};  // the last of them
  std::atomic<uint64_t> epoch_{1};
};

template <class T>
uint64_t address_of(T* pointer) {
  return reinterpret_cast<uint64_t>(pointer) + kApart;
}
inline uint8_t* host_of(uint64_t address) {
  return reinterpret_cast<uint8_t*>(address - kApart);
}

// What a kernel descriptor says. The defaults: s[0:1] kernarg pointer, s2..s4 work-group ids,
// v0..v2 work-item ids.
struct KernelOptions {
  uint32_t vgprs = 64;
  uint32_t sgprs = 102;
  uint32_t properties = 8;  // kernarg pointer
  uint32_t user_sgprs = 2;
  uint32_t rsrc2 = 7u << 7 | 2u << 11;  // work-group ids x, y, z; work-item ids x, y, z
  uint32_t float_mode = 0xf0;
  uint32_t rsrc1_extra = 1u << 21 | 1u << 23;  // DX10_CLAMP, IEEE
  uint32_t rsrc3 = 0;
  bool legacy = false;  // amd_kernel_code_t
};

class Machine {
 public:
  static constexpr uint32_t kSharedHigh = 0x10000;
  static constexpr uint32_t kPrivateHigh = 0x20000;

  explicit Machine(EngineOptions options = {});
  ~Machine();

  // Bytes that kernels may access; freed with the machine. Zeroed.
  template <class T>
  T* allocate(size_t count) {
    return static_cast<T*>(allocate_bytes(count * sizeof(T)));
  }
  void* allocate_bytes(size_t bytes);
  void release(void* pointer);  // unmaps it

  // A kernel object for the assembled text, which "s_endpgm" is appended to. Fails the test if it
  // does not assemble.
  uint64_t kernel(const std::string& text, const KernelOptions& options = {});
  uint64_t kernel_from_bytes(const std::vector<uint8_t>& code, const KernelOptions& options = {});
  uint64_t code_of(uint64_t kernel) const;  // its entry
  uint8_t* host_code_of(uint64_t kernel) const { return host_of(code_of(kernel)); }

  // Runs one work-group of 64 work-items unless `dispatch` says otherwise.
  DispatchResult run(uint64_t kernel, const std::vector<uint64_t>& arguments,
                     Dispatch dispatch = {});
  // Runs `text` and fails the test if it faults.
  void expect_ok(const std::string& text, const std::vector<uint64_t>& arguments,
                 Dispatch dispatch = {}, const KernelOptions& options = {});

  Engine& engine() { return *engine_; }
  FakeMemory& memory() { return memory_; }
  const std::string& processor() const { return processor_; }
  std::vector<uint32_t> events;

  static Dispatch grid(uint32_t x, uint16_t group_x);

 private:
  std::string processor_;
  FakeMemory memory_;
  std::unique_ptr<Engine> engine_;
  std::vector<void*> blocks_;
};

}  // namespace halyard::vgpu::isa::testing
