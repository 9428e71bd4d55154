#include "toolchain/commands.h"

#include <filesystem>

#include "hal/target_map.h"

namespace halyard::toolchain {
namespace {

// A file name is never taken for an option.
std::string as_file(const std::string& path) {
  return path.starts_with('-') ? "./" + path : path;
}

void add(Command& command, std::initializer_list<const char*> words) {
  command.insert(command.end(), words.begin(), words.end());
}

void add_clang_target(Command& command, const Compilation& compilation) {
  add(command, {"-target", "amdgcn-amd-amdhsa"});
  command.push_back("-mcpu=" + to_string(compilation.target));
  if (compilation.code_object_version != 0) {
    command.push_back("-mcode-object-version=" + std::to_string(compilation.code_object_version));
  }
}

// clang 22 keeps a callable copy of each OpenCL kernel, which may not use LDS and traps instead:
// internalizing drops the copies. It would also drop what another object file calls.
void drop_uncalled(Command& command) {
  add(command, {"-mllvm", "-amdgpu-internalize-symbols"});
}

// Where XNACK is on, clang 22.1 groups memory instructions in a pass (si-form-memory-clauses) that
// sometimes loses an argument of an indirect call, which llc -verify-machineinstrs reports. Rust's
// formatting is made of such calls. Groups of one are left alone.
void avoid_memory_clauses(Command& command, const Compilation& compilation) {
  if (compilation.is_crate) add(command, {"-mllvm", "-amdgpu-max-memory-clause=1"});
}

void add_language(Command& command, const Compilation& compilation) {
  switch (compilation.language) {
    case Language::kOpenCl:
      add(command, {"-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-Xclang",
                    "-finclude-default-header"});
      if (compilation.alone) drop_uncalled(command);
      return;
    case Language::kLlvmIr:
    case Language::kMlir:
      add(command, {"-x", "ir"});
      if (compilation.alone &&
          (!compilation.joined.empty() || compilation.is_crate || compilation.opencl)) {
        drop_uncalled(command);
      }
      return;
    case Language::kAssembly:
      add(command, {"-x", "assembler"});
      return;
    default:
      add(command, {"-x", "c"});
  }
}

// What hipcc would name.
void add_hip_headers(Command& command, const Compilation& compilation) {
  if (compilation.hip_headers.empty()) return;
  const std::filesystem::path headers = compilation.hip_headers;
  command.push_back("--rocm-path=" + headers.parent_path().string());
  // The headers are behind all other folders: they may be the system's, whose place among them is
  // fixed. Without an id of the compilation, which is made of the output's path, a source always
  // makes the same code.
  command.insert(command.end(), {"-idirafter", compilation.hip_headers, "-nogpulib",
                                 "-fuse-cuid=none", "-include", compilation.hip_prelude});
}

// Up to what becomes of the input.
Command frontend(const Compilation& compilation) {
  Command command = {compilation.compiler};
  if (compilation.language == Language::kHip) {
    command.push_back("--offload-arch=" + to_string(compilation.target));
    // hipcc passes linker options to compilations too.
    add(command, {"--cuda-device-only", "-O2", "-Wno-unused-command-line-argument"});
    if (compilation.code_object_version != 0) {
      command.push_back("-mcode-object-version=" + std::to_string(compilation.code_object_version));
    }
    add_hip_headers(command, compilation);
    add(command, {"-x", "hip"});
  } else {
    add_clang_target(command, compilation);
    if (compilation.language != Language::kAssembly) add(command, {"-nogpulib", "-O2"});
    add_language(command, compilation);
    avoid_memory_clauses(command, compilation);
    for (const std::string& file : compilation.joined) {
      add(command, {"-Xclang", "-mlink-bitcode-file", "-Xclang"});
      command.push_back(file);
    }
    for (const std::string& library : compilation.libraries) {
      add(command, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang"});
      command.push_back(library);
    }
  }
  if (!compilation.optimizes) add(command, {"-Xclang", "-disable-llvm-passes"});
  command.insert(command.end(), compilation.options.begin(), compilation.options.end());
  // Options for a source are not all used for the IR that it becomes.
  if (compilation.opencl) add(command, {"-Wno-unused-command-line-argument"});
  if (!compilation.warns) add(command, {"-w"});
  return command;
}

Command finish(Command command, const std::string& input, const std::string& output,
               const std::string& dependencies) {
  if (!dependencies.empty()) {
    add(command, {"-MD", "-MF"});
    command.push_back(dependencies);
  }
  command.push_back(as_file(input));
  add(command, {"-o"});
  command.push_back(output);
  return command;
}

}  // namespace

uint32_t default_code_object_version(const TargetId& target) {
  const ProcessorInfo* const processor = find_processor(target.processor);
  return processor != nullptr && processor->is_generic() ? 6 : 5;
}

bool has_dependency_file(Language language) noexcept {
  return language == Language::kC || language == Language::kOpenCl || language == Language::kHip ||
         language == Language::kRust;
}

Command to_object(const Compilation& compilation, const std::string& output,
                  const std::string& dependencies) {
  Command command = frontend(compilation);
  add(command, {"-c"});
  if (compilation.language == Language::kHip) add(command, {"--no-gpu-bundle-output"});
  return finish(std::move(command), compilation.input, output,
                has_dependency_file(compilation.language) ? dependencies : "");
}

Command to_bitcode(const Compilation& compilation, const std::string& output,
                   const std::string& dependencies) {
  Command command = frontend(compilation);
  add(command, {"-c", "-emit-llvm"});
  if (compilation.language != Language::kHip) {
    return finish(std::move(command), compilation.input, output,
                  has_dependency_file(compilation.language) ? dependencies : "");
  }
  add(command, {"--no-gpu-bundle-output"});
  // clang's driver does not hand -MD on to the compilation for a device.
  const std::vector<std::string> words = {"-sys-header-deps", "-dependency-file", dependencies,
                                          "-MT", "device"};
  for (size_t i = 0; i < words.size() && !dependencies.empty(); ++i) {
    command.insert(command.end(), {"-Xclang", words[i]});
  }
  return finish(std::move(command), compilation.input, output, "");
}

Command to_ir(const Compilation& compilation, const std::string& output,
              const std::string& dependencies) {
  Command command = frontend(compilation);
  add(command, {"-S", "-emit-llvm"});
  // Some of the names that IR brings along would be printed twice in one function.
  if (compilation.language == Language::kLlvmIr) add(command, {"-fno-discard-value-names"});
  return finish(std::move(command), compilation.input, output,
                has_dependency_file(compilation.language) ? dependencies : "");
}

Command ir_to_assembly(const Compilation& compilation, const std::string& ir,
                       const std::string& output) {
  Command command = {compilation.compiler};
  add_clang_target(command, compilation);
  add(command, {"-nogpulib", "-O2", "-x", "ir", "-Xclang", "-disable-llvm-passes", "-S"});
  avoid_memory_clauses(command, compilation);
  return finish(std::move(command), ir, output, "");
}

Command assembly_to_object(const Compilation& compilation, const std::string& assembly,
                           const std::string& output) {
  Command command = {compilation.compiler};
  add_clang_target(command, compilation);
  add(command, {"-x", "assembler", "-c"});
  return finish(std::move(command), assembly, output, "");
}

Command hip_target_question(const std::string& hipcc, const TargetId& target) {
  return {hipcc,
          "--offload-arch=" + to_string(target),
          "--cuda-device-only",
          "-x",
          "hip",
          "-c",
          "/dev/null",
          "-o",
          "/dev/null",
          "-###"};
}

Command hip_to_assembly(const Compilation& compilation, const std::string& output) {
  Command command = frontend(compilation);
  add(command, {"-S"});
  return finish(std::move(command), compilation.input, output, "");
}

Command link(const std::string& lld, const std::vector<std::string>& objects,
             const std::string& output) {
  Command command = {lld, "--shared", "--no-undefined", "-o", output};
  command.insert(command.end(), objects.begin(), objects.end());
  return command;
}

std::vector<std::string> parse_dependencies(const std::string& text) {
  // "target: a b \<newline> c"; a blank in a name has a backslash before it, "$" is doubled.
  std::vector<std::string> paths;
  size_t i = text.find(": ");
  if (i == std::string::npos) return paths;
  i += 2;
  std::string path;
  const auto end_path = [&] {
    if (!path.empty()) paths.push_back(std::move(path));
    path.clear();
  };
  for (; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      end_path();
      ++i;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      path += next;
      ++i;
    } else if (c == '\n') {
      break;
    } else if (c == ' ') {
      end_path();
    } else {
      path += c;
    }
  }
  end_path();
  return paths;
}

}  // namespace halyard::toolchain
