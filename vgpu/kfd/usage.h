// How much memory of each GPU the processes use that share a folder of the driver's files: for the
// files and requests that tell a system's usage, whichever process asks.
//
// Each process has a file below the folder, which it maps and has locked while it lives. So a
// change costs one store, and what a killed process leaves is recognized, and removed, by the next
// one. Nothing here needs a C++ library: the preloaded library reads it, too.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace halyard::vgpu::kfd {

inline constexpr uint32_t kMaxGpus = 64;  // of a profile

class Usage {
 public:
  Usage() = default;
  ~Usage() { remove(); }
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  // `root`: the folder; null: there is none, and others learn nothing. So it is, too, if the file
  // cannot be made: a full disk must not stop a program.
  void start(const char* root);
  // Removes the file, as when the process ends.
  void remove();
  // For a child of fork, which uses nothing: its parent's file is the parent's alone.
  void leave_to_parent();

  // GPUs count from 0. Any thread; of one GPU, one at a time.
  void set(uint32_t gpu, uint64_t bytes);
  // Of all processes; of this one alone if there is no folder.
  uint64_t of_all(uint32_t gpu) const;

 private:
  const char* root_ = nullptr;
  int file_ = -1;
  uint64_t own_[kMaxGpus] = {};
  uint64_t* shared_ = nullptr;
};

// What all living processes use of a GPU, which counts from 0.
uint64_t usage_of_all(const char* root, uint32_t gpu);

}  // namespace halyard::vgpu::kfd
