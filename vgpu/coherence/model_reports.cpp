// The texts of the model's findings: the writer of bytes, and the missing fence or instruction.
#include <fmt/format.h>

#include <bit>
#include <functional>
#include <string>
#include <string_view>

#include "vgpu/coherence/model.h"
#include "vgpu/coherence/reliances.h"

namespace halyard::vgpu::coherence {
namespace {

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

std::string Model::name_of_l2(uint32_t l2) const {
  const Gpu& gpu = gpus_[l2s_[l2].gpu];
  if (gpu.facts.xcds == 1) return fmt::format("the L2 of GPU {}", gpu.facts.node);
  return fmt::format("the L2 of XCD {} of GPU {}", l2 - gpu.first_l2, gpu.facts.node);
}

std::string Model::cure_in_kernel(const std::string& instruction) {
  return fmt::format("{} between the operation that notified this wave of the write, and this read",
                     instruction);
}

std::string Model::fence_in(WorkId id, const char* fence, const char* scope) const {
  const Work* const work = history_.work(id);
  if (work != nullptr && work->is_pm4) return packet_at(id, fence, scope);
  std::string text = fmt::format("{} {} fence at {} scope in {}", fence[0] == 'a' ? "an" : "a",
                                 fence, scope, history_.describe(id));
  if (work != nullptr && work->kind == WorkKind::kDispatch) {
    text += fmt::format(", whose packet has {}",
                        text_of(fence[0] == 'a' ? work->acquire : work->release));
  }
  return text + ", or in a packet between";
}

// The same for a PM4 queue, whose dispatches have no fences.
std::string Model::packet_at(WorkId id, const char* fence, const char* scope) const {
  const bool is_system = scope == std::string_view("system");
  if (fence[0] == 'a') {
    return fmt::format("an ACQUIRE_MEM that invalidates {} before {}",
                       is_system ? "the L2 (TC_ACTION_ENA), the L1s and the scalar cache"
                                 : "the L1s (TCL1_ACTION_ENA) and the scalar cache "
                                   "(SH_KCACHE_ACTION_ENA)",
                       history_.describe(id));
  }
  return fmt::format("{} behind {}",
                     is_system ? "a RELEASE_MEM that writes the L2 back (TC_WB_ACTION_EN)"
                               : "a RELEASE_MEM, or an EVENT_WRITE of CS_PARTIAL_FLUSH,",
                     history_.describe(id));
}

// What would have dropped a line that `filler` has had fetched. Packets' fences do nothing for a
// dispatch that runs; empty: nor does an instruction of the processor's.
std::string Model::missing_acquire(const Reader& reader, WorkId filler, Scope scope,
                                   const std::string& instruction) const {
  const Work* const work = history_.work(reader.work);
  const bool acquired = work != nullptr && work->acquire >= scope;
  if (filler != reader.work && !acquired) return fence_in(reader.work, "acquire", text_of(scope));
  if (!instruction.empty()) return cure_in_kernel(instruction);
  return fmt::format(
      "a dispatch of its own for this read, with an acquire fence at {} scope (a kernel cannot "
      "invalidate lines of this L2), or fine-grained memory",
      text_of(scope));
}

// The release that is missing: with it, a reader in `scope` would see what is dirty in the L2.
std::string Model::missing_write_back(uint32_t gpu, WorkId writer, Scope scope) const {
  const GpuFacts& facts = gpus_[gpu].facts;
  const char* const wide = text_of(scope);
  const Work* const work = history_.work(writer);
  if (work == nullptr)
    return fmt::format("a release fence at {} scope on GPU {}", wide, facts.node);
  if (work->ended != 0) return fence_in(writer, "release", wide);
  std::string end = work->release >= scope
                        ? fmt::format("a wait for the end of {}, whose packet releases at {} scope",
                                      history_.describe(writer), text_of(work->release))
                        : fmt::format("a wait for the end of {}, and {}", history_.describe(writer),
                                      fence_in(writer, "release", wide));
  if (facts.write_back_l2 == nullptr) return end;
  return fmt::format(
      "{} and s_waitcnt vmcnt(0) after the store, before its wave notifies others (a "
      "release at {} scope), or {}",
      scope == Scope::kAgent ? "buffer_wbl2 sc1" : facts.write_back_l2, wide, end);
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
         by_host ? host_writer_of(page, index_of(stale.line)) : writer_of(page, stale), "", cure);
}

Model::Writer Model::writer_named(WorkId work) const {
  return {work, std::hash<std::string>()(name_of(work)), history_.describe(work), ""};
}

Model::Writer Model::writer_of(const ShadowPage& page, const LineAccess& at,
                               WorkId otherwise) const {
  const unsigned k = index_of(at.line);
  if ((page.written[k] & at.mask) != 0) {
    const Author* const author = history_.author(page.author[k]);
    const std::string place = author != nullptr ? author->place : "";
    return {page.work[k], std::hash<std::string>()(place + name_of(page.work[k])),
            history_.describe_author(page.author[k]), ""};
  }
  if ((page.written_by_work[k] & at.mask) != 0) return writer_named(page.work[k]);
  if (otherwise != 0) return writer_named(otherwise);
  Writer writer = host_writer_of(page, k);
  if (page.author[k] != 0) {
    writer.name += fmt::format(" (or by a writer before {}, which wrote to that line too)",
                               history_.describe_author(page.author[k]));
  }
  return writer;
}

void Model::report(Mistake mistake, const Reader& reader, const ShadowPage& page,
                   const LineAccess& at, const std::string& relation, const std::string& before,
                   const Writer& writer, const std::string& after, const std::string& cure) {
  const Reliance* const relied_on = reliance(mistake, writer.library);
  if (relied_on != nullptr && !findings_.notes()) return;
  // A pair of places is reported once.
  if (!findings_.is_new(mistake, reader.names->place(), writer.place)) return;
  const AccessText text = reader.names->describe(at.line, at.mask);
  findings_.tell({.mistake = mistake,
                  .where = text.where,
                  .access = fmt::format("{}, {}: {}", text.access, relation,
                                        range_text(page, at.line, at.mask)),
                  .history = before + writer.name + after,
                  .cure = cure,
                  .place = text.place,
                  .relied_on = relied_on});
}

std::string Model::name_of(WorkId id) const {
  const Work* const work = history_.work(id);
  return work != nullptr ? work->name : "";
}

}  // namespace halyard::vgpu::coherence
