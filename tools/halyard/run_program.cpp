#include "tools/halyard/run_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "hal/error.h"
#include "hal/text.h"
#include "toolchain/cached_compile.h"
#include "toolchain/language.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/cache.h"
#include "tools/halyard/native.h"
#include "tools/halyard/progress.h"
#include "tools/runner/arguments.h"
#include "tools/runner/code_facts.h"
#include "tools/runner/launch.h"
#include "tools/runner/results.h"
#include "tools/values/input.h"

namespace halyard::cli {
namespace {

using runner::RunBuffer;
using values::Value;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// "sum=4xf32=1 2 3 4"
Result<RunBuffer> parse_buffer(values::InputReader& reader, const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool good = !name.empty() && is_letter(name.front()) &&
                    std::all_of(name.begin(), name.end(),
                                [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (!good || equals == std::string::npos) {
    return error(StatusCode::kInvalidArgument,
                 "--buffer ({}) is not NAME=VALUE, with a name of letters, digits and _. Write it "
                 "as --buffer=sum=&1024xf32, and use it as --input=%sum.",
                 printable(text));
  }
  auto value = reader.read(text.substr(equals + 1));
  if (!value.ok()) return value.status().with_context("The buffer %" + name);
  const bool is_buffer = value->kind == Value::Kind::kBuffer ||
                         (value->kind == Value::Kind::kBytes && value->pointers.empty());
  if (!is_buffer) {
    return error(StatusCode::kInvalidArgument,
                 "The buffer %{} is given {}, which is passed by value. Pass it to each function "
                 "with --input.",
                 name, value->describe());
  }
  return RunBuffer{"%" + name, std::move(value).value()};
}

// A buffer's value as an argument, whose contents are elsewhere; of untyped bytes their number
// counts.
Value as_argument(const Value& value) {
  Value argument;
  argument.kind = value.kind;
  argument.contents = value.contents;
  argument.type = value.type;
  if (value.kind == Value::Kind::kBytes) argument.data.resize(value.data.size());
  return argument;
}

Status set_once(std::string& member, const char* option, const FunctionText& function,
                const std::string& text) {
  if (!member.empty()) {
    return error(StatusCode::kInvalidArgument,
                 "The function {} has two {} ({} and {}). Write only one after its --function.",
                 printable(function.name), option, printable(member), printable(text));
  }
  member = text;
  return {};
}

// The functions, each with the options that stand behind it.
Result<std::vector<FunctionText>> group(const Command& command, const ProgramOptions& options) {
  std::vector<FunctionText> functions(1);
  bool has_name = false;
  std::map<CommandOption, size_t> taken;
  for (const CommandOption& option : command.parse_order()) {
    const bool is_ours = option == options.functions || option == options.inputs ||
                         option == options.grid || option == options.workgroup ||
                         option == options.lds;
    if (!is_ours) continue;
    const std::string text = option->results()[taken[option]++];
    if (option == options.functions) {
      if (has_name) functions.emplace_back();
      has_name = true;
      functions.back().name = text;
      continue;
    }
    FunctionText& function = functions.back();
    if (option == options.inputs) {
      function.inputs.push_back(text);
    } else if (option == options.grid) {
      HALYARD_RETURN_IF_ERROR(set_once(function.grid, "--grid", function, text));
    } else if (option == options.workgroup) {
      HALYARD_RETURN_IF_ERROR(set_once(function.workgroup, "--workgroup", function, text));
    } else {
      HALYARD_RETURN_IF_ERROR(set_once(function.lds, "--lds", function, text));
    }
  }
  return functions;
}

struct FoundFunction {
  const Function* function;
  const LoadedModule* module;
};

Result<FoundFunction> find_function(const std::vector<LoadedModule>& modules,
                                    const std::string& name) {
  Status first;
  for (const LoadedModule& module : modules) {
    auto function = module.executable->find(name);
    if (function.ok()) return FoundFunction{*function, &module};
    if (first.ok()) first = std::move(function).status();
  }
  return first;
}

// A kernel with dynamic LDS only, to which nothing gives any: its loads read 0, and nobody says so.
void note_missing_lds(const FunctionText& text, const FunctionInfo& function,
                      const runner::CodeFacts& facts, std::vector<std::string>& notes) {
  const bool has_argument = std::any_of(
      function.arguments.begin(), function.arguments.end(),
      [](const ArgumentInfo& argument) { return argument.kind == ArgumentKind::kDynamicLds; });
  if (!facts.accesses_lds || function.group_segment_size != 0 || has_argument || !text.lds.empty())
    return;
  notes.push_back(fmt::format(
      "The kernel {} accesses LDS, and has none. For HIP's extern __shared__, say --lds=BYTES: "
      "without it, loads read 0.",
      short_name(function.name)));
}

Result<runner::Launch> choose_launch(const FunctionText& text, const FoundFunction& found,
                                     const std::vector<Value>& arguments) {
  const Function& function = *found.function;
  const DeviceInfo& device = function.executable().device().info();
  runner::LaunchRequest request;
  const auto facts =
      runner::code_facts(*found.module->module, device.target.view(), function.info().name.view());
  request.reads_shape = runner::reads_shape(function.info(), facts.value_or(runner::CodeFacts()));
  request.dimensions = facts ? facts->dimensions : 1;
  if (!text.grid.empty()) {
    HALYARD_ASSIGN_OR_RETURN(request.grid, runner::parse_extents("--grid", text.grid));
  }
  if (!text.workgroup.empty()) {
    HALYARD_ASSIGN_OR_RETURN(request.workgroup,
                             runner::parse_extents("--workgroup", text.workgroup));
  }
  const std::vector<size_t> results = runner::results_of(arguments);
  if (!results.empty()) {
    request.elements = arguments[results.front()].type.element_count();
    request.shape = arguments[results.front()].type.shape;
  }
  HALYARD_ASSIGN_OR_RETURN(runner::Launch launch,
                           runner::choose_launch(device, function.info(), request));
  if (facts) note_missing_lds(text, function.info(), *facts, launch.notes);
  return launch;
}

// The step of a function, but for Step::buffers.
Result<runner::Step> make_step(const FunctionText& text, const std::vector<LoadedModule>& modules) {
  runner::Step step;
  HALYARD_ASSIGN_OR_RETURN(const FoundFunction found, find_function(modules, text.name));
  step.function = found.function;
  step.arguments = text.values;
  HALYARD_RETURN_IF_ERROR(runner::bind_arguments(step.function->info(), step.arguments));
  HALYARD_ASSIGN_OR_RETURN(step.launch, choose_launch(text, found, step.arguments));
  if (!text.lds.empty()) {
    HALYARD_ASSIGN_OR_RETURN(const uint64_t bytes,
                             parse_number(text.lds, {.high = UINT32_MAX, .is_size = true}));
    step.dynamic_lds_bytes = static_cast<uint32_t>(bytes);
  }
  return step;
}

// Ties the addresses in an argument to their buffers.
Status tie_pointers(const ProgramText& program, size_t argument, const std::string& label,
                    runner::Step& step, const runner::Run& run) {
  for (const values::ValuePointer& pointer : step.arguments[argument].pointers) {
    HALYARD_ASSIGN_OR_RETURN(const size_t place, program.find_buffer(pointer.buffer));
    const uint64_t bytes = run.buffers[place].value.bytes();
    if (pointer.offset > bytes) {
      return error(
          StatusCode::kOutOfRange,
          "The kernel's argument {} has an address {} bytes past the begin of {}, which has "
          "{} bytes.",
          label, pointer.offset, pointer.buffer, bytes);
    }
    step.pointers.push_back({argument, pointer.at, place, pointer.offset});
  }
  return {};
}

// Ties a step's arguments to buffers: named ones, and those that are the function's alone, which
// are added to the run's.
Status tie_buffers(const ProgramText& program, const FunctionText& text, runner::Step& step,
                   runner::Run& run) {
  const FunctionInfo& info = step.function->info();
  step.buffers.resize(step.arguments.size());
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    Value& argument = step.arguments[i];
    if (!ProgramText::is_name(text.inputs[i])) {
      HALYARD_RETURN_IF_ERROR(tie_pointers(program, i, runner::argument_label(info, i), step, run));
      if (argument.kind != Value::Kind::kBuffer) continue;
      step.buffers[i] = run.buffers.size();
      run.buffers.push_back({runner::argument_label(info, i), std::move(argument)});
      continue;
    }
    if (info.arguments[i].kind != ArgumentKind::kBuffer) {
      return error(StatusCode::kInvalidArgument,
                   "The kernel {} takes its argument {} by value, and {} is a buffer. Its "
                   "arguments:\n{}",
                   short_name(info.name), runner::argument_label(info, i), text.inputs[i],
                   runner::describe_arguments(info));
    }
    HALYARD_ASSIGN_OR_RETURN(const size_t place, program.find_buffer(text.inputs[i]));
    step.buffers[i] = place;
    // Untyped bytes have become elements of what the first function takes them for.
    Value& value = run.buffers[place].value;
    if (value.kind == Value::Kind::kBytes) {
      value.kind = argument.kind;
      value.type = argument.type;
    }
  }
  return {};
}

// The code object of a source, for the device; from the cache if it has been compiled before.
Result<std::vector<std::byte>> compile_for(const std::string& path, const Device& device,
                                           const std::string& uri) {
  HALYARD_ASSIGN_OR_RETURN(const TargetId target, native_target(uri, device.info().target.view()));
  HALYARD_ASSIGN_OR_RETURN(const toolchain::Cache cache, open_cache_or_none());
  Progress progress;
  toolchain::CompileOptions options;
  if (progress.is_seen()) options.progress = progress.lines();
  HALYARD_ASSIGN_OR_RETURN(
      toolchain::CachedCompile compiled,
      toolchain::compile_cached(path, target, options, toolchain::SearchContext::of_process(),
                                cache));
  if (!compiled.stored.ok()) {
    fmt::print(stderr, "halyard: note: {}\n", compiled.stored.message());
  }
  return std::move(compiled.bytes);
}

std::string check_size(const std::string& text) {
  const Result<uint64_t> size = parse_number(text, {.high = UINT32_MAX, .is_size = true});
  return size.ok() ? "" : std::string(size.status().message().view());
}

}  // namespace

ProgramOptions add_program_options(Command command) {
  // Read with results(): a vector would take "{}" and "[…]" for lists of CLI11's own.
  const auto add = [&](const char* name, const char* type, const std::string& what) {
    return command.add_option(name, what)->type_name(type)->take_all()->allow_extra_args(false);
  };
  ProgramOptions options;
  options.modules =
      add("--module", "PATH",
          "The file with the kernels: a code object (.hsaco), an offload bundle, plain or "
          "compressed, a program or library that hipcc made, an archive (.a) or a folder of these. "
          "Halyard loads the variant for the device. Or a source file (" +
              toolchain::source_extensions() +
              "), which Halyard compiles for the device like `halyard compile`, and keeps in a "
              "cache (`halyard cache`). May be repeated: Halyard searches each file for a kernel")
          ->required();
  options.functions = add("--function", "NAME",
                          "The kernel: its symbol, or its C++ name in the source, with or without "
                          "arguments. May be repeated: kernels run in order, each with the "
                          "--input, --grid, --workgroup and --lds that follow it")
                          ->required();
  options.buffers = add("--buffer", "NAME=VALUE",
                        "A buffer that functions share, as --input=%NAME. May be repeated");
  options.inputs = add("--input", "VALUE",
                       "The value of an argument, once for each argument in order (see below)");
  options.grid =
      add("--grid", "X[,Y[,Z]]",
          "The total number of work-items; by default one for each element of the first result, "
          "rounded up to whole work-groups of --workgroup for kernels that need whole ones");
  options.workgroup = add(
      "--workgroup", "X[,Y[,Z]]",
      "The work-items of a work-group; by default the kernel's required size, or one wavefront. "
      "Kernels that need whole work-groups (HIP's, for example) get the largest size up to that "
      "which divides the grid");
  options.lds = add("--lds", "SIZE", "Dynamic LDS (HIP's extern __shared__), such as 4096 or 4KiB")
                    ->check(check_size);
  return options;
}

Result<ProgramText> ProgramText::read(const Command& command, const ProgramOptions& options) {
  ProgramText program;
  values::InputReader reader;
  for (const std::string& text : options.buffers->results()) {
    HALYARD_ASSIGN_OR_RETURN(RunBuffer buffer, parse_buffer(reader, text));
    const bool is_double =
        std::any_of(program.buffers_.begin(), program.buffers_.end(),
                    [&](const RunBuffer& other) { return other.label == buffer.label; });
    if (is_double) {
      return error(StatusCode::kInvalidArgument, "Two --buffer have the name {}.", buffer.label);
    }
    program.buffers_.push_back(std::move(buffer));
  }
  HALYARD_ASSIGN_OR_RETURN(program.functions_, group(command, options));
  for (FunctionText& function : program.functions_) {
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      const std::string& text = function.inputs[i];
      if (is_name(text)) {
        HALYARD_ASSIGN_OR_RETURN(const size_t place, program.find_buffer(text));
        function.values.push_back(as_argument(program.buffers_[place].value));
        continue;
      }
      auto value = reader.read(text);
      if (!value.ok()) return value.status().with_context(fmt::format("Input {}", i));
      function.values.push_back(std::move(value).value());
    }
  }
  HALYARD_RETURN_IF_ERROR(reader.finish());
  if (program.functions_.size() > 1 && program.buffers_.empty()) {
    return error(StatusCode::kInvalidArgument,
                 "Several functions ({}) share no buffer, so the run would have no result. Name "
                 "the buffers of the results: --buffer=NAME=VALUE, and --input=%NAME.",
                 program.names());
  }
  return program;
}

Result<size_t> ProgramText::find_buffer(const std::string& text) const {
  std::vector<std::string_view> known;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].label == text) return i;
    known.push_back(buffers_[i].label);
  }
  return error(StatusCode::kInvalidArgument,
               "The input ({}) names a buffer that does not exist.{} The buffers: {}. Define it "
               "with --buffer={}=VALUE.",
               printable(text), did_you_mean_clause(text, known),
               known.empty() ? std::string("none") : list_of(known), printable(text.substr(1)));
}

std::string ProgramText::names() const {
  std::string text;
  for (const FunctionText& function : functions_)
    text += (text.empty() ? "" : ", ") + printable(function.name);
  return text;
}

Result<ModuleFiles> ModuleFiles::open(const std::vector<std::string>& paths) {
  ModuleFiles files;
  for (const std::string& path : paths) {
    File file{path, nullptr};
    if (!toolchain::is_source(path)) {
      HALYARD_ASSIGN_OR_RETURN(Module module, Module::open(path));
      file.module = std::make_shared<const Module>(std::move(module));
    }
    files.files_.push_back(std::move(file));
  }
  return files;
}

Result<std::vector<LoadedModule>> ModuleFiles::load(Device& device, const std::string& uri) const {
  std::vector<LoadedModule> modules;
  for (const File& file : files_) {
    LoadedModule loaded;
    loaded.module = file.module;
    if (!file.module) {
      HALYARD_ASSIGN_OR_RETURN(std::vector<std::byte> compiled,
                               compile_for(file.path, device, uri));
      loaded.bytes = std::make_shared<const std::vector<std::byte>>(std::move(compiled));
      HALYARD_ASSIGN_OR_RETURN(Module of_source,
                               Module::read(loaded.bytes->data(), loaded.bytes->size()));
      loaded.module = std::make_shared<const Module>(std::move(of_source));
    }
    auto executable = device.load_executable(*loaded.module);
    if (!executable.ok())
      return executable.status().with_context(fmt::format("The module ({})", file.path));
    loaded.executable = std::move(executable).value();
    modules.push_back(std::move(loaded));
  }
  return modules;
}

Result<std::unique_ptr<Program>> Program::create(const ProgramText& text,
                                                 const ModuleFiles& modules, Device& device,
                                                 const std::string& uri) {
  auto program = std::make_unique<Program>();
  HALYARD_ASSIGN_OR_RETURN(program->modules, modules.load(device, uri));
  runner::Run& run = program->run;
  run.buffers = text.buffers();
  for (const FunctionText& function : text.functions()) {
    auto step = make_step(function, program->modules);
    Status status = step.ok() ? tie_buffers(text, function, *step, run) : step.status();
    if (!status.ok() && text.functions().size() > 1)
      return status.with_context("The function " + printable(function.name));
    HALYARD_RETURN_IF_ERROR(std::move(status));
    for (std::string& note : step->launch.notes) program->notes.push_back(std::move(note));
    run.steps.push_back(std::move(step).value());
  }
  if (text.buffers().empty()) {
    program->assign_arguments();
    return program;
  }
  for (const RunBuffer& buffer : run.buffers) {
    if (buffer.value.kind == Value::Kind::kBuffer) continue;
    return error(
        StatusCode::kInvalidArgument,
        "No function uses the buffer {} of untyped bytes. Write it as --input={}, or leave "
        "it out.",
        buffer.label, buffer.label);
  }
  program->assign_names(text.buffers().size());
  return program;
}

void Program::assign_arguments() {
  const runner::Step& step = run.steps.front();
  std::vector<Value> arguments;
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    Value& argument = arguments.emplace_back();
    argument.kind = step.arguments[i].kind;
    if (step.buffers[i]) argument.contents = run.buffers[*step.buffers[i]].value.contents;
  }
  for (const size_t i : runner::results_of(arguments)) results.push_back(*step.buffers[i]);
  assign = [&step, arguments = std::move(arguments)](
               std::string_view flag,
               const std::vector<std::string>& texts) -> Result<std::vector<runner::ResultText>> {
    HALYARD_ASSIGN_OR_RETURN(std::vector<runner::ResultText> assigned,
                             runner::assign_results(flag, texts, step.function->info(), arguments));
    for (runner::ResultText& one : assigned) one.argument = *step.buffers[one.argument];
    return assigned;
  };
}

void Program::assign_names(size_t named) {
  std::vector<std::string> labels;
  std::vector<Value> values;
  for (size_t i = 0; i < named; ++i) {
    labels.push_back(run.buffers[i].label);
    Value& value = values.emplace_back();
    value.kind = Value::Kind::kBuffer;
    value.contents = run.buffers[i].value.contents;
  }
  results = runner::results_of(values);
  assign = [this, labels = std::move(labels)](std::string_view flag,
                                              const std::vector<std::string>& texts) {
    return runner::assign_named_results(flag, texts, labels, results);
  };
}

}  // namespace halyard::cli
