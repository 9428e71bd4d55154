// What a program of the seeded mistakes is made of: memory, copies, and AQL packets whose every
// fence is written by hand, on the unmodified HSA runtime.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halyard::vgpu::coherence::testing {

struct Gpu {
  hsa_agent_t agent{};
  hsa_amd_memory_pool_t memory{};
  hsa_executable_t code{};
};

// A failure of the runtime's ends the process with a message: the programs run in processes of
// their own.
class Program {
 public:
  Program();

  Gpu& gpu(size_t number) { return gpus_[number - 1]; }

  // A page, which all GPUs may access and nobody has written yet.
  uint32_t* memory_of(const Gpu& gpu) const { return allocate(gpu.memory); }
  uint32_t* coarse_host_memory() const { return allocate(coarse_); }
  uint32_t* fine_host_memory() const { return allocate(fine_); }
  static void free(uint32_t* memory);
  // 64 bytes that no kernel has read.
  void* arguments();
  // Of value 1, and its end.
  static hsa_signal_t signal();
  static void set(hsa_signal_t signal);
  // Waits for it to be set.
  static void wait_for(hsa_signal_t signal);
  // Passes on what the host has stored to the GPU's memory through the PCI window.
  static void flush_window(const Gpu& gpu);

  // Copies by a copy engine, and waits. Null: the memory is the host's.
  void copy(void* to, const Gpu* to_gpu, const void* from, const Gpu* from_gpu, size_t bytes) const;

  // Loads the kernels, once more if they are there: the runtime then invalidates the instruction
  // cache.
  void load(Gpu& gpu) const;
  uint64_t kernel(const Gpu& gpu, const std::string& name) const;

 private:
  uint32_t* allocate(hsa_amd_memory_pool_t pool) const;
  void find_pools();

  hsa_agent_t cpu_{};
  hsa_amd_memory_pool_t coarse_{}, fine_{}, kernarg_{};
  std::vector<Gpu> gpus_;
  std::vector<char> code_;
  uint8_t* arguments_ = nullptr;
  size_t arguments_used_ = 0;
};

struct Fences {
  hsa_fence_scope_t acquire = HSA_FENCE_SCOPE_SYSTEM;
  hsa_fence_scope_t release = HSA_FENCE_SCOPE_SYSTEM;
  bool barrier = true;
};

struct Dispatch {
  std::string kernel;
  std::vector<uint64_t> arguments = {};
  Fences fences = {};
  uint32_t items = 64;    // in work-groups of one wave
  void* block = nullptr;  // for the arguments; null: a new one
  hsa_signal_t signal{};  // to complete
};

class Queue {
 public:
  Queue(Program& program, const Gpu& gpu);

  void submit(const Dispatch& dispatch) { submit(dispatch, dispatch.signal); }
  // A barrier-AND packet.
  void submit_barrier(Fences fences, hsa_signal_t waits_for, hsa_signal_t completion = {});
  // One that waits for nothing, to be followed by wait().
  void start_barrier(Fences fences) { submit_barrier(fences, {}, done_); }
  // With a signal of the queue's, to be followed by wait().
  void start(const Dispatch& dispatch) { submit(dispatch, done_); }
  void wait();
  void run(const Dispatch& dispatch) {
    start(dispatch);
    wait();
  }

 private:
  void submit(const Dispatch& dispatch, hsa_signal_t completion);
  template <typename Packet>
  void publish(Packet packet, uint16_t type, Fences fences);

  Program& program_;
  const Gpu& gpu_;
  hsa_queue_t* queue_ = nullptr;
  hsa_signal_t done_{};
};

template <typename T>
uint64_t at(const T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace halyard::vgpu::coherence::testing
