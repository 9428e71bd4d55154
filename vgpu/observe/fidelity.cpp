#include "vgpu/observe/fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <vector>

#include "vgpu/isa/engine.h"
#include "vgpu/isa/fidelity.h"
#include "vgpu/isa/rows/row.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::observe {
namespace {

using isa::Fidelity;

constexpr const char* kNames[isa::kFidelities] = {"exact", "bounded",
                                                  "not verified against hardware"};
constexpr const char* kJsonNames[isa::kFidelities] = {"exact", "bounded", "unverified"};
constexpr std::string_view kTitle = "instructions that waves have executed: ";

double share_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string bound_text(unsigned ulps) {
  if (ulps == 1) return "1 ulp";
  const bool power = (ulps & (ulps - 1)) == 0 && ulps > 64;
  if (!power) return fmt::format("{} ulp", ulps);
  unsigned bits = 0;
  while (ulps >> bits != 1) ++bits;
  return fmt::format("2^{} ulp", bits);
}

// The bound, what is open, or both.
std::string remark(const isa::FidelityFact& fact) {
  std::string why = fact.why;
  if (fact.fidelity == Fidelity::kUnverified || (fact.ulps == 0 && why.empty())) return why;
  if (fact.fidelity == Fidelity::kExact) return "but for " + why;
  return bound_text(fact.ulps) + (why.empty() ? "" : "; " + why);
}

}  // namespace

struct FidelityCounts::Line {
  std::string processor, instruction;
  uint64_t executed = 0;
  isa::FidelityFact fact;
};

void FidelityCounts::add(const std::string& processor, const std::string& instruction,
                         uint64_t executed) {
  executed_[{processor, instruction}] += executed;
}

bool FidelityCounts::add(std::string_view report) {
  if (!report.starts_with(kTitle) && !report.starts_with("{\n  \"instructions\": ")) return false;
  while (!report.empty()) {
    const std::string line(report.substr(0, report.find('\n')));
    report.remove_prefix(std::min(report.size(), line.size() + 1));
    unsigned long long executed = 0;
    char processor[64], instruction[64];
    const bool found =
        std::sscanf(line.c_str(), " %llu %63s %63s", &executed, processor, instruction) == 3 ||
        std::sscanf(
            line.c_str(),
            " {\"executed\": %llu, \"processor\": \"%63[^\"]\", \"instruction\": \"%63[^\"]\"",
            &executed, processor, instruction) == 3;
    if (found) add(processor, instruction, executed);
  }
  return true;
}

std::vector<FidelityCounts::Line> FidelityCounts::lines() const {
  std::vector<Line> all;
  for (const auto& [key, executed] : executed_) {
    const auto& [processor, instruction] = key;
    isa::Target target;
    std::string unknown;
    const bool known = isa::find_target(processor, "", target, unknown);
    const isa::Op op = isa::find_op(instruction.c_str());
    all.push_back({processor, instruction, executed,
                   isa::fidelity_of(op, known ? target.generation : isa::kNewest)});
  }
  // The surest last, the most frequent first.
  std::ranges::sort(all, [](const Line& a, const Line& b) {
    return std::tie(b.fact.fidelity, b.executed, a.processor, a.instruction) <
           std::tie(a.fact.fidelity, a.executed, b.processor, b.instruction);
  });
  return all;
}

std::string FidelityCounts::text() const {
  const std::vector<Line> all = lines();
  std::array<uint64_t, isa::kFidelities> sums{};
  uint64_t total = 0;
  for (const Line& line : all) {
    sums[static_cast<unsigned>(line.fact.fidelity)] += line.executed;
    total += line.executed;
  }
  std::string text = fmt::format("{}{}\n", kTitle, total);
  for (unsigned n = 0; n < isa::kFidelities; ++n)
    text +=
        fmt::format("  {:<30} {:>14}  {:5.1f} %\n", kNames[n], sums[n], share_of(sums[n], total));
  const Line* before = nullptr;
  for (const Line& line : all) {
    if (before == nullptr || before->fact.fidelity != line.fact.fidelity)
      text += fmt::format("\n{}\n", kNames[static_cast<unsigned>(line.fact.fidelity)]);
    before = &line;
    const std::string why = remark(line.fact);
    text += fmt::format(
        "  {:>14}  {:<8}  {}{}{}\n", line.executed, line.processor, line.instruction,
        why.empty()
            ? ""
            : std::string(line.instruction.size() < 28 ? 28 - line.instruction.size() : 0, ' ') +
                  "  ",
        why);
  }
  return text;
}

std::string FidelityCounts::json() const {
  const std::vector<Line> all = lines();
  std::array<uint64_t, isa::kFidelities> sums{};
  uint64_t total = 0;
  std::string list;
  for (const Line& line : all) {
    sums[static_cast<unsigned>(line.fact.fidelity)] += line.executed;
    total += line.executed;
    // Names and remarks have no character that JSON would have to escape.
    list += fmt::format(
        "{}    {{\"executed\": {}, \"processor\": \"{}\", \"instruction\": \"{}\", \"fidelity\": "
        "\"{}\"",
        list.empty() ? "" : ",\n", line.executed, line.processor, line.instruction,
        kJsonNames[static_cast<unsigned>(line.fact.fidelity)]);
    if (line.fact.ulps != 0) list += fmt::format(", \"ulps\": {}", line.fact.ulps);
    if (*line.fact.why != '\0') list += fmt::format(", \"open\": \"{}\"", line.fact.why);
    list += "}";
  }
  std::string text = fmt::format("{{\n  \"instructions\": {},\n", total);
  for (unsigned n = 0; n < isa::kFidelities; ++n)
    text += fmt::format("  \"{}\": {},\n", kJsonNames[n], sums[n]);
  return text + "  \"executed\": [\n" + list + "\n  ]\n}\n";
}

// Counts without a lock, and adds its counts when the work-group has ended.
class FidelityCounter::Group final : public isa::GroupObserver {
 public:
  Group(FidelityCounter& counter, const isa::Target& target)
      : counter_(counter), target_(target), executed_(isa::kOps) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() override {
    const std::lock_guard lock(counter_.mutex_);
    for (unsigned n = 1; n < isa::kOps; ++n) {
      if (executed_[n] == 0) continue;
      const char* const name = isa::name_of(static_cast<isa::Op>(n), target_.generation);
      counter_.counts_.add(target_.processor, name, executed_[n]);
    }
  }

  void before(const isa::Wave&, const isa::Instruction& instruction) override {
    ++executed_[static_cast<unsigned>(instruction.op)];
  }
  void after(const isa::Wave&, const isa::Instruction&, uint64_t, isa::Outcome) override {}
  void barrier() override {}

 private:
  FidelityCounter& counter_;
  const isa::Target& target_;
  std::vector<uint64_t> executed_;  // by Op
};

std::unique_ptr<isa::GroupObserver> FidelityCounter::watch(const isa::WorkGroup&,
                                                           const isa::GroupContext& context) {
  return std::make_unique<Group>(*this, *context.target);
}

void FidelityCounter::end(const isa::GroupContext&, const isa::DispatchResult& result) {
  if (result.fault.kind != isa::Fault::Kind::kNone) flush();
}

void FidelityCounter::flush() {
  const std::lock_guard lock(mutex_);
  if (!counts_.empty()) write_(counts_);
  counts_.clear();
}

}  // namespace halyard::vgpu::observe
