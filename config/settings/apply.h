// From settings to what the parts of Halyard take.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "config/settings/settings.h"
#include "hal/status.h"
#include "registry/registry.h"
#include "registry/vgpu.h"

namespace halyard::config {

// Plugins, drivers, named devices and validation.
RegistryOptions registry_options(const Settings& settings);

// The profile for load_virtual_gpu: what `wanted` (--vgpu=…) stands for, or what the settings say
// if it is empty. A name of virtual_gpus becomes its profile with its limits; INVALID_ARGUMENT if
// it has no profile.
Result<std::string> virtual_gpu_profile(const Settings& settings, std::string_view wanted);

// registry/vgpu.h
VirtualGpuOptions virtual_gpu_options(const Settings& settings);

// RegistryOptions::load_timeout for a program that rather ends than hangs: plugins.load_timeout.
std::chrono::milliseconds load_timeout(const Settings& settings);

enum class LogLevel : uint8_t { kError, kWarning, kNote };
LogLevel log_level(const Settings& settings);

}  // namespace halyard::config
