// The model's rules between accesses: packets that overlap, bytes that only a cache has, stores in
// flight, and freed memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "vgpu/coherence/model.h"

namespace halyard::vgpu::coherence {

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
void Model::check_freed(const ShadowPage& page, uint32_t l2) {
  const uint32_t gpu = l2s_[l2].gpu;
  if (page.allocation.placement.is_shared || gpus_[gpu].is_lost) return;
  const CachedPage& cached = *page.l2[l2];
  const auto dirty =
      std::find_if(cached.dirty.begin(), cached.dirty.end(), [](uint64_t d) { return d != 0; });
  if (dirty == cached.dirty.end()) return;
  const auto k = static_cast<unsigned>(dirty - cached.dirty.begin());
  const LineAccess bytes = {page.base + k * kLineBytes, *dirty};
  const Writer writer = writer_of(page, bytes, cached.line[k].filler);
  const FreeNames names;
  report(Mistake::kUnreleasedFree, {gpu, l2, 0, &names}, page, bytes,
         "of which bytes are still to be written back", "written by ", writer,
         fmt::format("; {} has them since", name_of_l2(l2)),
         missing_write_back(gpu, writer.work, Scope::kSystem));
}

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
  const unsigned k = index_of(at.line);
  const Work* const work = history_.work(reader.work);
  const char* const may_run =
      work != nullptr && work->is_pm4
          ? ", which may still run: no packet between waits for it"
          : ", which may still run: neither packet nor one between has the barrier bit";
  const auto missing = [&] {
    const bool is_pm4 = work != nullptr && work->is_pm4;
    return fmt::format("{} {}",
                       is_pm4 ? "an EVENT_WRITE of CS_PARTIAL_FLUSH, or a RELEASE_MEM and a "
                                "WAIT_REG_MEM, before"
                              : "the barrier bit in",
                       history_.describe(reader.work));
  };
  const uint64_t bytes = page.written_by_work[k] & at.mask;
  const bool is_atomic = (bytes & ~page.written_by_atomics[k]) == 0;
  if (bytes != 0 && page.work[k] != reader.work &&
      !(reader.synchronises && (is_atomic || !reader.reads))) {
    const Work* const writer = history_.work(page.work[k]);
    if (overlaps(writer, work)) {
      return report(Mistake::kOverlap, reader, page, {at.line, bytes},
                    "which an earlier packet of the queue has written", "written by ",
                    writer_of(page, {at.line, bytes}), may_run, missing());
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
         may_run, missing());
}

// Bytes that are in an L2 and not in memory. A kernel reads them through the L2 of its own GPU, or
// XCD. Writes by other XCDs of the same GPU are races, which are not the caches' matter.
bool Model::check_l2s(const Reader& reader, const ShadowPage& page, const LineAccess& at) {
  const unsigned k = index_of(at.line);
  for (uint32_t l2 = 0; l2 < l2s_.size(); ++l2) {
    const uint32_t gpu = l2s_[l2].gpu;
    const bool is_inside = gpu == reader.gpu && !reader.past_l2;
    if (is_inside && (l2 == reader.l2 || !reader.reads)) continue;
    if (!page.l2[l2]) continue;
    const uint64_t bytes = page.l2[l2]->dirty[k] & at.mask;
    if (bytes == 0) continue;
    const Writer writer = writer_of(page, {at.line, bytes}, page.l2[l2]->line[k].filler);
    report(reader.reads ? Mistake::kUnreleasedRead : Mistake::kUnreleasedWrite, reader, page,
           {at.line, bytes},
           reader.reads ? "which are not in memory yet" : "which are still to be written back",
           "written by ", writer, fmt::format("; {} has them since", name_of_l2(l2)),
           missing_write_back(gpu, writer.work, is_inside ? Scope::kAgent : Scope::kSystem));
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

}  // namespace halyard::vgpu::coherence
