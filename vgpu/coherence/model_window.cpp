// The model's rules for the PCI window, through which the host reaches a GPU's memory: whose code
// has stored there, and whether the HDP was flushed since.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/coherence/host_view.h"
#include "vgpu/coherence/model.h"

namespace halyard::vgpu::coherence {
namespace {

// Pages that the host may write to at once without a signal for each store.
constexpr size_t kHostPages = 16;
// A page with rights of its own divides a mapping, for good where its memory can be shared (Linux
// merges no mappings of System V segments). A process may have some 65,000.
constexpr uint32_t kMostPieces = 8192;

}  // namespace

void Model::allocated(const Allocation& allocation) {
  Allocation known = allocation;
  const bool is_watched = guards_ && has_window(known.placement) && known.placement.own_mapping &&
                          set_rights(known.begin, known.size, HostRights::kReads);
  if (is_watched) known.watch = std::make_shared<HostWatch>();
  shadow_.add(known);
}

// Gives back all that was taken of it: it is to be freed, or to be another process's too.
void Model::give_back_all(const Allocation& allocation) {
  std::erase_if(host_opened_, [&](const ShadowPage* page) {
    return page->base - allocation.begin < allocation.size;
  });
  std::erase_if(opened_, [&](const Allocation& one) { return one.begin == allocation.begin; });
  if (allocation.watch != nullptr) {
    set_rights(allocation.begin, allocation.size, HostRights::kAll);
    pieces_ -= allocation.watch->pieces;
  }
  for (ShadowPage* const page : shadow_.pages_of(allocation)) {
    if (allocation.watch != nullptr) page->rights = HostRights::kAll;
    if (page->rights != HostRights::kAll) set_rights(*page, HostRights::kAll);
  }
}

void Model::shared(uint64_t begin) {
  const auto allocation = shadow_.find(begin);
  if (!allocation) return;
  give_back_all(*allocation);
  shadow_.share(begin);
}

// Who stores to the page is asked again from now on.
void Model::watch(ShadowPage& page) {
  if (!page.window) return;
  const HostWatch* const watch = page.allocation.watch.get();
  if (watch != nullptr && !watch->is_open && !watch->is_stopped && page.rights == HostRights::kAll)
    set_rights(page, HostRights::kReads);
  settle(page);
}

// What has changed is the present writer's; there is none from now on.
void Model::settle(ShadowPage& page) {
  WindowPage& window = *page.window;
  const HostWriterId writer = std::exchange(window.writes_now, 0);
  const uint8_t* const memory = memory_at(page.base);
  if (std::memcmp(window.seen.data(), memory, kPageBytes) == 0) return;
  for (unsigned k = 0; k < kLinesInPage; ++k) {
    uint8_t* const seen = window.seen.data() + k * kLineBytes;
    const uint8_t* const now = memory + k * kLineBytes;
    if (std::memcmp(seen, now, kLineBytes) == 0) continue;
    std::memcpy(seen, now, kLineBytes);
    window.writer[k] = writer;
  }
}

// A GPU is about to write to the page. The host may then write to its allocation unseen, until the
// packet ends: page by page, the mapping would be in too many pieces.
void Model::open_for_gpu(ShadowPage& page) {
  if (!page.window) return;
  if (page.window->writes_now != 0) settle(page);
  const HostWatch* const watch = page.allocation.watch.get();
  if (watch == nullptr || watch->is_open || watch->is_stopped) return;
  if (open(page.allocation)) opened_.push_back(page.allocation);
}

bool Model::open(const Allocation& allocation) {
  watch_host_again();
  if (!set_rights(allocation.begin, allocation.size, HostRights::kAll)) return false;
  allocation.watch->is_open = true;
  take_again(allocation);
  return true;
}

// Pages of it that only a cache has, after the rights to all of it have changed.
void Model::take_again(const Allocation& allocation) {
  const auto is_of = [&](const ShadowPage* page) {
    return page->base - allocation.begin < allocation.size;
  };
  for (const L2& l2 : l2s_) {
    for (ShadowPage* const page : l2.dirty) {
      if (page->rights == HostRights::kNone && is_of(page)) set_rights(*page, HostRights::kNone);
    }
  }
}

// What GPUs have opened.
void Model::watch_opened() {
  if (opened_.empty()) return;
  watch_host_again();
  for (const Allocation& allocation : std::exchange(opened_, {})) {
    if (!set_rights(allocation.begin, allocation.size, HostRights::kReads)) continue;
    allocation.watch->is_open = false;
    take_again(allocation);
  }
}

// The writers of its bytes are not known from now on.
void Model::stop_watching(const Allocation& allocation) {
  if (allocation.watch->is_stopped || !open(allocation)) return;
  std::erase_if(opened_, [&](const Allocation& one) { return one.begin == allocation.begin; });
  allocation.watch->is_stopped = true;
}

void Model::host_writes(uint64_t address, HostWriterId writer) {
  ShadowPage* const page = shadow_.page(address);
  if (page == nullptr || !page->window || writer == 0) return;
  // Between code of different libraries, each page is asked for anew.
  const std::string& library = host_writers_.writer(writer).library;
  if (last_library_ != library) {
    last_library_ = library;
    watch_host_again();
  }
  while (host_opened_.size() >= kHostPages) {
    watch(*host_opened_.front());
    host_opened_.pop_front();
  }
  settle(*page);
  page->window->writes_now = writer;
  host_opened_.push_back(page);
}

void Model::watch_host_again() {
  for (ShadowPage* const page : std::exchange(host_opened_, {})) watch(*page);
}

bool Model::give_back_to_write(uint64_t address, HostWriterId writer) {
  ShadowPage* const page = shadow_.page(address);
  HostWatch* const watch = page != nullptr ? page->allocation.watch.get() : nullptr;
  if (watch != nullptr && !watch->is_stopped && !std::exchange(page->is_piece, true)) {
    ++watch->pieces;
    if (++pieces_ > kMostPieces) stop_watching(page->allocation);
  }
  host_writes(address, writer);
  if (give_back(address, HostRights::kAll)) return true;
  // The system lets a process have only so many pieces; this needs no new one.
  if (watch != nullptr) stop_watching(page->allocation);
  return watch != nullptr && watch->is_stopped;
}

bool Model::give_back_to_read(uint64_t address) {
  const ShadowPage* const page = shadow_.page(address);
  const HostWatch* const watch = page != nullptr ? page->allocation.watch.get() : nullptr;
  const bool is_watched = watch != nullptr && !watch->is_open && !watch->is_stopped;
  return give_back(address, is_watched ? HostRights::kReads : HostRights::kAll);
}

bool Model::give_back_to_gpu(uint64_t address) {
  ShadowPage* const page = shadow_.page(address);
  if (page == nullptr || !page->was_taken) return false;
  open_for_gpu(*page);
  const HostWatch* const watch = page->allocation.watch.get();
  if (page->rights != HostRights::kNone && watch != nullptr && watch->is_open) return true;
  return give_back(address, HostRights::kAll);
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
    watch(page);
    if (__atomic_exchange_n(owner.hdp_flush, 0, __ATOMIC_ACQUIRE) != 0) ++owner.flushes;
    const HostWatch* const of_all = page.allocation.watch.get();
    const bool is_known = window.writer[k] != 0 || of_all == nullptr || !of_all->is_stopped;
    if (window.flushes[k] == owner.flushes && is_known) {
      wrote(page, {at.line, stored}, 0);
      report(Mistake::kHostWindow, reader, page, {at.line, stored},
             "which have come through the PCI window", "written by ", host_writer_of(page, k),
             fmt::format(", and may still be in the HDP of GPU {}", owner.facts.node),
             "a store to the register HDP_MEM_FLUSH_CNTL (HSA_AMD_AGENT_INFO_HDP_FLUSH) behind the "
             "host's stores");
    }
    window.flushes[k] = owner.flushes;
  }
  // The rest of the line came before the same flush.
  know(page, {at.line, ~uint64_t{0}});
}

Model::Writer Model::host_writer_of(const ShadowPage& page, unsigned line) const {
  const HostWriterId id = page.window ? page.window->writer[line] : 0;
  if (id == 0) return {0, 0, "the host", ""};
  const HostWriter& writer = host_writers_.writer(id);
  return {0, writer.pc, fmt::format("the host, in {}", writer.place), writer.library};
}

void Model::know(ShadowPage& page, const LineAccess& at) {
  if (!page.window) return;
  const unsigned k = index_of(at.line);
  uint8_t* const data = page.window->data.data() + k * kLineBytes;
  uint8_t* const seen = page.window->seen.data() + k * kLineBytes;
  const uint8_t* const memory = memory_at(at.line);
  for (uint64_t left = at.mask; left != 0; left &= left - 1) {
    const auto byte = static_cast<unsigned>(std::countr_zero(left));
    data[byte] = seen[byte] = memory[byte];
  }
  page.window->known[k] |= at.mask;
}

}  // namespace halyard::vgpu::coherence
