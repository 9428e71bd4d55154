#include "tools/halyard/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::cli {
namespace {

constexpr uint64_t kMostInstructions = uint64_t{1} << 48;
constexpr uint64_t kStep = 4;

std::string until_text(const std::string& schedule, uint64_t until) {
  return fmt::format("{},until:{}", schedule, until);
}

std::string end_text(const Observed& observed) {
  return observed.signal != 0 ? fmt::format("ended by signal {}", observed.signal)
                              : fmt::format("exit code {}", observed.exit_code);
}

// Line `number` from 0 on, without its end; false if there is none.
bool line_at(std::string_view text, size_t number, std::string_view& line) {
  size_t begin = 0;
  for (; number > 0; --number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return false;
    begin = end + 1;
  }
  if (begin >= text.size()) return false;
  line = text.substr(begin, text.find('\n', begin) - begin);
  return true;
}

std::string text_difference(const std::string& what, const std::string& schedule,
                            std::string_view first, std::string_view other) {
  for (size_t number = 0;; ++number) {
    std::string_view lines[2];
    const bool has_first = line_at(first, number, lines[0]);
    const bool has_other = line_at(other, number, lines[1]);
    if (has_first && has_other && lines[0] == lines[1]) continue;
    // Only the end of the last line is different.
    if (!has_first && !has_other) return fmt::format("  {}: the end of the last line\n", what);
    const auto shown = [](bool has, std::string_view line) {
      return has ? printable(line, 200) : std::string("(no such line)");
    };
    return fmt::format("  {}, line {}\n    {}: {}\n    {}: {}\n", what, number + 1, kFirstSchedule,
                       shown(has_first, lines[0]), schedule, shown(has_other, lines[1]));
  }
}

using Data = std::map<std::string, std::vector<std::string>>;

// Of what two runs of one schedule have got, what is not the same.
std::vector<std::string> differing(const Data& first, const Data& other) {
  std::vector<std::string> keys;
  for (const auto& [key, digests] : first) {
    const auto same = other.find(key);
    if (same == other.end() || same->second != digests) keys.push_back(key);
  }
  for (const auto& [key, digests] : other) {
    if (!first.contains(key)) keys.push_back(key);
  }
  return keys;
}

std::string data_difference(const std::string& schedule, const Data& first, const Data& other) {
  const std::string key = differing(first, other).front();
  const auto digests_of = [&key](const Data& data) {
    const auto found = data.find(key);
    return found != data.end() ? found->second : std::vector<std::string>();
  };
  const std::vector<std::string> here = digests_of(first);
  const std::vector<std::string> there = digests_of(other);
  if (here.size() != there.size()) {
    return fmt::format("  what the host gets: {}\n    {}: {} times\n    {}: {} times\n", key,
                       kFirstSchedule, here.size(), schedule, there.size());
  }
  std::vector<std::string> changed;
  std::set_difference(here.begin(), here.end(), there.begin(), there.end(),
                      std::back_inserter(changed));
  return fmt::format("  what the host gets: {}: {} of {} have other bytes\n", key, changed.size(),
                     here.size());
}

// Finds the smallest order that is known to be enough. Nothing if no order is.
Result<std::optional<uint64_t>> narrow(const std::string& schedule, const Observed& first,
                                       const RunProgram& run) {
  uint64_t same = 0;
  uint64_t different = 1;
  while (true) {
    HALYARD_ASSIGN_OR_RETURN(const Observed observed, run(until_text(schedule, different)));
    if (observed != first) break;
    if (different >= kMostInstructions) return std::optional<uint64_t>();
    same = different;
    different *= kStep;
  }
  while (different - same > 1) {
    const uint64_t middle = same + (different - same) / 2;
    HALYARD_ASSIGN_OR_RETURN(const Observed observed, run(until_text(schedule, middle)));
    (observed == first ? same : different) = middle;
  }
  return std::optional<uint64_t>(different);
}

}  // namespace

std::vector<std::string> schedules_to_try(uint64_t count, uint64_t seed) {
  std::vector<std::string> schedules = {"waits,serial", "every:1", "every:16"};
  if (schedules.size() > count) schedules.resize(count);
  while (schedules.size() < count) schedules.push_back(fmt::format("seed:{}", seed++));
  return schedules;
}

std::map<std::string, std::vector<std::string>> parse_data(std::string_view lines) {
  Data data;
  std::string_view line;
  for (size_t number = 0; line_at(lines, number, line); ++number) {
    const size_t tab = line.find('\t');
    if (tab != std::string_view::npos)
      data[std::string(line.substr(0, tab))].emplace_back(line.substr(tab + 1));
  }
  for (auto& [key, digests] : data) std::sort(digests.begin(), digests.end());
  return data;
}

Result<Exploration> explore(const std::vector<std::string>& schedules, const RunProgram& run_all) {
  Exploration result;
  HALYARD_ASSIGN_OR_RETURN(result.first, run_all(kFirstSchedule));
  HALYARD_ASSIGN_OR_RETURN(result.again, run_all(kFirstSchedule));
  result.unsteady_data = differing(result.first.data, result.again.data);
  const auto forget_unsteady = [&result](Observed& observed) {
    for (const std::string& key : result.unsteady_data) observed.data.erase(key);
  };
  forget_unsteady(result.first);
  forget_unsteady(result.again);
  const auto run = [&](const std::string& schedule) -> Result<Observed> {
    HALYARD_ASSIGN_OR_RETURN(Observed observed, run_all(schedule));
    forget_unsteady(observed);
    return observed;
  };
  result.is_steady = result.first == result.again;
  if (!result.is_steady) return result;
  for (const std::string& schedule : schedules) {
    HALYARD_ASSIGN_OR_RETURN(Observed observed, run(schedule));
    if (observed == result.first) {
      result.tried.push_back(schedule);
      continue;
    }
    HALYARD_ASSIGN_OR_RETURN(const Observed again, run(schedule));
    if (observed != again) {
      result.unsteady.push_back(schedule);
      continue;
    }
    result.different = schedule;
    result.other = std::move(observed);
    HALYARD_ASSIGN_OR_RETURN(result.until, narrow(schedule, result.first, run));
    return result;
  }
  return result;
}

std::string difference_text(const std::string& schedule, const Observed& first,
                            const Observed& other, const std::vector<std::string>& files) {
  if (first.output != other.output)
    return text_difference("standard output", schedule, first.output, other.output);
  if (end_text(first) != end_text(other)) {
    return fmt::format("  the program's end\n    {}: {}\n    {}: {}\n", kFirstSchedule,
                       end_text(first), schedule, end_text(other));
  }
  for (size_t n = 0; n < files.size() && n < first.files.size() && n < other.files.size(); ++n) {
    const std::string& here = first.files[n];
    const std::string& there = other.files[n];
    if (here == there) continue;
    const auto at = std::mismatch(here.begin(), here.end(), there.begin(), there.end());
    return fmt::format("  the file {}, from byte {} on ({} and {} bytes)\n", printable(files[n]),
                       at.first - here.begin(), here.size(), there.size());
  }
  if (first.data != other.data) return data_difference(schedule, first.data, other.data);
  return "  nothing\n";
}

std::string shell_text(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace halyard::cli
