// The parent of the processes that load mutations.
#pragma once

#include <functional>
#include <vector>

#include "fuzz/mutations/loading.h"
#include "fuzz/mutations/options.h"
#include "fuzz/mutations/seeds.h"

namespace halyard::mutations {

// Loads mutations in a child process, from progress->next to `end`. True if none failed.
using Loader = std::function<bool(uint64_t end, Progress* progress)>;

// Runs all mutations of the options and prints the results. True if none ended its process, by a
// signal or otherwise, none took longer than options.timeout, and some were accepted and some
// refused. After a process has ended, the next one starts after the mutation that ended it.
bool run_campaign(const Options& options, const std::vector<Seed>& seeds, const Loader& loader);

}  // namespace halyard::mutations
