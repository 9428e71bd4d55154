// Reports of a run: JUnit XML for CI systems, and JSON.
#pragma once

#include <cstdint>
#include <string>

#include "cts/harness/record.h"
#include "hal/status.h"

namespace halyard::cts {

// The tested driver, library and device.
struct Subject {
  std::string driver;
  std::string plugin;  // its path
  std::string library;
  std::string library_path;
  std::string library_version;
  std::string device;
  std::string uri;
  std::string target;
  std::string commit;
  uint64_t seed = 0;
};

std::string junit_report(const Subject& subject, const Record& record);
std::string json_report(const Subject& subject, const Record& record);

// UNAVAILABLE, with the system's words, if the file cannot be written.
Status write_report(const std::string& path, const std::string& text);

// Of the checkout that this program was built from, or "unknown".
std::string built_from_commit();

}  // namespace halyard::cts
