#include "registry/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "elf_check.h"
#include "hal/contract/driver.h"
#include "hal/error.h"
#include "hal/text.h"
#include "load_note.h"
#include "plugin_symbol.h"
#include "registry/discovery.h"

namespace halyard {
namespace {

// The fields that the ABI's first version has; a plugin must have filled them.
constexpr size_t kSmallestPlugin =
    offsetof(HalyardPlugin, create_driver) + sizeof(HalyardPlugin::create_driver);
constexpr size_t kErrorSize = 1024;
constexpr size_t kLongestText = 1024;

// What the entry point is given. A plugin that writes past the struct, because it was built against
// a longer one, hits the slack and not the stack.
struct PluginRoom {
  HalyardPlugin plugin = {};
  char slack[512] = {};
};

// Calls into the plugin; an exception becomes a Status. One of another standard library's cannot be
// looked into, only caught.
template <typename Call>
Status guarded(const char* what, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& e) {
    return error(StatusCode::kInternal, "{} threw an exception: {}", what,
                 printable(e.what() == nullptr ? "" : e.what(), kLongestText));
  } catch (...) {
    return error(StatusCode::kInternal,
                 "{} threw an exception of an unknown type, so its message is lost.", what);
  }
}

// At most kLongestText bytes of a C string that may be null.
std::string text_of(const char* text) {
  if (text == nullptr) return {};
  return std::string(text, strnlen(text, kLongestText));
}

void stop(Candidate& candidate, const Status& why) {
  candidate.code = why.code();
  candidate.reason = std::string(why.message().view());
  if (candidate.reason.empty()) {
    candidate.reason = fmt::format("{}, without a message.", to_string(why.code()));
  }
}

Status open_library(Candidate& candidate, void** library) {
  if (const std::string why = why_not_loadable(candidate.path); !why.empty()) {
    return Status(StatusCode::kFailedPrecondition, why);
  }
  if (const std::string why = why_no_entry(candidate.path); !why.empty()) {
    return Status(StatusCode::kFailedPrecondition, why);
  }
  // The real path, so that $ORIGIN in the library is where its neighbours are. A path without a
  // slash would send the loader through its own search path.
  std::string path = candidate.real_path.empty() ? candidate.path : candidate.real_path;
  if (path.find('/') == std::string::npos) path.insert(0, "./");
  *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (*library == nullptr) return Status(StatusCode::kFailedPrecondition, text_of(dlerror()));
  candidate.stage = LoadStage::kOpened;
  return {};
}

Status find_entry(Candidate& candidate, void* library, HalyardPluginEntry* entry) {
  dlerror();
  void* symbol = dlsym(library, HALYARD_PLUGIN_SYMBOL);
  if (symbol == nullptr) {
    const std::string why = text_of(dlerror());
    return error(StatusCode::kFailedPrecondition,
                 "{} (The library is not a Halyard plugin: it exports no function {}.)",
                 why.empty() ? "The symbol is null." : why, HALYARD_PLUGIN_SYMBOL);
  }
  if (const std::string why = why_not_callable(symbol); !why.empty()) {
    return Status(StatusCode::kFailedPrecondition, why);
  }
  *entry = reinterpret_cast<HalyardPluginEntry>(symbol);
  candidate.stage = LoadStage::kSymbol;
  return {};
}

Status check_answer(Candidate& candidate, const HalyardPlugin& plugin) {
  candidate.abi_major = plugin.abi_major;
  candidate.abi_minor = plugin.abi_minor;
  if (plugin.abi_major != HALYARD_ABI_MAJOR) {
    return error(StatusCode::kFailedPrecondition,
                 "The plugin speaks ABI version {}.{} and this program {}.{}; the majors must be "
                 "equal. Build the plugin against this version of Halyard.",
                 plugin.abi_major, plugin.abi_minor, HALYARD_ABI_MAJOR, HALYARD_ABI_MINOR);
  }
  if (plugin.struct_size < kSmallestPlugin || plugin.struct_size > sizeof(HalyardPlugin)) {
    return error(StatusCode::kFailedPrecondition,
                 "The plugin has filled a HalyardPlugin of {} bytes; {} to {} bytes are right.",
                 plugin.struct_size, kSmallestPlugin, sizeof(HalyardPlugin));
  }
  const std::string name = text_of(plugin.name);
  if (!is_driver_name(name)) {
    return error(StatusCode::kFailedPrecondition,
                 "The plugin's driver name ({}) is not a name: up to 64 characters of a-z, 0-9 and "
                 "_, a letter first.",
                 plugin.name == nullptr ? "null" : "\"" + printable(name, 100) + "\"");
  }
  const std::string_view promised = driver_of_file_name(candidate.path);
  if (!promised.empty() && promised != name) {
    return error(
        StatusCode::kFailedPrecondition,
        "The plugin has the driver {}, but its file name says {}. Rename the file to "
        "libhalyard_driver_{}.so, or to anything that does not start with libhalyard_driver_.",
        name, promised, name);
  }
  if (plugin.create_driver == nullptr) {
    return error(StatusCode::kFailedPrecondition,
                 "The plugin's create_driver is null, so it cannot make its driver ({}).", name);
  }
  candidate.driver = name;
  candidate.version = text_of(plugin.version);
  candidate.description = text_of(plugin.description);
  candidate.abi_in_force = std::min(plugin.abi_minor, HALYARD_ABI_MINOR);
  candidate.stage = LoadStage::kNegotiated;
  return {};
}

Status negotiate(Candidate& candidate, HalyardPluginEntry entry, HalyardPlugin& plugin) {
  const HalyardHost host = {.struct_size = sizeof(HalyardHost),
                            .abi_major = HALYARD_ABI_MAJOR,
                            .abi_minor = HALYARD_ABI_MINOR};
  char message[kErrorSize] = {};
  plugin.struct_size = sizeof(HalyardPlugin);
  plugin.error = message;
  plugin.error_size = sizeof message;
  int result = 0;
  HALYARD_RETURN_IF_ERROR(guarded("The entry point", [&]() -> Status {
    result = entry(&host, &plugin);
    return {};
  }));
  if (result != 0) {
    message[sizeof message - 1] = '\0';
    if (message[0] != '\0') return Status(StatusCode::kFailedPrecondition, message);
    return error(StatusCode::kFailedPrecondition,
                 "The plugin's entry point has refused this program with {} and no message.",
                 result);
  }
  return check_answer(candidate, plugin);
}

Status initialise(Candidate& candidate, const HalyardPlugin& plugin,
                  const std::vector<DriverOption>& settings, Ref<Driver>* driver) {
  std::vector<Option> options;
  for (const DriverOption& setting : settings) {
    if (setting.driver == candidate.driver) options.push_back({setting.key, setting.value});
  }
  const Span<const Option> span(options.data(), options.size());
  HALYARD_RETURN_IF_ERROR(guarded("create_driver", [&]() -> Status {
    HALYARD_ASSIGN_OR_RETURN(*driver, Driver::create(plugin.create_driver, span));
    return {};
  }));
  HALYARD_RETURN_IF_ERROR(guarded("Driver::info", [&]() -> Status {
    const DriverInfo info = (*driver)->info();
    candidate.library_name = info.library_name.view();
    candidate.library_path = info.library_path.view();
    candidate.library_version = info.library_version.view();
    candidate.library_uses = info.library_uses.view();
    return {};
  }));
  candidate.stage = LoadStage::kInitialised;
  return {};
}

Status enumerate(Candidate& candidate, LoadedPlugin& loaded) {
  HALYARD_RETURN_IF_ERROR(guarded("Driver::enumerate", [&]() -> Status {
    HALYARD_ASSIGN_OR_RETURN(loaded.devices, loaded.driver->enumerate());
    return {};
  }));
  candidate.device_count = loaded.devices.size();
  candidate.stage = LoadStage::kEnumerated;
  return {};
}

// Reports a candidate's stage to all listeners.
class Stages {
 public:
  Stages(const Candidate& candidate, const LoadProgress& progress,
         std::chrono::milliseconds timeout)
      : candidate_(candidate), progress_(progress), note_(candidate.path, timeout) {
    tell();
  }
  void reached() {
    note_.reached(candidate_.stage);
    tell();
  }

 private:
  void tell() const {
    if (progress_) progress_(candidate_);
  }

  const Candidate& candidate_;
  const LoadProgress& progress_;
  LoadNote note_;
};

Status check_enabled(Candidate& candidate, std::string_view driver,
                     const DriverSettings& settings) {
  for (const DisabledDriver& disabled : settings.disabled) {
    if (disabled.driver != driver) continue;
    candidate.disabled = true;
    return error(StatusCode::kFailedPrecondition,
                 "The driver {0} is turned off: drivers.{0}.enabled is false ({1}).", driver,
                 disabled.by);
  }
  return {};
}

Status load(Candidate& candidate, const DriverSettings& settings, const TakenBy& taken_by,
            const LoadProgress& progress, LoadedPlugin& loaded) {
  // A file whose name promises the driver is not even opened.
  HALYARD_RETURN_IF_ERROR(check_enabled(candidate, driver_of_file_name(candidate.path), settings));
  Stages stages(candidate, progress, settings.load_timeout);
  void* library = nullptr;
  HalyardPluginEntry entry = nullptr;
  PluginRoom room;
  HALYARD_RETURN_IF_ERROR(open_library(candidate, &library));
  stages.reached();
  HALYARD_RETURN_IF_ERROR(find_entry(candidate, library, &entry));
  stages.reached();
  HALYARD_RETURN_IF_ERROR(negotiate(candidate, entry, room.plugin));
  stages.reached();
  HALYARD_RETURN_IF_ERROR(check_enabled(candidate, candidate.driver, settings));
  const std::string winner = taken_by ? taken_by(candidate.driver) : std::string();
  if (!winner.empty()) {
    return error(StatusCode::kAlreadyExists,
                 "The driver name {} is taken by {}, which comes first in the search.",
                 candidate.driver, printable(winner));
  }
  HALYARD_RETURN_IF_ERROR(initialise(candidate, room.plugin, settings.options, &loaded.driver));
  stages.reached();
  HALYARD_RETURN_IF_ERROR(enumerate(candidate, loaded));
  stages.reached();
  return {};
}

}  // namespace

LoadedPlugin load_plugin(Candidate& candidate, const DriverSettings& settings,
                         const TakenBy& taken_by, const LoadProgress& progress) {
  LoadedPlugin loaded;
  candidate.tried = true;
  const Status status = load(candidate, settings, taken_by, progress, loaded);
  if (!status.ok()) stop(candidate, status);
  if (!candidate.usable()) loaded.driver = nullptr;
  return loaded;
}

}  // namespace halyard
