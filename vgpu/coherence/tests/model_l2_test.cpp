// The rules of the L2s, and of what packets, copies and other GPUs do beside them.
#include <gtest/gtest.h>

#include "vgpu/coherence/tests/simulation.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr CachingFacts kVega{};
constexpr CachingFacts kAldebaran{.probes_own = true};
constexpr CachingFacts kMi300x{
    .probes_own = true, .holds_fine_grained = true, .host_is_uncached = true};
constexpr CachingFacts kMi300a{.probes_own = true, .holds_fine_grained = true, .host_is_own = true};

constexpr Scope kNoScope = Scope::kNone, kAgentScope = Scope::kAgent, kSystem = Scope::kSystem;

// Which memory an L2 holds in a way that somebody can miss.
static_assert(caching({0, false, true}, 1, kVega) == Caching::kUncached);
static_assert(caching({1, false, true}, 1, kVega) == Caching::kUncached);
static_assert(caching({2, false, true}, 1, kAldebaran) == Caching::kUncached);
static_assert(caching({1, false, false}, 1, kAldebaran) == Caching::kUncached);
static_assert(caching({0, true, true}, 1, kVega) == Caching::kNonCoherent);
static_assert(caching({0, true, true}, 1, kAldebaran) == Caching::kNonCoherent);
static_assert(caching({1, true, false}, 1, kVega) == Caching::kNonCoherent);
static_assert(caching({2, true, false}, 1, kVega) == Caching::kNonCoherent);
static_assert(caching({2, true, false}, 1, kAldebaran) == Caching::kNonCoherent);
static_assert(caching({1, true, false}, 1, kAldebaran) == Caching::kProbed);
static_assert(caching({1, true, false}, 1, kMi300x) == Caching::kProbed);
static_assert(caching({1, false, true}, 1, kMi300x) == Caching::kProbed);
static_assert(caching({2, true, false}, 1, kMi300x) == Caching::kNonCoherent);
static_assert(caching({2, false, true}, 1, kMi300x) == Caching::kUncached);
static_assert(caching({0, true, true}, 1, kMi300x) == Caching::kUncached);
static_assert(caching({0, false, true}, 1, kMi300a) == Caching::kProbed);

struct L2 : ::testing::Test {
  // Reads a word in a dispatch of its own.
  static void read(Simulation& s, uint32_t node, const uint32_t* from, Scope acquire = kSystem) {
    const WorkId work = s.begin(node, {.acquire = acquire, .name = "kernel reader"});
    Group(s, work).load(from);
    s.end(work);
  }
  static void write(Simulation& s, uint32_t node, uint32_t* to, uint32_t value,
                    Scope release = kSystem) {
    const WorkId work = s.begin(node, {.release = release, .name = "kernel writer"});
    Group(s, work).store(to, value);
    s.end(work);
  }

  Simulation vega{{"gfx900", "gfx900"}};
  Simulation aldebaran{{"gfx90a", "gfx90a"}};
};

// Stale lines.

TEST_F(L2, MayHoldWhatACopyHasReplacedUntilASystemAcquire) {
  uint32_t* const data = vega.allocate(1);
  read(vega, 1, data);
  vega.copy_in(1, data, 7);
  read(vega, 1, data, kAgentScope);
  EXPECT_THAT(vega.take(),
              one_finding("stale read in kernel reader", "GPU 1's coarse-grained memory",
                          "the L2 of GPU 1 may hold the line since dispatch", "written by copy",
                          "an acquire fence at system scope in dispatch",
                          "whose packet has agent, or in a packet between"));
  vega.copy_in(1, data, 8);
  read(vega, 1, data, kSystem);
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, OfAldebaranIsProbedForItsOwnMemoryOnly) {
  const auto stale = [&](uint32_t* data) {
    read(aldebaran, 1, data);
    aldebaran.copy_in(1, data, 7);
    read(aldebaran, 1, data, kAgentScope);
    return aldebaran.take();
  };
  EXPECT_THAT(stale(aldebaran.allocate(1)), IsEmpty());
  EXPECT_THAT(stale(aldebaran.allocate(0)), one_finding("the host's coarse-grained memory"));
  EXPECT_THAT(stale(aldebaran.allocate(2)), one_finding("GPU 2's coarse-grained memory"));
}

TEST_F(L2, HoldsNoFineGrainedMemory) {
  for (uint32_t* const data : {vega.fine(0), vega.fine(1), vega.fine(2)}) {
    read(vega, 1, data);
    vega.copy_in(1, data, 7);
    read(vega, 1, data, kAgentScope);
    *data = 8;
    read(vega, 1, data, kAgentScope);
    write(vega, 1, data, 9, kAgentScope);
    vega.copy_out(1, data);
    read(vega, 2, data);
  }
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, TheHostIsNamedWhereMemoryHasChangedByItself) {
  uint32_t* const data = vega.allocate(0);
  read(vega, 1, data);
  *data = 7;
  read(vega, 1, data, kAgentScope);
  EXPECT_THAT(vega.take(), one_finding("stale read", "after that it was written by the host\n"));
}

TEST_F(L2, FetchesLinesAndTellsBytes) {
  uint32_t* const data = vega.allocate(1);
  read(vega, 1, data);            // the whole line
  vega.copy_in(1, data + 15, 7);  // its last word
  read(vega, 1, data, kAgentScope);
  EXPECT_THAT(vega.take(), IsEmpty());
  read(vega, 1, data + 15, kAgentScope);
  EXPECT_THAT(vega.take(), one_finding("byte 60 of the 4096 bytes of GPU 1's"));
  vega.copy_in(1, data + 16, 7);  // the next line, which nobody has read
  read(vega, 1, data + 16, kAgentScope);
  EXPECT_THAT(vega.take(), IsEmpty());
}

// A store does not fetch the rest of its line.
TEST_F(L2, HasOfAWrittenLineTheBytesThatWereWritten) {
  uint32_t* const data = vega.allocate(1);
  write(vega, 1, data, 5);
  vega.copy_in(1, data + 1, 7);
  read(vega, 1, data + 1, kAgentScope);
  EXPECT_THAT(vega.take(), IsEmpty());
  vega.copy_in(1, data, 7);
  read(vega, 1, data, kAgentScope);
  EXPECT_THAT(vega.take(), one_finding("may hold the line since dispatch 1 (kernel writer"));
}

TEST_F(L2, KeepsDirtyBytesOverAnAcquire) {
  uint32_t* const data = vega.allocate(0);
  write(vega, 1, data, 5, kAgentScope);
  *data = 6;
  read(vega, 1, data, kSystem);
  EXPECT_THAT(vega.take(),
              one_finding("stale read", "since dispatch 1 (kernel writer", "written by the host\n",
                          "missing: a release fence at system scope in dispatch 1"));
}

TEST_F(L2, ABarrierPacketAcquiresAtItsEnd) {
  uint32_t* const data = vega.allocate(1);
  read(vega, 1, data);
  const WorkId barrier = vega.begin(1, {.release = kNoScope}, WorkKind::kBarrier);
  vega.copy_in(1, data, 7);
  vega.end(barrier);
  read(vega, 1, data, kAgentScope);
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, AnAcquireOfOneGpuDoesNothingForAnother) {
  uint32_t* const data = vega.allocate(0);
  read(vega, 2, data);
  *data = 7;
  vega.pass(1);
  read(vega, 2, data, kAgentScope);
  EXPECT_THAT(vega.take(), one_finding("the L2 of GPU 2"));
}

// The packet's acquire is long past: what a kernel has read itself, only an instruction drops.
TEST_F(L2, TheCureWithinAKernelIsAnInstruction) {
  const auto stale = [](Simulation& s) {
    uint32_t* const data = s.allocate(0);
    const WorkId work = s.begin(1);
    Group group(s, work);
    group.load(data);
    *data = 7;
    group.invalidate_l1();
    group.load(data);
    *data = 8;
    group.invalidate_l1();
    s.model().invalidate_l2(group.view());
    group.load(data);
    return s.take();
  };
  EXPECT_THAT(stale(aldebaran),
              one_finding("missing: buffer_invl2 between", "since this dispatch first read it"));
  Simulation one({"gfx900"});
  EXPECT_THAT(stale(one), one_finding("missing: a dispatch of its own for this read, with an "
                                      "acquire fence at system scope"));
}

TEST_F(L2, TheCureForLinesOfAnotherKernelThatRunsIsAnInstructionToo) {
  uint32_t* const data = aldebaran.allocate(0);
  const WorkId first = aldebaran.begin(1, {.queue = 1});
  const WorkId second = aldebaran.begin(1, {.queue = 2});
  Group(aldebaran, second).load(data);
  *data = 7;
  Group reader(aldebaran, first);
  reader.invalidate_l1();
  reader.load(data);
  EXPECT_THAT(aldebaran.take(), one_finding("since dispatch 2", "missing: buffer_invl2 between"));
}

// Dirty lines.

TEST_F(L2, HidesWhatItHasNotWrittenBackFromCopiesAndPeers) {
  for (Simulation* const s : {&vega, &aldebaran}) {
    for (const Scope scope : {kNoScope, kAgentScope}) {
      uint32_t* const data = s->allocate(1);
      write(*s, 1, data, 7, scope);
      s->copy_out(1, data);
      EXPECT_THAT(s->take(), one_finding("read of unreleased data in a copy",
                                         "which are not in memory yet: byte 0 of the 4096 bytes",
                                         "; the L2 of GPU 1 has them since",
                                         "a release fence at system scope in dispatch",
                                         scope == kNoScope ? "has none" : "has agent"));
      s->copy_out(2, data);
      EXPECT_THAT(s->take(), SizeIs(1)) << "whichever GPU's copy engine";
      read(*s, 2, data);
      EXPECT_THAT(s->take(), one_finding("read of unreleased data in kernel reader",
                                         "written by dispatch", "(kernel writer"));
      read(*s, 1, data, kAgentScope);
      // Its own GPU reads by the same L2, if it may read at all.
      EXPECT_THAT(s->take(), SizeIs(scope == kNoScope ? 1 : 0));
    }
    uint32_t* const data = s->allocate(1);
    write(*s, 1, data, 7, kSystem);
    s->copy_out(1, data);
    read(*s, 2, data);
    EXPECT_THAT(s->take(), IsEmpty());
  }
}

TEST_F(L2, IsWrittenBackByAnyPacketOfItsGpu) {
  uint32_t* const data = vega.allocate(1);
  write(vega, 1, data, 7, kNoScope);
  vega.pass(2);
  vega.pass(1, {.acquire = kNoScope, .release = kAgentScope, .queue = 2});
  vega.copy_out(1, data);
  EXPECT_THAT(vega.take(), SizeIs(1));
  vega.pass(1, {.acquire = kNoScope, .release = kSystem, .queue = 2});
  vega.copy_out(1, data);
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, TellsOnlyOfBytesThatAreReadOrWritten) {
  uint32_t* const data = vega.allocate(1);
  write(vega, 1, data + 1, 7, kAgentScope);
  vega.copy_out(1, data);
  vega.copy_in(1, data + 2, 7);
  read(vega, 2, data + 3);
  EXPECT_THAT(vega.take(), IsEmpty());
  vega.copy_out(1, data, 2);
  EXPECT_THAT(vega.take(), one_finding("byte 4 of the 4096"));
}

TEST_F(L2, WouldBeWrittenBackOverWhatOthersWrite) {
  for (Simulation* const s : {&vega, &aldebaran}) {
    uint32_t* data = s->allocate(1);
    write(*s, 1, data, 7, kAgentScope);
    s->copy_in(1, data, 8);
    EXPECT_THAT(s->take(),
                one_finding("overwrite of unreleased data in a copy", "it writes",
                            "which are still to be written back", "(kernel writer",
                            "a release fence at system scope in dispatch 1", "has agent"));
    data = s->allocate(1);
    write(*s, 1, data, 7, kAgentScope);
    write(*s, 2, data, 8);
    EXPECT_THAT(s->take(), one_finding("overwrite of unreleased data in kernel writer"));
    data = s->allocate(1);
    write(*s, 1, data, 7, kSystem);
    s->copy_in(1, data, 8);
    write(*s, 2, data, 9);
    EXPECT_THAT(s->take(), IsEmpty());
  }
}

TEST_F(L2, IsWrittenBackByAnInstruction) {
  uint32_t* const data = aldebaran.allocate(1);
  const WorkId work = aldebaran.begin(1, {.name = "kernel writer"});
  Group group(aldebaran, work);
  group.store(data, 7);
  read(aldebaran, 2, data);
  EXPECT_THAT(
      aldebaran.take(),
      one_finding("missing: buffer_wbl2 and s_waitcnt vmcnt(0) after the store",
                  "or a wait for the end of dispatch 1", "whose packet releases at system scope"));
  const WorkId others = aldebaran.begin(2);
  Group other(aldebaran, others);
  aldebaran.model().write_back_l2(other.view());
  aldebaran.copy_out(1, data);
  EXPECT_THAT(aldebaran.take(), SizeIs(1)) << "the other GPU's L2";
  aldebaran.model().write_back_l2(group.view());
  group.wait();
  read(aldebaran, 2, data, kAgentScope);
  aldebaran.copy_out(1, data);
  EXPECT_THAT(aldebaran.take(), IsEmpty());
}

TEST_F(L2, TheCureForAKernelThatRunsIsItsEnd) {
  uint32_t* const data = vega.allocate(1);
  const WorkId work = vega.begin(1, {.release = kAgentScope});
  Group group(vega, work);
  group.store(data, 7);
  vega.copy_out(1, data);
  EXPECT_THAT(vega.take(), one_finding("missing: a wait for the end of dispatch 1",
                                       "and a release fence at system scope in dispatch 1",
                                       "whose packet has agent"));
}

// Packets.

TEST_F(L2, WhatAPacketHasNotReleasedIsNotForOthersOfItsGpu) {
  uint32_t* const data = vega.allocate(1);
  write(vega, 1, data, 7, kNoScope);
  read(vega, 1, data);
  EXPECT_THAT(vega.take(), one_finding("read of unreleased data in kernel reader",
                                       "an earlier packet has written and not released",
                                       "a release fence at agent scope in dispatch 1", "has none"));
  vega.pass(1, {.acquire = kNoScope, .release = kAgentScope});
  read(vega, 1, data);
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, PacketsThatMayOverlapAreNotOrdered) {
  const auto second = [&](uint32_t* data, Packet packet, bool stores) {
    const WorkId work = vega.begin(1, std::move(packet));
    if (stores) {
      Group(vega, work).store(data, 8);
    } else {
      Group(vega, work).load(data);
    }
    vega.end(work);
    return vega.take();
  };
  uint32_t* const data = vega.allocate(1);
  const auto first = [&] {
    const WorkId work = vega.begin(1, {.name = "kernel writer", .index = 4, .ordered_below = 4});
    Group(vega, work).store(data, 7);
    vega.end(work);
  };
  first();
  EXPECT_THAT(
      second(data, {.index = 5, .ordered_below = 4}, false),
      one_finding("unordered packets", "a lane reads", "an earlier packet of the queue has written",
                  "(kernel writer, packet 4", "which may still run",
                  "missing: the barrier bit in dispatch 2", "packet 5"));
  EXPECT_THAT(second(data, {.index = 6, .ordered_below = 4}, true),
              one_finding("unordered packets", "a lane writes"));
  first();
  EXPECT_THAT(second(data, {.index = 5, .ordered_below = 5}, false), IsEmpty());
  EXPECT_THAT(second(data, {.queue = 2, .index = 5, .ordered_below = 4}, false), IsEmpty())
      << "another queue";
  EXPECT_THAT(second(data + 1, {.index = 5, .ordered_below = 4}, false), IsEmpty())
      << "other bytes";
}

TEST_F(L2, AWriteMayNotOvertakeARead) {
  uint32_t* const data = vega.allocate(1);
  const auto run = [&](uint64_t index, uint64_t ordered_below, auto&& body) {
    const WorkId work = vega.begin(1, {.index = index, .ordered_below = ordered_below});
    body(Group(vega, work));
    vega.end(work);
    return vega.take();
  };
  run(4, 4, [&](Group&& group) {
    group.load(data);
    group.load_scalar(data + 64);
    group.load_past_l1(data + 128);
    group.load(data + 192);
  });
  EXPECT_THAT(run(5, 4, [&](Group&& group) { group.store(data + 1, 7); }), IsEmpty());
  EXPECT_THAT(run(6, 4, [&](Group&& group) { group.store(data, 7); }),
              one_finding("unordered packets", "a lane writes",
                          "which an earlier packet of the queue reads", "read by dispatch 1",
                          "which may still run", "missing: the barrier bit in dispatch 3"));
  EXPECT_THAT(run(7, 4, [&](Group&& group) { group.store(data + 64, 7); }),
              one_finding("read by dispatch 1"));
  // What synchronises is read and written at any time.
  EXPECT_THAT(run(8, 4, [&](Group&& group) { group.store(data + 128, 7); }), IsEmpty());
  EXPECT_THAT(run(9, 4, [&](Group&& group) { group.add(data + 192); }), IsEmpty());
  run(10, 4, [&](Group&& group) { group.load(data + 256); });
  EXPECT_THAT(run(11, 11, [&](Group&& group) { group.store(data + 256, 7); }), IsEmpty());
}

// Instructions take turns in a line.
TEST_F(L2, KnowsWhatADispatchHasWrittenByWhicheverInstruction) {
  uint32_t* const data = vega.allocate(1);
  const WorkId writes = vega.begin(1, {.release = kNoScope, .name = "kernel writer", .index = 4});
  {
    Group group(vega, writes);
    group.store(data, 7);
    group.store(data + 1, 7);
    group.add(data + 2);
    group.add(data + 3);
  }
  vega.end(writes);
  const WorkId other = vega.begin(1, {.release = kNoScope, .queue = 2});
  Group group(vega, other);
  for (uint32_t* const word : {data + 2, data + 3}) group.add(word);
  EXPECT_THAT(vega.take(), IsEmpty()) << "all of them atomics";
  group.load(data + 4);
  EXPECT_THAT(vega.take(), IsEmpty()) << "which nobody has written";
  group.load(data + 2);
  EXPECT_THAT(vega.take(), IsEmpty()) << "its own";
}

TEST_F(L2, NamesAnEarlierInstructionsDispatch) {
  uint32_t* const data = vega.allocate(1);
  const WorkId writes = vega.begin(1, {.release = kNoScope, .name = "kernel writer"});
  {
    Group group(vega, writes);
    group.store(data, 7);
    group.store(data + 1, 7);
  }
  vega.end(writes);
  const WorkId reads = vega.begin(1);
  Group reader(vega, reads);
  reader.load(data);
  EXPECT_THAT(vega.take(), one_finding("unreleased",
                                       "written by dispatch 1 (kernel writer, packet 0 of queue 1 "
                                       "on GPU 1)\n"));
  reader.load(data + 1);
  EXPECT_THAT(vega.take(), one_finding("unreleased", "on GPU 1) at "));
  vega.copy_out(1, data);
  EXPECT_THAT(vega.take(), one_finding("written by dispatch 1 (kernel writer, packet 0 of queue 1 "
                                       "on GPU 1); the L2 of GPU 1"));
}

// Bytes that only an L2 has were never the host's.
TEST_F(L2, NamesTheOwnerOfDirtyBytesThatSomebodyElseWroteBeside) {
  uint32_t* const data = vega.allocate(1);
  write(vega, 1, data, 7, kAgentScope);
  vega.copy_in(1, data + 1, 7);
  vega.copy_out(1, data);
  EXPECT_THAT(vega.take(), one_finding("written by dispatch 1 (kernel writer", "has agent"));
}

TEST_F(L2, TellsTheHostFromOthersThatWroteBefore) {
  uint32_t* const data = vega.allocate(1);
  read(vega, 1, data);
  write(vega, 2, data, 7);
  read(vega, 1, data, kAgentScope);
  EXPECT_THAT(vega.take(), one_finding("after that it was written by dispatch 2 (kernel writer"));
  vega.pass(1);
  read(vega, 1, data);
  *data = 8;
  read(vega, 1, data, kAgentScope);
  EXPECT_THAT(vega.take(), one_finding("after that it was written by the host\n"));
}

TEST_F(L2, AWriteOverWhatIsNotReleasedIsCalledThat) {
  uint32_t* const data = vega.allocate(1);
  write(vega, 1, data, 7, kNoScope);
  write(vega, 1, data, 8, kAgentScope);
  EXPECT_THAT(vega.take(), one_finding("overwrite of unreleased data in kernel writer",
                                       "a release fence at agent scope in dispatch 1"));
}

TEST_F(L2, AtomicsNeedNoOrder) {
  uint32_t* const data = vega.allocate(1);
  const WorkId first = vega.begin(1, {.index = 4, .ordered_below = 4});
  Group(vega, first).add(data);
  vega.end(first);
  const WorkId second = vega.begin(1, {.index = 5, .ordered_below = 4});
  Group group(vega, second);
  group.add(data);
  group.load_past_l1(data);
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, APlainReadOfAnAtomicNeedsOrder) {
  uint32_t* const data = vega.allocate(1);
  const WorkId first = vega.begin(1, {.index = 4, .ordered_below = 4});
  Group(vega, first).add(data);
  vega.end(first);
  const WorkId second = vega.begin(1, {.index = 5, .ordered_below = 4});
  Group(vega, second).load(data);
  EXPECT_THAT(vega.take(), one_finding("unordered packets"));
}

// Memory that goes and comes.

TEST_F(L2, ForgetsMemoryThatIsFreed) {
  uint32_t* const data = vega.allocate(1, true, 2);
  write(vega, 1, data, 7, kNoScope);
  write(vega, 1, data + 1024, 7, kNoScope);
  read(vega, 2, data + 1536);
  {
    const WorkId work = vega.begin(1);
    Group(vega, work).store_scalar(data + 8, 7);
    vega.end(work);
  }
  vega.take();
  vega.reallocate(data);
  vega.take();
  vega.copy_out(1, data, 2048);
  vega.copy_in(1, data, 9, 2048);
  EXPECT_THAT(vega.take(), IsEmpty());
  read(vega, 2, data + 1536, kNoScope);
  read(vega, 1, data, kNoScope);
  EXPECT_THAT(vega.take(), IsEmpty());
  vega.pass(1);  // nothing of it is written back
}

TEST_F(L2, MemoryIsFreedWhenItsBytesAreReleased) {
  for (Simulation* const s : {&vega, &aldebaran}) {
    for (const uint32_t owner : {0, 1, 2}) {
      uint32_t* const data = s->allocate(owner, true, 2);
      write(*s, 1, data + 1025, 7, kAgentScope);
      s->reallocate(data);
      EXPECT_THAT(
          s->take(),
          one_finding("unreleased data in freed memory in the host's program",
                      "the host frees memory, of which bytes are still to be written back: byte "
                      "4100 of the 8192 bytes of ",
                      "written by dispatch ", "(kernel writer, packet 0 of queue 1 on GPU 1) at ",
                      "; the L2 of GPU 1 has them since",
                      "missing: a release fence at system scope in dispatch ",
                      "whose packet has agent, or in a packet between"));
      write(*s, 1, data, 7, kAgentScope);
      s->pass(2);  // another GPU's release
      s->pass(1);
      s->reallocate(data);
      EXPECT_THAT(s->take(), IsEmpty());
    }
  }
}

TEST_F(L2, MemoryThatOthersHaveIsNotFreed) {
  uint32_t* const data = vega.allocate(1);
  write(vega, 1, data, 7, kAgentScope);
  vega.model().shared(reinterpret_cast<uint64_t>(data));
  vega.reallocate(data);
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, WithoutAQueueNothingCanBeReleased) {
  for (const uint32_t lost : {1, 0}) {
    uint32_t* const data = vega.allocate(1);
    write(vega, 1, data, 7, kAgentScope);
    vega.model().lost(lost);
    vega.reallocate(data);
    EXPECT_THAT(vega.take(), SizeIs(lost)) << lost;
  }
}

TEST_F(L2, FineGrainedMemoryMayBeFreedAtAnyTime) {
  uint32_t* const data = vega.fine(1);
  write(vega, 1, data, 7, kNoScope);
  vega.reallocate(data);
  EXPECT_THAT(vega.take(), IsEmpty());
}

TEST_F(L2, KnowsNothingOfOtherMemory) {
  alignas(64) static uint32_t unknown[16];
  write(vega, 1, unknown, 7, kNoScope);
  read(vega, 2, unknown, kNoScope);
  vega.copy_out(1, unknown);
  vega.copy_in(1, unknown, 8);
  EXPECT_THAT(vega.take(), IsEmpty());
}

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
