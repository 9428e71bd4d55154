#include "vgpu/observe/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "vgpu/isa/target.h"

namespace halyard::vgpu::observe {
namespace {

constexpr size_t kHottest = 20;

constexpr const char* kClassNames[kClasses] = {"vector",        "matrix", "scalar", "scalar memory",
                                               "vector memory", "LDS",    "branch", "other"};

bool is_branch(const isa::Row& row) {
  switch (row.flow) {
    case isa::Flow::kJump:
    case isa::Flow::kBranch:
    case isa::Flow::kFork:
    case isa::Flow::kJoin:
      return true;
    default:
      return false;
  }
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

uint64_t total_of(const KernelCount& kernel) {
  uint64_t total = 0;
  for (const auto& [offset, count] : kernel.instructions) total += count.executed;
  return total;
}

void append_kernel(std::string& text, const KernelCount& kernel) {
  const uint64_t total = total_of(kernel);
  uint64_t by_class[kClasses] = {};
  std::vector<std::pair<int64_t, const InstructionCount*>> hot;
  for (const auto& [offset, count] : kernel.instructions) {
    by_class[static_cast<unsigned>(count.kind)] += count.executed;
    hot.emplace_back(offset, &count);
  }
  text += fmt::format("{} on {}: {} instructions, {} dispatches, {} work-groups, {} waves\n",
                      kernel.name, kernel.processor, total, kernel.dispatches, kernel.groups,
                      kernel.waves);
  for (unsigned c = 0; c < kClasses; ++c) {
    if (by_class[c] != 0)
      text += fmt::format("  {:<14}{:>14}  {:5.1f} %\n", kClassNames[c], by_class[c],
                          percent(by_class[c], total));
  }
  std::sort(hot.begin(), hot.end(), [](const auto& a, const auto& b) {
    if (a.second->executed != b.second->executed) return a.second->executed > b.second->executed;
    return a.first < b.first;
  });
  if (hot.size() > kHottest) hot.resize(kHottest);
  text += fmt::format("  {:>14}  {:>7}  {:>5}  {:<8}  instruction\n", "executed", "share", "lanes",
                      "offset");
  for (const auto& [offset, count] : hot) {
    const auto distance = static_cast<uint64_t>(offset < 0 ? -offset : offset);
    text += fmt::format("  {:>14}  {:5.1f} %  {:5.1f}  {}0x{:04x}   {}\n", count->executed,
                        percent(count->executed, total),
                        static_cast<double>(count->lanes) / static_cast<double>(count->executed),
                        offset < 0 ? '-' : '+', distance, count->text);
  }
}

}  // namespace

const char* class_name(Class kind) {
  return kClassNames[static_cast<unsigned>(kind)];
}

Class class_of(const isa::Instruction& instruction) {
  using isa::Format;
  const isa::Row& row = isa::row_of(instruction.op);
  switch (instruction.format) {
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
    case Format::kVop3:
    case Format::kVintrp:
    case Format::kVinterp:
    case Format::kVopd:
      return Class::kVector;
    case Format::kVop3p:
      return row.has(isa::kMatrix) ? Class::kMatrix : Class::kVector;
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopc:
    case Format::kSopk:
      return is_branch(row) ? Class::kBranch : Class::kScalar;
    case Format::kSopp:
      return is_branch(row) ? Class::kBranch : Class::kOther;
    case Format::kSmem:
      return Class::kScalarMemory;
    case Format::kDs:
    case Format::kLdsDirect:
      return Class::kLds;
    case Format::kFlat:
    case Format::kMubuf:
    case Format::kMtbuf:
    case Format::kMimg:
      return Class::kVectorMemory;
    case Format::kExp:
      return Class::kOther;
  }
  return Class::kOther;
}

// Counts without a lock, and adds its counts to the kernel's when the work-group has ended.
class Counts::Group final : public isa::GroupObserver {
 public:
  Group(Counts& counts, Key key, const isa::WorkGroup& group, const isa::GroupContext& context)
      : counts_(counts), key_(std::move(key)), context_(context), waves_(group.wave_count) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  ~Group() override {
    const std::lock_guard lock(counts_.mutex_);
    KernelCount& kernel = counts_.kernels_[key_];
    ++kernel.groups;
    kernel.waves += waves_;
    for (const auto& [pc, seen] : seen_) {
      InstructionCount& count =
          kernel.instructions[static_cast<int64_t>(pc - context_.kernel->entry)];
      // The code may be gone by the time of the report.
      if (count.executed == 0) count.text = context_.program->text(pc);
      count.kind = seen.kind;
      count.executed += seen.executed;
      count.lanes += seen.lanes;
    }
  }

  void before(const isa::Wave& wave, const isa::Instruction& instruction) override {
    Seen& seen = seen_[wave.pc];
    if (seen.executed == 0) seen.kind = class_of(instruction);
    ++seen.executed;
    seen.lanes += static_cast<uint64_t>(std::popcount(wave.exec()));
  }
  void after(const isa::Wave&, const isa::Instruction&, uint64_t, isa::Outcome) override {}
  void barrier() override {}

 private:
  struct Seen {
    uint64_t executed = 0;
    uint64_t lanes = 0;
    Class kind = Class::kOther;
  };

  Counts& counts_;
  const Key key_;
  const isa::GroupContext& context_;
  const uint32_t waves_;
  std::unordered_map<uint64_t, Seen> seen_;  // by pc
};

void Counts::begin(const isa::GroupContext& context) {
  const uint64_t object = context.dispatch->kernel_object;
  const std::string name = kernel_text(names_, object);
  const std::lock_guard lock(mutex_);
  KernelCount& kernel = kernels_[{context.target->processor, object}];
  kernel.name = name;
  kernel.processor = context.target->processor;
  ++kernel.dispatches;
}

std::unique_ptr<isa::GroupObserver> Counts::watch(const isa::WorkGroup& group,
                                                  const isa::GroupContext& context) {
  Key key{context.target->processor, context.dispatch->kernel_object};
  return std::make_unique<Group>(*this, std::move(key), group, context);
}

void Counts::end(const isa::GroupContext&, const isa::DispatchResult& result) {
  if (result.fault.kind != isa::Fault::Kind::kNone) flush();
}

void Counts::flush() {
  const std::lock_guard lock(mutex_);
  const std::string text = report_locked();
  kernels_.clear();
  if (!text.empty()) write_(text);
}

std::string Counts::report() const {
  const std::lock_guard lock(mutex_);
  return report_locked();
}

std::string Counts::report_locked() const {
  std::vector<const KernelCount*> kernels;
  for (const auto& [key, kernel] : kernels_) kernels.push_back(&kernel);
  std::sort(kernels.begin(), kernels.end(), [](const KernelCount* a, const KernelCount* b) {
    const uint64_t first = total_of(*a), second = total_of(*b);
    return first != second ? first > second : a->name < b->name;
  });
  std::string text;
  for (const KernelCount* kernel : kernels) {
    if (!text.empty()) text += '\n';
    append_kernel(text, *kernel);
  }
  return text;
}

}  // namespace halyard::vgpu::observe
