#include "vgpu/coherence/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/coherence/host_view.h"

namespace halyard::vgpu::coherence {
namespace {

// The lines that ended work-groups leave in the L1s matter only to packets without an acquire
// fence. This bounds the lines that are kept for them: 64 MiB.
constexpr size_t kMaxLeftLines = size_t{1} << 20;

size_t count_l2s(const std::vector<GpuFacts>& gpus) {
  size_t count = 0;
  for (const GpuFacts& facts : gpus) count += facts.xcds;
  return count;
}

}  // namespace

thread_local bool Model::Lock::is_held = false;

Model::Model(std::vector<GpuFacts> gpus, Findings::Report report, bool notes)
    : shadow_(gpus.size(), count_l2s(gpus)), findings_(std::move(report), notes) {
  for (GpuFacts& facts : gpus) {
    Gpu gpu;
    gpu.first_l2 = static_cast<uint32_t>(l2s_.size());
    for (uint32_t xcd = 0; xcd < facts.xcds; ++xcd)
      l2s_.emplace_back().gpu = static_cast<uint32_t>(gpus_.size());
    gpu.facts = std::move(facts);
    gpus_.push_back(std::move(gpu));
  }
}

namespace {

// Whether a page is of an allocation.
auto pages_of(const Allocation& allocation) {
  return [allocation](const ShadowPage* page) {
    return page->base + kPageBytes > allocation.begin &&
           page->base < allocation.begin + allocation.size;
  };
}

}  // namespace

void Model::freed(uint64_t begin) {
  const auto allocation = shadow_.find(begin);
  if (!allocation) return;
  const auto goes = pages_of(*allocation);
  for (uint32_t l2 = 0; l2 < l2s_.size(); ++l2) {
    const std::vector<ShadowPage*>& dirty = l2s_[l2].dirty;
    const auto page = std::find_if(dirty.begin(), dirty.end(), goes);
    if (page != dirty.end()) check_freed(**page, l2);
  }
  forget(begin);
}

void Model::forget(uint64_t begin) {
  const auto allocation = shadow_.find(begin);
  if (!allocation) return;
  give_back_all(*allocation);
  const auto goes = pages_of(*allocation);
  for (L2& l2 : l2s_) {
    std::erase_if(l2.dirty, goes);
    std::erase_if(l2.exposed, goes);
  }
  for (Gpu& gpu : gpus_) std::erase_if(gpu.scalar_dirty, goes);
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
  const bool acquires_now = work.kind == WorkKind::kDispatch && !work.is_pm4;
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
  watch_opened();
  if (work->kind == WorkKind::kCopy) return;
  // A barrier packet acquires when its signals have arrived, a dispatch before it starts (HSA
  // System Architecture 1.2, 2.9.1).
  if (work->kind == WorkKind::kBarrier) acquire(work->node - 1, work->acquire);
  release(work->node - 1, work->release);
  if (guards_) take_exposed(work->node - 1);
}

void Model::acquire(uint32_t gpu, const queue::PacketObserver::Caches& caches) {
  if (caches.write_back_scalar) write_back_scalar(gpu);
  if (caches.write_back_l2) {
    gpus_[gpu].released = clock_;
    write_back_l2s(gpu);
  }
  if (caches.scalar) invalidate_scalar(gpu);
  if (caches.l1) {
    gpus_[gpu].left.clear();
    gpus_[gpu].left_lines = 0;
  }
  if (caches.l2) drop_l2s(gpu);
}

void Model::release(uint32_t gpu, const queue::PacketObserver::Caches& caches) {
  flush_work(gpu);
  acquire(gpu, caches);
}

void Model::flush_work(uint32_t gpu) {
  gpus_[gpu].released = clock_;
}

void Model::acquire(uint32_t gpu, Scope scope) {
  if (scope == Scope::kNone) return;
  invalidate_scalar(gpu);
  gpus_[gpu].left.clear();
  gpus_[gpu].left_lines = 0;
  if (reaches_l2s(gpu, scope)) drop_l2s(gpu);
}

// Writes of all queues of the GPU go along: it is the caches that are written back.
void Model::release(uint32_t gpu, Scope scope) {
  if (scope == Scope::kNone) return;
  gpus_[gpu].released = clock_;
  if (reaches_l2s(gpu, scope)) write_back_l2s(gpu);
}

void Model::write_back(L2& l2, uint32_t index) {
  for (ShadowPage* const page : std::exchange(l2.dirty, {})) {
    CachedPage& cached = *page->l2[index];
    cached.dirty.fill(0);
    cached.listed = false;
    if (page->rights == HostRights::kNone) give_back_to_read(page->base);
  }
}

void Model::write_back_l2s(uint32_t gpu) {
  const Gpu& of = gpus_[gpu];
  for (uint32_t xcd = 0; xcd < of.facts.xcds; ++xcd)
    write_back(l2s_[of.first_l2 + xcd], of.first_l2 + xcd);
}

void Model::drop_l2s(uint32_t gpu) {
  const Gpu& of = gpus_[gpu];
  for (uint32_t xcd = 0; xcd < of.facts.xcds; ++xcd) ++l2s_[of.first_l2 + xcd].generation;
}

void Model::write_back_l2(const GroupView& view, Scope scope) {
  if (reaches_l2s(view.gpu, scope)) write_back(l2s_[view.l2], view.l2);
}

void Model::invalidate_l2(const GroupView& view, Scope scope) {
  if (reaches_l2s(view.gpu, scope)) ++l2s_[view.l2].generation;
}

void Model::write_back_scalar(uint32_t gpu) {
  for (ShadowPage* const page : std::exchange(gpus_[gpu].scalar_dirty, {})) {
    CachedPage& cached = *page->scalar[gpu];
    cached.listed = false;
    for (unsigned k = 0; k < kLinesInPage; ++k) {
      const uint64_t mask = std::exchange(cached.dirty[k], 0);
      if (mask != 0)
        write_l2(gpus_[gpu].first_l2, cached.line[k].filler, *page,
                 {page->base + k * kLineBytes, mask});
    }
  }
}

// Caches.

Caching Model::caching_of(const ShadowPage& page, uint32_t gpu) const {
  const GpuFacts& facts = gpus_[gpu].facts;
  return caching(page.allocation.placement, facts.node, facts.caching);
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

CachedPage& Model::l2_page(ShadowPage& page, uint32_t l2) {
  return current(page.l2[l2], l2s_[l2].generation);
}

CachedPage& Model::scalar_page(ShadowPage& page, uint32_t gpu) {
  return current(page.scalar[gpu], gpus_[gpu].scalar_generation);
}

void Model::list_dirty(std::vector<ShadowPage*>& list, CachedPage& cached, ShadowPage& page) {
  if (std::exchange(cached.listed, true)) return;
  list.push_back(&page);
}

// Whether atomics of the reader's own dispatch have written the bytes last. A plain load that meets
// them is the first look of a compare-and-swap loop, which an old value costs one more turn.
bool Model::is_of_own_atomics(const Reader& reader, const ShadowPage& page, const LineAccess& at) {
  const unsigned k = index_of(at.line);
  return page.work[k] == reader.work && (at.mask & ~page.written_by_atomics[k]) == 0;
}

void Model::read_l1(GroupView& view, const Reader& reader, const ShadowPage& page,
                    const LineAccess& at) {
  const uint8_t* const memory = memory_at(at.line);
  const auto [found, is_new] = view.l1.try_emplace(at.line);
  CachedLine& cached = found->second;
  if (!is_new) {
    if (const uint64_t stale = cached.stale(at.mask, memory); stale != 0) {
      if (!is_of_own_atomics(reader, page, {at.line, stale})) {
        report_stale(reader, page, {at.line, stale}, "the L1 of this work-group's compute unit",
                     cached, cure_in_kernel(gpus_[reader.gpu].facts.invalidate_l1));
      }
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
    report_stale(
        reader, page, {at.line, stale}, "the L1 of a compute unit", line->second,
        missing_acquire(reader, left.work, Scope::kAgent, gpus_[reader.gpu].facts.invalidate_l1));
    break;
  }
  cached.take(~uint64_t{0}, memory, writes_);
  cached.filler = reader.work;
}

void Model::read_l2(const Reader& reader, ShadowPage& page, const LineAccess& at) {
  const Caching caching = caching_of(page, reader.gpu);
  if (caching == Caching::kUncached) return;
  const unsigned k = index_of(at.line);
  CachedPage& cached = l2_page(page, reader.l2);
  CachedLine& line = cached.line[k];
  const uint8_t* const memory = memory_at(at.line);
  // A load whose scope is wider than the L2 is answered by memory.
  if (reaches_l2s(reader.gpu, reader.scope)) line.valid &= cached.dirty[k];
  const uint64_t stale = line.stale(at.mask, memory);
  if (stale != 0) {
    // What another process has written came by this same L2.
    const bool is_others =
        page.allocation.placement.is_shared && page.allocation.placement.node != 0;
    if (caching != Caching::kProbed && !is_others) {
      // No acquire drops data that are still to be written back.
      report_stale(reader, page, {at.line, stale}, name_of_l2(reader.l2), line,
                   (cached.dirty[k] & stale) != 0
                       ? missing_write_back(reader.gpu, line.filler, Scope::kSystem)
                       : missing_acquire(reader, line.filler, Scope::kSystem,
                                         gpus_[reader.gpu].facts.invalidate_l2 != nullptr
                                             ? gpus_[reader.gpu].facts.invalidate_l2
                                             : ""));
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

void Model::write_l2(uint32_t l2, WorkId work, ShadowPage& page, const LineAccess& at,
                     bool through) {
  if (caching_of(page, l2s_[l2].gpu) == Caching::kUncached) return;
  CachedPage& cached = l2_page(page, l2);
  const unsigned k = index_of(at.line);
  if (through) {
    cached.dirty[k] &= ~at.mask;
    cached.line[k].take(at.mask & cached.line[k].valid, memory_at(at.line), writes_);
    return;
  }
  cached.line[k].filler = work;
  cached.line[k].take(at.mask, memory_at(at.line), writes_);
  cached.dirty[k] |= at.mask;
  list_dirty(l2s_[l2].dirty, cached, page);
  expose(l2, page);
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

std::optional<Model::ChangedCode> Model::fetch_code(uint32_t gpu, uint64_t page,
                                                    const uint8_t* memory) {
  ShadowPage* const shadow = shadow_.page(page);
  if (shadow == nullptr) return std::nullopt;
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
  Reader reader{view.gpu, view.l2, view.work, &names};
  // Without scope bits, atomics are atomic for the agent.
  reader.scope = access.use == Use::kAtomic ? std::max(access.scope, Scope::kAgent) : access.scope;
  reader.reads = access.use != Use::kStore;
  reader.synchronises = access.synchronises;
  for (const LineAccess& at : *access.lines) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) continue;
    if (page->rights == HostRights::kNone) give_back_to_gpu(at.line);
    check_order(reader, *page, at);
    const bool is_hidden = check_l2s(reader, *page, at);
    check_scalar(reader, *page, at);
    if (reader.reads) check_window(reader, *page, at);
    if (access.use != Use::kLoad) open_for_gpu(*page);
    if (!reader.reads) continue;
    if (!reader.synchronises) {
      if (!is_hidden) check_flight(&view, reader, *page, at);
      read(*page, at, view.work);
    }
    if (access.past_l1) {
      view.l1.erase(at.line);
    } else {
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
    // What is wider in scope than the L2 goes through it.
    const bool is_wide = reaches_l2s(view.gpu, access.scope);
    const bool through = is_wide || (access.use == Use::kAtomic && has_several_l2s(view.gpu));
    write_l2(view.l2, view.work, *page, at, through);
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
  Reader reader{view.gpu, view.l2, view.work, &names};
  reader.reads = use != Use::kStore;
  reader.synchronises = use == Use::kAtomic;
  for (const LineAccess& at : lines) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) continue;
    check_order(reader, *page, at);
    const bool is_hidden = check_l2s(reader, *page, at);
    if (reader.reads) check_window(reader, *page, at);
    if (use != Use::kLoad) open_for_gpu(*page);
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
      write_l2(view.l2, view.work, *page, at);
      continue;
    }
    const unsigned k = index_of(at.line);
    CachedPage& cached = scalar_page(*page, view.gpu);
    cached.line[k].filler = view.work;
    cached.line[k].take(at.mask, memory_at(at.line), writes_);
    cached.dirty[k] |= at.mask;
    list_dirty(gpus_[view.gpu].scalar_dirty, cached, *page);
    // For reads of these bytes through the L2, the report names the scalar cache, not the host.
    if (page->l2[view.l2]) {
      CachedLine& line = l2_page(*page, view.l2).line[k];
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

void Model::copy_reads(WorkId work, uint64_t begin, uint64_t size, const AccessNames& names,
                       bool through_l2) {
  check_copy(work, begin, size, names, true, through_l2);
}

void Model::copy_writes(WorkId work, uint64_t begin, uint64_t size, const AccessNames& names,
                        bool through_l2) {
  check_copy(work, begin, size, names, false, through_l2);
}

void Model::check_copy(WorkId id, uint64_t begin, uint64_t size, const AccessNames& names,
                       bool reads, bool through_l2) {
  const Work* const work = history_.work(id);
  if (work == nullptr) return;
  Reader reader{work->node - 1, gpus_[work->node - 1].first_l2, id, &names};
  reader.reads = reads;
  reader.past_l2 = !through_l2;
  for_each_line(begin, size, [&](const LineAccess& at) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) return;
    if (through_l2 && page->rights == HostRights::kNone) give_back_to_gpu(at.line);
    const bool is_hidden = check_l2s(reader, *page, at);
    check_scalar(reader, *page, at);
    if (reads && !is_hidden) check_flight(nullptr, reader, *page, at);
    if (reads) check_window(reader, *page, at);
    if (reads && through_l2) read_l2(reader, *page, at);
  });
}

void Model::copy_wrote(WorkId id, uint64_t begin, uint64_t size, bool through_l2) {
  const AuthorId author = history_.author(id, 0, "");
  const Work* const work = history_.work(id);
  for_each_line(begin, size, [&](const LineAccess& at) {
    ShadowPage* const page = shadow_.page(at.line);
    if (page == nullptr) return;
    wrote(*page, at, author);
    if (through_l2 && work != nullptr) write_l2(gpus_[work->node - 1].first_l2, id, *page, at);
  });
}

// The host.

void Model::expose(uint32_t l2, ShadowPage& page) {
  if (!guards_ || page.exposed || !may_take(page)) return;
  page.exposed = true;
  l2s_[l2].exposed.push_back(&page);
}

void Model::take_exposed(uint32_t gpu) {
  const Gpu& of = gpus_[gpu];
  for (uint32_t l2 = of.first_l2; l2 < of.first_l2 + of.facts.xcds; ++l2) {
    for (ShadowPage* const page : std::exchange(l2s_[l2].exposed, {})) {
      page->exposed = false;
      const CachedPage* const cached = page->l2[l2].get();
      if (cached != nullptr && cached->listed) set_rights(*page, HostRights::kNone);
    }
  }
}

bool Model::give_back(uint64_t address, HostRights rights) {
  ShadowPage* const page = shadow_.page(address);
  if (page == nullptr || !page->was_taken) return false;
  // Another thread may have been faster; not so with a page that is a piece of its own.
  if (!set_rights(*page, rights)) return false;
  // The next dispatch that ends takes it again, if it must.
  for (uint32_t l2 = 0; l2 < l2s_.size(); ++l2) {
    if (page->l2[l2] && page->l2[l2]->listed) expose(l2, *page);
  }
  return true;
}

void Model::host_touches(uint64_t address, bool is_write, const AccessNames& names) {
  const ShadowPage* const page = shadow_.page(address);
  if (page == nullptr || page->rights != HostRights::kNone) return;
  Reader reader;
  reader.names = &names;
  reader.reads = !is_write;
  reader.past_l2 = true;
  // The number of bytes is unknown: at least one.
  const auto at = static_cast<unsigned>(address % kLineBytes);
  check_l2s(reader, *page, {line_of(address), byte_mask(at, 1)});
}

}  // namespace halyard::vgpu::coherence
