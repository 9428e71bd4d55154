// Decoded code: how much of it there is, and when what is replaced goes.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/isa/interpreter.h"
#include "vgpu/isa/program.h"
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

}  // namespace
}  // namespace halyard::vgpu::isa::testing
