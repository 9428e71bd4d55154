// Counts executed instructions for each kernel, and names the ones that are executed most.
//
// They are written when a dispatch fails, since that may end the process, and when the machine asks
// for it at the process's end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/observe/kernel_names.h"

namespace halyard::vgpu::observe {

enum class Class : uint8_t {
  kVector,
  kMatrix,
  kScalar,
  kScalarMemory,
  kVectorMemory,
  kLds,
  kBranch,
  kOther
};
inline constexpr unsigned kClasses = 8;

// What kind of work an instruction is.
Class class_of(const isa::Instruction& instruction);
const char* class_name(Class kind);

// One instruction of a kernel.
struct InstructionCount {
  uint64_t executed = 0;  // by waves
  uint64_t lanes = 0;     // active ones, together
  Class kind = Class::kOther;
  std::string text;
};

struct KernelCount {
  std::string name;
  std::string processor;
  uint64_t dispatches = 0;
  uint64_t groups = 0;
  uint64_t waves = 0;
  std::map<int64_t, InstructionCount> instructions;  // by distance from the entry, bytes
};

class Counts final : public isa::Observer {
 public:
  // `write` gets what report() says.
  Counts(KernelNames names, std::function<void(std::string_view)> write)
      : names_(std::move(names)), write_(std::move(write)) {}

  void begin(const isa::GroupContext& context) override;
  void end(const isa::GroupContext& context, const isa::DispatchResult& result) override;
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

  // Kernels with the most instructions first; of each the 20 instructions that were executed most.
  // Empty if nothing was.
  std::string report() const;

  // Writes the report, if there is anything, and starts anew.
  void flush();

 private:
  class Group;
  using Key = std::pair<std::string, uint64_t>;  // processor, kernel object

  std::string report_locked() const;

  KernelNames names_;
  std::function<void(std::string_view)> write_;
  mutable std::mutex mutex_;
  std::map<Key, KernelCount> kernels_;
};

}  // namespace halyard::vgpu::observe
