// halyard bench: what submissions, copies and allocations cost, beside the bare vendor APIs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "tools/bench/failure.h"
#include "tools/bench/goals.h"
#include "tools/bench/halyard_loops.h"
#include "tools/bench/hip_loops.h"
#include "tools/bench/hsa_loops.h"
#include "tools/bench/measure.h"
#include "tools/bench/memory_loops.h"
#include "tools/bench/plot.h"
#include "tools/bench/results.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/message.h"
#include "tools/halyard/progress.h"
#include "tools/halyard/session.h"
#include "tools/halyard/table.h"
#include "tools/values/file.h"

namespace halyard::cli {
namespace {

constexpr const char* kBenchHelp =
    R"(Each time is for one operation: the median of the repetitions. "±" is the largest distance of the
middle half of the repetitions from the median. A burst is the calling thread's CPU time for 512
launches into an empty queue, without influence of the device or of other load. "Sustained" is
wall-clock time, with the queue full most of the time. Copies, fills and "launch and wait" include
the wait. The output of every loop is verified, unless the profile executes no kernels.

Examples:
  halyard bench --vgpu=gfx900-noexec
  halyard bench --vgpu=mi210 --filter=copy --json > before.json
  halyard bench --compare before.json after.json
  halyard bench --device=amdgpu:0 --plot=bench.svg)";

struct BenchFlags {
  SessionFlags session;
  std::vector<std::string> devices;
  std::vector<std::string> compare;
  std::string filter;
  std::string plot;
  uint32_t repetitions = 15;
  uint32_t min_time = 30;  // ms
  bool goals = false;
  bool json = false;
};

// A device of the command line, or a driver's first.
struct Chosen {
  LoadedDriver driver;
  size_t index = 0;  // into driver.devices
  DeviceUri uri;

  const DeviceSummary& summary() const { return driver.devices[index]; }
};

Result<Chosen> choose(Registry& registry, const std::string& text) {
  HALYARD_ASSIGN_OR_RETURN(const DeviceUri parsed, registry.parse(text));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceUri> uris, registry.resolve(parsed));
  if (uris.size() != 1) {
    return error(StatusCode::kInvalidArgument,
                 "--device ({}) names {} devices, but a measurement uses one. Name one of them.",
                 printable(text), uris.size());
  }
  Chosen chosen;
  chosen.uri = uris.front();
  HALYARD_ASSIGN_OR_RETURN(chosen.driver, registry.driver(chosen.uri.driver));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<size_t> selected,
                           select_devices(chosen.uri, chosen.driver.devices));
  // Of a driver alone the first; a URI that chooses several asks for what is not measured.
  if (chosen.uri.chooses() && selected.size() > 1) {
    return error(StatusCode::kInvalidArgument,
                 "--device ({}) names {} GPUs, but a measurement uses one. Name one of them.",
                 printable(text), selected.size());
  }
  chosen.index = selected.front();
  chosen.uri.selectors.clear();
  chosen.uri.ordinal = chosen.summary().ordinal;
  return chosen;
}

// Those of the command line; without any, the first of each vendor's driver.
Result<std::vector<Chosen>> choose_all(Registry& registry, const BenchFlags& flags) {
  std::vector<Chosen> all;
  for (const std::string& text : flags.devices) {
    HALYARD_ASSIGN_OR_RETURN(Chosen chosen, choose(registry, text));
    const auto same = std::find_if(all.begin(), all.end(), [&](const Chosen& other) {
      return other.driver.name == chosen.driver.name;
    });
    if (same != all.end()) {
      return error(
          StatusCode::kInvalidArgument,
          "--device names two devices of the driver {}, but each driver has one column. Measure "
          "the devices separately with --json, and compare the files with --compare.",
          chosen.driver.name);
    }
    all.push_back(std::move(chosen));
  }
  if (!flags.devices.empty()) return all;
  for (const char* const name : {bench::kAmdgpu, bench::kHipDriver}) {
    Result<Chosen> chosen = choose(registry, std::string(name) + ":0");
    if (chosen.ok()) all.push_back(std::move(chosen).value());
  }
  if (all.empty()) return no_device(registry);
  return all;
}

// A GPU as a vendor's API of its own knows it.
struct VendorGpu {
  std::string library;
  uint32_t ordinal = 0;
  std::string target;
};

// On one line, and not the whole of a long report.
std::string in_short(const Status& status) {
  std::string text = status.to_string();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text, 400);
}

class Bench {
 public:
  explicit Bench(Registry& registry) : registry_(registry) {}

  Status prepare(const std::vector<Chosen>& chosen);
  const bench::Loops& loops() const { return loops_; }
  bench::Results& results() { return results_; }

 private:
  Status add_device(const Chosen& chosen);
  Status add_bare(const char* column, const char* driver, const Chosen& like);

  Registry& registry_;
  std::vector<std::unique_ptr<bench::HalyardLoops>> halyard_;
  std::unique_ptr<bench::HsaLoops> hsa_;
  bench::Loops loops_;  // into those above
  bench::Results results_;
};

Status Bench::add_device(const Chosen& chosen) {
  HALYARD_ASSIGN_OR_RETURN(Ref<Device> device, registry_.open_device(chosen.uri));
  Ref<Device> peer;
  if (chosen.driver.devices.size() > 1) {
    DeviceUri other{.driver = chosen.driver.name};
    other.ordinal = chosen.driver.devices[chosen.index == 0 ? 1 : 0].ordinal;
    HALYARD_ASSIGN_OR_RETURN(peer, registry_.open_device(other));
  }
  results_.columns.push_back({chosen.driver.name,
                              fmt::format("{}:{}", chosen.driver.name, chosen.summary().ordinal),
                              std::string(chosen.driver.driver->info().library_path.view()), ""});
  halyard_.push_back(std::make_unique<bench::HalyardLoops>(std::move(device), std::move(peer)));
  results_.executes = halyard_.back()->executes();
  halyard_.back()->add_to(loops_);
  return {};
}

// The library that `driver` has opened, on the same GPU as Halyard's.
Status Bench::add_bare(const char* column, const char* driver, const Chosen& like) {
  bench::Column& made = results_.columns.emplace_back();
  made.name = column;
  const Result<LoadedDriver> loaded = registry_.driver(driver);
  if (!loaded.ok()) {
    made.absent = in_short(loaded.status());
    return {};
  }
  made.library = loaded->driver->info().library_path.view();
  const std::string_view uuid = like.summary().uuid.view();
  std::vector<bench::HipGpu> gpus;
  for (const DeviceSummary& device : loaded->devices) {
    const bench::HipGpu gpu{static_cast<int>(device.ordinal), std::string(device.target.view())};
    const bool is_it =
        uuid.empty() ? device.ordinal == like.summary().ordinal : device.uuid.view() == uuid;
    gpus.insert(is_it ? gpus.begin() : gpus.end(), gpu);
  }
  try {
    if (gpus.empty()) throw bench::Failure("It finds no device.");
    if (column == std::string_view(bench::kBareHsa)) {
      hsa_ = std::make_unique<bench::HsaLoops>(made.library, std::string(uuid),
                                               std::string(like.summary().target.view()));
      hsa_->add_to(loops_);
    } else {
      const auto peer = gpus.size() > 1 ? std::optional(gpus[1]) : std::nullopt;
      bench::add_hip_loops(loops_, made.library, gpus.front(), peer);
    }
  } catch (const bench::Failure& failure) {
    made.absent = failure.what();
  }
  return {};
}

Status Bench::prepare(const std::vector<Chosen>& chosen) {
  for (const Chosen& one : chosen) HALYARD_RETURN_IF_ERROR(add_device(one));
  const Chosen& first = chosen.front();
  HALYARD_RETURN_IF_ERROR(add_bare(bench::kBareHsa, bench::kAmdgpu, first));
  HALYARD_RETURN_IF_ERROR(add_bare(bench::kBareHip, bench::kHipDriver, first));
  results_.version = HALYARD_VERSION;
  results_.gpu_name = first.summary().name.view();
  results_.gpu_uuid = first.summary().uuid.view();
  results_.gpu_target = first.summary().target.view();
  return {};
}

// Those that the table has, or the goals, and that the filter lets through.
Result<bench::Loops> select(const bench::Loops& loops, const BenchFlags& flags) {
  std::regex pattern;
  try {
    pattern = std::regex(flags.filter, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& wrong) {
    return error(StatusCode::kInvalidArgument,
                 "--filter ({}) is not a valid regular expression (ECMAScript): {}.",
                 printable(flags.filter), wrong.what());
  }
  bench::Loops selected;
  for (const bench::Loop& loop : loops) {
    if (loop.row.empty() && !flags.goals) continue;
    if (std::regex_search(loop.name, pattern) || std::regex_search(loop.row, pattern))
      selected.push_back(loop);
  }
  if (!selected.empty()) return selected;
  return error(StatusCode::kNotFound,
               "--filter ({}) matches no loop. It applies to names (halyard_burst, "
               "bare_copy_h2d_1MiB) and rows (\"fill, 1 MiB\"). `halyard bench --json` lists all.",
               printable(flags.filter));
}

std::string spread_text(const bench::Measurement& one) {
  const std::vector<double>& times = one.times;
  const double median = one.median();
  const double low = times[(times.size() - 1) / 4];
  const double high = times[(times.size() - 1) * 3 / 4];
  return fmt::format("±{:.0f}%", std::max(median - low, high - median) / median * 100);
}

std::string cell_text(const bench::Measurement& one) {
  if (!one.error.empty()) return "failed";
  std::string text = bench::time_text(one.median()) + " " + spread_text(one);
  if (one.bytes != 0)
    text += fmt::format(" {:.2f} GB/s", static_cast<double>(one.bytes) / one.median());
  return text;
}

std::string to_table(const bench::Results& results) {
  Row heading = {"OPERATION"};
  for (const bench::Column& column : results.columns) {
    heading.push_back(column.device.empty() ? "bare " + column.name : column.device);
  }
  std::vector<Row> rows = {heading};
  for (const bench::Measurement& one : results.measurements) {
    if (one.row.empty()) continue;
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& other) { return other.front() == one.row; });
    if (row == rows.end()) {
      Row made = {one.row};
      for (const bench::Column& column : results.columns)
        made.push_back(column.absent.empty() ? "" : "absent");
      row = rows.insert(rows.end(), made);
    }
    for (size_t i = 0; i < results.columns.size(); ++i) {
      if (results.columns[i].name == one.column) (*row)[i + 1] = cell_text(one);
    }
  }
  return format_table(rows);
}

Status write_plot(const std::string& path, const bench::Results& results) {
  const std::string text = bench::to_svg(results);
  HALYARD_ASSIGN_OR_RETURN(values::OutputFile file, values::OutputFile::open(path));
  HALYARD_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

// Of the loops that have failed; the others' results are good.
Status failures(const bench::Results& results) {
  std::string text;
  for (const bench::Measurement& one : results.measurements) {
    if (!one.error.empty()) text += fmt::format("\n{}: {}", one.name, one.error);
  }
  if (text.empty()) return {};
  return error(StatusCode::kInternal, "Loops have failed:{}", text);
}

Status measure(const BenchFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<Chosen> chosen, choose_all(*registry, flags));
  Bench bench(*registry);
  HALYARD_RETURN_IF_ERROR(bench.prepare(chosen));
  HALYARD_ASSIGN_OR_RETURN(const bench::Loops loops, select(bench.loops(), flags));
  bench::Results& results = bench.results();
  if (!results.executes) {
    say(MessageKind::kNote,
        "This device completes packets without executing them, so results are not verified.");
  }
  for (const bench::Column& column : results.columns) {
    if (!column.absent.empty())
      say(MessageKind::kNote,
          fmt::format("{} is absent: {}", column.name, printable(column.absent)));
  }
  {
    Progress progress;
    results.repetitions = flags.repetitions;
    results.measurements =
        bench::measure(loops, {.repetitions = flags.repetitions,
                               .least_seconds = flags.min_time * 1e-3,
                               .checks = results.executes,
                               .progress = [&](size_t done, size_t all) {
                                 progress.show(fmt::format("Measuring: {} of {}", done, all));
                               }});
  }
  HALYARD_RETURN_IF_ERROR(print(flags.json ? dump(bench::to_json(results)) : to_table(results)));
  const bool any = std::any_of(results.measurements.begin(), results.measurements.end(),
                               [](const auto& one) { return one.median() > 0; });
  if (!flags.plot.empty() && any) HALYARD_RETURN_IF_ERROR(write_plot(flags.plot, results));
  if (flags.goals && !flags.json)
    HALYARD_RETURN_IF_ERROR(print("\n" + bench::compare_with_goals(results.measurements)));
  return failures(results);
}

Result<bench::Results> read_results(const std::string& path) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  auto results = bench::parse_results({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!results.ok())
    return results.status().with_context(fmt::format("The file ({})", printable(path)));
  return results;
}

Status compare(const BenchFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const bench::Results before, read_results(flags.compare[0]));
  HALYARD_ASSIGN_OR_RETURN(const bench::Results after, read_results(flags.compare[1]));
  const std::vector<bench::Change> changes = bench::compare(before, after);
  if (changes.empty()) {
    return error(StatusCode::kNotFound, "The files ({}, {}) have no loop in common.",
                 printable(flags.compare[0]), printable(flags.compare[1]));
  }
  Json json = Json::array();
  std::vector<Row> rows = {{"LOOP", "OPERATION", "API", "BEFORE", "AFTER", "RATIO", "CLEAR"}};
  for (const bench::Change& change : changes) {
    json.push_back({{"name", change.name},
                    {"row", change.row},
                    {"column", change.column},
                    {"before_ns", change.before},
                    {"after_ns", change.after},
                    {"ratio", change.ratio()},
                    {"is_clear", change.is_clear}});
    rows.push_back({change.name, change.row, change.column, bench::time_text(change.before),
                    bench::time_text(change.after), fmt::format("{:.3f}", change.ratio()),
                    change.is_clear ? "yes" : "no"});
  }
  return print(flags.json ? dump(json) : format_table(rows));
}

Status run(const BenchFlags& flags) {
  return flags.compare.empty() ? measure(flags) : compare(flags);
}

}  // namespace

void add_bench_command(Command app, Status& outcome) {
  Command command =
      app.add_subcommand("bench",
                         "Measure submissions, waits, copies, fills and allocations on a device, "
                         "and the same on bare HSA and HIP");
  const auto flags = std::make_shared<BenchFlags>();
  command
      .add_option("--device", flags->devices,
                  "A device, as for `halyard run`; once for each driver. By default amdgpu:0 and "
                  "hip:0. The bare APIs use the first one's GPU")
      ->type_name("URI")
      ->allow_extra_args(false);
  command
      .add_option("--filter", flags->filter,
                  "Only loops whose name or row matches this regular expression")
      ->type_name("REGEX");
  add_number(command, "--repetitions", flags->repetitions,
             "The number of measurements of each loop, in random order", {.low = 1, .high = 10000})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->repetitions));
  add_number(command, "--min-time", flags->min_time,
             "The minimum duration of a repetition; 0 means one iteration", {.high = 60000})
      ->type_name("MS")
      ->default_str(std::to_string(flags->min_time));
  command.add_flag("--goals", flags->goals,
                   "Run more loops, and compare the results with this project's goals");
  command.add_flag("--json", flags->json, "Print JSON (docs/json.md lists its fields)");
  command
      .add_option("--plot", flags->plot, "Draw the table as bars with their spread, as an SVG file")
      ->type_name("FILE");
  CommandOption compare_option =
      command
          .add_option(
              "--compare", flags->compare,
              "Do not measure. Compare the medians in the second file of --json with those in the "
              "first. \"Clear\" means that the middle halves of the repetitions do not overlap")
          ->type_name("FILE FILE")
          ->expected(2);
  for (const char* other : {"--device", "--filter", "--plot", "--goals"})
    compare_option->excludes(command.get_option(other));
  add_session_flags(command, flags->session);
  command.footer(kBenchHelp);
  command.callback([flags, &outcome] { outcome = run(*flags); });
}

}  // namespace halyard::cli
