// The check for float atomics that memory does not carry out (vgpu/isa/float_atomics.h): each
// instruction is reported once, with the kernel and the allocation.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "vgpu/isa/float_atomics.h"
#include "vgpu/observe/kernel_names.h"

namespace halyard::vgpu::observe {

class AtomicCheck {
 public:
  AtomicCheck(KernelNames names, std::function<void(std::string_view)> report)
      : names_(std::move(names)), report_(std::move(report)) {}

  // Any thread.
  void dropped(const isa::DroppedAtomic& atomic);

 private:
  const KernelNames names_;
  const std::function<void(std::string_view)> report_;
  std::mutex mutex_;
  std::set<std::pair<uint64_t, uint64_t>> seen_;  // kernel object, pc
};

}  // namespace halyard::vgpu::observe
