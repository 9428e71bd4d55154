#include "tools/halyard/roctx.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "hal/error.h"
#include "hal/text.h"
#include "registry/installation.h"

namespace halyard::cli {
namespace {

uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  return static_cast<uint64_t>(std::chrono::nanoseconds(since).count());
}

class Recorder {
 public:
  // Never destroyed: threads of the vendor's runtime outlive main.
  static Recorder& get() {
    static auto* const recorder = new Recorder;
    return *recorder;
  }

  void keep() {
    const std::lock_guard lock(mutex_);
    keeping_ = true;
  }

  std::vector<RoctxEvent> take() {
    const std::lock_guard lock(mutex_);
    const uint64_t end = now_ns();
    const auto add_open = [&](RoctxEvent open) {
      open.end_ns = end;
      events_.push_back(std::move(open));
    };
    for (const auto& [thread, ranges] : nested_) std::ranges::for_each(ranges, add_open);
    for (const auto& [id, range] : started_) add_open(range);
    // Of those that begin together the outer ones first.
    std::ranges::sort(events_, [](const RoctxEvent& a, const RoctxEvent& b) {
      return std::pair(a.begin_ns, b.end_ns) < std::pair(b.begin_ns, a.end_ns);
    });
    keeping_ = false;
    return std::exchange(events_, {});
  }

  void mark(const char* text) {
    const std::lock_guard lock(mutex_);
    RoctxEvent event = begin(RoctxEvent::Kind::kMark, text);
    event.end_ns = event.begin_ns;
    add(std::move(event));
  }

  // The level of the range, from 0.
  int push(const char* text) {
    const std::lock_guard lock(mutex_);
    std::vector<RoctxEvent>& ranges = nested_[gettid()];
    ranges.push_back(begin(RoctxEvent::Kind::kNested, text));
    return static_cast<int>(ranges.size()) - 1;
  }

  // The level of the range, or -1 if the thread has none.
  int pop() {
    const std::lock_guard lock(mutex_);
    const auto ranges = nested_.find(gettid());
    if (ranges == nested_.end()) return -1;
    RoctxEvent event = std::move(ranges->second.back());
    ranges->second.pop_back();
    const auto level = static_cast<int>(ranges->second.size());
    if (ranges->second.empty()) nested_.erase(ranges);
    end(std::move(event));
    return level;
  }

  // `id`: what libroctx64 calls it, or 0.
  uint64_t start(const char* text, uint64_t id) {
    const std::lock_guard lock(mutex_);
    if (id == 0) id = ++last_id_;
    RoctxEvent event = begin(RoctxEvent::Kind::kStarted, text);
    event.id = id;
    started_[id] = std::move(event);
    return id;
  }

  void stop(uint64_t id) {
    const std::lock_guard lock(mutex_);
    auto range = started_.extract(id);
    if (!range.empty()) end(std::move(range.mapped()));
  }

 private:
  static RoctxEvent begin(RoctxEvent::Kind kind, const char* text) {
    RoctxEvent event;
    event.kind = kind;
    event.text = text == nullptr ? "" : text;
    event.thread = gettid();
    event.begin_ns = now_ns();
    return event;
  }
  void end(RoctxEvent event) {
    event.end_ns = now_ns();
    add(std::move(event));
  }
  void add(RoctxEvent event) {
    if (keeping_) events_.push_back(std::move(event));
  }

  std::mutex mutex_;
  bool keeping_ = false;
  uint64_t last_id_ = 0;
  std::map<int, std::vector<RoctxEvent>> nested_;  // open, by thread; none is empty
  std::map<uint64_t, RoctxEvent> started_;         // open, by number
  std::vector<RoctxEvent> events_;
};

// AMD's names for the library, and one of a package for developers.
constexpr const char* kNames[] = {"libroctx64.so.4", "libroctx64.so"};
constexpr const char* kNewerName = "librocprofiler-sdk-roctx.so.1";

// Written by keep_roctx_events, before there are other threads.
struct Libraries {
  std::vector<const void*> ours;  // where each begins in memory
  void* amds = nullptr;           // AMD's own, by its path: its name leads to ours
};
Libraries& libraries() {
  static auto* const made = new Libraries;
  return *made;
}

const void* begin_of(const void* address) {
  Dl_info info = {};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// The path of the library that the loader finds under the name; empty if there is none, or if it is
// loaded already and so cannot be replaced.
std::string path_of(const char* name) {
  if (void* const loaded = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
    dlclose(loaded);
    return {};
  }
  void* const library = dlopen(name, RTLD_LAZY);
  if (library == nullptr) return {};
  const link_map* map = nullptr;
  const bool found = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name != nullptr;
  const std::string path = found ? map->l_name : "";
  dlclose(library);
  return path;
}

Status open_ours(const char* name) {
  std::string tried;
  for (const std::string& prefix : installation_prefixes()) {
    const std::string path = prefix + "/lib/halyard/roctx/" + name;
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NODELETE)) {
      libraries().ours.push_back(begin_of(dlsym(library, "roctxMarkA")));
      return {};
    }
    tried += fmt::format("\n  {}", printable(dlerror()));
  }
  return error(StatusCode::kNotFound,
               "Halyard's own {}, which --profile needs to see ROCTX ranges, is not found. Install "
               "Halyard again, or put the file into lib/halyard/roctx of the prefix. Tried:{}",
               name, tried);
}

// The function of that name in AMD's library, if the process has it.
template <typename Function>
Function* next(const char* name) {
  const auto foreign = [](void* found) {
    const std::vector<const void*>& ours = libraries().ours;
    return found != nullptr && std::ranges::find(ours, begin_of(found)) == ours.end();
  };
  void* const found = dlsym(RTLD_NEXT, name);
  if (foreign(found)) return reinterpret_cast<Function*>(found);
  if (void* const amds = libraries().amds) {
    return reinterpret_cast<Function*>(dlsym(amds, name));
  }
  // What a plugin brings is not in the global scope, where RTLD_NEXT looks.
  for (const char* const library : {kNames[0], kNewerName}) {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const there = dlsym(handle, name);
    dlclose(handle);  // only what RTLD_NOLOAD has counted
    if (foreign(there)) return reinterpret_cast<Function*>(there);
  }
  return nullptr;
}

}  // namespace

Status keep_roctx_events() {
  std::string amds;
  for (const char* const name : kNames) {
    if (amds.empty()) amds = path_of(name);
  }
  for (const char* const name : kNames) HALYARD_RETURN_IF_ERROR(open_ours(name));
  if (!amds.empty()) libraries().amds = dlopen(amds.c_str(), RTLD_LAZY);
  Recorder::get().keep();
  return {};
}

std::vector<RoctxEvent> take_roctx_events() {
  return Recorder::get().take();
}

}  // namespace halyard::cli

// The interface as roctracer's roctx.h 4.1 declares it.

using halyard::cli::next;
using halyard::cli::Recorder;

#define HALYARD_ROCTX extern "C" [[gnu::visibility("default")]]

HALYARD_ROCTX uint32_t roctx_version_major() {
  return 4;
}

HALYARD_ROCTX uint32_t roctx_version_minor() {
  return 1;
}

// NOLINTBEGIN(readability-identifier-naming): AMD's names
HALYARD_ROCTX void roctxMarkA(const char* message) {
  Recorder::get().mark(message);
  if (auto* const function = next<void(const char*)>("roctxMarkA")) function(message);
}

HALYARD_ROCTX int roctxRangePushA(const char* message) {
  const int level = Recorder::get().push(message);
  if (auto* const function = next<int(const char*)>("roctxRangePushA")) return function(message);
  return level;
}

HALYARD_ROCTX int roctxRangePop() {
  const int level = Recorder::get().pop();
  if (auto* const function = next<int()>("roctxRangePop")) return function();
  return level;
}

HALYARD_ROCTX uint64_t roctxRangeStartA(const char* message) {
  auto* const function = next<uint64_t(const char*)>("roctxRangeStartA");
  return Recorder::get().start(message, function != nullptr ? function(message) : 0);
}

HALYARD_ROCTX void roctxRangeStop(uint64_t id) {
  Recorder::get().stop(id);
  if (auto* const function = next<void(uint64_t)>("roctxRangeStop")) function(id);
}
// NOLINTEND(readability-identifier-naming)
