#include "config/settings/key_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>

#include "config/scalars.h"

namespace halyard::config {

namespace {

constexpr double kMiB = 0x1p20;
constexpr double kTiB = 0x1p40;

std::vector<Key> make_table() {
  return {
      {.path = "plugins.paths",
       .type = KeyType::kPaths,
       .environment = "HALYARD_PLUGIN_PATH",
       .flag = "--plugin-path",
       .example = "[/opt/halyard/plugins, plugins/libmine.so]",
       .documentation =
           "Folders with driver plugins, and single plugins, in the order of the search. They come "
           "before the plugins of the installation. The variable's entries have colons between."},
      {.path = "plugins.load_timeout",
       .type = KeyType::kDuration,
       .min = 0,
       .max = 86400e9,
       .fallback = "60s",
       .example = "5s",
       .documentation = "The time limit for each step of loading a plugin, in the commands of "
                        "`halyard`: one that "
                        "takes longer ends the command with an error. 0s: no limit."},
      {.path = "drivers.<driver>.enabled",
       .type = KeyType::kBoolean,
       .fallback = "true",
       .example = "false",
       .documentation =
           "Whether the driver may be used. The plugin of one that is turned off is not "
           "opened if its file name says which driver it brings."},
      {.path = "drivers.<driver>.options.<option>",
       .type = KeyType::kText,
       .example = "fast",
       .documentation = "A setting that the driver is given when it is made. A driver refuses "
                        "those that it does "
                        "not know, and lists those that it knows."},
      {.path = "drivers.amdgpu.libhsa",
       .type = KeyType::kLibrary,
       .environment = "HALYARD_LIBHSA_PATH",
       .flag = "--libhsa",
       .example = "/opt/rocm/lib",
       .documentation = "The HSA runtime for the amdgpu driver: libhsa-runtime64.so.1 or its "
                        "folder. Without one "
                        "the system's own is used."},
      {.path = "drivers.hip.libhip",
       .type = KeyType::kLibrary,
       .environment = "HALYARD_LIBHIP_PATH",
       .flag = "--libhip",
       .example = "/opt/rocm/lib/libamdhip64.so.6",
       .documentation =
           "The HIP runtime for the hip driver: libamdhip64.so.6 or .5, or its folder. "
           "Without one the system's own is used."},
      {.path = "devices.<device>",
       .type = KeyType::kDevices,
       .example = "[\"amdgpu:0\", \"amdgpu:1\"]",
       .documentation =
           "A name for a device, or for a group of several, that stands wherever a device URI may: "
           "--device=trainer. A group is one logical device of all GPUs that it names. They are of "
           "one driver, and their URIs have the same options."},
      {.path = "vgpu.profile",
       .type = KeyType::kProfile,
       .environment = "HALYARD_VGPU_PROFILE",
       .flag = "--vgpu",
       .example = "mi210",
       .documentation = "The profile of the virtual GPU where --vgpu names none: a name of "
                        "virtual_gpus below, a "
                        "name of config/vgpu, or a YAML file. Without one it is gfx900. The key "
                        "does not turn the "
                        "virtual GPU on."},
      {.path = "vgpu.library",
       .type = KeyType::kLibrary,
       .environment = "HALYARD_VGPU_PATH",
       .example = "/opt/halyard/lib/halyard/vgpu",
       .documentation = "The folder of the virtual GPU's libraries, or one of them. Without one it "
                        "is the one that lies next to the program."},
      {.path = "virtual_gpus.<vgpu>.profile",
       .type = KeyType::kProfile,
       .example = "four-mi210",
       .documentation = "Gives a name to a virtual GPU for --vgpu: this profile, with the limits "
                        "beside it. It is a name of config/vgpu or a YAML file."},
      {.path = "virtual_gpus.<vgpu>.memory_size",
       .type = KeyType::kSize,
       .min = 16 * kMiB,
       .max = kTiB,
       .example = "4GiB",
       .documentation = "The most memory that a GPU of the profile has."},
      {.path = "virtual_gpus.<vgpu>.compute_units",
       .type = KeyType::kInteger,
       .min = 1,
       .max = 512,
       .example = "8",
       .documentation = "The most compute units that a GPU of the profile has."},
      {.path = "logging.level",
       .type = KeyType::kChoice,
       .values = {"error", "warning", "note"},
       .fallback = "note",
       .environment = "HALYARD_LOG_LEVEL",
       .example = "warning",
       .documentation =
           "What `halyard` writes to standard error beside errors: nothing, also warnings (about "
           "who may write to a plugin), or also notes (why a driver lists no devices)."},
      {.path = "validation.level",
       .type = KeyType::kChoice,
       .values = {"full", "none"},
       .fallback = "full",
       .environment = "HALYARD_VALIDATION",
       .uri_parameter = "validation",
       .example = "none",
       .documentation =
           "Whether calls are checked before a driver sees them. Without the checks a call that "
           "breaks the rules of hal/ does anything, a crash included."},
      {.path = "processors.<processor>.stack_size",
       .type = KeyType::kSize,
       .min = 1,
       .max = 131056,
       .uri_parameter = "stack_bytes",
       .device_option = "stack_bytes",
       .example = "16KiB",
       .documentation = "The stack of a work-item, for kernels that recurse or call through "
                        "pointers. Without it "
                        "4 KiB."},
      {.path = "processors.<processor>.queues.capacity",
       .type = KeyType::kInteger,
       .min = 64,
       .max = 16384,
       .uri_parameter = "queue_capacity",
       .device_option = "queue_capacity",
       .example = "4096",
       .documentation =
           "How many operations a queue takes before a submission waits for room, if the program "
           "does not say. amdgpu rounds up to a power of two (without the key 1024); hip takes "
           "4096 at most (2048)."},
      {.path = "processors.<processor>.queues.kernarg",
       .type = KeyType::kSize,
       .min = 512,
       .max = 16384,
       .uri_parameter = "kernarg_bytes",
       .device_option = "kernarg_bytes",
       .example = "1KiB",
       .documentation =
           "How much memory for kernel arguments a queue has for each operation that it takes, "
           "rounded up to a power of two: its ring of kernel arguments is queues.capacity times as "
           "large. A launch that needs more takes the place of several operations, and of at most "
           "32. Only of the amdgpu driver, where it is 512 bytes without the key: HIP has a ring "
           "of "
           "its own."},
      {.path = "processors.<processor>.queues.max",
       .type = KeyType::kInteger,
       .min = 1,
       .max = 1024,
       .uri_parameter = "max_queues",
       .device_option = "max_queues",
       .example = "8",
       .documentation = "How many queues of a device may live at a time."},
      {.path = "processors.<processor>.wait.spin",
       .type = KeyType::kDuration,
       .min = 0,
       .max = 1e9,
       .uri_parameter = "wait_spin_us",
       .device_option = "wait_spin_us",
       .example = "50us",
       .documentation =
           "How long a host thread that waits for a device looks before it sleeps. Longer answers "
           "sooner and takes more of a core. Without it 200 us on amdgpu, 100 us on hip. The "
           "parameter of a URI is in microseconds."},
      {.path = "processors.<processor>.pools.keep",
       .type = KeyType::kSize,
       .min = 0,
       .max = kTiB,
       .uri_parameter = "pool_keep_bytes",
       .device_option = "pool_keep_bytes",
       .example = "1GiB",
       .documentation =
           "How much memory that no buffer has the pool of one memory type keeps for the next "
           "Queue::alloca_buffer. Without it a quarter of the heap on amdgpu, 64 MiB on hip."},
      {.path = "processors.<processor>.pools.limit",
       .type = KeyType::kSize,
       .min = kMiB,
       .max = kTiB,
       .uri_parameter = "pool_limit_bytes",
       .device_option = "pool_limit_bytes",
       .example = "2GiB",
       .documentation =
           "The most memory that the device's own pool of one memory type has, in live buffers and "
           "free: a Queue::alloca_buffer of more waits for buffers that are given back, or fails. "
           "Without it there is no limit. Pools that a program makes have limits of their own "
           "(PoolInfo::limit_bytes)."},
      {.path = "processors.<processor>.copies.engine_from",
       .type = KeyType::kSize,
       .min = 0,
       .max = kTiB,
       .uri_parameter = "copy_engine_bytes",
       .device_option = "copy_engine_bytes",
       .example = "256KiB",
       .documentation =
           "The size from which a copy engine copies between host and device; a kernel copies what "
           "is smaller. Only of the amdgpu driver, where it is 65537 bytes without the key: HIP "
           "decides by itself."},
      {.path = "processors.<processor>.workgroups.max_size",
       .type = KeyType::kInteger,
       .min = 1,
       .max = 1024,
       .uri_parameter = "max_workgroup_size",
       .device_option = "max_workgroup_size",
       .example = "256",
       .documentation =
           "The most work-items of a work-group: a dispatch of more is refused. Without it the "
           "device's own limit."},
      {.path = "processors.<processor>.drivers.<driver>.<option>",
       .type = KeyType::kText,
       .example = "fast",
       .documentation =
           "An option that the driver opens a device of the processor with, by the driver's own "
           "name for it: the same that stands in a device URI. For drivers whose options have no "
           "key here. A driver refuses those that it does not know, and lists those that it "
           "knows."},
      {.path = "processors.<processor>.tolerances.<type>.absolute",
       .type = KeyType::kNumber,
       .min = 0,
       .max = 1e300,
       .flag = "--atol",
       .example = "1e-5",
       .documentation =
           "How far a result may be from what `halyard run --expected-output` expects: the "
           "difference is at most absolute + relative * |expected|. The processor is that of the "
           "device; default is for all, and what a layer says of a processor comes before what the "
           "same layer says of default. Integers are compared exactly. In a config of "
           "`halyard-cts --config`, also how far approximations of the conformance suite (f64 "
           "roots, "
           "f16 quotients) may be from the host's; otherwise that is 1 unit in the last place."},
      {.path = "processors.<processor>.tolerances.<type>.relative",
       .type = KeyType::kNumber,
       .min = 0,
       .max = 1e300,
       .flag = "--rtol",
       .example = "1e-4",
       .documentation = "The relative part of the same."},
  };
}

// Words of a pattern, for a choice among names.
const std::vector<NameRule>& rules() {
  static const std::vector<NameRule> table = {
      {"<driver>",
       "[a-z][a-z0-9_]{0,63}",
       {},
       "a driver's name: up to 64 of a-z, 0-9 and _, a "
       "letter first"},
      {"<option>",
       "[A-Za-z][A-Za-z0-9_-]{0,63}",
       {},
       "up to 64 of letters, digits, _ and -, a "
       "letter first"},
      {"<device>",
       "[a-z][a-z0-9_]{0,63}",
       {"amdgpu", "hip"},
       "up to 64 of a-z, 0-9 and _, a letter "
       "first, and not amdgpu or hip"},
      {"<vgpu>",
       "[A-Za-z][A-Za-z0-9_-]{0,63}",
       {},
       "up to 64 of letters, digits, _ and -, a letter "
       "first"},
      {"<processor>", "default|gfx[0-9a-f]{3,4}", {}, "default or a processor, such as gfx90a"},
      {"<type>", "f16|bf16|f32|f64", {}, "f16, bf16, f32 or f64"},
  };
  return table;
}

}  // namespace

std::span<const Key> key_table() {
  static const std::vector<Key> table = make_table();
  return table;
}

const NameRule& name_rule(std::string_view placeholder) {
  for (const NameRule& rule : rules()) {
    if (rule.placeholder == placeholder) return rule;
  }
  throw std::logic_error("there is no rule for " + std::string(placeholder));
}

bool is_placeholder(std::string_view segment) {
  return segment.starts_with('<');
}

bool accepts(const NameRule& rule, std::string_view name) {
  // std::regex recurses for each character.
  constexpr size_t kLongest = 64;
  if (name.size() > kLongest) return false;
  const bool is_taken =
      std::find(rule.not_these.begin(), rule.not_these.end(), name) != rule.not_these.end();
  // A regular expression takes far longer to make than to match.
  static const std::map<std::string_view, std::regex> patterns = [] {
    std::map<std::string_view, std::regex> made;
    for (const NameRule& one : rules()) {
      made.emplace(one.placeholder, std::regex(std::string(one.pattern)));
    }
    return made;
  }();
  return !is_taken && std::regex_match(name.begin(), name.end(), patterns.at(rule.placeholder));
}

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    segments.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

std::string legal_values(const Key& key) {
  const auto low = static_cast<uint64_t>(key.min);
  const auto high = static_cast<uint64_t>(key.max);
  switch (key.type) {
    case KeyType::kText:
      return "text";
    case KeyType::kLibrary:
      return "a file or a folder";
    case KeyType::kPaths:
      return "a list of files and folders";
    case KeyType::kProfile:
      return "a profile's name or a YAML file";
    case KeyType::kDevices:
      return "a device URI, or a list of them";
    case KeyType::kBoolean:
      return "true or false";
    case KeyType::kInteger:
      return fmt::format("a whole number from {} to {}", low, high);
    case KeyType::kNumber:
      return fmt::format("a number from {:g} to {:g}", key.min, key.max);
    case KeyType::kSize:
      return fmt::format("a size from {} to {}", quantity_text(low, Quantity::kSize),
                         quantity_text(high, Quantity::kSize));
    case KeyType::kDuration:
      return fmt::format("a duration from {} to {}", quantity_text(low, Quantity::kDuration),
                         quantity_text(high, Quantity::kDuration));
    case KeyType::kChoice:
      return fmt::format("one of {}", fmt::join(key.values, ", "));
  }
  return {};
}

}  // namespace halyard::config
