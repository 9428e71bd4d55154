// VendorRuntime: a vendor's library, opened at run time: finding it, its functions, and starting
// it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "hal/types.h"
#include "plugins/sdk/fault_listener.h"

namespace halyard {

// What a runtime is called, for finding it and for messages.
struct VendorLibrary {
  const char* name;                 // "HSA": messages say "The HSA runtime"
  Span<const char* const> sonames;  // the newest first
  const char* option;               // the driver option that names the file or its folder
  const char* variable;             // the environment variable that does
  const char* package;              // what to install: "Debian: libhsa-runtime64-1"
  uint64_t address_space;           // bytes that it takes beside what it reserves for each GPU
};

// Once loaded it lives as long as the process. The library is never closed or shut down, because
// both crash when the runtime's own threads or static objects are destroyed first.
class VendorRuntime {
 public:
  VendorRuntime(const VendorRuntime&) = delete;
  VendorRuntime& operator=(const VendorRuntime&) = delete;

  // Initialises the runtime, once; later calls return what the first one did.
  Status initialise();

  const std::string& path() const { return path_; }      // real, symbolic links resolved
  const std::string& soname() const { return soname_; }  // "libamdhip64.so.5"
  // Whether other code of the process had opened the library before.
  bool was_open() const { return was_open_; }
  // As the runtime gives it; empty unless initialise() has succeeded.
  std::string version();
  // DriverInfo::library_uses; empty unless initialise() has succeeded.
  std::string uses();
  // Of the thunk that the runtime is linked with.
  ThunkEvents thunk_events() const;

  // Whether the process ends, and static objects of the library may be destroyed: for what the
  // program's own ones, made before the library was opened, still hold, and for threads.
  // HSA 5.2.3's hsa_queue_destroy takes such a lock, and may wait for ever. Sequentially
  // consistent. A handler that resolve() gives to atexit() runs when it is true.
  static bool process_ends();

  // Opens the library; Runtime is a VendorRuntime for which there is Runtime::library(). The file
  // or folder `path`, or else the one that the environment variable names, is the only place that
  // is searched. Without either it is the library that the process has already, or the first soname
  // that the loader finds. UNAVAILABLE lists each path that was tried with the loader's own words.
  template <typename Runtime>
  static Result<Runtime*> load(std::string_view path) {
    const auto make = []() -> VendorRuntime* { return new Runtime; };
    HALYARD_ASSIGN_OR_RETURN(VendorRuntime* const runtime, load(Runtime::library(), make, path));
    return static_cast<Runtime*>(runtime);
  }

 protected:
  explicit VendorRuntime(const VendorLibrary& library) : library_(library) {}
  virtual ~VendorRuntime() = default;

  // Looks up the functions with find() and require(), after the library is opened.
  virtual Status resolve() = 0;
  // Whether other code of the process has started the runtime.
  virtual bool is_running() const = 0;
  // Starts the runtime. The runtime's own words if that fails, and otherwise nothing.
  virtual std::string start() = 0;
  virtual std::string version_text() const = 0;
  // What uses() is made of, once the runtime runs.
  struct Offer {
    const char* name = "";
    bool is_there = false;
  };
  virtual std::vector<Offer> offers() const { return {}; }

  // Null if the library has no such function.
  template <typename Function>
  void find(const char* symbol, Function** function) const {
    *function = reinterpret_cast<Function*>(address_of(symbol));
  }
  template <typename Function>
  Status require(const char* symbol, Function** function) const {
    find(symbol, function);
    return *function != nullptr ? Status() : lacks(symbol);
  }
  // UNAVAILABLE: the driver needs the function.
  Status lacks(std::string_view symbol) const;

 private:
  static Result<VendorRuntime*> load(const VendorLibrary& library, VendorRuntime* (*make)(),
                                     std::string_view path);
  void* address_of(const char* symbol) const;

  const VendorLibrary& library_;
  void* handle_ = nullptr;
  std::string path_;
  std::string soname_;
  bool was_open_ = false;
  std::mutex mutex_;
  bool initialised_ = false;  // under mutex_
  Status status_;             // under mutex_: of initialise()
};

}  // namespace halyard
