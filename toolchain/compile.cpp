#include "toolchain/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "toolchain/builtin_names.h"
#include "toolchain/commands.h"
#include "toolchain/compile_inputs.h"
#include "toolchain/device_libraries.h"
#include "toolchain/hip.h"
#include "toolchain/language.h"
#include "toolchain/link_objects.h"
#include "toolchain/mlir.h"
#include "toolchain/process.h"
#include "toolchain/rust.h"
#include "toolchain/temporary_folder.h"

namespace halyard::toolchain {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string_view view_of(const std::vector<std::byte>& text) {
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

// Whether kernels call the printf of the device libraries, which prints nothing; or what LLVM has
// turned printf into (__printf_alloc), for which newer libraries were not linked: that happens
// after linking.
bool has_library_printf(const std::vector<std::byte>& object) {
  const std::string_view text(reinterpret_cast<const char*>(object.data()), object.size());
  for (const std::string_view name :
       {std::string_view("\0printf\0", 8), std::string_view("\0__printf_alloc\0", 16)}) {
    if (text.find(name) != std::string_view::npos) return true;
  }
  return false;
}

// OpenCL C's builtin functions; nothing if the folder has none.
Result<std::vector<std::byte>> read_builtin_library(const std::string& folder) {
  const std::string file = folder + "/opencl.bc";
  if (folder.empty() || !exists(file)) return std::vector<std::byte>();
  return read_file(file);
}

class Job {
 public:
  Job(const TargetId& target, const CompileOptions& options, const SearchContext& context,
      TemporaryFolder folder)
      : target_(target), options_(options), context_(context), folder_(std::move(folder)) {}

  Result<Compiled> run(const std::vector<std::string>& inputs);

 private:
  Result<std::vector<std::string>> objects_of(const std::vector<Unit>& units);
  Status add_libraries(Compilation& compilation, const std::string& folder, bool opencl);
  Result<std::string> clang_object(const Unit& unit, Compilation compilation, bool opencl);
  struct JointOptions {
    bool alone = false;
    bool is_again = false;  // the compiler has already said what it has to say about the sources
  };
  Result<std::string> joint_object(const std::vector<Unit>& units, const JointOptions& options);
  Result<std::string> part_of(const Unit& unit, Compilation compilation);
  Result<std::string> opencl_part(const Unit& unit, Compilation compilation);
  Result<std::vector<Unit>> lower_mlir(const Unit& unit);
  Result<Unit> lower_rust(const Unit& unit);
  Result<std::string> hip_object(const Unit& unit);
  Result<Unit> lower_hip(const Unit& unit, const HipCompiler& compiler);
  Compilation compilation_of(const Unit& unit, bool alone) const;
  Status compile_step(const Compilation& compilation, const Command& command);
  Status clang_steps(const Compilation& compilation, const Unit& unit, const std::string& object);
  Status link(const std::vector<std::string>& objects, const std::string& output) const;
  Status missing_libraries(const std::string& input) const;

  // The file for the IR or assembly of a unit that the user wants to keep. It is none of the
  // inputs.
  Result<std::string> kept(const Unit& unit, const char* extension) const;

  const TargetId& target_;
  const CompileOptions& options_;
  const SearchContext& context_;
  const TemporaryFolder folder_;
  std::vector<std::string> inputs_;
  std::vector<std::string> rust_libraries_;  // bitcode; if one of the inputs is Rust
};

Result<std::string> Job::kept(const Unit& unit, const char* extension) const {
  std::string name = to_string(target_);
  std::replace(name.begin(), name.end(), ':', '_');
  std::string path = options_.temporaries_folder + "/" + unit.stem + "." + name + extension;
  for (const std::string& input : inputs_) {
    std::error_code wrong;
    if (!fs::equivalent(path, input, wrong)) continue;
    return error(StatusCode::kInvalidArgument,
                 "--save-temps would write the file ({}), which is an input. Put the output, and "
                 "with it these files, into another folder.",
                 printable(path));
  }
  return path;
}

Status Job::missing_libraries(const std::string& input) const {
  return error(StatusCode::kNotFound,
               "The file ({}) calls functions of ROCm's device libraries (__ocml_…, __ockl_…), "
               "which are not on this machine. Install the Debian package rocm-device-libs, or "
               "name the folder of their *.bc files (--bitcode-dir, HALYARD_BITCODE_DIR).",
               printable(input));
}

Status Job::compile_step(const Compilation& compilation, const Command& command) {
  HALYARD_ASSIGN_OR_RETURN(const ProcessEnd end,
                           run_process(command, folder_.process(Output::kToErrors)));
  if (end.ok()) return {};
  const bool is_hip = compilation.language == Language::kHip;
  const bool is_hipcc = is_hip && compilation.hip_headers.empty();
  // A compiler that cannot compile even an empty file does not know the target, or does not work.
  Compilation empty = compilation;
  empty.input = "/dev/null";
  empty.language = is_hip ? Language::kHip : Language::kC;
  empty.options.clear();
  empty.libraries.clear();
  empty.joined.clear();
  HALYARD_ASSIGN_OR_RETURN(
      const ProcessEnd probe,
      run_process(is_hip && !is_hipcc ? to_bitcode(empty, folder_ / "empty.bc", "")
                                      : to_object(empty, folder_ / "empty.o", ""),
                  folder_.process(Output::kCapture)));
  if (!probe.ok()) {
    return error(StatusCode::kInvalidArgument,
                 "The compiler ({}) cannot compile even an empty file for {}; its messages are "
                 "above. Choose a target that it supports (--target), or another compiler ({}).",
                 compilation.compiler, to_string(target_),
                 variable_of(is_hipcc ? Tool::kHipcc : Tool::kClang));
  }
  return error(StatusCode::kInvalidArgument,
               "The compiler ({}) {} for the file ({}) and the target {}; its messages are above.",
               compilation.compiler, how_it_ended(end), printable(compilation.input),
               to_string(target_));
}

Status Job::clang_steps(const Compilation& compilation, const Unit& unit,
                        const std::string& object) {
  const std::string dependencies = folder_ / (unit.stem + ".d");
  if (options_.temporaries_folder.empty() || compilation.language == Language::kAssembly) {
    return compile_step(compilation, to_object(compilation, object, dependencies));
  }
  HALYARD_ASSIGN_OR_RETURN(const std::string ir, kept(unit, ".ll"));
  HALYARD_ASSIGN_OR_RETURN(const std::string assembly, kept(unit, ".s"));
  HALYARD_RETURN_IF_ERROR(compile_step(compilation, to_ir(compilation, ir, dependencies)));
  HALYARD_RETURN_IF_ERROR(compile_step(compilation, ir_to_assembly(compilation, ir, assembly)));
  return compile_step(compilation, assembly_to_object(compilation, assembly, object));
}

Compilation Job::compilation_of(const Unit& unit, bool alone) const {
  Compilation compilation;
  compilation.language = unit.language;
  compilation.input = unit.input;
  compilation.target = target_;
  if (!unit.is_generated) compilation.options = options_.compiler_options;
  compilation.alone = alone;
  return compilation;
}

// A HIP file's code object.
Result<std::string> Job::hip_object(const Unit& unit) {
  HALYARD_ASSIGN_OR_RETURN(const HipCompiler hip, find_hip_compiler(target_, context_, folder_));
  if (!hip.headers.empty()) {
    HALYARD_ASSIGN_OR_RETURN(const Unit part, lower_hip(unit, hip));
    HALYARD_ASSIGN_OR_RETURN(const std::string object,
                             clang_object(part, compilation_of(part, true), false));
    std::string linked = folder_ / "linked.hsaco";
    HALYARD_RETURN_IF_ERROR(link({object}, linked));
    return linked;
  }
  Compilation compilation = compilation_of(unit, true);
  compilation.compiler = hip.path;
  compilation.code_object_version = options_.code_object_version.value_or(0);
  const std::string object = folder_ / (unit.stem + ".hsaco");
  HALYARD_RETURN_IF_ERROR(
      compile_step(compilation, to_object(compilation, object, folder_ / (unit.stem + ".d"))));
  if (!options_.temporaries_folder.empty()) {
    HALYARD_ASSIGN_OR_RETURN(const std::string ir, kept(unit, ".ll"));
    HALYARD_ASSIGN_OR_RETURN(const std::string assembly, kept(unit, ".s"));
    HALYARD_RETURN_IF_ERROR(compile_step(compilation, to_ir(compilation, ir, "")));
    HALYARD_RETURN_IF_ERROR(compile_step(compilation, hip_to_assembly(compilation, assembly)));
  }
  return object;
}

// The bitcode of a HIP file that hipcc cannot compile.
Result<Unit> Job::lower_hip(const Unit& unit, const HipCompiler& hip) {
  Compilation compilation = compilation_of(unit, true);
  compilation.compiler = hip.path;
  compilation.hip_headers = hip.headers;
  compilation.hip_prelude = folder_ / "hip_prelude.h";
  const std::string prelude = hip_prelude(target_, options_.compiler_options);
  HALYARD_RETURN_IF_ERROR(
      write_temporary(compilation.hip_prelude, std::as_bytes(std::span(prelude))));
  compilation.code_object_version =
      options_.code_object_version.value_or(default_code_object_version(target_));
  Unit part{folder_ / (unit.stem + ".bc"), Language::kLlvmIr, unit.stem, true};
  HALYARD_RETURN_IF_ERROR(
      compile_step(compilation, to_bitcode(compilation, part.input, folder_ / (unit.stem + ".d"))));
  return part;
}

// The device libraries of a folder, for the compilation.
Status Job::add_libraries(Compilation& compilation, const std::string& folder, bool opencl) {
  std::vector<std::string> files =
      device_library_files(folder, {target_, compilation.code_object_version, opencl}, exists);
  if (!has_isa_version(files)) {
    Compilation constant;
    constant.compiler = compilation.compiler;
    constant.language = Language::kLlvmIr;
    constant.input = folder_ / "isa_version.ll";
    constant.target = target_;
    constant.optimizes = false;  // nothing uses it yet
    constant.code_object_version = compilation.code_object_version;
    files.push_back(folder_ / "isa_version.bc");
    const std::string ir = isa_version_ir(target_.processor);
    HALYARD_RETURN_IF_ERROR(write_temporary(constant.input, std::as_bytes(std::span(ir))));
    HALYARD_RETURN_IF_ERROR(compile_step(constant, to_bitcode(constant, files.back(), "")));
  }
  compilation.libraries.insert(compilation.libraries.end(), files.begin(), files.end());
  return {};
}

// The object file of what clang compiles. `opencl`: it calls OpenCL C's builtin functions.
Result<std::string> Job::clang_object(const Unit& unit, Compilation compilation, bool opencl) {
  HALYARD_ASSIGN_OR_RETURN(compilation.compiler, find_tool(Tool::kClang, context_));
  compilation.code_object_version =
      options_.code_object_version.value_or(default_code_object_version(target_));

  std::string object = folder_ / (unit.stem + ".o");
  if (unit.language == Language::kAssembly) {
    HALYARD_RETURN_IF_ERROR(clang_steps(compilation, unit, object));
    return object;
  }
  HALYARD_ASSIGN_OR_RETURN(const std::string libraries,
                           find_device_libraries(options_.bitcode_folder, context_));
  compilation.libraries = rust_libraries_;
  compilation.is_crate = !rust_libraries_.empty();
  if (opencl && !libraries.empty()) {
    HALYARD_RETURN_IF_ERROR(add_libraries(compilation, libraries, opencl));
  }
  HALYARD_RETURN_IF_ERROR(clang_steps(compilation, unit, object));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(object));
  if (unit.language == Language::kOpenCl) {
    // LLVM turns calls of printf into writes to a buffer only where printf is not defined yet: so
    // first without the libraries.
    HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> builtins,
                             read_builtin_library(libraries));
    if (has_library_printf(bytes) || needs_other_names(bytes, BuiltinLibrary(builtins))) {
      return joint_object({unit}, {.alone = compilation.alone, .is_again = true});
    }
  }
  if (opencl && !libraries.empty()) return object;
  if (!uses_device_libraries(bytes)) return object;
  if (libraries.empty()) return missing_libraries(unit.input);
  HALYARD_RETURN_IF_ERROR(add_libraries(compilation, libraries, opencl));
  HALYARD_RETURN_IF_ERROR(clang_steps(compilation, unit, object));
  return object;
}

// The bitcode of the GPU modules in a file.
Result<std::vector<Unit>> Job::lower_mlir(const Unit& unit) {
  HALYARD_ASSIGN_OR_RETURN(const std::string mlir_opt, find_tool(Tool::kMlirOpt, context_));
  HALYARD_ASSIGN_OR_RETURN(const std::string libraries,
                           find_device_libraries(options_.bitcode_folder, context_));
  // mlir-opt requires the folder of a ROCm installation, even if it uses nothing of it.
  const std::string kit = folder_ / "kit";
  std::error_code wrong;
  fs::create_directories(kit + "/amdgcn", wrong);
  if (!wrong && libraries.empty()) fs::create_directory(kit + "/amdgcn/bitcode", wrong);
  if (!wrong && !libraries.empty() && !exists(kit + "/amdgcn/bitcode")) {
    fs::create_directory_symlink(fs::absolute(libraries), kit + "/amdgcn/bitcode", wrong);
  }
  if (wrong) {
    return error(StatusCode::kUnavailable, "The temporary folder ({}) cannot be written: {}.", kit,
                 wrong.message());
  }
  const std::string lowered = folder_ / (unit.stem + ".lowered.mlir");
  const MlirCompilation compilation{
      mlir_opt, unit.input,
      target_,  options_.code_object_version.value_or(default_code_object_version(target_)),
      kit,      options_.compiler_options};
  HALYARD_ASSIGN_OR_RETURN(const ProcessEnd end, run_process(mlir_to_bitcode(compilation, lowered),
                                                             folder_.process(Output::kCapture)));
  fmt::print(stderr, "{}{}", end.output, end.errors);
  if (!end.ok()) {
    const bool lacks_libraries =
        libraries.empty() && end.errors.find("bitcode library path") != std::string::npos;
    if (lacks_libraries) return missing_libraries(unit.input);
    return error(StatusCode::kInvalidArgument,
                 "{} {} for the file ({}) and the target {}; its messages are above. It takes GPU "
                 "modules and launches, and linalg on buffers of static shape.",
                 mlir_opt, how_it_ended(end), printable(unit.input), to_string(target_));
  }
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> text, read_file(lowered));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::vector<std::byte>> modules,
                           bitcode_in(view_of(text)));
  if (modules.empty()) {
    return error(StatusCode::kInvalidArgument, "There is no kernel in the file ({}). {}",
                 printable(unit.input), how_to_write_a_kernel(unit.language));
  }
  std::vector<Unit> parts;
  for (const std::vector<std::byte>& module : modules) {
    Unit part{"", Language::kLlvmIr, unit.stem, true};
    if (modules.size() > 1) part.stem += fmt::format(".{}", parts.size());
    part.input = folder_ / (part.stem + ".bc");
    HALYARD_RETURN_IF_ERROR(write_temporary(part.input, module));
    parts.push_back(std::move(part));
  }
  return parts;
}

// The bitcode of a crate.
Result<Unit> Job::lower_rust(const Unit& unit) {
  HALYARD_ASSIGN_OR_RETURN(const RustCompiler rust, find_rust(context_));
  const std::string sysroot = folder_ / "rust";
  if (rust_libraries_.empty()) {
    HALYARD_RETURN_IF_ERROR(
        prepare_rust_libraries(rust, sysroot, options_.cache, options_.progress));
    rust_libraries_ = rust_library_bitcode(sysroot);
  }
  Unit part{folder_ / (unit.stem + ".bc"), Language::kLlvmIr, unit.stem, true};
  const Command command =
      rust_to_bitcode({rust.rustc, unit.input, target_, sysroot, options_.compiler_options},
                      folder_ / ".", part.input, folder_ / (unit.stem + ".d"));
  ProcessOptions process = folder_.process(Output::kToErrors);
  const std::vector<std::string> more = rust_process().environment;
  process.environment.insert(process.environment.end(), more.begin(), more.end());
  HALYARD_ASSIGN_OR_RETURN(const ProcessEnd end, run_process(command, process));
  if (end.ok()) return part;
  return error(StatusCode::kInvalidArgument,
               "The compiler ({}) {} for the file ({}) and the target {}; its messages are above.",
               rust.rustc, how_it_ended(end), printable(unit.input), to_string(target_));
}

// The bitcode of an OpenCL C file, with the names that the device libraries have for builtin
// functions.
Result<std::string> Job::opencl_part(const Unit& unit, Compilation compilation) {
  HALYARD_ASSIGN_OR_RETURN(const std::string libraries,
                           find_device_libraries(options_.bitcode_folder, context_));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> builtins, read_builtin_library(libraries));
  compilation.optimizes = false;
  const std::string ir = folder_ / (unit.stem + ".part.ll");
  HALYARD_RETURN_IF_ERROR(
      compile_step(compilation, to_ir(compilation, ir, folder_ / (unit.stem + ".d"))));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> text, read_file(ir));
  const std::string named = with_names_of(BuiltinLibrary(builtins), view_of(text));
  HALYARD_RETURN_IF_ERROR(write_temporary(ir, std::as_bytes(std::span(named))));

  compilation.language = Language::kLlvmIr;
  compilation.opencl = true;
  compilation.input = ir;
  // For the calls of printf, and otherwise a second time behind the libraries.
  compilation.optimizes = named.find("@printf(") != std::string::npos;
  const std::string bitcode = folder_ / (unit.stem + ".part.bc");
  HALYARD_RETURN_IF_ERROR(compile_step(compilation, to_bitcode(compilation, bitcode, "")));
  return bitcode;
}

Result<std::string> Job::part_of(const Unit& unit, Compilation compilation) {
  compilation.code_object_version =
      options_.code_object_version.value_or(default_code_object_version(target_));
  if (unit.language == Language::kOpenCl) return opencl_part(unit, std::move(compilation));
  std::string bitcode = folder_ / (unit.stem + ".part.bc");
  HALYARD_RETURN_IF_ERROR(
      compile_step(compilation, to_bitcode(compilation, bitcode, folder_ / (unit.stem + ".d"))));
  return bitcode;
}

// One object file of several inputs, joined as bitcode: a code object has one record of metadata,
// and linked object files would have one each.
Result<std::string> Job::joint_object(const std::vector<Unit>& units, const JointOptions& options) {
  HALYARD_ASSIGN_OR_RETURN(const std::string clang, find_tool(Tool::kClang, context_));
  std::vector<std::string> files;
  bool opencl = false;
  for (const Unit& unit : units) {
    Compilation compilation = compilation_of(unit, false);
    compilation.compiler = clang;
    compilation.warns = !options.is_again;
    HALYARD_ASSIGN_OR_RETURN(std::string file, part_of(unit, std::move(compilation)));
    files.push_back(std::move(file));
    opencl = opencl || unit.language == Language::kOpenCl;
  }
  const std::string stem = units.size() == 1 ? units.front().stem : "joined";
  const Unit joint{files.front(), Language::kLlvmIr, stem, true};
  Compilation compilation = compilation_of(joint, options.alone);
  compilation.opencl = opencl;
  if (units.size() == 1) compilation.options = options_.compiler_options;
  compilation.joined.assign(files.begin() + 1, files.end());
  return clang_object(joint, std::move(compilation), opencl);
}

Result<std::vector<std::string>> Job::objects_of(const std::vector<Unit>& units) {
  std::vector<std::string> objects;
  std::vector<Unit> sources;
  for (const Unit& unit : units) {
    if (unit.language == Language::kMlir) {
      HALYARD_ASSIGN_OR_RETURN(const std::vector<Unit> parts, lower_mlir(unit));
      sources.insert(sources.end(), parts.begin(), parts.end());
    } else if (unit.language == Language::kRust) {
      HALYARD_ASSIGN_OR_RETURN(Unit part, lower_rust(unit));
      sources.push_back(std::move(part));
    } else if (unit.language == Language::kAssembly) {
      HALYARD_ASSIGN_OR_RETURN(std::string object,
                               clang_object(unit, compilation_of(unit, false), false));
      objects.push_back(std::move(object));
    } else {
      sources.push_back(unit);
    }
  }
  if (sources.empty()) return objects;
  const bool alone = objects.empty();
  const Unit& first = sources.front();
  auto object = sources.size() > 1 ? joint_object(sources, {.alone = alone})
                                   : clang_object(first, compilation_of(first, alone),
                                                  first.language == Language::kOpenCl);
  if (!object.ok()) return std::move(object).status();
  objects.push_back(std::move(object).value());
  return objects;
}

Status Job::link(const std::vector<std::string>& objects, const std::string& output) const {
  return link_objects({target_, context_, folder_}, objects, output);
}

Result<Compiled> Job::run(const std::vector<std::string>& inputs) {
  inputs_ = inputs;
  HALYARD_ASSIGN_OR_RETURN(const std::vector<Unit> units, units_of(inputs));
  std::string output;
  if (units.front().language == Language::kHip) {
    HALYARD_ASSIGN_OR_RETURN(output, hip_object(units.front()));
  } else {
    HALYARD_ASSIGN_OR_RETURN(const std::vector<std::string> objects, objects_of(units));
    output = folder_ / "linked.hsaco";
    HALYARD_RETURN_IF_ERROR(link(objects, output));
  }
  Compiled compiled;
  HALYARD_ASSIGN_OR_RETURN(compiled.bytes, read_file(output));
  HALYARD_RETURN_IF_ERROR(check_kernels(units, compiled.bytes));
  compiled.dependencies = std::vector<std::string>();
  for (const Unit& unit : units) {
    if (unit.language == Language::kAssembly) {
      // clang does not say which files assembly includes.
      HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> text, read_file(unit.input));
      if (view_of(text).find(".inc") != std::string_view::npos) {
        compiled.dependencies.reset();
        break;
      }
    }
    if (!has_dependency_file(unit.language)) continue;
    HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> text,
                             read_file(folder_ / (unit.stem + ".d")));
    if (unit.language == Language::kRust &&
        view_of(text).find("\n# env-dep:") != std::string_view::npos) {
      // The crate has the values of environment variables in it.
      compiled.dependencies.reset();
      break;
    }
    for (std::string& path : parse_dependencies(std::string(view_of(text)))) {
      if (path != unit.input && !path.starts_with(folder_ / ""))
        compiled.dependencies->push_back(std::move(path));
    }
  }
  return compiled;
}

}  // namespace

Result<Compiled> compile(const std::vector<std::string>& inputs, const TargetId& target,
                         const CompileOptions& options, const SearchContext& context) {
  HALYARD_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::create());
  auto compiled = Job(target, options, context, std::move(folder)).run(inputs);
  HALYARD_RETURN_IF_ERROR(check_interruption());
  return compiled;
}

}  // namespace halyard::toolchain
