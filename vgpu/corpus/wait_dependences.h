// Which s_waitcnt of a kernel matter, decided exactly: which instruction needs what another one
// returns, along the path that each wave has taken, and which waits between the two say that it has
// returned. The rules are read off the ISA documents ("Vega" 4.4, 7.3, 9.2; "MI200" 4.4, 10.2), the
// registers off LLVM's descriptions: nothing here is of the check that this is to judge
// (vgpu/observe/wait_check.cpp), and it goes the other way round, from each need back to its waits.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "vgpu/corpus/llvm_operands.h"
#include "vgpu/isa/observer.h"

namespace halyard::vgpu::corpus {

// How many may be left, of s_waitcnt's three counters; the most that its field holds says nothing.
struct WaitFields {
  static constexpr std::array<unsigned, 3> kMost = {63, 7, 15};
  unsigned vm = kMost[0], exp = kMost[1], lgkm = kMost[2];

  static WaitFields decode(uint16_t immediate);
  uint16_t encode() const;
  std::string text() const;
  friend bool operator==(const WaitFields&, const WaitFields&) = default;
};

// An s_waitcnt of a kernel that waits for less.
struct Mutant {
  uint64_t pc = 0;
  WaitFields fields;
  std::string what;  // "deleted", "vmcnt(0) to vmcnt(1)", …
};

// What is lost with a wait.
enum class Loss : uint8_t {
  kNone,
  kMemory,     // another wave's access to global memory behind a barrier: no business of this check
  kLds,        // the same in LDS
  kRegisters,  // a register is read or written that something in flight still writes
};

class WaitDependences final : public isa::Observer {
 public:
  explicit WaitDependences(LlvmReader& reader) : reader_(reader) {}

  // The mutants to decide about; before anything runs.
  void set_mutants(std::vector<Mutant> mutants);
  const std::vector<Mutant>& mutants() const { return mutants_; }

  Loss loss(size_t mutant) const { return losses_[mutant]; }
  // Of what is lost: which need is the first.
  const std::string& example(size_t mutant) const { return examples_[mutant]; }
  // Needs that no wait of the kernel as it is covers. There should be none.
  const std::vector<std::string>& uncovered() const { return uncovered_; }
  // s_waitcnt that were executed.
  const std::set<uint64_t>& executed() const { return executed_; }

  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext&, const isa::DispatchResult&) override {}
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

 private:
  class Group;
  const LlvmOperands& operands_at(uint64_t pc);
  void found(size_t mutant, Loss loss, const std::string& need);

  LlvmReader& reader_;
  std::map<uint64_t, LlvmOperands> known_;
  std::vector<Mutant> mutants_;
  std::map<uint64_t, std::vector<size_t>> by_site_;
  std::vector<Loss> losses_;
  std::vector<std::string> examples_;
  std::vector<std::string> uncovered_;
  std::set<uint64_t> executed_;
};

}  // namespace halyard::vgpu::corpus
