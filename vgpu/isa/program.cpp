#include "vgpu/isa/program.h"

#include <algorithm>
#include <cstring>

#include "vgpu/host_guard.h"
#include "vgpu/isa/observer.h"

namespace halyard::vgpu::isa {
namespace {

// The longest straight run that is decoded at once: enough for a loop body, but short, because a
// jump past it wastes the decoding of skipped code.
constexpr unsigned kRun = 64;

// No gfx9 instruction is longer than 8 bytes: one dword behind the page is all it can need.
constexpr uint64_t kTail = 4;

bool ends_run(const Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  return name == "s_endpgm" || name == "s_branch" || name == "s_setpc_b64" ||
         name == "s_swappc_b64";
}

}  // namespace

Program::Program(std::unique_ptr<Decoder> decoder, const AddressSpace& memory, bool observed)
    : decoder_(std::move(decoder)), memory_(memory), observed_(observed) {}

Program::~Program() = default;

const CodePage* Program::page(uint64_t pc) {
  const uint64_t base = pc & ~(CodePage::kBytes - 1);
  // Read before memory is looked at: if it moves meanwhile, the page is compared again next time.
  const uint64_t epoch = memory_.epoch();
  const uint64_t generation = generation_.load(std::memory_order_acquire);

  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(base);
  if (found != pages_.end()) {
    CodePage& page = *found->second;
    const bool inside = pc >= page.valid_begin && pc + 4 <= page.valid_end;
    const bool fresh = page.verified_epoch.load(std::memory_order_relaxed) == epoch &&
                       page.verified_generation.load(std::memory_order_relaxed) == generation;
    if (inside && (fresh || still_valid(page))) {
      page.verified_epoch.store(epoch, std::memory_order_relaxed);
      page.verified_generation.store(generation, std::memory_order_relaxed);
      return &page;
    }
    replaced_.push_back(std::move(found->second));
    pages_.erase(found);
  }
  std::unique_ptr<CodePage> fresh = make_page(base, pc);
  if (!fresh) return nullptr;
  fresh->verified_epoch.store(epoch, std::memory_order_relaxed);
  fresh->verified_generation.store(generation, std::memory_order_relaxed);
  return pages_.emplace(base, std::move(fresh)).first->second.get();
}

bool Program::still_valid(CodePage& page) const {
  const MemoryRange range = memory_.find(page.valid_begin);
  if (!range.contains(page.valid_begin, page.valid_end - page.valid_begin)) return false;
  bool same = false;
  HostFault gone;
  const uint8_t* const now = range.host(page.valid_begin);
  return guarded([&] { same = std::memcmp(now, page.bytes.data(), page.bytes.size()) == 0; },
                 gone) &&
         same;
}

std::unique_ptr<CodePage> Program::make_page(uint64_t base, uint64_t pc) const {
  const MemoryRange range = memory_.find(pc);
  if (!range.contains(pc, 4)) return nullptr;
  auto page = std::make_unique<CodePage>();
  page->base = base;
  page->valid_begin = std::max(base, (range.begin + 3) & ~uint64_t{3});
  page->valid_end = std::min(base + CodePage::kBytes + kTail, range.end & ~uint64_t{3});
  page->bytes.resize(page->valid_end - page->valid_begin);
  if (!read_host(page->bytes.data(), range.host(page->valid_begin), page->bytes.size()))
    return nullptr;
  return page;
}

const Instruction* Program::decode_at(const CodePage& const_page, uint64_t pc) {
  const std::lock_guard lock(mutex_);
  // Every CodePage is made here and owned by this object as non-const.
  CodePage& page = const_cast<CodePage&>(const_page);
  if (pc < page.valid_begin || pc + 4 > page.valid_end) return nullptr;
  const uint64_t first = (pc - page.base) / 4;
  if (const Instruction* known = page.slot[first].load(std::memory_order_relaxed)) return known;

  std::vector<Instruction> run;
  std::vector<uint64_t> slots;
  uint64_t at = pc;
  while (run.size() < kRun && at + 4 <= page.valid_end && at < page.base + CodePage::kBytes) {
    const uint64_t slot = (at - page.base) / 4;
    if (page.slot[slot].load(std::memory_order_relaxed)) break;
    const uint8_t* bytes = page.bytes.data() + (at - page.valid_begin);
    const uint64_t left = page.valid_end - at;
    run.emplace_back();
    slots.push_back(slot);
    decoder_->decode({bytes, std::min<uint64_t>(left, 8)}, at, run.back());
    if (observed_) observe(run.back());
    at += run.back().size;
    if (ends_run(run.back()) || !run.back().opcode) break;
  }
  auto block = std::make_unique<Instruction[]>(run.size());
  std::copy(run.begin(), run.end(), block.get());
  for (size_t i = 0; i < run.size(); ++i)
    page.slot[slots[i]].store(&block[i], std::memory_order_release);
  page.blocks.push_back(std::move(block));
  return page.slot[first].load(std::memory_order_relaxed);
}

const Instruction* Program::instruction(uint64_t pc) {
  const CodePage* const code = page(pc);
  return code ? code->slot[(pc - code->base) / 4].load(std::memory_order_acquire) : nullptr;
}

void Program::enter() {
  const std::lock_guard lock(mutex_);
  ++users_;
}

void Program::leave() {
  const std::lock_guard lock(mutex_);
  if (--users_ == 0) replaced_.clear();
}

std::string Program::text(uint64_t pc) const {
  const MemoryRange range = memory_.find(pc);
  if (!range.contains(pc, 4)) return "<not mapped>";
  uint8_t bytes[8];
  const uint64_t size = std::min<uint64_t>(range.end - pc, sizeof bytes);
  if (!read_host(bytes, range.host(pc), size)) return "<not mapped>";
  return decoder_->text({bytes, size}, pc);
}

}  // namespace halyard::vgpu::isa
