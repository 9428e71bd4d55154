#include "vgpu/isa/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace halyard::vgpu::isa {
namespace {

constexpr uint64_t kMaxEvery = 1000000;
// A race is between neighbours more often than not, and every resident work-group needs memory.
constexpr size_t kWindowOfEvery = 16;
constexpr uint64_t kWindows = 7;  // of a seed: 1, 2, 4 … 64 work-groups
// Short turns find races of few instructions, long ones those of whole loops.
constexpr uint32_t kMeanShares[] = {1, 2, 8, 32, 128, 1024};

bool read_number(std::string_view text, uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  return !text.empty() && code == std::errc() && rest == end;
}

std::string not_a_schedule(std::string_view text) {
  return fmt::format(
      "There is no schedule ({}). The schedules are waves, waits, every:COUNT and seed:NUMBER; "
      "\",serial\" and \",until:COUNT\" can follow.",
      text);
}

// The first word of a schedule.
bool read_kind(std::string_view word, Schedule& schedule, std::string& error) {
  using Kind = Schedule::Kind;
  if (word == "waves" || word == "waits") {
    schedule.kind = word == "waves" ? Kind::kWaves : Kind::kWaits;
    return true;
  }
  const std::string_view name = word.substr(0, word.find(':'));
  if (name != "every" && name != "seed") {
    error = not_a_schedule(word);
    return false;
  }
  const bool is_seed = name == "seed";
  schedule.kind = is_seed ? Kind::kSeed : Kind::kEvery;
  const std::string_view number = word.substr(std::min(word.size(), name.size() + 1));
  if (read_number(number, schedule.number) &&
      (is_seed || (schedule.number > 0 && schedule.number <= kMaxEvery))) {
    return true;
  }
  error = is_seed ? fmt::format("The schedule ({}) needs a number from 0 to {} behind \"seed:\".",
                                word, UINT64_MAX)
                  : fmt::format(
                        "The schedule ({}) needs a number of instructions from 1 to {} behind "
                        "\"every:\".",
                        word, kMaxEvery);
  return false;
}

bool read_addition(std::string_view word, Schedule& schedule, std::string& error) {
  constexpr std::string_view kUntil = "until:";
  if (word == "serial" && !schedule.serial) {
    schedule.serial = true;
    return true;
  }
  uint64_t until = 0;
  if (word.starts_with(kUntil) && !schedule.until &&
      read_number(word.substr(kUntil.size()), until)) {
    schedule.until = until;
    return true;
  }
  error = fmt::format(
      "The addition ({}) to a schedule has no meaning. \"serial\" and \"until:COUNT\" can follow a "
      "schedule, each once; COUNT is a number of instructions.",
      word);
  return false;
}

uint64_t mix(uint64_t value) {  // SplitMix64 (Steele, Lea, Flood: Fast splittable generators)
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

std::string Schedule::text() const {
  std::string text = kind == Kind::kWaves   ? "waves"
                     : kind == Kind::kWaits ? "waits"
                     : kind == Kind::kEvery ? fmt::format("every:{}", number)
                                            : fmt::format("seed:{}", number);
  if (serial) text += ",serial";
  if (until) text += fmt::format(",until:{}", *until);
  return text;
}

bool Schedule::parse(std::string_view text, Schedule& schedule, std::string& error) {
  Schedule read;
  size_t end = std::min(text.find(','), text.size());
  if (!read_kind(text.substr(0, end), read, error)) return false;
  while (end < text.size()) {
    const size_t begin = end + 1;
    end = std::min(text.find(',', begin), text.size());
    if (!read_addition(text.substr(begin, end - begin), read, error)) return false;
  }
  schedule = read;
  return true;
}

Turns::Turns(const Schedule& schedule, uint32_t wave_budget, uint64_t stream,
             std::atomic<uint64_t>& executed)
    : kind_(schedule.kind),
      wave_budget_(std::max(wave_budget, 1u)),
      number_(schedule.number),
      is_counting_(schedule.until.has_value()),
      until_(schedule.until.value_or(0)),
      executed_(executed),
      random_(mix(schedule.number) ^ mix(~stream)) {
  if (is_counting_) count(0);
  if (schedule.kind == Schedule::Kind::kEvery) window_ = kWindowOfEvery;
  if (schedule.kind != Schedule::Kind::kSeed) return;
  window_ = size_t{1} << draw(kWindows);
  mean_share_ = kMeanShares[draw(std::size(kMeanShares))];
}

void Turns::count(uint32_t instructions) {
  const uint64_t all = executed_.fetch_add(instructions, std::memory_order_relaxed) + instructions;
  if (all < until_) return;
  is_counting_ = false;
  kind_ = Schedule::Kind::kWaves;
}

uint64_t Turns::next_random() {
  random_ += 0x9e3779b97f4a7c15;
  return mix(random_);
}

uint64_t Turns::draw(uint64_t count) {
  return count < 2 ? 0 : next_random() % count;
}

uint32_t Turns::other_share() {
  uint64_t share = wave_budget_;
  if (kind_ == Schedule::Kind::kEvery) share = number_;
  if (kind_ == Schedule::Kind::kSeed) share = 1 + draw(uint64_t{2} * mean_share_ - 1);
  if (is_counting_) {
    const uint64_t executed = executed_.load(std::memory_order_relaxed);
    share = std::min(share, until_ - std::min(executed, until_ - 1));
  }
  return static_cast<uint32_t>(share);
}

size_t Turns::other_starts(size_t running, bool ended, bool worked) {
  // Work-groups that do not wait for others are finished before more are started. If a round ends
  // none, they may be waiting for later ones: half as many again, so that a whole grid is resident
  // after a few rounds.
  if (kind_ == Schedule::Kind::kWaves || kind_ == Schedule::Kind::kWaits)
    return ended ? 1 : 1 + running / 2;
  // Turns are short here: only after many of them it is likely that work-groups wait.
  if (ended) since_start_ = 0;
  if (running < window_) return window_ - running;
  if (ended || (worked && since_start_ < uint64_t{wave_budget_} * running)) return 0;
  since_start_ = 0;
  return 1 + running / 2;
}

}  // namespace halyard::vgpu::isa
