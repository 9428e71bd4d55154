#include "vgpu/machine/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "config/scalars.h"

namespace halyard::vgpu::machine {

namespace {

constexpr uint64_t kMinMemory = uint64_t{16} << 20;
constexpr uint64_t kMaxMemory = uint64_t{1} << 40;
constexpr uint64_t kMaxUnits = 512;
constexpr uint32_t kMinSimds = 4;  // HIP 5.2.3 divides by a quarter of them

// The mistake in one limit, as the end of a sentence; empty if there is none.
std::string read_limit(std::string_view key, std::string_view text, Shrink& shrink) {
  uint64_t value = 0;
  std::string problem;
  if (key == "memory_size") {
    problem = config::read_quantity(text, config::Quantity::kSize, value, kMinMemory, kMaxMemory);
    if (problem.empty()) shrink.memory_bytes = value;
  } else {
    problem = config::read_integer(text, value, 1, kMaxUnits);
    if (problem.empty()) shrink.compute_units = static_cast<uint32_t>(value);
  }
  return problem;
}

bool read_limits(std::string_view limits, Shrink& shrink, std::string& error) {
  while (!limits.empty()) {
    const std::string_view limit = limits.substr(0, limits.find(','));
    limits.remove_prefix(std::min(limits.size(), limit.size() + 1));
    const size_t equals = limit.find('=');
    const std::string_view key = limit.substr(0, equals);
    std::string known;
    std::string problem = config::read_choice(key, known, {"memory_size", "compute_units"});
    if (!problem.empty()) {
      error = fmt::format("The limit ({}) of a virtual GPU's profile {}", key, problem);
      return false;
    }
    const bool is_repeated =
        key == "memory_size" ? shrink.memory_bytes.has_value() : shrink.compute_units.has_value();
    if (is_repeated) {
      error = fmt::format("The limit {} of a virtual GPU's profile is given twice.", key);
      return false;
    }
    const std::string_view text =
        equals == std::string_view::npos ? std::string_view() : limit.substr(equals + 1);
    problem = read_limit(key, text, shrink);
    if (!problem.empty()) {
      error = fmt::format("The limit {} ({}) of a virtual GPU's profile {}", key, text, problem);
      return false;
    }
  }
  return true;
}

}  // namespace

bool split_choice(const std::string& choice, std::string& profile, Shrink& shrink,
                  std::string& error) {
  std::error_code code;
  const size_t comma = choice.find(',');
  profile = choice;
  if (comma == std::string::npos || std::filesystem::is_regular_file(choice, code)) return true;
  profile = choice.substr(0, comma);
  return read_limits(std::string_view(choice).substr(comma + 1), shrink, error);
}

bool apply_shrink(const Shrink& shrink, Profile& profile, std::string& error) {
  uint64_t most_memory = 0;
  uint32_t most_units = 0;
  for (GpuProfile& gpu : profile.gpus) {
    most_memory = std::max(most_memory, gpu.memory_bytes);
    most_units = std::max(most_units, gpu.compute_units);
    if (shrink.memory_bytes) gpu.memory_bytes = std::min(gpu.memory_bytes, *shrink.memory_bytes);
    if (shrink.compute_units)
      gpu.compute_units = std::min(gpu.compute_units, *shrink.compute_units);
    if (gpu.compute_units % gpu.xcds != 0) {
      error = fmt::format(
          "The limit compute_units ({}) does not fit a GPU of the profile {}, which has {} XCDs "
          "with "
          "equally many compute units; it must be a multiple of {}.",
          *shrink.compute_units, profile.name, gpu.xcds, gpu.xcds);
      return false;
    }
    if (gpu.compute_units * gpu.simds_per_cu < kMinSimds) {
      error = fmt::format(
          "The limit compute_units ({}) leaves {} SIMDs of a GPU; it must leave {} "
          "at least, because HIP crashes on a GPU with fewer.",
          *shrink.compute_units, gpu.compute_units * gpu.simds_per_cu, kMinSimds);
      return false;
    }
  }
  if (shrink.memory_bytes && *shrink.memory_bytes > most_memory) {
    error = fmt::format(
        "The limit memory_size ({}) is more than any GPU of the profile {} has; it "
        "must be at most {}.",
        config::quantity_text(*shrink.memory_bytes, config::Quantity::kSize), profile.name,
        config::quantity_text(most_memory, config::Quantity::kSize));
    return false;
  }
  if (shrink.compute_units && *shrink.compute_units > most_units) {
    error = fmt::format(
        "The limit compute_units ({}) is more than any GPU of the profile {} has; "
        "it must be at most {}.",
        *shrink.compute_units, profile.name, most_units);
    return false;
  }
  return true;
}

}  // namespace halyard::vgpu::machine
