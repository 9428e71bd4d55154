// halyard mlir-run: lowers an MLIR program for the device, runs it under mlir-runner and compares.
#include "tools/halyard/mlir_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/target_id.h"
#include "hal/text.h"
#include "registry/installation.h"
#include "toolchain/device_libraries.h"
#include "toolchain/mlir_pipelines.h"
#include "toolchain/mlir_program.h"
#include "toolchain/process.h"
#include "toolchain/temporary_folder.h"
#include "toolchain/tools.h"
#include "tools/halyard/native.h"
#include "tools/halyard/session.h"
#include "tools/values/file.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuntime = "libhalyard_mlir_runtime.so";

constexpr const char* kMlirRunHelp =
    R"(If a program launches kernels itself (gpu.launch, gpu.launch_func), its output is compared with its
comments "// EXPECT: text" and, by FileCheck, "// CHECK: text", and with the output of its function @reference, if it has one, which
runs on the CPU. A program in linalg on tensors is also lowered for the CPU, and the numbers of both
outputs are compared. See docs/mlir.md.

Tools: mlir-opt and mlir-runner (mlir-22-tools), lld (lld-22), FileCheck (llvm-22-tools), ROCm's
device libraries (rocm-device-libs). HALYARD_MLIR_OPT, HALYARD_MLIR_RUNNER, HALYARD_LLD and
HALYARD_FILECHECK select other tools.

Example:
  halyard mlir-run examples/mlir/convnet.mlir --device=amdgpu --vgpu=gfx900)";

struct MlirRunFlags {
  SessionFlags session;
  std::string program;
  std::string device = "amdgpu";
  std::string entry_point = "main";
  std::string bitcode_folder;
  std::string temporaries_folder;
  bool bare_pointers = false;
  bool no_compare = false;
  toolchain::OutputTolerance tolerance;
};

Result<std::string> read_text(const std::string& path) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// The library with the mgpu* functions, of this installation; a build tree has it in lib.
Result<std::string> find_runtime() {
  std::vector<std::string> tried;
  for (const std::string& prefix : installation_prefixes()) {
    for (const char* folder : {"lib/halyard", "lib"}) {
      std::string path = prefix + "/" + folder + "/" + kRuntime;
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path;
      tried.push_back(std::move(path));
    }
  }
  return error(StatusCode::kNotFound,
               "Halyard's library for MLIR ({}) is not beside this program (looked for {}). Build "
               "the target halyard_mlir_runtime, or install Halyard again.",
               kRuntime, list_of({tried.begin(), tried.end()}));
}

// MLIR's own libraries for printing and for f16, of the release that `runner` belongs to.
Result<std::vector<std::string>> find_utilities(const std::string& runner) {
  std::error_code wrong;
  const fs::path folder = fs::canonical(runner, wrong).parent_path().parent_path() / "lib";
  std::vector<std::string> found;
  for (const char* name :
       {"libmlir_runner_utils.so", "libmlir_c_runner_utils.so", "libmlir_float16_utils.so"}) {
    std::vector<std::string> releases;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, wrong)) {
      if (entry.path().filename().string().starts_with(name)) releases.push_back(entry.path());
    }
    if (releases.empty()) {
      return error(StatusCode::kNotFound,
                   "MLIR's library {} is not in the folder ({}) beside {}. Install the Debian "
                   "package libmlir-22, or set {} to the mlir-runner of a whole LLVM.",
                   name, printable(folder.string()), runner,
                   toolchain::variable_of(toolchain::Tool::kMlirRunner));
    }
    found.push_back(*std::min_element(releases.begin(), releases.end()));
  }
  return found;
}

// Whether text that the shell of mlir-opt's options reads keeps the path in one piece.
Status check_path(const std::string& path) {
  if (path.find_first_of(" \t,{}'\"") == std::string::npos) return {};
  return error(StatusCode::kInvalidArgument,
               "The path ({}) has a blank, a comma, a quotation mark or a brace, which mlir-opt's "
               "options cannot hold. Choose another folder (TMPDIR, --save-temps).",
               printable(path));
}

// The folder of a ROCm installation, as gpu-module-to-binary wants it: with llvm/bin/ld.lld and
// amdgcn/bitcode.
Status make_toolkit(const std::string& folder, const std::string& lld,
                    const std::string& libraries) {
  std::error_code wrong;
  const fs::path linker = fs::path(folder) / "llvm/bin/ld.lld";
  const fs::path bitcode = fs::path(folder) / "amdgcn/bitcode";
  for (const fs::path& link : {linker, bitcode}) {
    if (!wrong) fs::create_directories(link.parent_path(), wrong);
    if (!wrong) fs::remove(link, wrong);  // of an earlier run that kept its files
  }
  if (!wrong) fs::create_symlink(fs::absolute(lld), linker, wrong);
  if (!wrong) fs::create_directory_symlink(fs::absolute(libraries), bitcode, wrong);
  if (!wrong) return {};
  return error(StatusCode::kUnavailable, "The folder ({}) cannot be filled: {}.", printable(folder),
               wrong.message());
}

// The processor of the device.
Result<std::string> processor_of(const MlirRunFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Device> device, registry->open_device(flags.device));
  HALYARD_ASSIGN_OR_RETURN(TargetId target,
                           native_target(flags.device, device->info().target.view()));
  return std::move(target.processor);
}

std::string joined(const std::vector<std::string>& words, char separator) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : std::string(1, separator)) + word;
  return text;
}

// What makes the runtime in mlir-runner's process choose as this process does. The flags become the
// variables of the same settings, which are the layer below flags.
std::vector<std::string> environment_of(const MlirRunFlags& flags) {
  const SessionFlags& session = flags.session;
  std::string profile;  // empty: no virtual GPU
  if (session.vgpu->count() > 0) {
    const std::vector<std::string>& named = session.vgpu->results();
    profile = named.empty() || named.front().empty() ? "default" : named.front();
  }
  std::vector<std::string> environment = {"HALYARD_DEVICE=" + flags.device,
                                          "HALYARD_VGPU=" + profile,
                                          "HALYARD_CONFIG=" + joined(session.configs, ':')};
  if (!session.plugin_paths.empty()) {
    std::vector<std::string> paths = session.plugin_paths;
    if (std::string more = trusted_environment("HALYARD_PLUGIN_PATH"); !more.empty()) {
      paths.push_back(std::move(more));
    }
    environment.push_back("HALYARD_PLUGIN_PATH=" + joined(paths, ':'));
  }
  if (!session.libhsa.empty()) environment.push_back("HALYARD_LIBHSA_PATH=" + session.libhsa);
  if (!session.libhip.empty()) environment.push_back("HALYARD_LIBHIP_PATH=" + session.libhip);
  return environment;
}

// What running a program takes, whatever it is lowered for.
class Runner {
 public:
  static Result<Runner> create(const MlirRunFlags& flags);

  // The pipelines' @TOOLKIT@.
  std::string toolkit() const { return file("toolkit"); }

  // Lowers the program with the pipeline, as NAME.mlir; runs the function there; returns what that
  // prints. `what`: "GPU", "CPU".
  Result<std::string> run(const std::string& name, const std::string& pipeline,
                          const std::string& function, bool on_gpu) const;

  // Compares the output with the program's CHECK comments. `chip`: the GPU, for messages.
  Status check_comments(size_t count, const std::string& output, const std::string& chip) const;

 private:
  Runner(const MlirRunFlags& flags, toolchain::TemporaryFolder folder)
      : flags_(flags), folder_(std::move(folder)) {}

  std::string file(const std::string& name) const {
    return flags_.temporaries_folder.empty() ? folder_ / name
                                             : flags_.temporaries_folder + "/" + name;
  }

  const MlirRunFlags& flags_;
  toolchain::TemporaryFolder folder_;
  std::string mlir_opt_;
  std::string mlir_runner_;
  std::string runtime_;
  std::vector<std::string> utilities_;
};

Result<Runner> Runner::create(const MlirRunFlags& flags) {
  using toolchain::Tool;
  const toolchain::SearchContext context = toolchain::SearchContext::of_process();
  HALYARD_ASSIGN_OR_RETURN(toolchain::TemporaryFolder folder, toolchain::TemporaryFolder::create());
  Runner runner(flags, std::move(folder));
  HALYARD_ASSIGN_OR_RETURN(runner.mlir_opt_, toolchain::find_tool(Tool::kMlirOpt, context));
  HALYARD_ASSIGN_OR_RETURN(runner.mlir_runner_, toolchain::find_tool(Tool::kMlirRunner, context));
  HALYARD_ASSIGN_OR_RETURN(const std::string lld, toolchain::find_tool(Tool::kLld, context));
  HALYARD_ASSIGN_OR_RETURN(const std::string libraries,
                           toolchain::find_device_libraries(flags.bitcode_folder, context));
  if (libraries.empty()) {
    return Status(StatusCode::kNotFound,
                  "ROCm's device libraries, which mlir-opt links kernels with, are not on this "
                  "machine. Install the Debian package rocm-device-libs, or name the folder of "
                  "their *.bc files (--bitcode-dir, HALYARD_BITCODE_DIR).");
  }
  HALYARD_ASSIGN_OR_RETURN(runner.runtime_, find_runtime());
  HALYARD_ASSIGN_OR_RETURN(runner.utilities_, find_utilities(runner.mlir_runner_));
  HALYARD_RETURN_IF_ERROR(check_path(runner.toolkit()));
  HALYARD_RETURN_IF_ERROR(make_toolkit(runner.toolkit(), lld, libraries));
  return runner;
}

Result<std::string> Runner::run(const std::string& name, const std::string& pipeline,
                                const std::string& function, bool on_gpu) const {
  const std::string lowered = file(name + ".mlir");
  const std::string program =
      flags_.program.starts_with('-') ? "./" + flags_.program : flags_.program;
  HALYARD_ASSIGN_OR_RETURN(
      const toolchain::ProcessEnd lowering,
      toolchain::run_process({mlir_opt_, program, "--pass-pipeline=" + pipeline, "-o", lowered},
                             folder_.process(toolchain::Output::kToErrors)));
  if (!lowering.ok()) {
    return error(StatusCode::kInvalidArgument,
                 "mlir-opt ({}) {} while it lowered the file ({}) for the {}; its messages are "
                 "above. bindings/mlir/pipelines lists the passes. Lower operations that they do "
                 "not support first.",
                 mlir_opt_, how_it_ended(lowering), printable(flags_.program),
                 on_gpu ? "GPU" : "CPU");
  }
  std::vector<std::string> libraries = utilities_;
  // First: its allocation functions win over those of MLIR's own libraries.
  if (on_gpu) libraries.insert(libraries.begin(), runtime_);
  toolchain::ProcessOptions options;
  options.output = toolchain::Output::kCaptureOutput;
  if (on_gpu) options.environment = environment_of(flags_);
  HALYARD_ASSIGN_OR_RETURN(
      toolchain::ProcessEnd end,
      toolchain::run_process({mlir_runner_, lowered, "-e", function, "--entry-point-result=void",
                              "--shared-libs=" + joined(libraries, ',')},
                             options));
  if (on_gpu) HALYARD_RETURN_IF_ERROR(print(end.output));
  if (end.ok()) return std::move(end.output);
  return error(StatusCode::kAborted,
               "The program ({}) failed on the {}: mlir-runner ({}), in which its function {} ran, "
               "{}; its messages are above.",
               printable(flags_.program), on_gpu ? "GPU" : "CPU", mlir_runner_, function,
               how_it_ended(end));
}

Status Runner::check_comments(size_t count, const std::string& output,
                              const std::string& chip) const {
  const auto tool =
      toolchain::find_tool(toolchain::Tool::kFileCheck, toolchain::SearchContext::of_process());
  if (!tool.ok()) {
    fmt::print(stderr, "halyard: note: The output was not compared with the CHECK comments: {}\n",
               tool.status().message());
    return {};
  }
  const std::string printed = folder_ / "output.txt";
  HALYARD_RETURN_IF_ERROR(toolchain::write_temporary(printed, std::as_bytes(std::span(output))));
  HALYARD_ASSIGN_OR_RETURN(
      const toolchain::ProcessEnd end,
      toolchain::run_process(
          {*tool, "--allow-empty", "--input-file=" + printed,
           flags_.program.starts_with('-') ? "./" + flags_.program : flags_.program},
          {.output = toolchain::Output::kToErrors}));
  if (end.ok()) {
    return print(fmt::format("The output on {} is as the CHECK comments of the file say ({}).\n",
                             chip, count));
  }
  return error(
      StatusCode::kAborted,
      "The output is not as the CHECK comments of the file ({}) say: FileCheck ({}) {}; its "
      "messages are above.",
      printable(flags_.program), *tool, how_it_ended(end));
}

// Runs the function on the CPU and compares.
Status compare_with_cpu(const Runner& runner, const MlirRunFlags& flags,
                        const std::string& function, const std::string& chip,
                        const std::string& output) {
  HALYARD_ASSIGN_OR_RETURN(const std::string pipeline, toolchain::make_cpu_pipeline(function));
  HALYARD_ASSIGN_OR_RETURN(const std::string reference,
                           runner.run("cpu", pipeline, function, false));
  HALYARD_ASSIGN_OR_RETURN(const size_t count,
                           toolchain::compare_outputs(output, reference, flags.tolerance));
  return print(
      fmt::format("The results on {} are those of the CPU ({} numbers, atol {}, rtol {}).\n", chip,
                  count, flags.tolerance.absolute, flags.tolerance.relative));
}

Status mlir_run(const MlirRunFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::string source, read_text(flags.program));
  for (const char* const name : {"/gpu.mlir", "/cpu.mlir"}) {
    if (flags.temporaries_folder.empty()) break;
    HALYARD_RETURN_IF_ERROR(
        values::check_is_not_read(flags.temporaries_folder + name, std::span(&flags.program, 1)));
  }
  HALYARD_ASSIGN_OR_RETURN(const Runner runner, Runner::create(flags));
  HALYARD_ASSIGN_OR_RETURN(const std::string chip, processor_of(flags));
  const bool launches = toolchain::program_kind_of(source) == toolchain::ProgramKind::kLaunches;
  HALYARD_ASSIGN_OR_RETURN(const std::string pipeline,
                           toolchain::make_pipeline(launches ? toolchain::kLaunchesPipeline
                                                             : toolchain::kTensorsPipeline,
                                                    {chip, flags.bare_pointers, runner.toolkit()}));
  HALYARD_ASSIGN_OR_RETURN(const std::string output,
                           runner.run("gpu", pipeline, flags.entry_point, true));
  if (flags.no_compare) return {};
  const std::vector<std::string> expected = toolchain::expected_texts(source);
  HALYARD_RETURN_IF_ERROR(toolchain::check_expected(expected, output));
  if (!expected.empty()) {
    HALYARD_RETURN_IF_ERROR(print(fmt::format(
        "The output on {} is as the file expects ({} texts).\n", chip, expected.size())));
  }
  const size_t checks = toolchain::count_check_comments(source);
  if (checks != 0) HALYARD_RETURN_IF_ERROR(runner.check_comments(checks, output, chip));
  if (!launches) return compare_with_cpu(runner, flags, flags.entry_point, chip, output);
  if (toolchain::has_reference(source)) {
    return compare_with_cpu(runner, flags, std::string(toolchain::kReferenceFunction), chip,
                            output);
  }
  if (expected.empty() && checks == 0) {
    fmt::print(
        stderr,
        "halyard: note: Nothing was compared. A program that launches kernels needs the expected "
        "output in comments (// EXPECT: text, // CHECK: text), or a function @reference that "
        "prints it.\n");
  }
  return {};
}

}  // namespace

void add_mlir_run_command(Command app, Status& outcome) {
  Command command =
      app.add_subcommand("mlir-run", "Lower an MLIR program for a device, run it and compare");
  const auto flags = std::make_shared<MlirRunFlags>();
  command.add_option("program", flags->program, "The program: a file of MLIR with a function main")
      ->type_name("FILE.mlir")
      ->required();
  command
      .add_option("--device", flags->device,
                  "The device: DRIVER, DRIVER:ORDINAL or DRIVER://SELECTOR,… (ordinals, UUIDs, PCI "
                  "addresses, processors), with ?key=value; or a name of a config (devices.NAME)")
      ->type_name("URI")
      ->capture_default_str();
  command
      .add_option("--entry-point", flags->entry_point,
                  "The function to run, which has no arguments and no result")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_flag("--bare-pointers", flags->bare_pointers,
                   "Kernels take bare pointers instead of memref descriptors (static shapes only)");
  command.add_flag("--no-compare", flags->no_compare, "Only run");
  command
      .add_option("--atol", flags->tolerance.absolute,
                  "|GPU's - CPU's| <= atol + rtol * |CPU's|, for each printed number")
      ->type_name("NUMBER")
      ->check(check_tolerance)
      ->capture_default_str();
  command.add_option("--rtol", flags->tolerance.relative, "See --atol")
      ->type_name("NUMBER")
      ->check(check_tolerance)
      ->capture_default_str();
  command
      .add_option("--bitcode-dir", flags->bitcode_folder,
                  "The folder of ROCm's device libraries (ocml.bc and others); overrides "
                  "HALYARD_BITCODE_DIR and the installed ones")
      ->type_name("DIR");
  command
      .add_option("--save-temps", flags->temporaries_folder,
                  "Keep the lowered programs (gpu.mlir, cpu.mlir) in this folder")
      ->type_name("DIR");
  add_session_flags(command, flags->session);
  command.footer(kMlirRunHelp);
  command.callback([flags, &outcome] { outcome = mlir_run(*flags); });
}

}  // namespace halyard::cli
