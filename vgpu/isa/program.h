// The decoded form of the code that waves have run, by address.
//
// Code is decoded when a wave first reaches it, a straight run at a time, into pages. A page keeps
// its source bytes. When code may have changed (invalidate(), or an unmapping that moved
// AddressSpace::epoch()), a page is compared with memory before its next use, and replaced if it
// differs. So an invalidation costs no decoding if the code is unchanged.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/instruction.h"
#include "vgpu/isa/memory.h"

namespace halyard::vgpu::isa {

// 4 KiB of code. `slot` is filled under the program's lock and read without it: a non-null pointer
// was published with release and stays valid as long as a dispatch that could see it runs.
struct CodePage {
  static constexpr uint64_t kBytes = 4096;
  static constexpr uint64_t kSlots = kBytes / 4;

  uint64_t base = 0;
  std::atomic<uint64_t> verified_epoch{0};
  std::atomic<uint64_t> verified_generation{0};
  uint64_t valid_begin = 0;  // the mapped part when the page was made, [begin, end), plus the first
  uint64_t valid_end = 0;    // dword behind the page if that is mapped too
  std::vector<uint8_t> bytes;
  std::vector<std::unique_ptr<Instruction[]>> blocks;
  std::atomic<const Instruction*> slot[kSlots] = {};
};

class Program {
 public:
  // `observed`: decoded instructions tell their work-group's observers (observer.h).
  Program(std::unique_ptr<Decoder> decoder, const AddressSpace& memory, bool observed = false);
  ~Program();

  // The page that holds `pc`, or null if `pc` is not mapped. Any thread.
  const CodePage* page(uint64_t pc);

  // The instruction at `pc`, which is in `page`, decoding on if no wave was there before; null if
  // `pc` is not mapped. `pc` is a multiple of 4. Any thread.
  const Instruction* decode_at(const CodePage& page, uint64_t pc);

  // The instruction at `pc` if it has been decoded and can be read, or null. Any thread.
  const Instruction* instruction(uint64_t pc);

  // From now on every page is compared with memory before it is used.
  void invalidate() { generation_.fetch_add(1, std::memory_order_acq_rel); }

  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Brackets the use of pages: replaced pages are freed when no thread is inside.
  void enter();
  void leave();

  Decoder& decoder() const { return *decoder_; }
  std::string text(uint64_t pc) const;

 private:
  bool still_valid(CodePage& page) const;
  std::unique_ptr<CodePage> make_page(uint64_t base, uint64_t pc) const;

  const std::unique_ptr<Decoder> decoder_;
  const AddressSpace& memory_;
  const bool observed_;
  std::atomic<uint64_t> generation_{1};

  std::mutex mutex_;  // all below
  std::unordered_map<uint64_t, std::unique_ptr<CodePage>> pages_;
  std::vector<std::unique_ptr<CodePage>> replaced_;
  uint32_t users_ = 0;
};

}  // namespace halyard::vgpu::isa
