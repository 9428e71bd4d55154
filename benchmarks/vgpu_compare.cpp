// One build beside another in one run: each is a process that measures what it is asked for, and
// they are asked in turn, so that what disturbs the machine disturbs both. Every round has
// processes of its own: where memory and code happen to lie is worth up to a quarter of a class's
// time, as long as a process lives.
//
// A question is a benchmark's name on a line, or an empty line: all names. An answer is
// "<seconds of a run> <instructions of a run> <digest of its results>", or the names and an empty
// line.

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <regex>

#include "benchmarks/vgpu.h"
#include "hal/base/process.h"

namespace halyard::bench {
namespace {

constexpr double kSlice = 0.03;  // seconds that an answer measures, at least

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

bool read_line(FILE* from, std::string& line) {
  line.clear();
  for (int c = std::fgetc(from); c != EOF; c = std::fgetc(from)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
  }
  return false;
}

// A build that answers.
class Build {
 public:
  Build(std::string path) : path_(std::move(path)) {
    base::Pipe questions;
    base::Pipe answers;
    if (questions.open() != 0 || answers.open() != 0) return;
    const int why = base::start(
        {.words = {path_, "--serve"},
         .descriptors = {{questions.reader(), STDIN_FILENO}, {answers.writer(), STDOUT_FILENO}}},
        &pid_);
    if (why != 0) {
      std::fprintf(stderr, "halyard-bench-vgpu: cannot run %s: %s\n", path_.c_str(),
                   std::strerror(why));
      return;
    }
    questions_ = fdopen(questions.take_writer(), "w");
    answers_ = fdopen(answers.take_reader(), "r");
  }
  ~Build() {
    if (questions_) std::fclose(questions_);
    if (answers_) std::fclose(answers_);
    if (pid_ > 0) base::wait_for(pid_);
  }
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  bool names(std::vector<std::string>& all) {
    if (!ask("")) return false;
    std::string line;
    while (read_line(answers_, line)) {
      if (line.empty()) return true;
      all.push_back(line);
    }
    return false;
  }

  struct Answer {
    double seconds = 0, instructions = 0;
    uint64_t digest = 0;
  };
  bool measure(const std::string& name, Answer& answer) {
    std::string line;
    return ask(name) && read_line(answers_, line) &&
           std::sscanf(line.c_str(), "%lf %lf %" SCNx64, &answer.seconds, &answer.instructions,
                       &answer.digest) == 3;
  }

  const std::string& path() const { return path_; }

 private:
  bool ask(const std::string& question) {
    return questions_ && answers_ && std::fprintf(questions_, "%s\n", question.c_str()) > 0 &&
           std::fflush(questions_) == 0;
  }

  const std::string path_;
  pid_t pid_ = -1;
  FILE* questions_ = nullptr;
  FILE* answers_ = nullptr;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

int no_answer(const Build& build, const std::string& name) {
  std::fprintf(stderr,
               "halyard-bench-vgpu: %s gives no answer%s%s; --against takes the path of a "
               "halyard-bench-vgpu that knows --serve and whose results are right.\n",
               build.path().c_str(), name.empty() ? "" : " for ", name.c_str());
  return 1;
}

// The names of both builds that the filter lets through; what only one of them has is said.
std::vector<std::string> common_names(const std::vector<std::string>& mine,
                                      const std::vector<std::string>& others,
                                      const std::regex& filter) {
  std::vector<std::string> both;
  const auto has = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  for (const std::string& name : mine) {
    if (!std::regex_search(name, filter)) continue;
    if (has(others, name))
      both.push_back(name);
    else
      std::printf("%-36s only in this build\n", name.c_str());
  }
  for (const std::string& name : others) {
    if (std::regex_search(name, filter) && !has(mine, name))
      std::printf("%-36s only in the other build\n", name.c_str());
  }
  return both;
}

// What the rounds have measured of one benchmark.
struct Measured {
  std::string name;
  std::vector<double> mine, others, ratios;
  double instructions = 0;
  bool counted = true;  // the same instructions in both builds
  bool equal = true;    // the same results
};

// One round: both builds, benchmark by benchmark. False: a build gives no answer, and said so.
bool measure_round(Build& mine, Build& other, bool mine_first, std::vector<Measured>& all) {
  for (Measured& one : all) {
    Build::Answer a, b;
    for (const bool first : {mine_first, !mine_first}) {
      Build& build = first ? mine : other;
      if (!build.measure(one.name, first ? a : b)) return no_answer(build, one.name) == 0;
    }
    one.mine.push_back(a.seconds);
    one.others.push_back(b.seconds);
    one.ratios.push_back(a.seconds / b.seconds);
    one.instructions = a.instructions;
    one.counted = one.counted && a.instructions > 0 && a.instructions == b.instructions;
    one.equal = one.equal && a.digest == b.digest;
  }
  return true;
}

double ratio_of(const Measured& one) {
  return median(one.mine) / median(one.others);
}

void print(const Measured& one) {
  const double unit = one.counted ? 1e9 / one.instructions : 1e3;
  const char* const name = one.counted ? "ns" : "ms";
  const auto [least, most] = std::minmax_element(one.ratios.begin(), one.ratios.end());
  std::printf("%-36s %9.2f %s %9.2f %s %8.3f  %.3f to %.3f%s\n", one.name.c_str(),
              median(one.mine) * unit, name, median(one.others) * unit, name, ratio_of(one), *least,
              *most, one.equal ? "" : "  RESULTS DIFFER");
}

// Ratios of each kind of benchmarks.
void print_summary(const std::vector<Measured>& all) {
  std::map<std::string, std::vector<double>> kinds;
  for (const Measured& one : all) {
    const char* kind = one.name.ends_with("/chain") ? "classes, chains" : "classes, independent";
    if (one.name.starts_with("kernel/"))
      kind = one.name.ends_with("/host") ? "kernels on the host" : "kernels";
    kinds[kind].push_back(ratio_of(one));
  }
  for (const auto& [kind, ratios] : kinds) {
    double logs = 0;
    for (const double ratio : ratios) logs += std::log(ratio);
    std::printf("%-36s %zu, median %.3f, geometric mean %.3f, worst %.3f\n", kind.c_str(),
                ratios.size(), median(ratios), std::exp(logs / static_cast<double>(ratios.size())),
                *std::max_element(ratios.begin(), ratios.end()));
  }
}

}  // namespace

int serve(const std::vector<Benchmark>& benchmarks) {
  std::string name, made;
  std::unique_ptr<Subject> subject;
  uint64_t digest = 0;
  while (read_line(stdin, name)) {
    if (name.empty()) {
      for (const Benchmark& one : benchmarks)
        if (!one.every_core) std::printf("%s\n", one.name.c_str());
      std::printf("\n");
      std::fflush(stdout);
      continue;
    }
    if (name != made) {
      const auto found = std::find_if(benchmarks.begin(), benchmarks.end(),
                                      [&](const Benchmark& one) { return one.name == name; });
      if (found == benchmarks.end()) return 1;
      subject.reset();
      subject = found->make();
      made = name;
      subject->run();
      digest = subject->digest();  // before further runs: some kernels add to what they have stored
    }
    unsigned runs = 0;
    const double begin = cpu_seconds();
    double end = begin;
    while (runs == 0 || end - begin < kSlice) {
      subject->run();
      ++runs;
      end = cpu_seconds();
    }
    std::printf("%.9e %.9e %016" PRIx64 "\n", (end - begin) / runs, subject->instructions(),
                digest);
    std::fflush(stdout);
  }
  return 0;
}

int compare_builds(const Comparison& comparison) {
  std::signal(SIGPIPE, SIG_IGN);
  std::regex filter;
  try {
    filter = std::regex(comparison.filter);
  } catch (const std::regex_error& error) {
    std::fprintf(stderr,
                 "halyard-bench-vgpu: --benchmark_filter (%s) is no regular expression: %s\n",
                 comparison.filter.c_str(), error.what());
    return 1;
  }
  std::vector<Measured> all;
  for (unsigned round = 0; round < comparison.rounds; ++round) {
    Build mine("/proc/self/exe"), other(comparison.other);
    if (round == 0) {
      std::vector<std::string> my_names, other_names;
      if (!mine.names(my_names)) return no_answer(mine, "");
      if (!other.names(other_names)) return no_answer(other, "");
      for (const std::string& name : common_names(my_names, other_names, filter))
        all.push_back({name, {}, {}, {}});
    }
    // Who comes first changes, so that neither always runs behind the other's pause.
    if (!measure_round(mine, other, round % 2 == 0, all)) return 1;
  }
  std::printf("%-36s %12s %12s %8s  %s\n", "", "this build", "the other", "ratio", "single rounds");
  bool same = true;
  for (const Measured& one : all) {
    print(one);
    same = same && one.equal;
  }
  print_summary(all);
  if (same) return 0;
  std::fprintf(stderr, "halyard-bench-vgpu: the two builds have computed different results.\n");
  return 1;
}

}  // namespace halyard::bench
