// halyard run: one kernel, once or several times.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "hal/error.h"
#include "hal/module.h"
#include "hal/text.h"
#include "toolchain/cached_compile.h"
#include "toolchain/language.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/cache.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/interruption.h"
#include "tools/halyard/native.h"
#include "tools/halyard/session.h"
#include "tools/runner/arguments.h"
#include "tools/runner/launch.h"
#include "tools/runner/results.h"
#include "tools/runner/run.h"
#include "tools/values/compare.h"
#include "tools/values/file.h"
#include "tools/values/npy.h"
#include "tools/values/tensor.h"
#include "tools/values/value.h"

namespace halyard::cli {
namespace {

using values::Tensor;
using values::Value;

constexpr const char* kHelp = R"(Values of --input and --expected-output:
  4xf32=1 2 3 4            a buffer; 2x2xi32=[[1 2][3 4]] nested; commas may separate
  1024xf32=0               one number for all elements
  @a.npy                   a buffer from a NumPy file (known by its contents)
  4x4xf32=@a.bin           a buffer from raw bytes (or from an .npy of that type)
  @a.bin                   untyped bytes, for a buffer or an argument passed by value
  &1024xf32                an output-only buffer, which starts as zeros
  i32=7  f32=1.5           a scalar, passed by value
  {i32=7 f32=1.5 2xi8=[1 2]}  a struct, passed by value, laid out as C does;
                           bytes=0x0a0b the same as bytes
  lds=4096                 bytes of LDS for an argument that points into LDS
Types: i1 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64. Numbers: 1 -2 0x1f 1.5e3 0x1.8p3 nan inf.

Results are the output-only buffers; if there are none, all buffers. Without --output every result
is printed, one line each, in the form that --input reads: "[2] out: 4xf32=1 2 3 4". --output and
--expected-output are for the results in order, or for the argument that they begin with, by its
place or name: --output=[2]:@c.npy, '--expected-output=[2] out: 4xf32=1 2 3 4', --output=out:-

With --repeat and --warmup each launch begins with the values of --input in its buffers; the results
are the last one's. Ctrl-C ends a run, and leaves no output file that is not whole.

Examples:
  halyard run --device=amdgpu --vgpu --module=vadd.hsaco --function=vadd \
    '--input=4xf32=1 2 3 4' --input=4xf32=10 '--input=&4xf32' --input=u32=4
  halyard run --device=hip:0 --module=saxpy.c --function=saxpy --input=1048576xf32=1 \
    --input=1048576xf32=2 --input=f32=3 --input=u32=1048576 --print-limit=4 \
    --warmup=2 --repeat=20 --print-statistics --timeout=60
)";

struct RunFlags {
  SessionFlags session;
  std::string device;
  std::string module;
  std::string function;
  std::string grid;
  std::string workgroup;
  uint32_t lds = 0;
  uint32_t stack = 0;  // bytes; 0: the driver's choice
  CLI::Option* inputs = nullptr;
  CLI::Option* outputs = nullptr;
  CLI::Option* expected_outputs = nullptr;
  std::optional<double> atol;
  std::optional<double> rtol;
  uint64_t print_limit = 64;
  uint32_t warmup = 0;
  uint32_t repeat = 1;
  uint32_t timeout = 0;  // s; 0: none
  bool print_statistics = false;
};

// Where a result goes.
struct Sink {
  size_t argument = 0;
  std::unique_ptr<values::OutputFile> file;  // null: printed
  bool is_npy = false;
};

struct Expectation {
  size_t argument = 0;
  Tensor tensor;
  values::Tolerance tolerance;
};

Result<std::vector<Value>> parse_inputs(const std::vector<std::string>& texts) {
  std::vector<Value> inputs;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto value = values::parse_value(texts[i]);
    if (!value.ok()) return value.status().with_context(fmt::format("Input {}", i));
    inputs.push_back(std::move(value).value());
  }
  return inputs;
}

// Opens the files, so that one that cannot be written is known before the kernel runs.
Result<std::vector<Sink>> open_sinks(const RunFlags& flags, const FunctionInfo& function,
                                     const std::vector<Value>& arguments) {
  std::vector<Sink> sinks;
  if (flags.outputs->count() == 0) {
    for (const size_t i : runner::results_of(arguments)) sinks.push_back({i, nullptr, false});
    return sinks;
  }
  HALYARD_ASSIGN_OR_RETURN(
      const std::vector<runner::ResultText> texts,
      runner::assign_results("--output", flags.outputs->results(), function, arguments));
  for (const runner::ResultText& text : texts) {
    Sink sink{text.argument, nullptr, false};
    if (text.text.starts_with('@')) {
      if (values::has_extension(text.text, ".npz")) {
        return error(StatusCode::kUnimplemented,
                     "--output cannot write an .npz file ({}), an archive of arrays. Write each "
                     "result to an .npy file.",
                     text.text);
      }
      sink.is_npy = values::has_extension(text.text, ".npy");
      if (sink.is_npy) {
        const Status writable = values::npy_header(arguments[text.argument].type).status();
        if (!writable.ok()) return writable.with_context("--output=" + text.text);
      }
      HALYARD_ASSIGN_OR_RETURN(values::OutputFile file,
                               values::OutputFile::open(text.text.substr(1)));
      sink.file = std::make_unique<values::OutputFile>(std::move(file));
    } else if (text.text != "-") {
      return error(
          StatusCode::kInvalidArgument,
          "--output needs a file name behind \"@\" or is \"-\", but is ({}). A result goes "
          "to a file (@out.npy, or raw to any other name such as @out.bin), or is printed "
          "(-).",
          text.text);
    }
    sinks.push_back(std::move(sink));
  }
  return sinks;
}

// What the flags, the configs, or the library says, in this order.
values::Tolerance tolerance_of(const RunFlags& flags, const DeviceInfo& device,
                               values::ElementType type) {
  const std::string_view target = device.target.view();
  const std::string path = fmt::format("tolerances.{}.", values::to_string(type));
  const auto chosen = [&](const std::optional<double>& flag, const char* part, double standard) {
    const config::Setting* const setting =
        flags.session.settings->of_processor(target.substr(0, target.find(':')), path + part);
    return flag.value_or(setting == nullptr ? standard : setting->value().real);
  };
  const values::Tolerance standard = values::default_tolerance(type);
  return {chosen(flags.atol, "absolute", standard.absolute),
          chosen(flags.rtol, "relative", standard.relative)};
}

Result<std::vector<Expectation>> parse_expectations(const RunFlags& flags, const DeviceInfo& device,
                                                    const FunctionInfo& function,
                                                    const std::vector<Value>& arguments) {
  HALYARD_ASSIGN_OR_RETURN(
      const std::vector<runner::ResultText> texts,
      runner::assign_results("--expected-output", flags.expected_outputs->results(), function,
                             arguments));
  std::vector<Expectation> expectations;
  for (const runner::ResultText& text : texts) {
    const std::string label = runner::argument_label(function, text.argument);
    auto value = values::parse_value(text.text);
    if (!value.ok()) {
      return value.status().with_context(fmt::format("The expected output for {}", label));
    }
    const values::TensorType& type = arguments[text.argument].type;
    // Untyped bytes are compared as what the buffer holds.
    if (value->kind == Value::Kind::kBytes && value->data.size() == type.bytes()) {
      value->kind = Value::Kind::kBuffer;
      value->type = type;
    }
    const bool is_buffer =
        value->kind == Value::Kind::kBuffer && value->contents != Value::Contents::kZero;
    if (!is_buffer || !(value->type == type)) {
      return error(StatusCode::kInvalidArgument,
                   "The expected output for {} is {}, but the buffer is {}.", label,
                   value->describe(), type.to_string());
    }
    expectations.push_back(
        {text.argument, value->to_tensor(), tolerance_of(flags, device, type.element)});
  }
  return expectations;
}

Result<runner::Launch> choose_launch(const RunFlags& flags, const Function& function,
                                     const std::vector<Value>& arguments) {
  runner::LaunchRequest request;
  if (!flags.grid.empty()) {
    HALYARD_ASSIGN_OR_RETURN(request.grid, runner::parse_extents("--grid", flags.grid));
  }
  if (!flags.workgroup.empty()) {
    HALYARD_ASSIGN_OR_RETURN(request.workgroup,
                             runner::parse_extents("--workgroup", flags.workgroup));
  }
  const std::vector<size_t> results = runner::results_of(arguments);
  if (!results.empty()) request.elements = arguments[results.front()].type.element_count();
  return runner::choose_launch(function.executable().device().info(), function.info(), request);
}

// The results by their argument's index.
struct Results {
  std::vector<size_t> arguments;
  std::vector<Tensor> tensors;

  const Tensor& of(size_t argument) const {
    const auto found = std::find(arguments.begin(), arguments.end(), argument);
    return tensors[static_cast<size_t>(found - arguments.begin())];
  }
};

// Files first, all of them whole before the first is put in place; then the lines.
Status deliver(std::vector<Sink>& sinks, const Results& results, const FunctionInfo& function,
               uint64_t print_limit) {
  std::string lines;
  for (Sink& sink : sinks) {
    const Tensor& tensor = results.of(sink.argument);
    const std::string label = runner::argument_label(function, sink.argument);
    if (!sink.file) {
      lines += fmt::format("{}: {}\n", label, values::format_tensor(tensor, print_limit));
      continue;
    }
    lines += fmt::format("{}: {}=@{}\n", label, tensor.type.to_string(), sink.file->path());
    if (sink.is_npy) {
      HALYARD_ASSIGN_OR_RETURN(const std::string header, values::npy_header(tensor.type));
      HALYARD_RETURN_IF_ERROR(sink.file->write(std::as_bytes(std::span(header))));
    }
    HALYARD_RETURN_IF_ERROR(sink.file->write(tensor.data));
  }
  for (Sink& sink : sinks) {
    if (sink.file) HALYARD_RETURN_IF_ERROR(sink.file->commit());
  }
  return print(lines);
}

Status compare(const std::vector<Expectation>& expectations, const Results& results,
               const FunctionInfo& function) {
  std::string good;
  std::string bad;
  for (const Expectation& expectation : expectations) {
    const Tensor& tensor = results.of(expectation.argument);
    const std::string label = runner::argument_label(function, expectation.argument);
    const auto& [absolute, relative] = expectation.tolerance;
    if (const auto difference =
            values::describe_difference(tensor, expectation.tensor, expectation.tolerance)) {
      bad += fmt::format("{}The result {} {}.", bad.empty() ? "" : "\n", label, *difference);
    } else {
      good += fmt::format("{} is as expected ({} elements, atol {}, rtol {})\n", label,
                          tensor.type.element_count(), absolute, relative);
    }
  }
  HALYARD_RETURN_IF_ERROR(print(good));
  return bad.empty() ? Status() : Status(StatusCode::kAborted, bad);
}

// The code object of a source, for the device; from the cache if it has been compiled before.
Result<std::vector<std::byte>> compile_for(const RunFlags& flags, const Device& device) {
  HALYARD_ASSIGN_OR_RETURN(const TargetId target,
                           native_target(flags.device, device.info().target.view()));
  HALYARD_ASSIGN_OR_RETURN(const toolchain::Cache cache, open_cache());
  HALYARD_ASSIGN_OR_RETURN(
      toolchain::CachedCompile compiled,
      toolchain::compile_cached(flags.module, target, {}, toolchain::SearchContext::of_process(),
                                cache));
  if (!compiled.stored.ok()) {
    fmt::print(stderr, "halyard: note: {}\n", compiled.stored.message());
  }
  return std::move(compiled.bytes);
}

Result<Ref<Device>> open_device(Registry& registry, const RunFlags& flags) {
  if (flags.stack == 0) return registry.open_device(flags.device);
  const std::string bytes = std::to_string(flags.stack);
  const Option options[] = {{"stack_bytes", bytes}};
  return registry.open_device(flags.device, options);
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

Statistics statistics_of(const std::vector<Value>& arguments) {
  Statistics statistics;
  for (const Value& argument : arguments) {
    if (argument.kind != Value::Kind::kBuffer) continue;
    ++statistics.buffers;
    statistics.bytes += argument.bytes();
  }
  return statistics;
}

// To standard error, because it is no result.
void print_statistics(Statistics statistics, uint32_t warmup) {
  std::vector<double>& seconds = statistics.seconds;
  std::sort(seconds.begin(), seconds.end());
  const size_t count = seconds.size();
  const double median = (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(count);
  fmt::print(stderr,
             "halyard: launches: {}, and {} before them to warm up\n"
             "halyard: from submission to end: least {}, median {}, mean {}, most {}\n"
             "halyard: buffers: {}, with {} bytes\n",
             count, warmup, format_seconds(seconds.front()), format_seconds(median),
             format_seconds(mean), format_seconds(seconds.back()), statistics.buffers,
             statistics.bytes);
}

// What is called while launches are waited for. It ends the process where the device's work cannot
// be stopped in another way; the files in `sinks` are removed before that.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;
  Watch(const RunFlags& flags, std::vector<Sink>& sinks)
      : flags_(flags), sinks_(sinks), end_(Clock::now() + std::chrono::seconds(flags.timeout)) {}

  void operator()() const {
    if (Interruption::signal() != 0) {
      sinks_.clear();
      Interruption::end_process();
    }
    if (flags_.timeout == 0 || Clock::now() < end_) return;
    sinks_.clear();
    fmt::print(
        stderr,
        "halyard: error: The kernel \"{}\" has not finished within {} s (--timeout). Its run "
        "is abandoned.\n",
        printable(flags_.function), flags_.timeout);
    std::fflush(nullptr);
    std::_Exit(1);
  }

 private:
  const RunFlags& flags_;
  std::vector<Sink>& sinks_;
  Clock::time_point end_;
};

Status run(const RunFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(std::vector<Value> arguments, parse_inputs(flags.inputs->results()));
  // A file with code is read first, because its mistakes show without a device; a source needs one
  // to be compiled for.
  std::optional<Module> module;
  if (!toolchain::is_source(flags.module)) {
    HALYARD_ASSIGN_OR_RETURN(module, Module::open(flags.module));
  }
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Device> device, open_device(*registry, flags));
  std::vector<std::byte> compiled;  // what `module` points into
  if (!module) {
    HALYARD_ASSIGN_OR_RETURN(compiled, compile_for(flags, *device));
    HALYARD_ASSIGN_OR_RETURN(module, Module::read(compiled.data(), compiled.size()));
  }
  auto executable = device->load_executable(*module);
  if (!executable.ok()) {
    return executable.status().with_context(fmt::format("The module ({})", flags.module));
  }
  HALYARD_ASSIGN_OR_RETURN(const Function* const function, (*executable)->find(flags.function));
  const FunctionInfo& info = function->info();

  HALYARD_RETURN_IF_ERROR(runner::bind_arguments(info, arguments));
  HALYARD_ASSIGN_OR_RETURN(const runner::Launch launch, choose_launch(flags, *function, arguments));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<Expectation> expectations,
                           parse_expectations(flags, device->info(), info, arguments));
  const Interruption interruption;
  HALYARD_ASSIGN_OR_RETURN(std::vector<Sink> sinks, open_sinks(flags, info, arguments));

  Results results;
  for (const Sink& sink : sinks) results.arguments.push_back(sink.argument);
  for (const Expectation& expectation : expectations) {
    results.arguments.push_back(expectation.argument);
  }
  std::sort(results.arguments.begin(), results.arguments.end());
  results.arguments.erase(std::unique(results.arguments.begin(), results.arguments.end()),
                          results.arguments.end());

  Statistics statistics = statistics_of(arguments);
  Result<runner::Outcome> outcome = runner::run(*device, {.function = function,
                                                          .launch = launch,
                                                          .dynamic_lds_bytes = flags.lds,
                                                          .arguments = std::move(arguments),
                                                          .results = results.arguments,
                                                          .warmup = flags.warmup,
                                                          .repeat = flags.repeat,
                                                          .while_waiting = Watch(flags, sinks)});
  // Some calls of vendors' libraries fail when a signal comes.
  if (!outcome.ok() && Interruption::signal() != 0) {
    sinks.clear();
    Interruption::end_process();
  }
  if (!outcome.ok()) return std::move(outcome).status();
  results.tensors = std::move(outcome->results);
  statistics.seconds = std::move(outcome->seconds);
  if (flags.print_statistics) print_statistics(std::move(statistics), flags.warmup);
  HALYARD_RETURN_IF_ERROR(deliver(sinks, results, info, flags.print_limit));
  Status compared = compare(expectations, results, info);
  if (Interruption::signal() != 0) Interruption::end_process();
  return compared;
}

std::string check_tolerance(const std::string& text) {
  double value = 0;
  const bool good = CLI::detail::lexical_cast(text, value) && value >= 0 && std::isfinite(value);
  return good ? "" : "a tolerance (" + text + ") is a number from 0 on";
}

}  // namespace

void add_run_command(CLI::App& app, Status& outcome) {
  CLI::App& command = *app.add_subcommand("run", "Run one kernel of a module");
  const auto flags = std::make_shared<RunFlags>();
  command
      .add_option("--device", flags->device,
                  "The device: DRIVER, DRIVER:ORDINAL or DRIVER://SELECTOR,… (ordinals, UUIDs, PCI "
                  "addresses, processors), with ?key=value; or a name of a config (devices.NAME)")
      ->type_name("URI")
      ->required();
  command
      .add_option("--module", flags->module,
                  "Where the kernel is: a code object (.hsaco), an offload bundle, plain or "
                  "compressed, a program or library that hipcc made, an archive (.a) or a folder "
                  "of these; the variant for the device is loaded. Or a source file (" +
                      toolchain::source_extensions() +
                      "), which is compiled for the device as by `halyard compile`; `halyard "
                      "cache` shows what is kept of that")
      ->type_name("PATH")
      ->required();
  command
      .add_option("--function", flags->function,
                  "The kernel's name: the symbol's, or in C++ what the source calls it, with or "
                  "without its arguments")
      ->type_name("NAME")
      ->required();
  command
      .add_option("--grid", flags->grid,
                  "Work-items in all; by default one for each element of the first result")
      ->type_name("X[,Y[,Z]]");
  command
      .add_option("--workgroup", flags->workgroup,
                  "Work-items of a work-group; by default what the kernel requires, or else one "
                  "wavefront")
      ->type_name("X[,Y[,Z]]");
  add_number(command, "--lds", flags->lds,
             "LDS on top of the kernel's own (HIP's extern __shared__), as 4096 or 4KiB",
             {.is_size = true})
      ->type_name("SIZE");
  add_number(command, "--stack", flags->stack,
             "The stack of a work-item of a kernel that recurses or calls through pointers, as "
             "16KiB; by default 4KiB. The same as the device option stack_bytes",
             {.low = 1, .is_size = true})
      ->type_name("SIZE");
  // Read with results(): a vector would take "{}" and "[…]" for lists of CLI11's own.
  const auto add_values = [&](const char* name, const char* type, const char* const what) {
    return command.add_option(name, what)
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  };
  flags->inputs = add_values("--input", "VALUE",
                             "The value of an argument; once for each, in order (see below)");
  flags->outputs =
      add_values("--output", "@FILE|-",
                 "Where a result goes: @x.npy, raw to any other @file, or - to print it");
  flags->expected_outputs =
      add_values("--expected-output", "VALUE", "What a result must be; anything else is an error");
  command
      .add_option("--atol", flags->atol,
                  "With --expected-output: |result - expected| <= atol + rtol * |expected|. By "
                  "default 0 for integers, 1e-6 f32, 1e-12 f64, 1e-3 f16, 1e-2 bf16")
      ->type_name("NUMBER")
      ->check(check_tolerance);
  command
      .add_option("--rtol", flags->rtol,
                  "By default 0 for integers, 1e-5 f32, 1e-9 f64, 1e-3 f16, 1e-2 bf16")
      ->type_name("NUMBER")
      ->check(check_tolerance);
  add_number(command, "--print-limit", flags->print_limit,
             "Elements of a result that are printed; 0 prints all", {})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->print_limit));
  add_number(command, "--repeat", flags->repeat, "Launches, one after the other", {.low = 1})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->repeat));
  add_number(command, "--warmup", flags->warmup, "Launches before those, which are not measured",
             {})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->warmup));
  command.add_flag("--print-statistics", flags->print_statistics,
                   "Say on standard error how long the launches took");
  add_number(command, "--timeout", flags->timeout,
             "How long all launches together may take; then the run is an error", {.low = 1})
      ->type_name("SECONDS");
  add_session_flags(command, flags->session);
  command.footer(kHelp);
  command.callback([flags, &outcome] { outcome = run(*flags); });
}

}  // namespace halyard::cli
