#include "vgpu/coherence/tests/simulation.h"

#include <fmt/format.h>

#include <cstdlib>

namespace halyard::vgpu::coherence::testing {
namespace {

std::vector<LineAccess> lines_of(const uint32_t* at, size_t words) {
  std::vector<LineAccess> lines;
  for (size_t n = 0; n < words; ++n) {
    const auto address = reinterpret_cast<uint64_t>(at + n);
    const uint64_t mask = byte_mask(static_cast<unsigned>(address % kLineBytes), 4);
    if (lines.empty() || lines.back().line != line_of(address)) {
      lines.push_back({line_of(address), mask});
    } else {
      lines.back().mask |= mask;
    }
  }
  return lines;
}

std::vector<GpuFacts> facts_of_all(const std::vector<std::string>& processors, uint32_t xcds) {
  std::vector<GpuFacts> facts;
  for (const std::string& processor : processors)
    facts.push_back(facts_of(static_cast<uint32_t>(facts.size()) + 1, processor, xcds));
  return facts;
}

class CopyNames final : public AccessNames {
 public:
  explicit CopyNames(bool reads) : reads_(reads) {}
  AccessText describe(uint64_t, uint64_t) const override {
    return {"a copy", reads_ ? "it reads" : "it writes", ""};
  }
  uint64_t place() const override {
    static uint64_t next = 1000000;
    return ++next;
  }

 private:
  const bool reads_;
};

}  // namespace

Simulation::Simulation(const std::vector<std::string>& processors, bool notes, uint32_t xcds)
    : model_(std::make_unique<Model>(
          facts_of_all(processors, xcds),
          [this](std::string_view text) { found_.emplace_back(text); }, notes)),
      registers_(processors.size()) {
  for (uint32_t gpu = 0; gpu < registers_.size(); ++gpu)
    model_->set_window_register(gpu, &registers_[gpu]);
}

Simulation::~Simulation() {
  model_.reset();
  for (const auto& [memory, allocation] : memory_) std::free(memory);
}

uint32_t* Simulation::allocate(uint32_t node, bool coarse, size_t pages) {
  return allocate(pages, {.node = node, .coarse_grained = coarse});
}

uint32_t* Simulation::behind_window(uint32_t node, size_t pages) {
  return allocate(pages, {.node = node, .host_visible = true});
}

uint32_t* Simulation::allocate(size_t pages, const Placement& placement) {
  const size_t bytes = pages * kPageBytes;
  auto* const memory = static_cast<uint32_t*>(std::aligned_alloc(kPageBytes, bytes));
  std::memset(memory, 0, bytes);
  Allocation allocation;
  allocation.begin = reinterpret_cast<uint64_t>(memory);
  allocation.size = bytes;
  allocation.placement = placement;
  model_->allocated(allocation);
  memory_.emplace_back(memory, allocation);
  return memory;
}

void Simulation::reallocate(uint32_t* memory) {
  for (const auto& [begin, allocation] : memory_) {
    if (begin != memory) continue;
    model_->freed(allocation.begin);
    std::memset(begin, 0, allocation.size);
    model_->allocated(allocation);
  }
}

WorkId Simulation::begin(uint32_t node, Packet packet, WorkKind kind) {
  Work work;
  work.kind = kind;
  work.node = node;
  work.queue = packet.queue;
  work.packet = packet.index;
  work.acquire = packet.acquire;
  work.release = packet.release;
  work.ordered_below = packet.ordered_below;
  work.name = std::move(packet.name);
  return model_->begin(std::move(work));
}

void Simulation::copy_in(uint32_t node, uint32_t* to, uint32_t value, size_t words) {
  const WorkId work = begin(node, {.name = ""}, WorkKind::kCopy);
  const auto begin = reinterpret_cast<uint64_t>(to);
  model_->copy_writes(work, begin, words * 4, CopyNames(false));
  for (size_t n = 0; n < words; ++n) to[n] = value;
  model_->copy_wrote(work, begin, words * 4);
  end(work);
}

void Simulation::copy_out(uint32_t node, const uint32_t* from, size_t words) {
  const WorkId work = begin(node, {.name = ""}, WorkKind::kCopy);
  model_->copy_reads(work, reinterpret_cast<uint64_t>(from), words * 4, CopyNames(true));
  end(work);
}

class Group::Names final : public AccessNames {
 public:
  Names(std::string kernel, Use use, uint64_t place)
      : kernel_(std::move(kernel)), use_(use), place_(place) {}
  AccessText describe(uint64_t, uint64_t) const override {
    return {kernel_, use_ == Use::kStore ? "a lane writes" : "a lane reads", "the instruction"};
  }
  uint64_t place() const override { return place_; }

 private:
  const std::string kernel_;
  const Use use_;
  const uint64_t place_;
};

Group::Group(Simulation& simulation, WorkId work, uint32_t waves, uint32_t xcd)
    : simulation_(simulation), model_(simulation.model()) {
  view_.work = work;
  view_.gpu = model_.history().work(work)->node - 1;
  view_.l2 = model_.l2_of(view_.gpu, xcd);
  model_.enter(view_, waves);
}

Group::~Group() {
  model_.leave(view_);
}

uint64_t Group::next_place() {
  static uint64_t next = 0;
  const uint64_t chosen = std::exchange(place_, 0);
  return chosen != 0 ? chosen : 1000 + ++next;
}

AuthorId Group::author(uint64_t place, Use use) {
  return model_.history().author(view_.work, place * 4, fmt::format("at {}", place),
                                 use == Use::kAtomic);
}

void Group::vector(Use use, bool past_l1, const uint32_t* at, size_t words, const Change& change) {
  const uint64_t place = next_place();
  const std::vector<LineAccess> lines = lines_of(at, words);
  const Work* const work = model_.history().work(view_.work);
  const Names names(work != nullptr ? work->name : "a kernel", use, place);
  VectorAccess access;
  access.use = use;
  access.synchronises = use == Use::kAtomic || past_l1 || scope_ != Scope::kNone;
  access.past_l1 = access.synchronises;
  access.scope = std::exchange(scope_, Scope::kNone);
  access.wave = wave_;
  access.lines = &lines;
  model_.before(view_, access, names);
  change();
  if (use != Use::kLoad) access.author = author(place, use);
  model_.after(view_, access);
}

void Group::scalar(Use use, const uint32_t* at, const Change& change) {
  const uint64_t place = next_place();
  const std::vector<LineAccess> lines = lines_of(at, 1);
  model_.before_scalar(view_, use, lines,
                       Names(model_.history().work(view_.work)->name, use, place));
  change();
  if (use != Use::kLoad) model_.after_scalar(view_, use, author(place, use), lines);
}

void Group::store(uint32_t* to, uint32_t value, size_t words) {
  vector(Use::kStore, false, to, words, [&] {
    for (size_t n = 0; n < words; ++n) to[n] = value;
  });
}

void Group::add(uint32_t* to) {
  vector(Use::kAtomic, true, to, 1, [&] { ++*to; });
}

void Group::wait(uint32_t count) {
  model_.wait(view_, wave_, count);
}

void Group::load_scalar(const uint32_t* from) {
  scalar(Use::kLoad, from);
}

void Group::store_scalar(uint32_t* to, uint32_t value) {
  scalar(Use::kStore, to, [&] { *to = value; });
}

void Group::add_scalar(uint32_t* to) {
  scalar(Use::kAtomic, to, [&] { ++*to; });
}

}  // namespace halyard::vgpu::coherence::testing
