// Mutation proof of --check=waits: each s_waitcnt that the corpus executes is deleted and weakened,
// one by one, and the check has to report those mutants that lose something, and no others. What a
// mutant loses is decided by wait_dependences.h. One mutant of each kernel is also run as code.
//
//   --every=N          only each Nth kernel of each code object (ctest runs a sample)
//   --kernel=NAME      only this one; --object=TEXT: only files whose names have it
//   --objects=FOLDER   where the code objects are, in place of the build's
//   --list             prints each mutant with both verdicts

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/corpus/case.h"
#include "vgpu/corpus/code_object.h"
#include "vgpu/corpus/host_result.h"
#include "vgpu/corpus/wait_dependences.h"
#include "vgpu/isa/decode.h"
#include "vgpu/isa/engine.h"
#include "vgpu/observe/wait_check.h"

namespace halyard::vgpu::corpus {
namespace {

namespace fs = std::filesystem;

struct Options {
  unsigned every = 1;
  std::string kernel, object, folder = HALYARD_CORPUS_OBJECTS;
  bool list = false;
};

// One WaitCheck for each mutant. All watch one run: an engine executes memory instructions at once,
// so that a wait changes nothing but what the check may conclude from it. Each check is shown its
// own s_waitcnt in place of the kernel's.
class MutantChecks final : public isa::Observer {
 public:
  void set_mutants(const std::vector<Mutant>& mutants, isa::Decoder& decoder) {
    checks_.clear();
    for (const Mutant& mutant : mutants) {
      auto one = std::make_unique<One>();
      one->pc = mutant.pc;
      const uint32_t code = 0xbf8c0000 | mutant.fields.encode();
      std::memcpy(one->bytes, &code, sizeof code);
      decoder.decode(one->bytes, one->instruction);
      one->check =
          std::make_unique<observe::WaitCheck>([](uint64_t) { return std::string(); },
                                               [text = &one->report](std::string_view found) {
                                                 if (text->empty()) *text = found;
                                               });
      checks_.push_back(std::move(one));
    }
  }
  const std::string& report(size_t mutant) const { return checks_[mutant]->report; }

  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext&, const isa::DispatchResult&) override {}
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override {
    auto all = std::make_unique<Group>();
    for (const auto& one : checks_) {
      if (one->report.empty())
        all->watching.push_back({one.get(), one->check->watch(group, context)});
    }
    return all;
  }

 private:
  struct One {
    uint64_t pc = 0;
    uint8_t bytes[8] = {};
    isa::DecodedInstruction instruction;
    std::string report;  // the first
    std::unique_ptr<observe::WaitCheck> check;
  };
  struct Group final : isa::GroupObserver {
    struct Watching {
      One* one;
      std::unique_ptr<isa::GroupObserver> observer;
    };
    std::vector<Watching> watching;

    void before(const isa::Wave& wave, const isa::Instruction& instruction) override {
      bool done = false;
      for (const Watching& each : watching) {
        each.observer->before(wave, each.one->pc == wave.pc ? each.one->instruction : instruction);
        done = done || !each.one->report.empty();
      }
      if (done) std::erase_if(watching, [](const Watching& w) { return !w.one->report.empty(); });
    }
    void after(const isa::Wave& wave, const isa::Instruction& instruction, uint64_t pc,
               isa::Outcome outcome) override {
      for (const Watching& each : watching) each.observer->after(wave, instruction, pc, outcome);
    }
    void barrier() override {
      for (const Watching& each : watching) each.observer->barrier();
    }
  };

  std::vector<std::unique_ptr<One>> checks_;
};

// A mutant waits for less than the kernel: nothing, one counter less, or one operation less.
std::vector<Mutant> mutants_of(const std::set<uint64_t>& sites) {
  std::vector<Mutant> all;
  for (const uint64_t pc : sites) {
    uint16_t immediate;
    std::memcpy(&immediate, reinterpret_cast<const void*>(pc), sizeof immediate);
    const WaitFields fields = WaitFields::decode(immediate);
    const auto add = [&](const WaitFields& weaker) {
      const auto same = [&](const Mutant& one) { return one.pc == pc && one.fields == weaker; };
      if (weaker == fields || std::any_of(all.begin(), all.end(), same)) return;
      all.push_back({pc, weaker, fields.text() + " to " + weaker.text()});
    };
    add(WaitFields{});
    unsigned WaitFields::* const counters[] = {&WaitFields::vm, &WaitFields::exp,
                                               &WaitFields::lgkm};
    for (unsigned n = 0; n < 3; ++n) {
      if (fields.*counters[n] >= WaitFields::kMost[n]) continue;
      WaitFields one = fields;
      one.*counters[n] = fields.*counters[n] + 1;
      add(one);
      one.*counters[n] = WaitFields::kMost[n];
      add(one);
    }
  }
  return all;
}

struct Figures {
  unsigned kernels = 0, sites = 0, mutants = 0;
  unsigned reported = 0;  // and it matters
  unsigned silent = 0;    // and it does not
  unsigned memory = 0;    // silent; it matters for another wave's access to global memory
  unsigned missed = 0, false_reports = 0;

  void add(const Figures& more) {
    kernels += more.kernels, sites += more.sites, mutants += more.mutants;
    reported += more.reported, silent += more.silent, memory += more.memory;
    missed += more.missed, false_reports += more.false_reports;
  }
  void print(const char* what) const {
    std::printf("%-10s %7u %7u %8u %9u %9u %9u %7u %7u\n", what, kernels, sites, mutants, reported,
                silent, memory, missed, false_reports);
  }
};

class Proof {
 public:
  explicit Proof(Options options) : options_(std::move(options)) {}

  int run();

 private:
  void run_object(const fs::path& path, const std::string& source, const std::string& processor);
  bool run_kernel(const CorpusCase& one, const fs::path& path, const std::string& processor);
  bool launch(isa::testing::Machine& machine, const CorpusCase& one, CodeObject& code);
  void judge(const CorpusCase& one, const std::string& file, CodeObject& code,
             const WaitDependences& exact, const MutantChecks& checks, Figures& figures);
  void run_changed(const CorpusCase& one, const fs::path& path, const std::string& processor,
                   const Mutant& mutant, int64_t place, bool reported);
  const HostResult& host(const CorpusCase& one);

  const Options options_;
  std::map<std::string, Figures> by_level_;
  std::map<std::string, HostResult> host_;
  std::map<std::string, std::unique_ptr<LlvmReader>> readers_;
  std::map<std::string, std::unique_ptr<isa::Decoder>> decoders_;
  bool failed_ = false;
  unsigned count_ = 0;
};

const HostResult& Proof::host(const CorpusCase& one) {
  const auto known = host_.find(one.name);
  return known != host_.end() ? known->second
                              : host_.emplace(one.name, run_on_host(one)).first->second;
}

bool Proof::launch(isa::testing::Machine& machine, const CorpusCase& one, CodeObject& code) {
  const HostResult& input = host(one);
  auto* const in = machine.allocate<uint32_t>(one.words_in);
  auto* const out = machine.allocate<uint32_t>(one.words_out);
  auto* const work = machine.allocate<uint32_t>(one.words_work);
  std::copy(input.in.begin(), input.in.end(), in);
  std::fill_n(out, one.words_out, one.initial);
  Launch launch;
  std::copy(std::begin(one.items), std::end(one.items), launch.items);
  std::copy(std::begin(one.groups), std::end(one.groups), launch.groups);
  launch.arguments = {isa::testing::address_of(in), isa::testing::address_of(out),
                      isa::testing::address_of(work), one.n};
  launch.arguments.insert(launch.arguments.end(), one.more, one.more + one.more_count);
  const isa::DispatchResult result = code.run(one.name, launch);
  if (result.fault.kind == isa::Fault::Kind::kNone) return true;
  std::printf("%s faults:\n%s\n", one.name, result.report.c_str());
  failed_ = true;
  return false;
}

void Proof::judge(const CorpusCase& one, const std::string& file, CodeObject& code,
                  const WaitDependences& exact, const MutantChecks& checks, Figures& figures) {
  for (size_t n = 0; n < exact.mutants().size(); ++n) {
    const Mutant& mutant = exact.mutants()[n];
    const Loss loss = exact.loss(n);
    const bool matters = loss >= Loss::kLds, reports = !checks.report(n).empty();
    ++figures.mutants;
    if (matters && reports) ++figures.reported;
    if (!matters && !reports) ++(loss == Loss::kMemory ? figures.memory : figures.silent);
    if (matters && !reports) ++figures.missed;
    if (!matters && reports) ++figures.false_reports;
    if (matters == reports && !options_.list) continue;
    if (matters != reports) failed_ = true;
    constexpr const char* kLosses[] = {"loses nothing", "loses memory", "loses LDS",
                                       "loses registers"};
    std::printf("%s, %s, descriptor%+ld: %s: %s, %s\n", file.c_str(), one.name,
                static_cast<long>(mutant.pc - code.descriptor(one.name)), mutant.what.c_str(),
                kLosses[static_cast<unsigned>(loss)], reports ? "reported" : "not reported");
    if (!exact.example(n).empty()) std::printf("  exact: %s\n", exact.example(n).c_str());
    if (reports) std::printf("  check: %s\n", checks.report(n).c_str());
  }
}

// One mutant for real: with other code, under a check that knows nothing of mutants.
void Proof::run_changed(const CorpusCase& one, const fs::path& path, const std::string& processor,
                        const Mutant& mutant, int64_t place, bool reported) {
  std::string report, error;
  observe::WaitCheck check([](uint64_t) { return std::string(); },
                           [&](std::string_view found) { report += found; });
  isa::EngineOptions options;
  options.processor = processor;
  options.workers = 1;
  options.observers = {&check};
  isa::testing::Machine machine(options);
  CodeObject code(machine, path, error);
  const uint16_t immediate = mutant.fields.encode();
  const auto at = code.descriptor(one.name) + static_cast<uint64_t>(place);
  std::memcpy(reinterpret_cast<void*>(at), &immediate, sizeof immediate);
  if (!launch(machine, one, code) || report.empty() != reported) return;
  failed_ = true;
  std::printf("%s, %s, descriptor%+ld: %s: changed code is %sreported\n%s", path.filename().c_str(),
              one.name, static_cast<long>(place), mutant.what.c_str(), report.empty() ? "not " : "",
              report.c_str());
}

bool Proof::run_kernel(const CorpusCase& one, const fs::path& path, const std::string& processor) {
  auto& reader = readers_[processor];
  if (!reader) reader = std::make_unique<LlvmReader>(processor);
  auto& decoder = decoders_[processor];
  std::string error;
  if (!decoder) decoder = isa::Decoder::create(processor, "", error);
  WaitDependences exact(*reader);
  MutantChecks checks;
  isa::EngineOptions options;
  options.processor = processor;
  options.workers = 1;
  options.observers = {&exact, &checks};
  isa::testing::Machine machine(options);
  CodeObject code(machine, path, error);
  if (!decoder || !error.empty()) {
    std::printf("%s\n", error.c_str());
    return false;
  }
  // The first run tells which waits there are.
  if (!launch(machine, one, code)) return false;
  Figures figures;
  figures.kernels = 1;
  figures.sites = static_cast<unsigned>(exact.executed().size());
  exact.set_mutants(mutants_of(exact.executed()));
  checks.set_mutants(exact.mutants(), *decoder);
  if (!launch(machine, one, code)) return false;
  const std::string file = path.filename();
  judge(one, file, code, exact, checks, figures);
  for (const std::string& need : exact.uncovered()) {
    std::printf("%s, %s: no wait covers this: %s\n", file.c_str(), one.name, need.c_str());
    failed_ = true;
  }
  const size_t level = file.rfind(".O");
  by_level_[file.substr(level + 1, 2)].add(figures);
  if (exact.mutants().empty()) return true;
  const size_t chosen = count_ % exact.mutants().size();
  const Mutant& mutant = exact.mutants()[chosen];
  run_changed(one, path, processor, mutant,
              static_cast<int64_t>(mutant.pc - code.descriptor(one.name)),
              !checks.report(chosen).empty());
  return true;
}

int Proof::run() {
  std::vector<fs::path> objects;
  for (const fs::directory_entry& entry : fs::directory_iterator(options_.folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() == ".hsaco" && name.find(options_.object) != std::string::npos)
      objects.push_back(entry.path());
  }
  std::sort(objects.begin(), objects.end());
  for (const fs::path& path : objects) {
    const std::string name = path.filename();
    for (const CorpusCase* one : all_cases()) {
      const std::string source = fs::path(one->file).filename().string() + ".";
      if (name.rfind(source, 0) != 0) continue;
      if (!options_.kernel.empty() && options_.kernel != one->name) continue;
      if (count_++ % options_.every != 0) continue;
      const size_t dot = source.size();
      if (!run_kernel(*one, path, name.substr(dot, name.find('.', dot) - dot))) failed_ = true;
    }
  }
  std::printf("%-10s %7s %7s %8s %9s %9s %9s %7s %7s\n", "", "kernels", "waits", "mutants",
              "reported", "harmless", "memory", "missed", "false");
  Figures all;
  for (const auto& [level, figures] : by_level_) {
    figures.print(level.c_str());
    all.add(figures);
  }
  all.print("all");
  if (all.mutants == 0) std::printf("There is nothing to mutate in %s.\n", options_.folder.c_str());
  return failed_ || all.reported == 0 ? 1 : 0;
}

}  // namespace

int run_proof(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](const char* name, std::string& to) {
      if (!argument.starts_with(name)) return false;
      to = argument.substr(std::strlen(name));
      return true;
    };
    std::string every;
    if (value("--every=", every)) {
      options.every = static_cast<unsigned>(std::max(1, std::atoi(every.c_str())));
    } else if (argument == "--list") {
      options.list = true;
    } else if (!value("--kernel=", options.kernel) && !value("--object=", options.object) &&
               !value("--objects=", options.folder)) {
      std::fprintf(stderr,
                   "usage: vgpu_wait_mutations [--every=N] [--kernel=NAME] [--object=TEXT] "
                   "[--objects=FOLDER] [--list]\n");
      return 2;
    }
  }
  return Proof(options).run();
}

}  // namespace halyard::vgpu::corpus

int main(int argc, char** argv) {
  return halyard::vgpu::corpus::run_proof(argc, argv);
}
