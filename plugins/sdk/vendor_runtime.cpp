#include "plugins/sdk/vendor_runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <vector>

#include "hal/error.h"
#include "plugins/sdk/address_space.h"

namespace halyard {

namespace {

// Where to look for a library, and who says so.
struct Search {
  std::vector<std::string> candidates;
  std::string origin;
};

// The file itself, or the library inside of a folder.
std::vector<std::string> candidates_for(const VendorLibrary& library, const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return {path};
  const std::string folder = path.ends_with('/') ? path : path + "/";
  std::vector<std::string> candidates;
  for (const char* middle : {"", "lib/"}) {
    for (const char* soname : library.sonames) candidates.push_back(folder + middle + soname);
  }
  return candidates;
}

bool is_open(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);  // only what RTLD_NOLOAD has counted
  return true;
}

// The library that other code of this process uses, if any: a second one would not know its
// streams.
std::vector<std::string> system_candidates(const VendorLibrary& library) {
  for (const char* soname : library.sonames) {
    if (is_open(soname)) return {soname};
  }
  return {library.sonames.begin(), library.sonames.end()};
}

Search search_for(const VendorLibrary& library, std::string_view path) {
  if (!path.empty()) {
    return {candidates_for(library, std::string(path)),
            fmt::format("the option {}", library.option)};
  }
  // secure_getenv: a setuid program does not load what its caller names.
  const char* const variable = secure_getenv(library.variable);
  if (variable != nullptr && variable[0] != '\0') {
    return {candidates_for(library, variable),
            fmt::format("the environment variable {}", library.variable)};
  }
  return {system_candidates(library), "the system's library path"};
}

std::string real_path(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return fallback;
  char resolved[PATH_MAX];
  if (realpath(map->l_name, resolved) != nullptr) return resolved;
  return map->l_name;
}

// Every runtime that was loaded, so that two drivers in one process share one. Leaked on purpose:
// the vendor's threads outlive main.
struct Loaded {
  std::mutex mutex;
  std::vector<VendorRuntime*> runtimes;
};
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

std::atomic<bool> ends{false};

// For each library. Handlers run in the reverse order, so this runs before the objects are
// destroyed that the library had when it was opened.
void watch_for_the_end() {
  std::atexit([] { ends.store(true); });
}

}  // namespace

bool VendorRuntime::process_ends() {
  return ends.load();
}

Result<VendorRuntime*> VendorRuntime::load(const VendorLibrary& library, VendorRuntime* (*make)(),
                                           std::string_view path) {
  const Search search = search_for(library, path);
  std::string tried;
  for (const std::string& candidate : search.candidates) {
    const bool was_open = is_open(candidate);
    void* const handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
      const char* const words = dlerror();
      tried += fmt::format("\n  {}: {}", candidate, words != nullptr ? words : "no reason given");
      continue;
    }
    const std::string real = real_path(handle, candidate);
    Loaded& all = loaded();
    const std::lock_guard lock(all.mutex);
    for (VendorRuntime* known : all.runtimes) {
      if (&known->library_ == &library && known->path_ == real) return known;
    }
    VendorRuntime* const runtime = make();
    runtime->handle_ = handle;
    runtime->path_ = real;
    runtime->was_open_ = was_open;
    runtime->soname_ = candidate.substr(candidate.rfind('/') + 1);
    if (Status status = runtime->resolve(); !status.ok()) {
      delete runtime;
      return status;
    }
    all.runtimes.push_back(runtime);
    watch_for_the_end();
    return runtime;
  }
  std::string files;
  for (const char* soname : library.sonames)
    files += (files.empty() ? "" : " or ") + std::string(soname);
  return error(
      StatusCode::kUnavailable,
      "The {} runtime ({}) cannot be opened through {}. Tried:{}\nInstall it ({}), or name "
      "the file or its folder with the option {} or the environment variable {}.",
      library.name, files, search.origin, tried, library.package, library.option, library.variable);
}

void* VendorRuntime::address_of(const char* symbol) const {
  return dlsym(handle_, symbol);
}

Status VendorRuntime::lacks(std::string_view symbol) const {
  return error(StatusCode::kUnavailable,
               "The {} runtime ({}) lacks the function {}, which the driver needs. ROCm 5.2.3 and "
               "newer have it.",
               library_.name, path_, symbol);
}

Status VendorRuntime::initialise() {
  const std::lock_guard lock(mutex_);
  if (initialised_) return status_;
  if (!is_running()) {
    ThunkTopology thunk;
    find("hsaKmtOpenKFD", &thunk.open);
    find("hsaKmtCloseKFD", &thunk.close);
    find("hsaKmtAcquireSystemProperties", &thunk.acquire);
    find("hsaKmtReleaseSystemProperties", &thunk.release);
    find("hsaKmtGetNodeProperties", &thunk.node);
    // This failure is not kept, because the limit may be raised.
    HALYARD_RETURN_IF_ERROR(check_address_space(
        fmt::format("The {} runtime ({})", library_.name, path_), thunk, library_.address_space));
  }
  initialised_ = true;
  if (const std::string words = start(); !words.empty()) {
    status_ = error(StatusCode::kUnavailable,
                    "The {} runtime ({}) does not start: {}. It needs an AMD GPU that this release "
                    "knows, and access to the device file of its kernel driver (/dev/kfd).",
                    library_.name, path_, words);
  }
  return status_;
}

ThunkEvents VendorRuntime::thunk_events() const {
  ThunkEvents thunk;
  find("hsaKmtCreateEvent", &thunk.create);
  find("hsaKmtDestroyEvent", &thunk.destroy);
  find("hsaKmtWaitOnEvent", &thunk.wait);
  return thunk;
}

std::string VendorRuntime::version() {
  const std::lock_guard lock(mutex_);
  return initialised_ && status_.ok() ? version_text() : std::string();
}

std::string VendorRuntime::uses() {
  const std::lock_guard lock(mutex_);
  std::string text;
  if (!initialised_ || !status_.ok()) return text;
  for (const Offer& offer : offers()) {
    if (!offer.is_there) continue;
    if (!text.empty()) text += ", ";
    text += offer.name;
  }
  return text;
}

}  // namespace halyard
