// halyard run: kernels in order, once or several times, on one device or several.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/settings/apply.h"
#include "hal/error.h"
#include "hal/text.h"
#include "registry/vgpu.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/findings.h"
#include "tools/halyard/interruption.h"
#include "tools/halyard/progress.h"
#include "tools/halyard/run_program.h"
#include "tools/halyard/run_results.h"
#include "tools/halyard/schedule.h"
#include "tools/halyard/session.h"
#include "tools/halyard/trace.h"
#include "tools/runner/run.h"
#include "tools/values/file.h"
#include "tools/values/value.h"

namespace halyard::cli {
namespace {

constexpr const char* kRunHelp = R"(Values of --input and --expected-output:
  4xf32=1 2 3 4            a buffer; 2x2xi32=[[1 2][3 4]] or [1 2][3 4] nested; commas may separate
  1024xf32=0               one number for all elements; 1024xf32 is zeros
  @a.npy                   a buffer from a NumPy file (recognized by its contents)
  +a.npy                   the next array of a file with several, after @a.npy
  @-                       a NumPy array, or bytes, from standard input; +- its next array
  4x4xf32=@a.bin           a buffer from raw bytes (or from an .npy file of that type)
  @a.bin                   untyped bytes, for a buffer or an argument passed by value
  &1024xf32                an output-only buffer, which starts as zeros
  i32=7  f32=1.5           a scalar, passed by value; 7 where the file says the argument's type
  null                     a null pointer
  {i32=7 f32=1.5 2xi8=[1 2]}  a struct, passed by value, laid out as C does;
                           bytes=0x0a0b gives its bytes
  {ptr=%sum ptr=%sum+64 i64=0}  a struct with addresses of the buffers of --buffer, plus bytes;
                           ptr=null
  lds=4096                 bytes of LDS for an argument that points into LDS
  %sum                     the buffer of --buffer=sum=…
Types: i1 i4 i8 i16 i32 i64 (also si8 …) u4 u8 u16 u32 u64 (also ui8 …) f16 bf16 f32 f64 f8E5M2
f8E4M3FN f8E5M2FNUZ f8E4M3FNUZ f8E8M0FNU cf64 cf128 (complex<f32>, complex<f64>: 1+2i).
Numbers: 1 -2 0x1f 1.5e3 0x1.8p3 nan inf.

Results are the output-only buffers; if there are none, all buffers. Without --output, every result
is printed on a line, in the form that --input reads: "[2] out: 4xf32=1 2 3 4". --output and
--expected-output apply to the results in order, or to an argument whose index or name they begin
with: --output=[2]:@c.npy, '--expected-output=[2] out: 4xf32=1 2 3 4', --output=out:-

With several --function, the kernels run in order, each with the --input, --grid, --workgroup and
--lds that follow it. Functions share the buffers of --buffer. Results are then these buffers, by
name: "%sum: 4xf32=1 2 3 4", --output=%sum:@sum.npy.

With several --device, the command runs on each in order. Each line then begins with the device.

With --repeat and --warmup, each launch starts with the values of --input and --buffer. The results
are those of the last launch. Ctrl-C ends a run, and removes incomplete output files.

Examples:
  halyard run --device=amdgpu --vgpu --module=vadd.hsaco --function=vadd \
    '--input=4xf32=1 2 3 4' --input=4xf32=10 '--input=&4xf32' --input=u32=4
  halyard run --device=hip:0 --module=saxpy.c --function=saxpy --input=1048576xf32=1 \
    --input=1048576xf32=2 --input=f32=3 --input=u32=1048576 --print-limit=4 \
    --warmup=2 --repeat=20 --print-statistics --timeout=60
  halyard run --device=amdgpu --vgpu --module=steps.c '--buffer=x=4xf32=1 2 3 4' \
    --function=scale --input=%x --input=f32=2 --function=offset --input=%x --input=f32=1
)";

struct RunFlags {
  SessionFlags session;
  std::vector<std::string> devices;
  ProgramOptions program;
  uint32_t stack = 0;  // bytes; 0: the driver's choice
  CommandOption outputs;
  CommandOption expected_outputs;
  ToleranceFlags tolerance;
  uint64_t print_limit = 64;
  uint32_t warmup = 0;
  uint32_t repeat = 1;
  uint32_t timeout = 0;  // s; 0: none
  std::string profile;   // a file
  std::string check;     // names, or "all"; empty: none
  std::string schedule;  // empty: the profile's
  std::string fidelity;  // a file
  bool print_statistics = false;
};

Result<Ref<Device>> open_device(Registry& registry, const RunFlags& flags, const std::string& uri) {
  if (flags.stack == 0) return registry.open_device(uri);
  const std::string bytes = std::to_string(flags.stack);
  const Option options[] = {{"stack_bytes", bytes}};
  return registry.open_device(uri, options);
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

struct Statistics {
  uint64_t buffers = 0;
  uint64_t bytes = 0;           // of them
  std::vector<double> seconds;  // of each launch
};

Statistics statistics_of(const runner::Run& run) {
  Statistics statistics;
  for (const runner::RunBuffer& buffer : run.buffers) {
    ++statistics.buffers;
    statistics.bytes += buffer.value.bytes();
  }
  return statistics;
}

// To standard error, because it is no result.
void print_statistics(Statistics statistics, uint32_t warmup, const std::string& prefix) {
  std::vector<double>& seconds = statistics.seconds;
  std::sort(seconds.begin(), seconds.end());
  const size_t count = seconds.size();
  const double median = (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(count);
  fmt::print(stderr,
             "halyard: {4}launches: {0}, and {1} before them to warm up\n"
             "halyard: {4}from submission to end: least {2}, median {3}, mean {5}, most {6}\n"
             "halyard: {4}buffers: {7}, with {8} bytes\n",
             count, warmup, format_seconds(seconds.front()), format_seconds(median), prefix,
             format_seconds(mean), format_seconds(seconds.back()), statistics.buffers,
             statistics.bytes);
}

// What is called while launches are waited for. It ends the process where the device's work cannot
// be stopped in another way; files that are not whole are removed before that.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;
  Watch(const RunFlags& flags, std::string names, std::function<void()> discard)
      : flags_(flags),
        names_(std::move(names)),
        discard_(std::move(discard)),
        begin_(Clock::now()),
        end_(begin_ + std::chrono::seconds(flags.timeout)) {}

  void operator()(uint64_t done) {
    if (Interruption::signal() != 0) end_process();
    if (flags_.timeout == 0 || Clock::now() < end_) {
      if (progress_.is_due()) show(done);
      return;
    }
    discard_();
    progress_.clear();
    fmt::print(stderr,
               "halyard: error: {} not finished within {} s (--timeout). The run is abandoned.\n",
               names_, flags_.timeout);
    std::fflush(nullptr);
    std::_Exit(1);
  }
  [[noreturn]] void end_process() {
    discard_();
    progress_.clear();
    Interruption::end_process();
  }

 private:
  void show(uint64_t done) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    progress_.show(fmt::format("Launch {} of {}, {:.0f} s", done + 1,
                               uint64_t{flags_.warmup} + flags_.repeat, seconds));
  }

  const RunFlags& flags_;
  const std::string names_;              // of the kernels, with the verb
  const std::function<void()> discard_;  // removes files that are not whole
  Progress progress_;
  const Clock::time_point begin_;
  const Clock::time_point end_;
};

// A run on one of the devices, and what has become of it.
struct Job {
  std::string prefix;  // of its lines
  Ref<Device> device;
  std::unique_ptr<Program> program;
  std::vector<Expectation> expectations;
  std::vector<Sink> sinks;
  runner::Outcome outcome;
  std::vector<DeviceEvent> events;  // with --profile

  Delivery delivery(const RunFlags& flags) const {
    return {program->run, outcome.results, prefix, flags.print_limit};
  }
};

Result<Job> prepare(const RunFlags& flags, const ProgramText& text, const ModuleFiles& modules,
                    Registry& registry, const std::string& uri) {
  Job job;
  if (flags.devices.size() > 1) job.prefix = uri + " ";
  HALYARD_ASSIGN_OR_RETURN(job.device, open_device(registry, flags, uri));
  HALYARD_ASSIGN_OR_RETURN(job.program, Program::create(text, modules, *job.device, uri));
  const Program& program = *job.program;
  if (config::log_level(*flags.session.settings) > config::LogLevel::kWarning) {
    for (const std::string& note : program.notes) {
      fmt::print(stderr, "halyard: note: {}{}\n", job.prefix, note);
    }
  }
  HALYARD_ASSIGN_OR_RETURN(
      job.expectations, parse_expectations(flags.expected_outputs->results(), program.run.buffers,
                                           program.assign, flags.tolerance, *flags.session.settings,
                                           job.device->info().target.view()));
  return job;
}

// The files that a run reads and must not replace: code, configs and expected results. Results may
// replace the files of inputs, as a computation in steps does.
std::vector<std::string> protected_files(const RunFlags& flags) {
  std::vector<std::string> files = flags.program.modules->results();
  files.insert(files.end(), flags.session.configs.begin(), flags.session.configs.end());
  for (const std::string& text : flags.expected_outputs->results()) {
    const size_t at = text.find('@');
    if (at != std::string::npos) files.push_back(text.substr(at + 1));
  }
  return files;
}

Status check_output_files(const RunFlags& flags, const std::vector<Sink>& sinks) {
  const std::vector<std::string> files = protected_files(flags);
  HALYARD_RETURN_IF_ERROR(values::check_is_not_read(flags.profile, files));
  for (const Sink& sink : sinks) {
    if (sink.file) HALYARD_RETURN_IF_ERROR(values::check_is_not_read(sink.file->path(), files));
  }
  return {};
}

Status run_job(const RunFlags& flags, const ProgramText& text, Job& job,
               std::optional<values::OutputFile>& trace, Findings& findings) {
  runner::Run& run = job.program->run;
  HALYARD_ASSIGN_OR_RETURN(job.sinks, open_sinks(flags.outputs->results(), run.buffers,
                                                 job.program->results, job.program->assign));
  HALYARD_RETURN_IF_ERROR(check_output_files(flags, job.sinks));
  run.results = wanted_buffers(job.sinks, job.expectations);
  run.warmup = flags.warmup;
  run.repeat = flags.repeat;
  const std::string names = text.functions().size() == 1
                                ? fmt::format("The kernel \"{}\" has", text.names())
                                : fmt::format("The kernels ({}) have", text.names());
  Watch watch(flags, names, [&] {
    job.sinks.clear();
    trace.reset();
    findings.remove();
  });
  run.while_waiting = [&watch](uint64_t done) { watch(done); };
  if (!flags.profile.empty()) HALYARD_RETURN_IF_ERROR(job.device->begin_profile());
  Result<runner::Outcome> outcome = runner::run(*job.device, run);
  run.while_waiting = nullptr;
  if (!flags.profile.empty() && outcome.ok())
    HALYARD_RETURN_IF_ERROR(job.device->end_profile(collect_event, &job.events));
  // Some calls of vendors' libraries fail when a signal comes.
  if (!outcome.ok() && Interruption::signal() != 0) watch.end_process();
  if (!outcome.ok()) return std::move(outcome).status();
  job.outcome = std::move(outcome).value();
  return {};
}

Status write_trace(values::OutputFile& file, const std::vector<Job>& jobs,
                   const std::vector<std::string>& uris) {
  Trace trace;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::string device = fmt::format("{} {}", uris[i], jobs[i].device->info().name);
    trace.add_device(printable(device), jobs[i].events, jobs[i].outcome.host);
  }
  trace.add_roctx(take_roctx_events());
  const std::string text = trace.to_text();
  HALYARD_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

// Its own status, or the first failure; all are said.
void add_failure(Status& all, const Status& one) {
  if (one.ok()) return;
  all = all.ok() ? one : Status(all.code(), fmt::format("{}\n{}", all.message(), one.message()));
}

// Results go to standard output or to one place, which several devices would fight for.
Status check_outputs(const RunFlags& flags) {
  if (flags.devices.size() == 1) return {};
  for (const std::string& text : flags.outputs->results()) {
    if (text == "-" || text.ends_with(":-") || text.ends_with(": -")) continue;
    return error(
        StatusCode::kInvalidArgument,
        "--output ({}) is one file, and there are {} devices. Print the results (-), or run "
        "on one device at a time.",
        printable(text), flags.devices.size());
  }
  return {};
}

Status run(const Command& command, const RunFlags& flags) {
  HALYARD_RETURN_IF_ERROR(check_outputs(flags));
  HALYARD_ASSIGN_OR_RETURN(const ProgramText text, ProgramText::read(command, flags.program));
  // Files with code are read first, because their mistakes show without a device.
  HALYARD_ASSIGN_OR_RETURN(const ModuleFiles modules,
                           ModuleFiles::open(flags.program.modules->results()));
  if (!flags.profile.empty()) HALYARD_RETURN_IF_ERROR(keep_roctx_events());
  if (!flags.schedule.empty() && flags.session.vgpu->count() == 0) {
    return Status(StatusCode::kFailedPrecondition,
                  "--schedule needs the virtual GPU, which alone has an order of waves that can be "
                  "chosen. Say --vgpu.");
  }
  use_schedule(flags.schedule);
  HALYARD_RETURN_IF_ERROR(values::check_is_not_read(flags.fidelity, protected_files(flags)));
  HALYARD_RETURN_IF_ERROR(start_report("--fidelity", kFidelityVariable, flags.fidelity));
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  if (!flags.fidelity.empty() && !virtual_gpu_loaded()) {
    return error(StatusCode::kFailedPrecondition,
                 "--fidelity needs the virtual GPU, which knows how near its results are to "
                 "hardware's. Say --vgpu.");
  }
  Findings findings;
  HALYARD_RETURN_IF_ERROR(findings.begin(flags.check));
  std::vector<Job> jobs;
  for (const std::string& uri : flags.devices) {
    HALYARD_ASSIGN_OR_RETURN(Job job, prepare(flags, text, modules, *registry, uri));
    jobs.push_back(std::move(job));
  }
  const Interruption interruption;
  std::optional<values::OutputFile> trace;
  if (!flags.profile.empty()) {
    HALYARD_ASSIGN_OR_RETURN(values::OutputFile file, values::OutputFile::open(flags.profile));
    trace.emplace(std::move(file));
  }
  Status compared;
  for (Job& job : jobs) {
    HALYARD_RETURN_IF_ERROR(run_job(flags, text, job, trace, findings));
    if (flags.print_statistics) {
      Statistics statistics = statistics_of(job.program->run);
      statistics.seconds = job.outcome.seconds;
      print_statistics(std::move(statistics), flags.warmup, job.prefix);
    }
    HALYARD_RETURN_IF_ERROR(deliver(job.sinks, job.delivery(flags)));
    add_failure(compared,
                compare(job.expectations, job.delivery(flags), fills_standard_output(job.sinks)));
    if (Interruption::signal() != 0) {
      trace.reset();
      findings.remove();
      Interruption::end_process();
    }
  }
  if (trace) HALYARD_RETURN_IF_ERROR(write_trace(*trace, jobs, flags.devices));
  add_failure(compared, findings.result());
  return compared;
}

}  // namespace

void add_run_command(Command app, Status& outcome) {
  Command command = app.add_subcommand("run", "Run kernels of a module");
  const auto flags = std::make_shared<RunFlags>();
  command
      .add_option("--device", flags->devices,
                  "The device: DRIVER, DRIVER:ORDINAL or DRIVER://SELECTOR,… (ordinals, UUIDs, PCI "
                  "addresses, processors), with ?key=value; or a name of a config (devices.NAME). "
                  "May be repeated: the command runs on each")
      ->type_name("URI")
      ->allow_extra_args(false)
      ->required();
  flags->program = add_program_options(command);
  add_number(command, "--stack", flags->stack,
             "The stack of each work-item, such as 16KiB, for kernels that recurse or call through "
             "pointers; by default 4KiB. The same as the device option stack_bytes",
             {.low = 1, .is_size = true})
      ->type_name("SIZE");
  // Read with results(): a vector would take "{}" and "[…]" for lists of CLI11's own.
  const auto add_values = [&](const char* name, const char* type, const char* const what) {
    return command.add_option(name, what)->type_name(type)->take_all()->allow_extra_args(false);
  };
  flags->outputs =
      add_values("--output", "@FILE|+FILE|-",
                 "Where to write a result: @x.npy; @file for raw bytes in any other file; +file to "
                 "append; - to print; @- for an .npy file on standard output");
  flags->expected_outputs =
      add_values("--expected-output", "VALUE", "The expected result; a different one is an error");
  command
      .add_option(
          "--atol", flags->tolerance.absolute,
          "With --expected-output: |result - expected| <= atol + rtol * |expected|. By "
          "default 0 for integers, 1e-6 f32, 1e-12 f64, 1e-3 f16, 1e-2 bf16 and 8-bit floats")
      ->type_name("NUMBER")
      ->check(check_tolerance);
  command
      .add_option(
          "--rtol", flags->tolerance.relative,
          "By default 0 for integers, 1e-5 f32, 1e-9 f64, 1e-3 f16, 1e-2 bf16, 0.125 f8E4M3, "
          "0.25 f8E5M2")
      ->type_name("NUMBER")
      ->check(check_tolerance);
  add_number(command, "--print-limit", flags->print_limit,
             "Print at most this many elements of a result; 0 prints all", {})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->print_limit));
  add_number(command, "--repeat", flags->repeat, "The number of launches, in order", {.low = 1})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->repeat));
  add_number(command, "--warmup", flags->warmup,
             "The number of launches before these, which are not measured", {})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->warmup));
  command.add_flag("--print-statistics", flags->print_statistics,
                   "Print the times of the launches on standard error");
  command
      .add_option("--profile", flags->profile,
                  "Write a trace that Perfetto (ui.perfetto.dev) and Chrome open: submissions and "
                  "waits of the host, what ran on each queue of the device, and ROCTX ranges and "
                  "marks of plugins, runtimes and tools in this process, also of those that open "
                  "libroctx64 by its name")
      ->type_name("FILE");
  add_number(command, "--timeout", flags->timeout,
             "The time limit for all launches together; a longer run is an error", {.low = 1})
      ->type_name("SECONDS");
  add_check_flag(command, flags->check, "With --vgpu, also");
  add_schedule_flag(command, flags->schedule, "With --vgpu, ");
  add_fidelity_option(command, flags->fidelity, "With --vgpu, w");
  add_session_flags(command, flags->session);
  command.footer(kRunHelp);
  command.callback([flags, command, &outcome] { outcome = run(command, *flags); });
}

}  // namespace halyard::cli
