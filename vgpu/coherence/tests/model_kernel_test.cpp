// The rules within kernels: L1s, scalar caches, stores on their way, code.
#include <gtest/gtest.h>

#include "vgpu/coherence/tests/simulation.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Scope kNone = Scope::kNone, kAgent = Scope::kAgent;

struct InKernel : ::testing::Test {
  Simulation s{{"gfx900", "gfx900"}};
  uint32_t* const data = s.allocate(1);
};

// L1s.

struct L1 : InKernel {
  WorkId work = s.begin(1);
  Group writer{s, work};
  Group reader{s, work};

  void write(uint32_t value) {
    writer.store(data, value);
    writer.wait();
  }
};

TEST_F(L1, HoldsWhatItsGroupHasReadUntilItIsInvalidated) {
  reader.load(data);
  write(7);
  reader.load(data);
  EXPECT_THAT(s.take(), one_finding("stale read", "the L1 of this work-group's compute unit",
                                    "since this dispatch first read it", "written by dispatch 1",
                                    "missing: buffer_wbinvl1_vol"));
  write(8);
  reader.invalidate_l1();
  reader.load(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(L1, IsOneForEachWorkGroup) {
  reader.load(data);
  write(7);
  writer.load(data);
  Group(s, work).load(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(L1, HoldsFineGrainedMemoryToo) {
  uint32_t* const flag = s.fine();
  reader.load(flag);
  *flag = 1;
  reader.load(flag);
  EXPECT_THAT(s.take(), one_finding("stale read", "written by the host"));
}

TEST_F(L1, DoesNotAnswerAtomicsNorLoadsWithGlc) {
  reader.load(data);
  write(7);
  reader.load_past_l1(data);
  reader.load(data);  // which have dropped its line
  write(8);
  reader.add(data);
  reader.load(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

// HIP's atomics of floats begin so: an old value costs one more turn.
TEST_F(L1, MayHoldTheFirstLookOfACompareAndSwapLoop) {
  reader.load(data);
  writer.add(data);
  reader.load(data);
  EXPECT_THAT(s.take(), IsEmpty());
  write(7);
  reader.load(data);
  EXPECT_THAT(s.take(), one_finding("stale read"));
}

TEST_F(L1, HasTheStoresOfItsGroup) {
  writer.load(data);
  write(7);
  writer.load(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(L1, IsLeftToPacketsWithoutAcquire) {
  const auto next = [&](Scope acquire, bool invalidates) {
    const WorkId writes = s.begin(1, {.acquire = kNone, .name = "kernel writer"});
    Group(s, writes).store(data, *data + 1);
    s.end(writes);
    const WorkId reads = s.begin(1, {.acquire = acquire, .name = "kernel reader"});
    Group group(s, reads);
    if (invalidates) group.invalidate_l1();
    group.load(data);
    return s.take();
  };
  {
    const WorkId reads = s.begin(1, {.name = "kernel filler"});
    Group(s, reads).load(data);
    s.end(reads);
  }
  EXPECT_THAT(next(kNone, true), IsEmpty());
  EXPECT_THAT(next(kNone, false),
              one_finding("stale read in kernel reader", "the L1 of a compute unit may hold",
                          "(kernel filler", "an acquire fence at agent scope in dispatch",
                          "whose packet has none, or in a packet between"));
  EXPECT_THAT(next(kAgent, false), IsEmpty());
}

TEST_F(L1, OfMemoryThatIsFreedIsForgotten) {
  const auto read = [&] {
    const WorkId reads = s.begin(1, {.acquire = kNone});
    Group(s, reads).load(data);
    s.end(reads);
  };
  read();
  s.reallocate(data);
  *data = 5;
  read();
  EXPECT_THAT(s.take(), IsEmpty());
}

// Scalar caches.

struct ScalarCache : InKernel {
  void load(Scope acquire) {
    const WorkId work = s.begin(1, {.acquire = acquire, .name = "kernel reader"});
    Group(s, work).load_scalar(data);
    s.end(work);
  }
};

TEST_F(ScalarCache, IsDroppedByAnAcquireOfAPacket) {
  for (uint32_t* const memory : {s.fine(), s.allocate(0)}) {
    const WorkId work = s.begin(1);
    Group(s, work).load_scalar(memory);
    s.end(work);
  }
  load(kAgent);
  const WorkId writes = s.begin(1, {.acquire = kNone, .name = "kernel writer"});
  Group(s, writes).store(data, 7);
  s.end(writes);
  load(kNone);
  EXPECT_THAT(s.take(), one_finding("stale read in kernel reader", "the scalar cache of GPU 1",
                                    "written by dispatch 4 (kernel writer",
                                    "an acquire fence at agent scope in dispatch 5"));
  load(kAgent);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(ScalarCache, IsOneForAllGroups) {
  const WorkId work = s.begin(1);
  Group first(s, work), second(s, work);
  first.load_scalar(data);
  second.store(data, 7);
  second.wait();
  second.load_scalar(data);
  EXPECT_THAT(s.take(),
              one_finding("since this dispatch first read it", "missing: s_dcache_inv between"));
  second.store(data, 8);
  second.wait();
  s.model().invalidate_scalar(1);
  second.load_scalar(data);
  EXPECT_THAT(s.take(), SizeIs(1)) << "the other GPU's";
  second.store(data, 9);
  second.wait();
  s.model().invalidate_scalar(0);
  second.load_scalar(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(ScalarCache, FillsFromTheL2) {
  const WorkId work = s.begin(1);
  Group(s, work).load(data);
  s.end(work);
  s.copy_in(1, data, 7);
  load(kAgent);
  EXPECT_THAT(s.take(), one_finding("the L2 of GPU 1", "at system scope"));
}

// A load by the scalar cache does not queue behind the vector memory's stores.
TEST_F(ScalarCache, MeetsStoresOnTheirWayEvenOfItsOwnWave) {
  const WorkId work = s.begin(1);
  Group group(s, work);
  group.store(data, 7);
  group.load_scalar(data);
  EXPECT_THAT(s.take(), one_finding("read of a store in flight", "s_waitcnt vmcnt(0)"));
  group.wait();
  s.model().invalidate_scalar(0);
  group.load_scalar(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(ScalarCache, HidesItsStoresUntilTheyAreWrittenBack) {
  const WorkId work = s.begin(1, {.name = "kernel writer"});
  Group group(s, work);
  group.store_scalar(data, 7);
  group.load_scalar(data);
  EXPECT_THAT(s.take(), IsEmpty());
  group.load(data);
  EXPECT_THAT(s.take(),
              one_finding("read of unreleased data", "the scalar cache of GPU 1 has them since",
                          "missing: s_dcache_wb after the store"));
  s.model().write_back_scalar(1);
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), one_finding("the scalar cache of GPU 1 has them since"));
  s.copy_in(1, data, 8);
  EXPECT_THAT(s.take(), one_finding("overwrite of unreleased data"));
  group.store_scalar(data, 9);
  s.model().write_back_scalar(0);
  group.invalidate_l1();
  group.load(data);
  EXPECT_THAT(s.take(), IsEmpty());
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), one_finding("the L2 of GPU 1 has them since")) << "where they go";
  s.end(work);
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(ScalarCache, AtomicsAreTheL2s) {
  const WorkId work = s.begin(1, {.release = kAgent});
  Group group(s, work);
  group.add_scalar(data);
  group.load(data);
  EXPECT_THAT(s.take(), IsEmpty());
  s.end(work);
  s.copy_out(1, data);
  EXPECT_THAT(s.take(), one_finding("the L2 of GPU 1 has them since"));
}

// Stores on their way.

struct InFlight : InKernel {
  WorkId work = s.begin(1, {.name = "kernel writer"});
  Group writer{s, work, 2};
  Group reader{s, work};

  std::vector<std::string> read(const uint32_t* from) {
    reader.invalidate_l1();
    reader.load(from);
    return s.take();
  }
};

TEST_F(InFlight, OthersMayMissAStoreThatIsNotWaitedFor) {
  writer.store(data, 7);
  EXPECT_THAT(
      read(data),
      one_finding("read of a store in flight", "which another work-group has written",
                  "written by dispatch 1 (kernel writer", "whose wave has not waited for its store",
                  "missing: s_waitcnt vmcnt(0) after the store"));
  EXPECT_THAT(read(data + 1), IsEmpty());
  writer.wait();
  EXPECT_THAT(read(data), IsEmpty());
}

TEST_F(InFlight, WavesWaitForTheirOwnStores) {
  writer.wave(0).store(data, 7);
  writer.wave(1).wait();
  EXPECT_THAT(read(data), SizeIs(1));
  writer.wave(0).wait();
  EXPECT_THAT(read(data), IsEmpty());
}

TEST_F(InFlight, CountsEveryVectorMemoryOperation) {
  writer.store(data, 7);
  writer.load(data + 64);
  writer.store(data + 128, 7);
  writer.wait(3);
  EXPECT_THAT(read(data), SizeIs(1));
  writer.wait(2);
  EXPECT_THAT(read(data), IsEmpty());
  EXPECT_THAT(read(data + 128), SizeIs(1));
  writer.wait(1);
  EXPECT_THAT(read(data + 128), SizeIs(1));
  writer.wait(0);
  EXPECT_THAT(read(data + 128), IsEmpty());
}

TEST_F(InFlight, SixtyThreeAreAllThatCanBeUnderWay) {
  writer.store(data, 7);
  for (int n = 0; n < 62; ++n) writer.load(data + 64);
  EXPECT_THAT(read(data), SizeIs(1));
  writer.load(data + 64);
  EXPECT_THAT(read(data), IsEmpty());
}

TEST_F(InFlight, OneGroupsMemoryOperationsAreInOrder) {
  writer.wave(0).store(data, 7);
  writer.wave(1).load(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(InFlight, AtomicsAndLoadsWithGlcLookAtWhatTheyWaitFor) {
  writer.store(data, 7);
  reader.load_past_l1(data);
  reader.add(data);
  writer.add(data + 64);
  EXPECT_THAT(read(data + 64), IsEmpty());
}

TEST_F(InFlight, AGroupThatHasEndedHasWaitedForNothing) {
  {
    Group(s, work).store(data, 7);
  }
  EXPECT_THAT(read(data), SizeIs(1));
  s.end(work);
  const WorkId next = s.begin(1);
  Group(s, next).load(data);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(InFlight, CountsForOtherGpusAndCopiesToo) {
  uint32_t* const fine = s.fine();
  const WorkId other = s.begin(2);
  writer.store(fine, 7);
  Group(s, other).load(fine);
  EXPECT_THAT(s.take(), one_finding("read of a store in flight"));
  s.copy_out(1, fine);
  EXPECT_THAT(s.take(), one_finding("read of a store in flight in a copy"));
  writer.wait();
  Group(s, other).load(fine);
  s.copy_out(1, fine);
  EXPECT_THAT(s.take(), IsEmpty());
}

TEST_F(InFlight, IsNotToldBesideALineThatIsHidden) {
  writer.store(data, 7);
  s.copy_out(1, data);
  const WorkId other = s.begin(2);
  Group(s, other).load(data);
  EXPECT_THAT(s.take(), ElementsAre(HasSubstr("unreleased"), HasSubstr("unreleased")));
}

TEST_F(InFlight, IsForgottenWithItsMemory) {
  writer.store(data, 7);
  s.reallocate(data);
  s.take();
  EXPECT_THAT(read(data), IsEmpty());
  writer.wait();
  writer.store(data, 8);
  EXPECT_THAT(read(data), SizeIs(1));
}

// Code.

struct Code : InKernel {
  std::optional<Model::ChangedCode> fetch(uint32_t gpu = 0) {
    return s.model().fetch_code(gpu, reinterpret_cast<uint64_t>(data),
                                memory_at(reinterpret_cast<uint64_t>(data)));
  }
};

TEST_F(Code, MayBeOldUntilTheInstructionCacheIsInvalidated) {
  EXPECT_FALSE(fetch());
  EXPECT_FALSE(fetch());
  s.copy_in(1, data + 3, 7);
  const auto changed = fetch();
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->address, reinterpret_cast<uint64_t>(data + 3));
  EXPECT_THAT(changed->writer, ::testing::StartsWith("copy 1 (SDMA queue"));
  EXPECT_FALSE(fetch()) << "told once for a change";
  s.copy_in(1, data + 3, 8);
  s.model().invalidate_code(0);
  EXPECT_FALSE(fetch());
}

TEST_F(Code, IsFetchedByEachGpu) {
  EXPECT_FALSE(fetch(0));
  data[5] = 1;
  EXPECT_FALSE(fetch(1));
  s.model().invalidate_code(1);
  const auto changed = fetch(0);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->writer, "the host");
}

TEST_F(Code, OutsideOfAllocationsIsNotKnown) {
  alignas(kPageBytes) static uint8_t page[kPageBytes];
  EXPECT_FALSE(s.model().fetch_code(0, reinterpret_cast<uint64_t>(page), page));
  page[0] = 1;
  EXPECT_FALSE(s.model().fetch_code(0, reinterpret_cast<uint64_t>(page), page));
}

// What is forgotten, and what is told once.

TEST_F(InKernel, APairOfPlacesIsToldOnce) {
  const auto mistake = [&](const char* writer, uint64_t from, const char* reader, uint64_t to) {
    uint32_t* const memory = s.allocate(1);
    const WorkId writes = s.begin(1, {.release = kNone, .name = writer});
    Group(s, writes).at(from).store(memory, 7);
    s.end(writes);
    const WorkId reads = s.begin(1, {.name = reader});
    Group(s, reads).at(to).load(memory);
    s.end(reads);
    return s.take().size();
  };
  EXPECT_EQ(mistake("kernel a", 1, "kernel b", 2), 1u);
  EXPECT_EQ(mistake("kernel a", 1, "kernel b", 2), 0u);
  EXPECT_EQ(mistake("kernel a", 1, "kernel b", 3), 1u);
  EXPECT_EQ(mistake("kernel a", 2, "kernel b", 2), 1u);
  EXPECT_EQ(mistake("kernel c", 1, "kernel b", 2), 1u);
}

TEST_F(InKernel, AWriterOfLongAgoIsNotNamed) {
  const WorkId writes = s.begin(1, {.release = kAgent, .name = "kernel writer"});
  Group(s, writes).store(data, 7);
  s.end(writes);
  for (int n = 0; n < 70000; ++n) s.pass(2);
  s.copy_out(1, data);
  EXPECT_THAT(s.take(),
              one_finding("read of unreleased data", "written by an earlier dispatch or copy",
                          "missing: a release fence at system scope on GPU 1"));
}

// A kernel that runs for as long as its program, beside many others.
TEST_F(InKernel, AKernelThatRunsIsRemembered) {
  const WorkId long_one = s.begin(1, {.name = "kernel persistent"});
  {
    Group group(s, long_one);
    group.store(data, 7);
    for (int n = 0; n < 70000; ++n) s.pass(2, {.queue = 2});
    s.copy_out(1, data);
    EXPECT_THAT(s.take(), one_finding("(kernel persistent"));
  }
  const WorkId other = s.begin(1, {.acquire = kNone, .queue = 2});
  Group reader(s, other);
  reader.load(data);
  EXPECT_THAT(s.take(), one_finding("read of a store in flight"));
  s.end(long_one);
  s.copy_out(1, data);
  reader.invalidate_l1();
  reader.load(data);
  EXPECT_THAT(s.take(), IsEmpty()) << "its packet has released";
}

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
