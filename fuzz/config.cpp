// Configs: YAML from the user. The target writes a parsed config and must parse it to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/settings/reader.h"
#include "config/settings/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard::config;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  SettingMap settings;
  if (!read_config_text(text, "/f.yaml", {}, diagnostics, settings)) {
    if (diagnostics.ok()) abort();
    return 0;
  }
  const std::string written = to_yaml(settings, true);
  SettingMap again;
  if (!read_config_text(written, "/f.yaml", {}, diagnostics, again)) abort();
  if (to_yaml(again, false) != to_yaml(settings, false)) abort();
  return 0;
}
