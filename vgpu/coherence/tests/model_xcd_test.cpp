// A GPU with several XCDs: an L2 for each, between which waves and packets order accesses at agent
// scope (LLVM AMDGPUUsage, "Memory Model GFX942").
#include <gtest/gtest.h>

#include "vgpu/coherence/tests/simulation.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using ::testing::IsEmpty;

struct Xcds : ::testing::Test {
  Simulation spx{{"gfx942", "gfx942"}, false, 2};
  Simulation cpx{{"gfx942", "gfx942"}, false, 1};
};

// Through a flag, as a grid-wide barrier does it: data by a plain store, the flag at agent scope.
TEST_F(Xcds, DoNotSeeEachOthersStoresBeforeTheyAreWrittenBack) {
  uint32_t* const data = spx.allocate(1);
  uint32_t* const flag = spx.allocate(1);
  const auto pass = [&](bool writes_back) {
    const WorkId work = spx.begin(1, {.name = "kernel barrier"});
    Group writer(spx, work, 1, 0), reader(spx, work, 1, 1);
    writer.store(data, 7);
    if (writes_back) writer.write_back(Scope::kAgent);
    writer.wait();
    writer.scope(Scope::kAgent).store(flag, 1);
    reader.scope(Scope::kAgent).load(flag);
    reader.invalidate(Scope::kAgent);
    reader.load(data);
    spx.end(work);
    return spx.take();
  };
  EXPECT_THAT(pass(false),
              one_finding("kernel barrier", "which are not in memory yet",
                          "the L2 of XCD 0 of GPU 1 has them since",
                          "missing: buffer_wbl2 sc1 and s_waitcnt vmcnt(0) after the store",
                          "(a release at agent scope)"));
  EXPECT_THAT(pass(true), IsEmpty());
}

// The instructions do nothing to the only L2 of a GPU.
TEST_F(Xcds, ThatAreGpusOfTheirOwnHaveOneL2) {
  uint32_t* const data = cpx.allocate(1);
  const WorkId work = cpx.begin(1);
  Group writer(cpx, work), reader(cpx, work);
  writer.store(data, 7);
  writer.wait();
  reader.invalidate(Scope::kAgent);
  reader.load(data);
  EXPECT_THAT(cpx.take(), IsEmpty());
  writer.write_back(Scope::kAgent);
  const WorkId others = cpx.begin(2);
  Group other(cpx, others);
  other.load(data);
  EXPECT_THAT(cpx.take(),
              one_finding("the L2 of GPU 1 has them since", "missing: buffer_wbl2 sc0 sc1"));
  writer.write_back(Scope::kSystem);
  other.invalidate(Scope::kSystem);
  other.load(data);
  EXPECT_THAT(cpx.take(), IsEmpty());
}

// Lines of memory that is not the GPU's own are dropped by an acquire. Those of its own are probed.
TEST_F(Xcds, HoldStaleLinesOfAnotherGpusMemory) {
  const auto stale = [&](uint32_t* data, bool invalidates) {
    const WorkId work = spx.begin(1, {.name = "kernel k"});
    Group writer(spx, work, 1, 0), reader(spx, work, 1, 1);
    reader.load(data);
    writer.store(data, *data + 1);
    writer.write_back(Scope::kAgent);
    writer.wait();
    if (invalidates) {
      reader.invalidate(Scope::kAgent);
    } else {
      reader.invalidate_l1();
    }
    reader.load(data);
    spx.end(work);
    return spx.take();
  };
  EXPECT_THAT(stale(spx.allocate(1), false), IsEmpty());
  uint32_t* const peers = spx.allocate(2);
  EXPECT_THAT(stale(peers, true), IsEmpty());
  EXPECT_THAT(stale(peers, false), one_finding("the L2 of XCD 1 of GPU 1 may hold the line",
                                               "missing: buffer_inv sc0 sc1 between"));
  EXPECT_THAT(stale(spx.allocate(0), false), IsEmpty()) << "the host's memory is uncached";
}

TEST_F(Xcds, ScopesOfAccessesReachBeyondTheL2) {
  uint32_t* const data = spx.allocate(2);
  const WorkId work = spx.begin(1);
  Group writer(spx, work, 1, 0), reader(spx, work, 1, 1);
  reader.load(data);
  writer.scope(Scope::kAgent).store(data, 7);
  writer.wait();
  reader.scope(Scope::kAgent).load(data);
  writer.add(data);
  reader.add(data);
  EXPECT_THAT(spx.take(), IsEmpty());
  EXPECT_EQ(*data, 9u);
}

// The next dispatch's work-groups run on whichever die.
TEST_F(Xcds, AreWrittenBackByAReleaseAtAgentScope) {
  const auto between = [&](Scope release, Scope acquire) {
    uint32_t* const data = spx.allocate(1);
    const WorkId first = spx.begin(1, {.release = release, .name = "kernel writer"});
    {
      Group writer(spx, first, 1, 0);
      writer.store(data, 7);
    }
    spx.end(first);
    const WorkId second =
        spx.begin(1, {.acquire = acquire, .name = "kernel reader", .index = 1, .ordered_below = 1});
    Group reader(spx, second, 1, 1);
    reader.load(data);
    return spx.take();
  };
  EXPECT_THAT(between(Scope::kAgent, Scope::kAgent), IsEmpty());
  EXPECT_THAT(between(Scope::kNone, Scope::kAgent), ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
