#include "vgpu/coherence/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/coherence/host_view.h"

namespace halyard::vgpu::coherence {
namespace {

// The lines that ended work-groups leave in the L1s matter only to packets without an acquire
// fence. This bounds the lines that are kept for them: 64 MiB.
constexpr size_t kMaxLeftLines = size_t{1} << 20;

// Operations that a wave may lack to see a write of which it was notified.
constexpr const char* kInvalidateL1 = "buffer_wbinvl1_vol";
constexpr const char* kInvalidateL2 = "buffer_invl2";
constexpr const char* kBetween =
    "between the operation that notified this wave of the write, and this read";

const uint8_t* memory_at(uint64_t line) {
  return reinterpret_cast<const uint8_t*>(line);
}

std::string range_text(const ShadowPage& page, uint64_t line, uint64_t bytes) {
  const uint64_t first = line + static_cast<unsigned>(std::countr_zero(bytes));
  const Allocation& allocation = page.allocation;
  const char* kind = allocation.placement.coarse_grained ? "coarse-grained" : "fine-grained";
  const std::string owner = allocation.placement.node == 0
                                ? "the host's"
                                : fmt::format("GPU {}'s", allocation.placement.node);
  return fmt::format("byte {} of the {} bytes of {} {} memory at 0x{:x}", first - allocation.begin,
                     allocation.size, owner, kind, allocation.begin);
}

}  // namespace

thread_local bool Model::Lock::is_held = false;

Model::Model(std::vector<GpuFacts> gpus, Findings::Report report)
    : shadow_(gpus.size()), findings_(std::move(report)) {
  for (GpuFacts& facts : gpus) {
    Gpu gpu;
    gpu.is_gfx90a = facts.processor == "gfx90a";
    gpu.facts = std::move(facts);
    gpus_.push_back(std::move(gpu));
  }
}

namespace {

class FreeNames final : public AccessNames {
 public:
  AccessText describe(uint64_t /*line*/, uint64_t /*mask*/) const override {
    return {"the host's program", "the host frees memory", ""};
  }
  uint64_t place() const override { return 0; }
};

}  // namespace

// An L2 does not know owners: a late write-back can overwrite what the next owner has written past
// it. Another process that has the memory can still use it.
void Model::check_freed(const ShadowPage& page, uint32_t gpu) {
  if (page.allocation.placement.is_shared || gpus_[gpu].is_lost) return;
  const CachedPage& cached = *page.l2[gpu];
  const auto dirty =
      std::find_if(cached.dirty.begin(), cached.dirty.end(), [](uint64_t d) { return d != 0; });
  if (dirty == cached.dirty.end()) return;
  const auto k = static_cast<unsigned>(dirty - cached.dirty.begin());
  const LineAccess bytes = {page.base + k * kLineBytes, *dirty};
  const Writer writer = writer_of(page, bytes, cached.line[k].filler);
  const FreeNames names;
  report(Mistake::kUnreleasedFree, {gpu, 0, &names}, page, bytes,
         "of which bytes are still to be written back", "written by ", writer,
         fmt::format("; the L2 of GPU {} has them since", gpus_[gpu].facts.node),
         missing_write_back(gpu, writer.work));
}

void Model::freed(uint64_t begin) {
  const auto allocation = shadow_.find(begin);
  if (!allocation) return;
  const auto goes = [&](const ShadowPage* page) {
    return page->base + kPageBytes > begin && page->base < begin + allocation->size;
  };
  for (uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    const std::vector<ShadowPage*>& dirty = gpus_[gpu].dirty;
    const auto page = std::find_if(dirty.begin(), dirty.end(), goes);
    if (page != dirty.end()) check_freed(**page, gpu);
  }
  for (Gpu& gpu : gpus_) {
    std::erase_if(gpu.dirty, goes);
    std::erase_if(gpu.scalar_dirty, goes);
    std::erase_if(gpu.exposed, goes);
  }
  shadow_.remove(begin);
  // New memory at that address has not been in an L1.
  for (Gpu& gpu : gpus_) {
    gpu.left.clear();
    gpu.left_lines = 0;
  }
}

// Packets.

WorkId Model::begin(Work work) {
  const uint32_t gpu = work.node - 1;
  const bool acquires_now = work.kind == WorkKind::kDispatch;
  const Scope scope = work.acquire;
  const WorkId id = history_.add(std::move(work));
  if (acquires_now) acquire(gpu, scope);
  return id;
}

void Model::end(WorkId id) {
  if (const auto left = left_behind_.find(id); left != left_behind_.end()) {
    for (const auto& [line, stores] : left->second) {
      for (const PendingStore& store : stores) landed(store);
    }
    left_behind_.erase(left);
  }
  Work* const work = history_.work(id);
  if (work == nullptr) return;
  work->ended = ++clock_;
  if (work->kind == WorkKind::kCopy) return;
  // A barrier packet acquires when its signals have arrived, a dispatch before it starts (HSA
  // System Architecture 1.2, 2.9.1).
  if (work->kind == WorkKind::kBarrier) acquire(work->node - 1, work->acquire);
  release(work->node - 1, work->release);
  if (guards_) take_exposed(work->node - 1);
}

void Model::acquire(uint32_t gpu, Scope scope) {
  if (scope == Scope::kNone) return;
  invalidate_scalar(gpu);
  gpus_[gpu].left.clear();
  gpus_[gpu].left_lines = 0;
  if (scope == Scope::kSystem) drop_l2(gpu);
}

// Writes of all queues of the GPU go along: it is the caches that are written back.
void Model::release(uint32_t gpu, Scope scope) {
  if (scope == Scope::kNone) return;
  gpus_[gpu].released = clock_;
  if (scope != Scope::kSystem) return;
  for (ShadowPage* const page : gpus_[gpu].dirty) {
    CachedPage& cached = *page->l2[gpu];
    cached.dirty.fill(0);
    cached.listed = false;
    open_page(*page);
  }
  gpus_[gpu].dirty.clear();
}

void Model::drop_l2(uint32_t gpu) {
  ++gpus_[gpu].l2_generation;
}

void Model::write_back_scalar(uint32_t gpu) {
  for (ShadowPage* const page : std::exchange(gpus_[gpu].scalar_dirty, {})) {
    CachedPage& cached = *page->scalar[gpu];
    cached.listed = false;
    for (unsigned k = 0; k < kLinesInPage; ++k) {
      const uint64_t mask = std::exchange(cached.dirty[k], 0);
      if (mask != 0)
        write_l2(gpu, cached.line[k].filler, *page, {page->base + k * kLineBytes, mask});
    }
  }
}

// Caches.

Caching Model::caching_of(const ShadowPage& page, uint32_t gpu) const {
  return caching(page.allocation.placement, gpus_[gpu].facts.node, gpus_[gpu].is_gfx90a);
}

namespace {

// The page as a cache has it, less what the cache has dropped since.
CachedPage& current(std::unique_ptr<CachedPage>& cached, uint64_t generation) {
  if (!cached) cached = std::make_unique<CachedPage>();
  if (cached->generation != generation) {
    for (unsigned k = 0; k < kLinesInPage; ++k) cached->line[k].valid = cached->dirty[k];
    cached->generation = generation;
  }
  return *cached;
}

}  // namespace

CachedPage& Model::l2_page(ShadowPage& page, uint32_t gpu) {
  return current(page.l2[gpu], gpus_[gpu].l2_generation);
}

CachedPage& Model::scalar_page(ShadowPage& page, uint32_t gpu) {
  return current(page.scalar[gpu], gpus_[gpu].scalar_generation);
}

void Model::list_dirty(std::vector<ShadowPage*>& list, CachedPage& cached, ShadowPage& page) {
  if (std::exchange(cached.listed, true)) return;
  list.push_back(&page);
}

void Model::read_l1(GroupView& view, const Reader& reader, const ShadowPage& page,
                    const LineAccess& at) {
  const uint8_t* const memory = memory_at(at.line);
  const auto [found, is_new] = view.l1.try_emplace(at.line);
  CachedLine& cached = found->second;
  if (!is_new) {
    if (const uint64_t stale = cached.stale(at.mask, memory); stale != 0) {
      report_stale(reader, page, {at.line, stale}, "the L1 of this work-group's compute unit",
                   cached, fmt::format("{} {}", kInvalidateL1, kBetween));
      cached.take(stale, memory, writes_);
    }
    return;
  }
  for (const Gpu::Left& left : gpus_[reader.gpu].left) {
    // Work-groups of one dispatch need not share a compute unit.
    if (view.invalidated || left.work == view.work) continue;
    const auto line = left.l1.find(at.line);
    if (line == left.l1.end()) continue;
    const uint64_t stale = line->second.stale(at.mask, memory);
    if (stale == 0) continue;
    report_stale(reader, page, {at.line, stale}, "the L1 of a compute unit", line->second,
                 missing_acquire(reader, left.work, Scope::kAgent, kInvalidateL1));
    break;
  }
  cached.take(~uint64_t{0}, memory, writes_);
  cached.filler = reader.work;
}

void Model::read_l2(const Reader& reader, ShadowPage& page, const LineAccess& at) {
  const Caching caching = caching_of(page, reader.gpu);
  if (caching == Caching::kUncached) return;
  const unsigned k = index_of(at.line);
  CachedPage& cached = l2_page(page, reader.gpu);
  CachedLine& line = cached.line[k];
  const uint8_t* const memory = memory_at(at.line);
  const uint64_t stale = line.stale(at.mask, memory);
  if (stale != 0) {
    // What another process has written came by this same L2.
    const bool is_others =
        page.allocation.placement.is_shared && page.allocation.placement.node != 0;
    if (caching != Caching::kProbed && !is_others) {
      // No acquire drops data that are still to be written back.
      report_stale(reader, page, {at.line, stale},
                   fmt::format("the L2 of GPU {}", gpus_[reader.gpu].facts.node), line,
                   (cached.dirty[k] & stale) != 0
                       ? missing_write_back(reader.gpu, line.filler)
                       : missing_acquire(reader, line.filler, Scope::kSystem,
                                         gpus_[reader.gpu].is_gfx90a ? kInvalidateL2 : nullptr));
    }
    line.take(stale, memory, writes_);
  }
  if (line.valid == 0) line.filler = reader.work;
  line.take(~line.valid, memory, writes_);
}

void Model::read_scalar(const Reader& reader, ShadowPage& page, const LineAccess& at) {
  CachedLine& line = scalar_page(page, reader.gpu).line[index_of(at.line)];
  const uint8_t* const memory = memory_at(at.line);
  const uint64_t stale = line.stale(at.mask, memory);
  if (stale != 0) {
    report_stale(reader, page, {at.line, stale},
                 fmt::format("the scalar cache of GPU {}", gpus_[reader.gpu].facts.node), line,
                 missing_acquire(reader, line.filler, Scope::kAgent, "s_dcache_inv"));
    line.take(stale, memory, writes_);
  }
  if (line.valid == 0) line.filler = reader.work;
  line.take(~line.valid, memory, writes_);
}

void Model::write_l2(uint32_t gpu, WorkId work, ShadowPage& page, const LineAccess& at) {
  if (caching_of(page, gpu) == Caching::kUncached) return;
  CachedPage& cached = l2_page(page, gpu);
  const unsigned k = index_of(at.line);
  cached.line[k].filler = work;
  cached.line[k].take(at.mask, memory_at(at.line), writes_);
  cached.dirty[k] |= at.mask;
  list_dirty(gpus_[gpu].dirty, cached, page);
  expose(gpu, page);
}

void Model::wrote(ShadowPage& page, const LineAccess& at, AuthorId id) {
  const unsigned k = index_of(at.line);
  const Author* const author = history_.author(id);
  const WorkId work = author != nullptr ? author->work : 0;
  page.as_of[k] = ++writes_;
  if (std::exchange(page.author[k], id) != id) page.written[k] = 0;
  page.written[k] |= at.mask;
  if (std::exchange(page.work[k], work) != work)
    page.written_by_work[k] = page.written_by_atomics[k] = 0;
  page.written_by_work[k] |= at.mask;
  page.written_by_atomics[k] &= ~at.mask;
  if (author != nullptr && author->is_atomic) page.written_by_atomics[k] |= at.mask;
  if (id != 0) know(page, at);
}

void Model::read(ShadowPage& page, const LineAccess& at, WorkId work) {
  const unsigned k = index_of(at.line);
  if (std::exchange(page.reader[k], work) != work) page.read[k] = 0;
  page.read[k] |= at.mask;
}

std::optional<Model::ChangedCode> Model::fetch_code(uint32_t gpu, uint64_t page) {
  ShadowPage* const shadow = shadow_.page(page);
  if (shadow == nullptr) return std::nullopt;
  const uint8_t* const memory = memory_at(page);
  const auto [found, is_new] = gpus_[gpu].code.try_emplace(page);
  std::vector<uint8_t>& code = found->second;
  if (is_new) {
    code.assign(memory, memory + kPageBytes);
    return std::nullopt;
  }
  const auto differ = std::mismatch(code.begin(), code.end(), memory);
  if (differ.first == code.end()) return std::nullopt;
  const uint64_t address = page + static_cast<uint64_t>(differ.first - code.begin());
  const LineAccess byte = {line_of(address), byte_mask(address % kLineBytes, 1)};
  ChangedCode changed{address, writer_of(*shadow, byte).name};
  code.assign(memory, memory + kPageBytes);
  return changed;
}

// Rules.

// Whether a dispatch may run beside an earlier packet of its queue.
bool Model::overlaps(const Work* earlier, const Work* work) {
  if (earlier == nullptr || work == nullptr) return false;
  if (earlier->kind != WorkKind::kDispatch || work->kind != WorkKind::kDispatch) return false;
  if (earlier->node != work->node || earlier->queue != work->queue) return false;
  const auto& also = work->also_ordered;
  return earlier->packet < work->packet && earlier->packet >= work->ordered_below &&
         std::find(also.begin(), also.end(), earlier->packet) == also.end();
}

// Packets of one queue that may overlap, and packets that have released nothing.
void Model::check_order(const Reader& reader, const ShadowPage& page, const LineAccess& at) {
  constexpr const char* kMayRun =
      ", which may still run: neither packet nor one between has the barrier bit";
  const unsigned k = index_of(at.line);
  const Work* const work = history_.work(reader.work);
  const auto missing = [&] {
    return fmt::format("the barrier bit in {}", history_.describe(reader.work));
  };
  const uint64_t bytes = page.written_by_work[k] & at.mask;
  const bool is_atomic = (bytes & ~page.written_by_atomics[k]) == 0;
  if (bytes != 0 && page.work[k] != reader.work &&
      !(reader.synchronises && (is_atomic || !reader.reads))) {
    const Work* const writer = history_.work(page.work[k]);
    if (overlaps(writer, work)) {
      return report(Mistake::kOverlap, reader, page, {at.line, bytes},
                    "which an earlier packet of the queue has written", "written by ",
                    writer_of(page, {at.line, bytes}), kMayRun, missing());
    }
    if (writer != nullptr && writer->kind == WorkKind::kDispatch && writer->ended != 0 &&
        writer->node == gpus_[reader.gpu].facts.node &&
        gpus_[reader.gpu].released < writer->ended) {
      return report(reader.reads ? Mistake::kUnreleasedRead : Mistake::kUnreleasedWrite, reader,
                    page, {at.line, bytes}, "which an earlier packet has written and not released",
                    "written by ", writer_of(page, {at.line, bytes}), "",
                    fence_in(page.work[k], "release", "agent"));
    }
  }
  const uint64_t read = page.read[k] & at.mask;
  if (reader.reads || reader.synchronises || read == 0 || page.reader[k] == reader.work) return;
  if (!overlaps(history_.work(page.reader[k]), work)) return;
  report(Mistake::kOverlap, reader, page, {at.line, read},
         "which an earlier packet of the queue reads", "read by ", writer_named(page.reader[k]),
         kMayRun, missing());
}

// Bytes that are in an L2 and not in memory. A kernel reads them through its own GPU's L2.
bool Model::check_l2s(const Reader& reader, const ShadowPage& page, const LineAccess& at) {
  const unsigned k = index_of(at.line);
  for (uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    if (gpu == reader.gpu && !reader.past_l2) continue;
    if (!page.l2[gpu]) continue;
    const uint64_t bytes = page.l2[gpu]->dirty[k] & at.mask;
    if (bytes == 0) continue;
    const Writer writer = writer_of(page, {at.line, bytes}, page.l2[gpu]->line[k].filler);
    report(reader.reads ? Mistake::kUnreleasedRead : Mistake::kUnreleasedWrite, reader, page,
           {at.line, bytes},
           reader.reads ? "which are not in memory yet" : "which are still to be written back",
           "written by ", writer,
           fmt::format("; the L2 of GPU {} has them since", gpus_[gpu].facts.node),
           missing_write_back(gpu, writer.work));
    return true;
  }
  return false;
}

// Bytes that scalar stores have left in a scalar cache.
void Model::check_scalar(const Reader& reader, const ShadowPage& page, const LineAccess& at) {
  const unsigned k = index_of(at.line);
  for (uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    if (gpus_[gpu].scalar_dirty.empty() || !page.scalar[gpu]) continue;
    const uint64_t bytes = page.scalar[gpu]->dirty[k] & at.mask;
    if (bytes == 0) continue;
    report(reader.reads ? Mistake::kUnreleasedRead : Mistake::kUnreleasedWrite, reader, page,
           {at.line, bytes}, "which are not in memory yet", "written by ",
           writer_of(page, {at.line, bytes}, page.scalar[gpu]->line[k].filler),
           fmt::format("; the scalar cache of GPU {} has them since", gpus_[gpu].facts.node),
           "s_dcache_wb after the store");
    return;
  }
}

// What the host has stored through the PCI window, and not flushed out of the HDP since. Of a flush
// is known only that it came between two looks: one that came before the store counts as well.
void Model::check_window(const Reader& reader, ShadowPage& page, const LineAccess& at) {
  if (!page.window) return;
  Gpu& owner = gpus_[page.allocation.placement.node - 1];
  if (owner.hdp_flush == nullptr) return;
  WindowPage& window = *page.window;
  const unsigned k = index_of(at.line);
  CachedLine before;
  before.valid = window.known[k];
  std::copy_n(window.data.data() + k * kLineBytes, kLineBytes, before.data.data());
  const uint64_t stored = before.stale(at.mask, memory_at(at.line));
  if (stored != 0) {
    if (__atomic_exchange_n(owner.hdp_flush, 0, __ATOMIC_ACQUIRE) != 0) ++owner.flushes;
    if (window.flushes[k] == owner.flushes) {
      wrote(page, {at.line, stored}, 0);
      report(Mistake::kHostWindow, reader, page, {at.line, stored},
             "which have come through the PCI window", "written by ",
             writer_of(page, {at.line, stored}),
             fmt::format(", and may still be in the HDP of GPU {}", owner.facts.node),
             "a store to the register HDP_MEM_FLUSH_CNTL (HSA_AMD_AGENT_INFO_HDP_FLUSH) behind the "
             "host's stores");
    }
    window.flushes[k] = owner.flushes;
  }
  // The rest of the line came before the same flush.
  know(page, {at.line, ~uint64_t{0}});
}

void Model::know(ShadowPage& page, const LineAccess& at) {
  if (!page.window) return;
  const unsigned k = index_of(at.line);
  uint8_t* const data = page.window->data.data() + k * kLineBytes;
  const uint8_t* const memory = memory_at(at.line);
  for (uint64_t left = at.mask; left != 0; left &= left - 1) {
    const auto byte = static_cast<unsigned>(std::countr_zero(left));
    data[byte] = memory[byte];
  }
  page.window->known[k] |= at.mask;
}

void Model::check_flight(const GroupView* in_order, const Reader& reader, const ShadowPage& page,
                         const LineAccess& at) {
  if (page.in_flight[index_of(at.line)] == 0) return;
  const auto tell = [&](const PendingStore& store) {
    const uint64_t bytes = store.mask & at.mask;
    if (store.line != at.line || bytes == 0) return false;
    report(Mistake::kInFlight, reader, page, {at.line, bytes},
           in_order != nullptr || reader.past_l2 ? "which another work-group has written"
                                                 : "which a vector store has written",
           "written by ", writer_of(page, {at.line, bytes}),
           ", whose wave has not waited for its store: it may still be on its way",
           in_order != nullptr || reader.past_l2
               ? "s_waitcnt vmcnt(0) after the store, before the wave notifies others (a release "
                 "at agent or system scope)"
               : "s_waitcnt vmcnt(0) between the store and this read by the scalar cache");
    return true;
  };
  for (const GroupView* const other : views_) {
    if (other == in_order) continue;
    for (const WaveState& wave : other->waves) {
      for (const PendingStore& store : wave.pending) {
        if (tell(store)) return;
      }
    }
  }
  for (const auto& [work, lines] : left_behind_) {
    const auto found = lines.find(at.line);
    if (found == lines.end()) continue;
    for (const PendingStore& store : found->second) {
      if (tell(store)) return;
    }
  }
}

// Work-groups.

void Model::enter(GroupView& view, uint32_t waves) {
  view.waves.assign(waves, {});
  views_.push_back(&view);
}

void Model::leave(GroupView& view) {
  std::erase(views_, &view);
  // A wave waits for its stores when it ends. But it may have notified others before (by a flag,
  // say), so the stores stay in flight for others until the dispatch ends.
  const Work* const work = history_.work(view.work);
  const bool runs = work != nullptr && work->ended == 0;
  for (WaveState& wave : view.waves) {
    for (const PendingStore& store : wave.pending) {
      if (runs) {
        left_behind_[view.work][store.line].push_back(store);
      } else {
        landed(store);
      }
    }
  }
  view.waves.clear();
  if (view.l1.empty()) return;
  Gpu& gpu = gpus_[view.gpu];
  if (gpu.left_lines + view.l1.size() > kMaxLeftLines) {
    gpu.left.clear();
    gpu.left_lines = 0;
  }
  gpu.left_lines += view.l1.size();
  gpu.left.push_back({view.work, std::move(view.l1)});
}

void Model::before(GroupView& view, const VectorAccess& access, const AccessNames& names) {
  Reader reader{view.gpu, view.work, &names};
  reader.reads = access.use != Use::kStore;
  reader.synchronises = access.use == Use::kAtomic || access.past_l1;
  for (const LineAccess& at : *access.lines) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) continue;
    if (page->guarded) give_back(at.line);
    check_order(reader, *page, at);
    const bool is_hidden = check_l2s(reader, *page, at);
    check_scalar(reader, *page, at);
    if (!reader.reads) continue;
    check_window(reader, *page, at);
    if (reader.synchronises) {
      view.l1.erase(at.line);
    } else {
      if (!is_hidden) check_flight(&view, reader, *page, at);
      read(*page, at, view.work);
      read_l1(view, reader, *page, at);
    }
    read_l2(reader, *page, at);
  }
}

void Model::after(GroupView& view, const VectorAccess& access) {
  WaveState& wave = view.waves[access.wave];
  ++wave.operations;
  // The counter has 6 bits: with 63 under way, the next one waits.
  wait(view, access.wave, 63);
  if (access.use == Use::kLoad) return;
  for (const LineAccess& at : *access.lines) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) continue;
    wrote(*page, at, access.author);
    if (const auto own = view.l1.find(at.line); own != view.l1.end())
      own->second.take(at.mask, memory_at(at.line), writes_);
    write_l2(view.gpu, view.work, *page, at);
    if (access.use == Use::kAtomic) continue;
    wave.pending.push_back({at.line, at.mask, wave.operations});
    ++page->in_flight[index_of(at.line)];
  }
}

void Model::wait(GroupView& view, uint32_t wave_index, uint32_t count) {
  WaveState& wave = view.waves[wave_index];
  while (!wave.pending.empty() && wave.pending.front().operation + count <= wave.operations) {
    landed(wave.pending.front());
    wave.pending.pop_front();
  }
}

void Model::landed(const PendingStore& store) {
  ShadowPage* const page = shadow_.page(store.line);
  if (page == nullptr) return;
  uint32_t& count = page->in_flight[index_of(store.line)];
  if (count > 0) --count;  // 0: the memory has been freed and allocated since
}

void Model::before_scalar(GroupView& view, Use use, const std::vector<LineAccess>& lines,
                          const AccessNames& names) {
  Reader reader{view.gpu, view.work, &names};
  reader.reads = use != Use::kStore;
  reader.synchronises = use == Use::kAtomic;
  for (const LineAccess& at : lines) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) continue;
    check_order(reader, *page, at);
    const bool is_hidden = check_l2s(reader, *page, at);
    if (reader.reads) check_window(reader, *page, at);
    if (use == Use::kLoad) {
      if (!is_hidden) check_flight(nullptr, reader, *page, at);
      read(*page, at, view.work);
      read_scalar(reader, *page, at);
    }
    if (reader.reads) read_l2(reader, *page, at);
  }
}

void Model::after_scalar(GroupView& view, Use use, AuthorId author,
                         const std::vector<LineAccess>& lines) {
  for (const LineAccess& at : lines) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) continue;
    wrote(*page, at, author);
    // Atomics are the L2's.
    if (use == Use::kAtomic) {
      write_l2(view.gpu, view.work, *page, at);
      continue;
    }
    const unsigned k = index_of(at.line);
    CachedPage& cached = scalar_page(*page, view.gpu);
    cached.line[k].filler = view.work;
    cached.line[k].take(at.mask, memory_at(at.line), writes_);
    cached.dirty[k] |= at.mask;
    list_dirty(gpus_[view.gpu].scalar_dirty, cached, *page);
    // For reads of these bytes through the L2, the report names the scalar cache, not the host.
    if (page->l2[view.gpu]) {
      CachedLine& line = l2_page(*page, view.gpu).line[k];
      line.take(at.mask & line.valid, memory_at(at.line), writes_);
    }
  }
}

// Copy engines.

namespace {

template <class Function>
void for_each_line(uint64_t begin, uint64_t size, Function&& function) {
  for (uint64_t at = begin; at < begin + size;) {
    const uint64_t line = line_of(at);
    const uint64_t end = std::min(line + kLineBytes, begin + size);
    function(LineAccess{
        line, byte_mask(static_cast<unsigned>(at - line), static_cast<unsigned>(end - at))});
    at = end;
  }
}

}  // namespace

void Model::copy_reads(WorkId work, uint64_t begin, uint64_t size, const AccessNames& names) {
  check_copy(work, begin, size, names, true);
}

void Model::copy_writes(WorkId work, uint64_t begin, uint64_t size, const AccessNames& names) {
  check_copy(work, begin, size, names, false);
}

void Model::check_copy(WorkId id, uint64_t begin, uint64_t size, const AccessNames& names,
                       bool reads) {
  const Work* const work = history_.work(id);
  if (work == nullptr) return;
  Reader reader{work->node - 1, id, &names};
  reader.reads = reads;
  reader.past_l2 = true;
  for_each_line(begin, size, [&](const LineAccess& at) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) return;
    const bool is_hidden = check_l2s(reader, *page, at);
    check_scalar(reader, *page, at);
    if (reads && !is_hidden) check_flight(nullptr, reader, *page, at);
    if (reads) check_window(reader, *page, at);
  });
}

void Model::copy_wrote(WorkId work, uint64_t begin, uint64_t size) {
  const AuthorId author = history_.author(work, 0, "");
  for_each_line(begin, size, [&](const LineAccess& at) {
    if (ShadowPage* const page = shadow_.page(at.line)) wrote(*page, at, author);
  });
}

// The host.

void Model::expose(uint32_t gpu, ShadowPage& page) {
  if (!guards_ || page.exposed || !may_guard(page)) return;
  page.exposed = true;
  gpus_[gpu].exposed.push_back(&page);
}

void Model::take_exposed(uint32_t gpu) {
  for (ShadowPage* const page : std::exchange(gpus_[gpu].exposed, {})) {
    page->exposed = false;
    const CachedPage* const cached = page->l2[gpu].get();
    if (cached != nullptr && cached->listed) guard_page(*page);
  }
}

bool Model::give_back(uint64_t address) {
  ShadowPage* const page = shadow_.page(address);
  if (page == nullptr || !page->was_guarded) return false;
  open_page(*page);
  // The next dispatch that ends takes it again, if it must.
  for (uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    if (page->l2[gpu] && page->l2[gpu]->listed) expose(gpu, *page);
  }
  return true;
}

void Model::host_touches(uint64_t address, bool is_write, const AccessNames& names) {
  const ShadowPage* const page = shadow_.page(address);
  if (page == nullptr || !page->guarded) return;
  Reader reader;
  reader.names = &names;
  reader.reads = !is_write;
  reader.past_l2 = true;
  // The number of bytes is unknown: at least one.
  const auto at = static_cast<unsigned>(address % kLineBytes);
  check_l2s(reader, *page, {line_of(address), byte_mask(at, 1)});
}

// Reports.

std::string Model::fence_in(WorkId id, const char* fence, const char* scope) const {
  const Work* const work = history_.work(id);
  std::string text = fmt::format("{} {} fence at {} scope in {}", fence[0] == 'a' ? "an" : "a",
                                 fence, scope, history_.describe(id));
  if (work != nullptr && work->kind == WorkKind::kDispatch) {
    text += fmt::format(", whose packet has {}",
                        text_of(fence[0] == 'a' ? work->acquire : work->release));
  }
  return text + ", or in a packet between";
}

// What would have dropped a line that `filler` has had fetched. Packets' fences do nothing for a
// dispatch that runs; null: nor does an instruction of the processor's.
std::string Model::missing_acquire(const Reader& reader, WorkId filler, Scope scope,
                                   const char* instruction) const {
  const Work* const work = history_.work(reader.work);
  const bool acquired = work != nullptr && work->acquire >= scope;
  if (filler != reader.work && !acquired) return fence_in(reader.work, "acquire", text_of(scope));
  if (instruction != nullptr) return fmt::format("{} {}", instruction, kBetween);
  return fmt::format(
      "a dispatch of its own for this read, with an acquire fence at {} scope (a kernel cannot "
      "invalidate lines of this L2), or fine-grained memory",
      text_of(scope));
}

// What would have written the dirty bytes of an L2 back.
std::string Model::missing_write_back(uint32_t gpu, WorkId writer) const {
  const Work* const work = history_.work(writer);
  if (work == nullptr)
    return fmt::format("a release fence at system scope on GPU {}", gpus_[gpu].facts.node);
  if (work->ended != 0) return fence_in(writer, "release", "system");
  std::string end =
      work->release == Scope::kSystem
          ? fmt::format("a wait for the end of {}, whose packet releases at system scope",
                        history_.describe(writer))
          : fmt::format("a wait for the end of {}, and {}", history_.describe(writer),
                        fence_in(writer, "release", "system"));
  if (!gpus_[gpu].is_gfx90a) return end;
  return fmt::format(
      "buffer_wbl2 and s_waitcnt vmcnt(0) after the store, before its wave notifies others (a "
      "release at system scope), or {}",
      end);
}

void Model::report_stale(const Reader& reader, const ShadowPage& page, const LineAccess& stale,
                         const std::string& cache, const CachedLine& line,
                         const std::string& cure) {
  // Changes that only the host can have made.
  const bool by_host = line.as_of >= page.as_of[index_of(stale.line)];
  const std::string since =
      line.filler == reader.work ? "this dispatch first read it" : history_.describe(line.filler);
  report(Mistake::kStaleRead, reader, page, stale, "where a cache may still hold older bytes",
         fmt::format("{} may hold the line since {}; after that it was written by ", cache, since),
         by_host ? Writer{0, 0, "the host"} : writer_of(page, stale), "", cure);
}

Model::Writer Model::writer_named(WorkId work) const {
  return {work, std::hash<std::string>()(name_of(work)), history_.describe(work)};
}

Model::Writer Model::writer_of(const ShadowPage& page, const LineAccess& at,
                               WorkId otherwise) const {
  const unsigned k = index_of(at.line);
  if ((page.written[k] & at.mask) != 0) {
    const Author* const author = history_.author(page.author[k]);
    const std::string place = author != nullptr ? author->place : "";
    return {page.work[k], std::hash<std::string>()(place + name_of(page.work[k])),
            history_.describe_author(page.author[k])};
  }
  if ((page.written_by_work[k] & at.mask) != 0) return writer_named(page.work[k]);
  if (otherwise != 0) return writer_named(otherwise);
  Writer writer{0, 0, "the host"};
  if (page.author[k] != 0) {
    writer.name += fmt::format(" (or by a writer before {}, which wrote to that line too)",
                               history_.describe_author(page.author[k]));
  }
  return writer;
}

void Model::report(Mistake mistake, const Reader& reader, const ShadowPage& page,
                   const LineAccess& at, const std::string& relation, const std::string& before,
                   const Writer& writer, const std::string& after, const std::string& cure) {
  // A pair of places is reported once.
  if (!findings_.is_new(mistake, reader.names->place(), writer.place)) return;
  const AccessText text = reader.names->describe(at.line, at.mask);
  findings_.tell({.mistake = mistake,
                  .where = text.where,
                  .access = fmt::format("{}, {}: {}", text.access, relation,
                                        range_text(page, at.line, at.mask)),
                  .history = before + writer.name + after,
                  .cure = cure,
                  .place = text.place});
}

std::string Model::name_of(WorkId id) const {
  const Work* const work = history_.work(id);
  return work != nullptr ? work->name : "";
}

}  // namespace halyard::vgpu::coherence
