// Finds races in global memory: two waves of one dispatch use the same bytes, at least one of them
// writes, nothing orders the two accesses, and the result depends on their order.
//
// What orders two accesses (docs/virtual-gpu.md says the same to users):
//
//   - one wave executes them;
//   - the waves are of one work-group, and an s_barrier lies between;
//   - a chain of atomics leads from the first to the second. Who reads the value that an atomic
//     has left knows all that the atomic's wave did before, and all that this wave knew. Atomic
//     loads read, and read-modify-writes with a result. They learn of a plain store in the same
//     way, because gfx9 has no other stores.
//
// Whether a wave has waited for its stores before it tells of them, and whether caches are
// invalidated, is the subject of the checks of waits and of coherence: a barrier or an atomic
// orders here without it. Two lanes of one instruction do not race, because no wave is between
// them.
//
// Not findings but notes: uses that leave the bytes as they were, and an atomic access and a plain
// one. On gfx9 the latter is how a lock is released, and how compare-and-swap loops begin.
//
// Each pair of instructions of a kernel is reported once, and the kernel continues.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "vgpu/observe/kernel_names.h"
#include "vgpu/races/dispatch.h"

namespace halyard::vgpu::races {

class RaceCheck final : public isa::Observer {
 public:
  // Called on any thread.
  using Report = std::function<void(std::string_view)>;

  struct Options {
    observe::KernelNames names;
    Report report;  // gets each finding as one block of text
    Report warn;    // gets a sentence about what was not checked
    // A sentence fragment on where an address lies; by default the engine's memory's.
    std::function<void(uint64_t address, char* text, uint64_t capacity)> describe;
    bool notes = false;
    uint64_t most_bytes = uint64_t{2} << 30;  // of all dispatches together
  };

  explicit RaceCheck(Options options)
      : options_(std::move(options)), budget_(options_.most_bytes) {}

  void begin(const isa::GroupContext& context) override;
  void end(const isa::GroupContext& context, const isa::DispatchResult& result) override;
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override;

 private:
  class Group;

  // False if this was reported before.
  bool is_new(uint64_t kernel_object, uint64_t one_pc, uint64_t other_pc, Conflict conflict);

  const Options options_;
  Budget budget_;
  std::mutex mutex_;
  std::map<const isa::GroupContext*, std::unique_ptr<Dispatch>> running_;
  std::set<std::tuple<uint64_t, uint64_t, uint64_t, Conflict>> reported_;
  std::set<std::pair<uint64_t, std::string>> warned_;
};

}  // namespace halyard::vgpu::races
