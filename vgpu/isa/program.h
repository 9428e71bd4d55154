// The decoded form of the code that waves have run, by address.
//
// Code is decoded when a wave first reaches it, a straight run at a time, into pages. A page keeps
// its source bytes. When code may have changed (invalidate(), or an unmapping that moved
// AddressSpace::epoch()), a page is compared with memory before its next use, and replaced if it
// differs. So an invalidation costs no decoding if the code is unchanged.
//
// Decoded code is limited: beyond the limit, pages that have not been looked up for the longest
// time go. Threads that run waves hold pages without a lock, so a page that is replaced or evicted
// is freed once each of them has said that it holds none (quiescent-state-based reclamation):
// between the turns of work-groups, so an endless kernel keeps nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/instruction.h"
#include "vgpu/isa/memory.h"

namespace halyard::vgpu::isa {

// A straight run of instructions, and what stands beside each.
struct CodeBlock {
  std::unique_ptr<Instruction[]> instructions;
  std::unique_ptr<InstructionExtra[]> extras;
};

// 4 KiB of code. `slot` is filled under the program's lock and read without it: a non-null pointer
// was published with release and stays valid as long as the page.
struct CodePage {
  static constexpr uint64_t kBytes = 4096;
  static constexpr uint64_t kSlots = kBytes / 4;

  uint64_t base = 0;
  std::atomic<uint64_t> verified_epoch{0};
  std::atomic<uint64_t> verified_generation{0};
  uint64_t valid_begin = 0;  // the mapped part when the page was made, [begin, end), plus what an
  uint64_t valid_end = 0;    // instruction can have behind the page if that is mapped too
  std::vector<uint8_t> bytes;
  std::vector<CodeBlock> blocks;
  size_t size = 0;                         // bytes that the page takes, with its instructions
  std::atomic<bool> recently_used{false};  // looked up again since the last search for one to evict
  bool retired = false;                    // waits to be freed
  std::atomic<const Instruction*> slot[kSlots] = {};
};

class Program {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;

  // `observed`: decoded instructions tell their work-group's observers (observer.h). `most_bytes`:
  // of decoded code; the page that is in use can exceed it.
  Program(std::unique_ptr<Decoder> decoder, const AddressSpace& memory, bool observed = false,
          size_t most_bytes = kMostBytes);
  ~Program();

  // A thread that uses pages. What page(), decode_at() and instruction() return stays valid until
  // it rests. Lives as long as the program at most.
  class Reader {
   public:
    explicit Reader(Program& program);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // The thread holds nothing of the program. False if nothing was retired since the last time, so
    // that what it held before is still valid.
    bool rest() {
      const uint64_t now = program_.retirements_.load(std::memory_order_acquire);
      if (now == seen_.load(std::memory_order_relaxed)) return false;
      seen_.store(now, std::memory_order_release);
      return true;
    }

   private:
    friend class Program;
    Program& program_;
    std::atomic<uint64_t> seen_;
  };

  // The page that holds `pc`, or null if `pc` is not mapped. A reader's thread.
  const CodePage* page(uint64_t pc);

  // The instruction at `pc`, which is in `page`, decoding on if no wave was there before; null if
  // `pc` is not mapped. `pc` is a multiple of 4. A reader's thread.
  const Instruction* decode_at(const CodePage& page, uint64_t pc);

  // The instruction at `pc` if it has been decoded and can be read, or null. A reader's thread.
  const Instruction* instruction(uint64_t pc);

  // From now on every page is compared with memory before it is used.
  void invalidate() { generation_.fetch_add(1, std::memory_order_acq_rel); }

  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Bytes of decoded code that can be used, and of what waits for readers to rest.
  size_t decoded_bytes() const;
  size_t retired_bytes() const;

  Decoder& decoder() const { return *decoder_; }
  std::string text(uint64_t pc) const;

 private:
  using PageMap = std::unordered_map<uint64_t, std::unique_ptr<CodePage>>;
  // A power of two, so that code of 4 MiB finds its pages without the lock.
  static constexpr uint64_t kTable = 1024;

  std::atomic<CodePage*>& table_entry(uint64_t base) {
    return table_[base / CodePage::kBytes % kTable];
  }
  bool still_valid(CodePage& page) const;
  std::unique_ptr<CodePage> make_page(uint64_t base, uint64_t pc) const;
  // Under the lock.
  void retire(PageMap::iterator page);
  void evict(const CodePage& in_use);
  void collect();

  const std::unique_ptr<Decoder> decoder_;
  const AddressSpace& memory_;
  const bool observed_;
  std::atomic<uint64_t> generation_{1};

  const size_t most_bytes_;
  std::atomic<uint64_t> retirements_{1};
  std::atomic<CodePage*> table_[kTable] = {};

  mutable std::mutex mutex_;  // all below
  PageMap pages_;
  std::deque<uint64_t> order_;  // the bases of pages_, the next to evict first
  size_t decoded_bytes_ = 0;
  struct Retired {
    uint64_t when = 0;  // the count of retirements that readers must have seen
    std::unique_ptr<CodePage> page;
  };
  std::vector<Retired> retired_;
  std::vector<Reader*> readers_;
};

}  // namespace halyard::vgpu::isa
