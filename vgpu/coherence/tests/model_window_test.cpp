// The PCI window: whose stores are found, and what the vendor's runtime relies on.
#include <gtest/gtest.h>

#include "vgpu/coherence/reliances.h"
#include "vgpu/coherence/tests/simulation.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr size_t kLineWords = kLineBytes / 4;
constexpr size_t kPageWords = kPageBytes / 4;

struct Window : ::testing::Test {
  explicit Window(bool notes = false) : s({"gfx906"}, notes) {}

  void host_stores(HostWriterId writer, uint32_t* to, uint32_t value) {
    s.model().host_writes(reinterpret_cast<uint64_t>(to), writer);
    *to = value;
  }
  // What is found when a dispatch reads a word.
  std::vector<std::string> read(const uint32_t* from) {
    const WorkId work = s.begin(1);
    Group(s, work).load(from);
    s.end(work);
    return s.take();
  }

  Simulation s;
  HostWriters& writers = s.model().host_writers();
  const HostWriterId program = writers.add({"program", "main (./program+0x1234)", 1});
  const HostWriterId hip = writers.add({"libamdhip64.so.5", "hipMemcpy (libamdhip64.so.5+0x1)", 2});
  uint32_t* const data = s.behind_window(1, 40);
};

TEST_F(Window, AStoreOfTheProgramIsFoundWithItsFunction) {
  host_stores(program, data, 7);
  EXPECT_THAT(read(data), one_finding("check: host write in flight",
                                      "written by the host, in main (./program+0x1234), and may "
                                      "still be in the HDP of GPU 1"));
}

TEST_F(Window, AStoreThatIsFlushedIsNotFound) {
  host_stores(program, data, 7);
  s.flush(1);
  EXPECT_THAT(read(data), IsEmpty());
}

TEST_F(Window, AStoreOfTheRuntimeIsNotTheProgramsFinding) {
  host_stores(hip, data, 7);
  EXPECT_THAT(read(data), IsEmpty());
}

TEST_F(Window, AStoreOfNobodyKnownIsTheHosts) {
  *data = 7;
  EXPECT_THAT(read(data), one_finding("written by the host, and may still be"));
}

TEST_F(Window, EachLineOfAPageHasItsWriter) {
  uint32_t* const other = data + kLineWords;
  host_stores(hip, data, 7);
  host_stores(program, other, 8);
  EXPECT_THAT(read(data), IsEmpty());
  EXPECT_THAT(read(other), one_finding("main (./program"));
  host_stores(program, other, 9);
  host_stores(hip, data, 10);
  EXPECT_THAT(read(data), IsEmpty());
  host_stores(program, data, 11);
  EXPECT_THAT(read(data), one_finding("main (./program"));
}

TEST_F(Window, TheLastWriterOfALineIsMeant) {
  host_stores(program, data, 7);
  host_stores(hip, data, 8);
  EXPECT_THAT(read(data), IsEmpty());
}

TEST_F(Window, WhoHasWrittenBeforeAGpuLookedIsNotWhoWritesBehindIt) {
  host_stores(hip, data, 7);
  EXPECT_THAT(read(data), IsEmpty());
  data[0] = 8;
  EXPECT_THAT(read(data), one_finding("written by the host,"));
}

TEST_F(Window, WhoWritesBesideAGpuIsNotKnown) {
  host_stores(hip, data, 7);
  const WorkId work = s.begin(1);
  Group writer(s, work);
  writer.store(data + 1, 1);
  data[0] = 8;
  Group(s, work).load(data);
  EXPECT_THAT(s.take(),
              ElementsAre(AllOf(HasSubstr("host write in flight"), HasSubstr("written by the host"),
                                Not(HasSubstr("hip")))));
}

TEST_F(Window, TheWritersOfManyPagesAreKept) {
  for (size_t page = 0; page < 40; ++page)
    host_stores(page % 2 != 0 ? hip : program, data + page * kPageWords, 7);
  size_t found = 0;
  for (size_t page = 0; page < 40; ++page) {
    const WorkId work = s.begin(1);
    Group(s, work).load(data + page * kPageWords);
    s.end(work);
    found += s.take().size();
  }
  EXPECT_EQ(found, 20U);
}

struct WindowNotes : Window {
  WindowNotes() : Window(true) {}
};

TEST_F(WindowNotes, WhatTheRuntimeReliesOnIsANoteWithTheReason) {
  host_stores(hip, data, 7);
  EXPECT_THAT(read(data), one_finding("check: note: host write in flight",
                                      "in hipMemcpy (libamdhip64.so.5+0x1)",
                                      "the runtime relies on it: hipMemcpy of up to 8 KiB"));
}

TEST(Reliances, AreOfALibraryAndAMistake) {
  EXPECT_NE(reliance(Mistake::kHostWindow, "libhsa-runtime64.so.1"), nullptr);
  EXPECT_NE(reliance(Mistake::kHostWindow, "libamdhip64-8f3a.so.7"), nullptr);
  EXPECT_EQ(reliance(Mistake::kStaleRead, "libamdhip64.so.5"), nullptr);
  EXPECT_EQ(reliance(Mistake::kHostWindow, "program"), nullptr);
  EXPECT_EQ(reliance(Mistake::kHostWindow, ""), nullptr);
}

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
