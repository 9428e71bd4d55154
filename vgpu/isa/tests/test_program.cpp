// Decoded code: how much of it there is, and when what is replaced goes.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/isa/interpreter.h"
#include "vgpu/isa/program.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

constexpr uint32_t kNop = 0xbf800000;   // s_nop 0
constexpr uint32_t kNop1 = 0xbf800001;  // s_nop 1

class ProgramTest : public ::testing::Test {
 protected:
  // `pages` pages of s_nop, and a program that holds at most `most` bytes of decoded code.
  void make(size_t pages, size_t most) {
    code_.assign((pages + 1) * kWords, kNop);
    const auto first = reinterpret_cast<uint64_t>(code_.data());
    begin_ = (first + CodePage::kBytes - 1) & ~(CodePage::kBytes - 1);
    memory_.map(code_.data(), code_.size() * 4);
    std::string error;
    auto decoder = Decoder::create("gfx900", "", error);
    ASSERT_TRUE(decoder) << error;
    program_ = std::make_unique<Program>(std::move(decoder), memory_, false, most);
  }
  uint64_t address(size_t page) const { return begin_ + kApart + page * CodePage::kBytes; }
  uint32_t* word(size_t page) const {
    return reinterpret_cast<uint32_t*>(begin_ + page * CodePage::kBytes);
  }
  // Decodes all of a page, as waves that run through it do.
  const Instruction* run_through(PageCache& pages, size_t page) {
    const Instruction* first = nullptr;
    for (uint64_t at = 0; at < CodePage::kBytes; at += 4) {
      const CodePage* const code = pages.find(address(page) + at);
      const Instruction* const instruction = program_->decode_at(*code, address(page) + at);
      if (first == nullptr) first = instruction;
    }
    return first;
  }

  static constexpr size_t kWords = CodePage::kBytes / 4;
  std::vector<uint32_t> code_;
  uint64_t begin_ = 0;
  FakeMemory memory_;
  std::unique_ptr<Program> program_;
};

TEST_F(ProgramTest, DecodedCodeIsLimited) {
  constexpr size_t kMost = size_t{1} << 20;
  constexpr size_t kPages = 40;
  make(kPages, kMost);
  PageCache pages(*program_);
  for (unsigned round = 0; round < 3; ++round) {
    for (size_t page = 0; page < kPages; ++page) {
      EXPECT_EQ(run_through(pages, page)->extra->mnemonic, "s_nop");
      EXPECT_LE(program_->decoded_bytes(), kMost);
      pages.rest();
    }
  }
  // What was evicted last may still wait: another search frees it.
  EXPECT_LE(program_->retired_bytes(), kMost);
}

TEST_F(ProgramTest, ThePageInUseStaysHoweverSmallTheLimit) {
  make(2, 1);
  PageCache pages(*program_);
  EXPECT_EQ(run_through(pages, 0)->extra->mnemonic, "s_nop");
  EXPECT_EQ(run_through(pages, 1)->extra->mnemonic, "s_nop");
}

TEST_F(ProgramTest, APageThatIsUsedAllTheTimeStays) {
  constexpr size_t kPages = 40;
  make(kPages, size_t{1} << 20);
  PageCache pages(*program_);
  const Instruction* const hot = run_through(pages, 0);
  for (size_t page = 1; page < kPages; ++page) {
    run_through(pages, page);
    // Past this thread's own cache, which holds eight.
    program_->page(address(0));
    pages.rest();
  }
  const CodePage* const code = program_->page(address(0));
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->slot[0].load(), hot);
}

TEST_F(ProgramTest, WhatIsReplacedGoesThoughAThreadNeverLeaves) {
  make(1, Program::kMostBytes);
  PageCache endless(*program_);  // of a kernel that does not end
  run_through(endless, 0);
  for (unsigned n = 0; n < 50; ++n) {
    // A module is loaded where another one was.
    *word(0) = n % 2 == 0 ? kNop1 : kNop;
    program_->invalidate();
    run_through(endless, 0);
    endless.rest();
    EXPECT_LE(program_->retired_bytes(), size_t{1} << 20) << n;
  }
}

TEST_F(ProgramTest, AThreadThatDoesNotRestKeepsWhatItHolds) {
  make(1, Program::kMostBytes);
  PageCache pages(*program_);
  PageCache other(*program_);
  const Instruction* const held = run_through(other, 0);
  *word(0) = kNop1;
  program_->invalidate();
  run_through(pages, 0);
  pages.rest();
  EXPECT_GT(program_->retired_bytes(), 0u);
  EXPECT_EQ(held->extra->mnemonic, "s_nop");  // asan sees it if the page is gone
  other.rest();
  {
    const Program::Reader anybody(*program_);
  }
  EXPECT_EQ(program_->retired_bytes(), 0u);
}

TEST_F(ProgramTest, ThreadsShareCodeThatChanges) {
  constexpr size_t kPages = 24;
  make(kPages, size_t{1} << 20);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < 3; ++n) {
    threads.emplace_back([&, n] {
      PageCache pages(*program_);
      for (size_t at = n; !done.load(); ++at) {
        const uint64_t pc = address(at * 7 % kPages) + at % kWords * 4;
        const CodePage* const code = pages.find(pc);
        const Instruction* const known = code->slot[(pc - code->base) / 4].load();
        const Instruction* const instruction = known ? known : program_->decode_at(*code, pc);
        EXPECT_EQ(instruction->size, 4u);
        if (at % 16 == 0) pages.rest();
      }
    });
  }
  for (unsigned n = 0; n < 300; ++n) {
    program_->invalidate();
    std::this_thread::yield();
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
}

// Memory that can be told to let a lookup of one address wait.
class SlowMemory final : public AddressSpace {
 public:
  explicit SlowMemory(const AddressSpace& memory) : memory_(memory) {}
  MemoryRange find(uint64_t address) const override {
    if (address == waits_at) {
      waiting.set_value();
      may_go.wait();
    }
    return memory_.find(address);
  }
  uint64_t address_of_fault(uint64_t host) const override { return memory_.address_of_fault(host); }
  uint64_t epoch() const override { return memory_.epoch(); }
  void describe(uint64_t address, char* text, uint64_t capacity) const override {
    memory_.describe(address, text, capacity);
  }

  uint64_t waits_at = 0;
  mutable std::promise<void> waiting;
  std::shared_future<void> may_go;

 private:
  const AddressSpace& memory_;
};

// While one thread makes a page, under the program's lock, others run through 512 KiB of code.
TEST_F(ProgramTest, ALoopOverMuchCodeTakesNoLock) {
  constexpr size_t kPages = 128;
  make(kPages + 1, Program::kMostBytes);
  SlowMemory slow(memory_);
  std::string error;
  Program program(Decoder::create("gfx900", "", error), slow);
  const auto run_through_all = [&] {
    size_t known = 0;
    for (size_t page = 0; page < kPages; ++page) {
      const CodePage* const code = program.page(address(page));
      known += code != nullptr && code->slot[0].load() != nullptr;
    }
    return known;
  };
  // A reader takes the lock where it begins and ends.
  const Program::Reader reader(program);
  for (size_t page = 0; page < kPages; ++page)
    program.decode_at(*program.page(address(page)), address(page));
  ASSERT_EQ(run_through_all(), kPages);

  std::promise<void> go;
  slow.may_go = go.get_future().share();
  slow.waits_at = address(kPages);
  std::thread maker([&] { EXPECT_NE(program.page(address(kPages)), nullptr); });
  slow.waiting.get_future().wait();
  std::promise<size_t> looped;
  std::future<size_t> known = looped.get_future();
  std::thread looper([&] { looped.set_value(run_through_all()); });
  EXPECT_EQ(known.wait_for(std::chrono::seconds(20)), std::future_status::ready)
      << "it waits for the lock";
  go.set_value();
  maker.join();
  looper.join();
  EXPECT_EQ(known.get(), kPages);
}

// An instruction of 16 bytes, of which a page has the first 4, 8 or 12.
TEST_F(ProgramTest, LongInstructionsReachIntoTheNextPage) {
  make(2, Program::kMostBytes);
  std::string error;
  const std::vector<uint8_t> code =
      assemble("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21",
               "gfx950", error);
  if (code.empty()) GTEST_SKIP() << "this release of LLVM does not know gfx950: " << error;
  ASSERT_EQ(code.size(), 16u);
  for (const size_t inside : {4, 8, 12}) {
    const uint64_t at = address(1) - inside;
    std::copy(code.begin(), code.end(), host_of(at));
    Program program(Decoder::create("gfx950", "", error), memory_);
    Program::Reader reader(program);
    const Instruction* const found = program.decode_at(*program.page(at), at);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->size, 16u) << inside;
    EXPECT_EQ(found->op, Op::v_mfma_scale_f32_16x16x128_f8f6f4) << inside;
    EXPECT_EQ(program.text(at).substr(0, 12), "v_mfma_scale") << inside;
  }
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
