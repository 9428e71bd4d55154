// halyard compile: sources become a code object, or one file for several targets.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hal/error.h"
#include "hal/text.h"
#include "toolchain/compile.h"
#include "toolchain/language.h"
#include "toolchain/pack.h"
#include "toolchain/process.h"
#include "toolchain/targets.h"
#include "tools/halyard/cache.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/native.h"
#include "tools/halyard/progress.h"
#include "tools/halyard/session.h"
#include "tools/values/file.h"

namespace halyard::cli {
namespace {

constexpr const char* kCompileHelp =
    R"(The suffix selects the language: .c C, .cl OpenCL C, .hip HIP, .ll and .bc LLVM IR, .s AMDGCN
assembly, .mlir MLIR (GPU modules and launches, linalg on buffers of static shape), .rs Rust
(a no_std crate; Halyard compiles its libraries once, which takes half a minute).
Several files become one code object. A HIP file, or assembly with kernels, must be the only input.
The output is a code object for one target, and an offload bundle for several. `halyard run` accepts
both. Files that use ROCm's device libraries are linked with them. Diagnostics are the compiler's.

Halyard searches for tools in PATH and /opt/rocm. HALYARD_CLANG, HALYARD_LLD, HALYARD_HIPCC,
HALYARD_MLIR_OPT and HALYARD_RUSTC override this. Debian packages: clang-22, lld-22, hipcc,
mlir-22-tools, rocm-device-libs, rustc-web, rust-web-src.

Examples:
  halyard compile vadd.c --target=gfx900 -o vadd.hsaco
  halyard compile vadd.cl --target=mi300x,rdna3,gfx9-generic -o vadd.hipfb
  halyard compile saxpy.hip --target=gfx90a:xnack- --compiler-option=-DN=4 -o saxpy.hsaco
  halyard compile vadd.c --target=native --vgpu=gfx90a --save-temps -o vadd.hsaco)";

struct CompileFlags {
  SessionFlags session;
  std::vector<std::string> inputs;
  std::string output;
  std::string target;
  std::string device;
  std::string bitcode_folder;
  std::string version;
  CommandOption compiler_options;
  bool save_temps = false;
};

Status compile(const CompileFlags& flags) {
  // The output is a file beside its name until it is complete.
  const toolchain::SignalGuard guard;
  bool has_rust = false;
  for (const std::string& input : flags.inputs) {
    HALYARD_ASSIGN_OR_RETURN(const toolchain::Language language, toolchain::language_of(input));
    has_rust = has_rust || language == toolchain::Language::kRust;
  }
  HALYARD_ASSIGN_OR_RETURN(const std::vector<TargetId> targets,
                           toolchain::parse_targets(flags.target, [&] {
                             return native_targets(flags.session, flags.device);
                           }));
  HALYARD_RETURN_IF_ERROR(values::check_is_not_read(flags.output, flags.inputs));
  // A place that cannot be written is known before the work is done.
  HALYARD_ASSIGN_OR_RETURN(values::OutputFile file, values::OutputFile::open(flags.output));

  toolchain::CompileOptions options;
  options.compiler_options = flags.compiler_options->results();
  options.bitcode_folder = flags.bitcode_folder;
  if (!flags.version.empty()) {
    options.code_object_version = static_cast<uint32_t>(flags.version.front() - '0');
  }
  if (flags.save_temps) {
    options.temporaries_folder = std::filesystem::path(flags.output).parent_path().string();
    if (options.temporaries_folder.empty()) options.temporaries_folder = ".";
  }
  std::optional<toolchain::Cache> cache;
  if (has_rust) {
    HALYARD_ASSIGN_OR_RETURN(cache, open_cache_or_none());
    options.cache = &*cache;
  }
  Progress progress;
  if (progress.is_seen()) options.progress = progress.lines();
  const toolchain::SearchContext context = toolchain::SearchContext::of_process();
  std::vector<toolchain::CompiledObject> objects;
  for (const TargetId& target : targets) {
    HALYARD_ASSIGN_OR_RETURN(toolchain::Compiled compiled,
                             toolchain::compile(flags.inputs, target, options, context));
    // Files that the inputs include.
    HALYARD_RETURN_IF_ERROR(values::check_is_not_read(
        flags.output, compiled.dependencies.value_or(std::vector<std::string>())));
    objects.push_back({target, std::move(compiled.bytes)});
  }
  HALYARD_RETURN_IF_ERROR(file.write(toolchain::pack(std::move(objects))));
  return file.commit();
}

}  // namespace

void add_compile_command(Command app, Status& outcome) {
  Command command = app.add_subcommand("compile", "Compile kernels for one or more targets");
  const auto flags = std::make_shared<CompileFlags>();
  command.add_option("input", flags->inputs, "Source files: " + toolchain::source_extensions())
      ->type_name("INPUT")
      ->required();
  command
      .add_option("--target", flags->target,
                  "The targets: a processor or generic target (gfx942, gfx90a:xnack-, "
                  "gfx11-generic), a product (mi300x), a code name (cdna3), or native (the devices "
                  "of this machine, or of --device). `halyard targets` lists them")
      ->type_name("TARGET[,TARGET...]")
      ->required();
  command.add_option("-o,--output", flags->output, "The file to write")
      ->type_name("FILE")
      ->required();
  // Read with results(), as in `halyard run`.
  flags->compiler_options =
      command
          .add_option("--compiler-option",
                      "An option for the compiler, after Halyard's (-O2 …); may be repeated")
          ->type_name("OPTION")
          ->take_all()
          ->allow_extra_args(false);
  command
      .add_option("--code-object-version", flags->version,
                  "4, 5 or 6; by default 5; 6 for generic targets; hipcc's default for HIP")
      ->type_name("NUMBER")
      ->one_of({"4", "5", "6"});
  command
      .add_option("--bitcode-dir", flags->bitcode_folder,
                  "The folder of ROCm's device libraries (ocml.bc and others); overrides "
                  "HALYARD_BITCODE_DIR and the installed ones")
      ->type_name("DIR");
  command.add_flag("--save-temps", flags->save_temps,
                   "Keep the optimized LLVM IR and the assembly beside the output, as "
                   "INPUT.TARGET.ll and .s");
  command.add_option("--device", flags->device, "The device of --target=native")->type_name("URI");
  add_session_flags(command, flags->session);
  command.footer(kCompileHelp);
  command.callback([flags, &outcome] { outcome = compile(*flags); });
}

}  // namespace halyard::cli
