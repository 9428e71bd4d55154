#include "vgpu/coherence/history.h"

#include <fmt/format.h>

#include <utility>

namespace halyard::vgpu::coherence {
namespace {

constexpr size_t kMaxWorks = size_t{1} << 16;
constexpr size_t kMaxAuthors = size_t{1} << 19;
constexpr const char* kForgotten = "an earlier dispatch or copy";

// A dispatch has few places that write, next to each other in its code.
uint64_t key(WorkId work, uint64_t pc) {
  return (uint64_t{work} << 32) ^ (pc >> 2);
}

}  // namespace

const char* text_of(Scope scope) {
  switch (scope) {
    case Scope::kNone:
      return "none";
    case Scope::kAgent:
      return "agent";
    case Scope::kSystem:
      return "system";
  }
  return "unknown";
}

WorkId History::add(Work work) {
  if (work.kind == WorkKind::kDispatch) work.number = ++dispatches_;
  if (work.kind == WorkKind::kCopy) work.number = ++copies_;
  works_.push_back(std::move(work));
  if (works_.size() > kMaxWorks) {
    if (works_.front().ended == 0) {
      std::erase_if(running_, [](const auto& entry) { return entry.second.ended != 0; });
      running_.emplace(first_work_, std::move(works_.front()));
    }
    works_.pop_front();
    ++first_work_;
  }
  return first_work_ + static_cast<WorkId>(works_.size()) - 1;
}

const Work* History::work(WorkId id) const {
  if (id < first_work_) {
    const auto found = running_.find(id);
    return found != running_.end() ? &found->second : nullptr;
  }
  return id - first_work_ < works_.size() ? &works_[id - first_work_] : nullptr;
}

Work* History::work(WorkId id) {
  return const_cast<Work*>(std::as_const(*this).work(id));
}

AuthorId History::author(WorkId work, uint64_t pc, const std::string& place, bool is_atomic) {
  const auto [found, is_new] = by_place_.try_emplace(key(work, pc), 0);
  if (!is_new && found->second >= first_author_) return found->second;
  authors_.push_back({work, place, is_atomic});
  const AuthorId id = first_author_ + static_cast<AuthorId>(authors_.size()) - 1;
  found->second = id;
  if (authors_.size() > kMaxAuthors) {
    // All at once, with the index: to forget one at a time would need a way back into it.
    const size_t half = authors_.size() / 2;
    authors_.erase(authors_.begin(), authors_.begin() + static_cast<ptrdiff_t>(half));
    first_author_ += static_cast<AuthorId>(half);
    std::erase_if(by_place_, [this](const auto& entry) { return entry.second < first_author_; });
  }
  return id;
}

const Author* History::author(AuthorId id) const {
  if (id < first_author_ || id - first_author_ >= authors_.size()) return nullptr;
  return &authors_[id - first_author_];
}

std::string History::describe(WorkId id) const {
  const Work* const work = this->work(id);
  if (work == nullptr) return kForgotten;
  switch (work->kind) {
    case WorkKind::kDispatch:
      return fmt::format("dispatch {} ({}, packet {} of {}queue {} on GPU {})", work->number,
                         work->name.empty() ? "kernel of unknown name" : work->name, work->packet,
                         work->is_pm4 ? "PM4 " : "", work->queue, work->node);
    case WorkKind::kBarrier:
      return fmt::format("the barrier packet {} of queue {} on GPU {}", work->packet, work->queue,
                         work->node);
    case WorkKind::kCopy:
      return fmt::format("copy {} ({} queue {} of GPU {})", work->number,
                         work->is_pm4 ? "PM4" : "SDMA", work->queue, work->node);
  }
  return kForgotten;
}

std::string History::describe_author(AuthorId id) const {
  if (id == 0) return "the host";
  const Author* const author = this->author(id);
  if (author == nullptr) return kForgotten;
  std::string text = describe(author->work);
  if (!author->place.empty()) text += " " + author->place;
  return text;
}

}  // namespace halyard::vgpu::coherence
