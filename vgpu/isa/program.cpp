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

// What an instruction that begins in the page can have behind it.
constexpr uint64_t kTail = Decoder::kMostBytes - 4;

bool ends_run(const Instruction& instruction) {
  const Flow flow = row_of(instruction.op).flow;
  return instruction.op == Op::none || flow == Flow::kJump || flow == Flow::kEnd;
}

}  // namespace

Program::Program(std::unique_ptr<Decoder> decoder, const AddressSpace& memory, bool observed,
                 size_t most_bytes)
    : decoder_(std::move(decoder)), memory_(memory), observed_(observed), most_bytes_(most_bytes) {}

Program::~Program() = default;

Program::Reader::Reader(Program& program) : program_(program) {
  const std::lock_guard lock(program_.mutex_);
  // Nothing is retired under the lock, so this thread can only see what is not.
  seen_.store(program_.retirements_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  program_.readers_.push_back(this);
}

Program::Reader::~Reader() {
  const std::lock_guard lock(program_.mutex_);
  std::erase(program_.readers_, this);
  program_.collect();
}

const CodePage* Program::page(uint64_t pc) {
  const uint64_t base = pc & ~(CodePage::kBytes - 1);
  // Read before memory is looked at: if it moves meanwhile, the page is compared again next time.
  const uint64_t epoch = memory_.epoch();
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  const auto is_inside = [pc](const CodePage& page) {
    return pc >= page.valid_begin && pc + 4 <= page.valid_end;
  };
  const auto is_fresh = [epoch, generation](const CodePage& page) {
    return page.verified_epoch.load(std::memory_order_relaxed) == epoch &&
           page.verified_generation.load(std::memory_order_relaxed) == generation;
  };
  std::atomic<CodePage*>& entry = table_entry(base);
  CodePage* const known = entry.load(std::memory_order_acquire);
  if (known != nullptr && known->base == base && is_inside(*known) && is_fresh(*known)) {
    // Written only once, as other threads read the same line.
    if (!known->recently_used.load(std::memory_order_relaxed))
      known->recently_used.store(true, std::memory_order_relaxed);
    return known;
  }

  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(base);
  if (found != pages_.end()) {
    CodePage& page = *found->second;
    if (is_inside(page) && (is_fresh(page) || still_valid(page))) {
      page.verified_epoch.store(epoch, std::memory_order_relaxed);
      page.verified_generation.store(generation, std::memory_order_relaxed);
      page.recently_used.store(true, std::memory_order_relaxed);
      entry.store(&page, std::memory_order_release);
      return &page;
    }
    retire(found);
    collect();
  }
  std::unique_ptr<CodePage> fresh = make_page(base, pc);
  if (!fresh) return nullptr;
  fresh->verified_epoch.store(epoch, std::memory_order_relaxed);
  fresh->verified_generation.store(generation, std::memory_order_relaxed);
  CodePage& made = *fresh;
  pages_.emplace(base, std::move(fresh));
  order_.push_back(base);
  decoded_bytes_ += made.size;
  entry.store(&made, std::memory_order_release);
  evict(made);
  return &made;
}

void Program::retire(PageMap::iterator page) {
  CodePage* const gone = page->second.get();
  std::atomic<CodePage*>& entry = table_entry(gone->base);
  if (entry.load(std::memory_order_relaxed) == gone)
    entry.store(nullptr, std::memory_order_relaxed);
  gone->retired = true;
  decoded_bytes_ -= gone->size;
  std::erase(order_, gone->base);
  // A reader that has seen this count has not found the page in the table since.
  const uint64_t when = retirements_.fetch_add(1, std::memory_order_acq_rel) + 1;
  retired_.push_back({when, std::move(page->second)});
  pages_.erase(page);
}

// Retires pages until the rest is within the limit, in the order in which they came; those that
// were used since the last search get a second chance.
void Program::evict(const CodePage& in_use) {
  size_t chances = order_.size();
  while (decoded_bytes_ > most_bytes_ && order_.size() > 1) {
    const uint64_t base = order_.front();
    const auto page = pages_.find(base);
    const bool used = page->second->recently_used.exchange(false, std::memory_order_relaxed);
    if (page->second.get() == &in_use || (used && chances > 0)) {
      if (chances > 0) --chances;
      order_.pop_front();
      order_.push_back(base);
      continue;
    }
    retire(page);
  }
  collect();
}

// Frees what no reader can hold.
void Program::collect() {
  uint64_t seen_by_all = retirements_.load(std::memory_order_relaxed);
  for (const Reader* const reader : readers_)
    seen_by_all = std::min(seen_by_all, reader->seen_.load(std::memory_order_acquire));
  std::erase_if(retired_, [&](const Retired& one) { return one.when <= seen_by_all; });
}

size_t Program::decoded_bytes() const {
  const std::lock_guard lock(mutex_);
  return decoded_bytes_;
}

size_t Program::retired_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const Retired& one : retired_) bytes += one.page->size;
  return bytes;
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
  page->size = sizeof(CodePage) + page->bytes.size();
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
  std::vector<InstructionExtra> extras(kRun);  // never grows: instructions point into it
  std::vector<uint64_t> slots;
  uint64_t at = pc;
  while (run.size() < kRun && at + 4 <= page.valid_end && at < page.base + CodePage::kBytes) {
    const uint64_t slot = (at - page.base) / 4;
    if (page.slot[slot].load(std::memory_order_relaxed)) break;
    const uint8_t* bytes = page.bytes.data() + (at - page.valid_begin);
    const uint64_t left = page.valid_end - at;
    run.emplace_back();
    slots.push_back(slot);
    decoder_->decode({bytes, std::min<uint64_t>(left, Decoder::kMostBytes)}, run.back(),
                     extras[run.size() - 1]);
    if (observed_) observe(run.back());
    at += run.back().size;
    if (ends_run(run.back())) break;
  }
  CodeBlock block{std::make_unique<Instruction[]>(run.size()),
                  std::make_unique<InstructionExtra[]>(run.size())};
  for (size_t i = 0; i < run.size(); ++i) {
    block.extras[i] = extras[i];
    block.instructions[i] = run[i];
    block.instructions[i].extra = &block.extras[i];
    page.slot[slots[i]].store(&block.instructions[i], std::memory_order_release);
  }
  page.blocks.push_back(std::move(block));
  const size_t size = run.size() * (sizeof(Instruction) + sizeof(InstructionExtra));
  page.size += size;
  // Another thread may have replaced it meanwhile.
  if (!page.retired) {
    decoded_bytes_ += size;
    evict(page);
  }
  return page.slot[first].load(std::memory_order_relaxed);
}

const Instruction* Program::instruction(uint64_t pc) {
  const CodePage* const code = page(pc);
  return code ? code->slot[(pc - code->base) / 4].load(std::memory_order_acquire) : nullptr;
}

std::string Program::text(uint64_t pc) const {
  const MemoryRange range = memory_.find(pc);
  if (!range.contains(pc, 4)) return "<not mapped>";
  uint8_t bytes[Decoder::kMostBytes];
  const uint64_t size = std::min<uint64_t>(range.end - pc, sizeof bytes);
  if (!read_host(bytes, range.host(pc), size)) return "<not mapped>";
  return decoder_->text({bytes, size}, pc);
}

}  // namespace halyard::vgpu::isa
