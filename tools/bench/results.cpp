#include "tools/bench/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::bench {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Measurement& one) {
  return {{"name", one.name},
          {"row", one.row},
          {"column", one.column},
          {"bytes", one.bytes},
          {"iterations", one.iterations},
          {"checked", one.checked},
          {"median_ns", one.median()},
          {"least_ns", one.times.empty() ? 0 : one.times.front()},
          {"most_ns", one.times.empty() ? 0 : one.times.back()},
          {"times_ns", one.times},
          {"error", one.error}};
}

Measurement measurement_of(const Json& json) {
  Measurement one;
  one.name = json.at("name");
  one.row = json.at("row");
  one.column = json.at("column");
  one.bytes = json.at("bytes");
  one.iterations = json.at("iterations");
  one.checked = json.at("checked");
  one.times = json.at("times_ns").get<std::vector<double>>();
  one.error = json.at("error");
  for (const double time : one.times) {
    if (!std::isfinite(time) || time < 0)
      throw Json::other_error::create(501, "a time is negative", nullptr);
  }
  std::sort(one.times.begin(), one.times.end());
  return one;
}

Results results_of(const Json& json) {
  Results results;
  results.version = json.at("halyard");
  results.gpu_name = json.at("gpu").at("name");
  results.gpu_uuid = json.at("gpu").at("uuid");
  results.gpu_target = json.at("gpu").at("target");
  results.executes = json.at("executes");
  results.repetitions = json.at("repetitions");
  for (const Json& column : json.at("columns")) {
    results.columns.push_back(
        {column.at("name"), column.at("device"), column.at("library"), column.at("absent")});
  }
  for (const Json& one : json.at("measurements"))
    results.measurements.push_back(measurement_of(one));
  return results;
}

bool halves_overlap(const std::vector<double>& a, const std::vector<double>& b) {
  const auto quarter = [](const std::vector<double>& times, size_t part) {
    return times[(times.size() - 1) * part / 4];
  };
  return quarter(a, 1) <= quarter(b, 3) && quarter(b, 1) <= quarter(a, 3);
}

}  // namespace

Json to_json(const Results& results) {
  Json columns = Json::array();
  for (const Column& column : results.columns) {
    columns.push_back({{"name", column.name},
                       {"device", column.device},
                       {"library", column.library},
                       {"absent", column.absent}});
  }
  Json measurements = Json::array();
  for (const Measurement& one : results.measurements) measurements.push_back(to_json(one));
  return {
      {"halyard", results.version},
      {"gpu",
       {{"name", results.gpu_name}, {"uuid", results.gpu_uuid}, {"target", results.gpu_target}}},
      {"executes", results.executes},
      {"repetitions", results.repetitions},
      {"columns", columns},
      {"measurements", measurements}};
}

Result<Results> parse_results(std::string_view text) {
  try {
    return results_of(Json::parse(text));
  } catch (const Json::exception& wrong) {
    return error(StatusCode::kInvalidArgument,
                 "It is not what `halyard bench --json` prints: {}. Give it such a file.",
                 printable(wrong.what(), 300));
  }
}

std::vector<Change> compare(const Results& before, const Results& after) {
  std::vector<Change> changes;
  for (const Measurement& old : before.measurements) {
    const auto same =
        std::find_if(after.measurements.begin(), after.measurements.end(),
                     [&](const Measurement& other) { return other.name == old.name; });
    if (same == after.measurements.end()) continue;
    if (old.median() <= 0 || same->median() <= 0) continue;
    changes.push_back({old.name, old.row, old.column, old.median(), same->median(),
                       !halves_overlap(old.times, same->times)});
  }
  return changes;
}

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns * 1e-3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns * 1e-6);
  return fmt::format("{:.2f} s", ns * 1e-9);
}

}  // namespace halyard::bench
