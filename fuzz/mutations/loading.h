// The process that loads mutations.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "fuzz/mutations/options.h"
#include "fuzz/mutations/seeds.h"

namespace halyard::mutations {

// What the process has done, in memory that it shares with its parent.
struct Progress {
  std::atomic<uint64_t> next{0};  // the mutation that is being loaded
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> by_the_vendor{0};  // of those that are refused, those that were checked
  std::atomic<uint64_t> resident_bytes{0};
  std::atomic<bool> started{false};  // the device is open, and has loaded what it should
  std::atomic<bool> done{false};
};

// Loads what the seeds are unchanged, which has to succeed, and then the mutations from
// progress->next to `end`. Returns whether all went well: no mutation made the device fail, and
// each refusal has a message. Otherwise it has written to stderr what did not.
bool load_mutations(const Options& options, const std::vector<Seed>& seeds, uint64_t end,
                    Progress* progress);

}  // namespace halyard::mutations
