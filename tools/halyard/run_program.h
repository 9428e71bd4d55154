// What `halyard run` runs: functions in order, over buffers of their own and buffers that have
// names.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hal/device.h"
#include "hal/module.h"
#include "hal/status.h"
#include "tools/command_line/command.h"
#include "tools/halyard/run_results.h"
#include "tools/runner/run.h"
#include "tools/values/value.h"

namespace halyard::cli {

// The options that say what is run. They belong to the function in front of them, or, where there
// is none yet, to the first.
struct ProgramOptions {
  CommandOption modules;
  CommandOption buffers;
  CommandOption functions;
  CommandOption inputs;
  CommandOption grid;
  CommandOption workgroup;
  CommandOption lds;
};
ProgramOptions add_program_options(Command command);

// A function, as the command line has it.
struct FunctionText {
  std::string name;
  std::vector<std::string> inputs;
  std::string grid, workgroup, lds;
  std::vector<values::Value> values = {};  // of inputs; of a named buffer without its data
};

// The command line, and the files that it names, read.
class ProgramText {
 public:
  static Result<ProgramText> read(const Command& command, const ProgramOptions& options);

  const std::vector<FunctionText>& functions() const { return functions_; }
  const std::vector<runner::RunBuffer>& buffers() const { return buffers_; }
  // A named buffer's place, if the text ("%sum") is one.
  static bool is_name(const std::string& text) { return text.starts_with('%'); }
  Result<size_t> find_buffer(const std::string& text) const;
  // The names of all functions, for messages.
  std::string names() const;

 private:
  std::vector<FunctionText> functions_;
  std::vector<runner::RunBuffer> buffers_;  // with names: "%sum"
};

// A module on a device.
struct LoadedModule {
  Ref<Executable> executable;
  std::shared_ptr<const std::vector<std::byte>> bytes;  // of a compiled source
  std::shared_ptr<const Module> module;                 // of the file, or over `bytes`
};

// Modules in which functions are looked for. Sources are read when there is a device that they are
// compiled for.
class ModuleFiles {
 public:
  static Result<ModuleFiles> open(const std::vector<std::string>& paths);
  // `uri`: the device, for messages.
  Result<std::vector<LoadedModule>> load(Device& device, const std::string& uri) const;

 private:
  struct File {
    std::string path;
    std::shared_ptr<const Module> module;  // null: a source
  };
  std::vector<File> files_;
};

// Everything on one device.
struct Program {
  std::vector<LoadedModule> modules;
  runner::Run run;
  std::vector<std::string> notes;  // on the choices made for the user: whole sentences
  std::vector<size_t> results;     // places in run.buffers, unless texts name others
  AssignResults assign;            // lives as long as this

  static Result<std::unique_ptr<Program>> create(const ProgramText& text,
                                                 const ModuleFiles& modules, Device& device,
                                                 const std::string& uri);

 private:
  // Results are the one function's arguments, or the first so many buffers, which have names.
  void assign_arguments();
  void assign_names(size_t named);
};

}  // namespace halyard::cli
