// Real stores of this process through the PCI window, and whose they are said to be.
#include "vgpu/coherence/host_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "vgpu/coherence/model.h"
#include "vgpu/coherence/tests/simulation.h"

extern "C" {
int runtime_copies(void* to, const void* from, size_t bytes);
void runtime_stores(unsigned* to, unsigned value);
int program_copies(void* to, const void* from, size_t bytes);
void program_stores(unsigned* to, unsigned value);
int program_stores_behind(int (*copies)(void*, const void*, size_t), unsigned* to,
                          const unsigned* from, size_t words, unsigned value);
}

namespace halyard::vgpu::coherence::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kPages = 64;

// Of the process: one model watches the host for as long as it lives.
struct Watched {
  Watched() {
    model.guard_host_pages();
    watch_host(model);
    model.set_window_register(0, &hdp_flush);
  }
  std::vector<std::string> found;
  Model model{{{1, "gfx906", {}}}, [this](std::string_view text) { found.emplace_back(text); }};
  uint32_t hdp_flush = 0;
};

Watched& watched() {
  static auto* const one = new Watched;
  return *one;
}

class HostView : public ::testing::Test {
 protected:
  HostView() {
    void* const pages = mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data = static_cast<uint32_t*>(pages);
    Allocation allocation;
    allocation.begin = reinterpret_cast<uint64_t>(data);
    allocation.size = kPages * kPageBytes;
    allocation.placement = {.node = 1, .host_visible = true, .own_mapping = true};
    const Model::Lock lock(model);
    model.allocated(allocation);
  }
  ~HostView() override {
    const Model::Lock lock(model);
    model.freed(reinterpret_cast<uint64_t>(data));
    // What was taken has been given back.
    for (size_t page = 0; page < kPages; ++page) data[page * kPageBytes / 4] = 1;
    munmap(data, kPages * kPageBytes);
    watched().found.clear();
  }

  struct Names final : AccessNames {
    AccessText describe(uint64_t, uint64_t) const override { return {"a kernel", "it reads", ""}; }
    uint64_t place() const override { return place_; }
    uint64_t place_ = 0;
  };
  // A copy engine reads the words, as GPUs' memory has no other way out here.
  std::vector<std::string> read(const uint32_t* from, size_t words = 1) {
    static uint64_t next = 0;
    const Model::Lock lock(model);
    Work work;
    work.kind = WorkKind::kCopy;
    work.node = 1;
    const WorkId id = model.begin(std::move(work));
    Names names;
    names.place_ = ++next;
    model.copy_reads(id, reinterpret_cast<uint64_t>(from), words * 4, names);
    model.end(id);
    return std::exchange(watched().found, {});
  }
  void gpu_writes(uint32_t* to, uint32_t value) {
    const Model::Lock lock(model);
    Work work;
    work.kind = WorkKind::kCopy;
    work.node = 1;
    const WorkId id = model.begin(std::move(work));
    model.copy_writes(id, reinterpret_cast<uint64_t>(to), 4, Names());
    *to = value;
    model.copy_wrote(id, reinterpret_cast<uint64_t>(to), 4);
    model.end(id);
  }

  Model& model = watched().model;
  uint32_t* data = nullptr;
};

TEST_F(HostView, AStoreIsOfTheCodeThatStores) {
  program_stores(data + 3, 7);
  EXPECT_EQ(data[3], 7U);
  EXPECT_THAT(read(data + 3),
              ElementsAre(AllOf(HasSubstr("host write in flight"),
                                HasSubstr("written by the host, in program_stores ("),
                                HasSubstr("libvgpu_program_stores.so+0x"))));
  program_stores(data + 3, 8);
  EXPECT_THAT(read(data + 3), ElementsAre(HasSubstr("libvgpu_program_stores.so+0x")));
}

TEST_F(HostView, ACopyIsOfItsCaller) {
  const std::vector<uint32_t> from(2000, 5);
  program_copies(data, from.data(), from.size() * 4);
  EXPECT_EQ(std::memcmp(data, from.data(), from.size() * 4), 0);
  EXPECT_THAT(read(data, 2000), ElementsAre(HasSubstr("libvgpu_program_stores.so+0x")));
}

TEST_F(HostView, WhatTheRuntimesLibraryStoresIsNotTheProgramsFinding) {
  const std::vector<uint32_t> from(2000, 5);
  runtime_copies(data, from.data(), from.size() * 4);
  EXPECT_EQ(std::memcmp(data, from.data(), from.size() * 4), 0);
  EXPECT_THAT(read(data, 2000), IsEmpty());
  runtime_stores(data + 1, 6);
  EXPECT_THAT(read(data, 2000), IsEmpty());
  program_stores(data + 1, 7);
  EXPECT_THAT(read(data, 2000), ElementsAre(HasSubstr("libvgpu_program_stores.so+0x")));
}

TEST_F(HostView, AStoreToThePageThatTheRuntimeHasJustWrittenIsTheProgramsOwn) {
  const std::vector<uint32_t> from(64, 5);
  for (uint32_t times = 1; times <= 3; ++times) {
    program_stores_behind(runtime_copies, data, from.data(), from.size(), 6 + times);
    EXPECT_EQ(data[63], 6 + times);
    EXPECT_THAT(read(data, 32), IsEmpty()) << "the runtime's";
    EXPECT_THAT(read(data + 32, 32),
                ElementsAre(HasSubstr("written by the host, in program_stores_behind (")));
  }
}

TEST_F(HostView, AfterAGpuHasWrittenStoresAreSeenAgain) {
  runtime_stores(data, 6);
  gpu_writes(data + 1, 1);
  EXPECT_THAT(read(data, 2), IsEmpty());
  runtime_stores(data, 7);
  EXPECT_THAT(read(data, 2), IsEmpty());
  program_stores(data + 0, 8);
  EXPECT_THAT(read(data, 2), ElementsAre(HasSubstr("libvgpu_program_stores.so+0x")));
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

TEST_F(HostView, AGpusWritesDivideNoMapping) {
  const size_t before = mappings();
  for (size_t page = 0; page < kPages; page += 2) gpu_writes(data + page * kPageBytes / 4, 1);
  EXPECT_LE(mappings(), before + 1);
  program_stores(data, 8);
  EXPECT_THAT(read(data), ElementsAre(HasSubstr("libvgpu_program_stores.so+0x")));
}

// A process may have only so many mappings: then it is not known any more who writes.
TEST_F(HostView, SoManyPagesAreWatchedAndNoMore) {
  constexpr size_t kMany = 10000;
  void* const pages =
      mmap(nullptr, kMany * kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const many = static_cast<uint32_t*>(pages);
  Allocation allocation;
  allocation.begin = reinterpret_cast<uint64_t>(many);
  allocation.size = kMany * kPageBytes;
  allocation.placement = {.node = 1, .host_visible = true, .own_mapping = true};
  {
    const Model::Lock lock(model);
    model.allocated(allocation);
  }
  for (size_t page = 0; page < kMany; ++page) {
    program_stores(many + page * kPageBytes / 4, 1);
    ASSERT_EQ(many[page * kPageBytes / 4], 1U);
  }
  EXPECT_LT(mappings(), 20000U);
  EXPECT_THAT(read(many), ElementsAre(HasSubstr("libvgpu_program_stores.so+0x")));
  EXPECT_THAT(read(many + (kMany - 1) * kPageBytes / 4), IsEmpty());
  {
    const Model::Lock lock(model);
    model.freed(allocation.begin);
  }
  munmap(pages, kMany * kPageBytes);
}

TEST_F(HostView, MemoryThatAnotherProcessGetsIsGivenBack) {
  program_stores(data + 0, 1);
  {
    const Model::Lock lock(model);
    model.shared(reinterpret_cast<uint64_t>(data));
    // The thread that holds the model would be a GPU's: no signal may come.
    for (size_t page = 0; page < kPages; ++page) data[page * kPageBytes / 4] = 2;
  }
  EXPECT_THAT(read(data), IsEmpty());
}

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
