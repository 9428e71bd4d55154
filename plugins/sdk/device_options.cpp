#include "plugins/sdk/device_options.h"

#include <bit>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard {
namespace {

struct Row {
  std::string_view key;
  std::string_view meaning;  // "It is …"
  uint64_t least;
  uint64_t most;
  void (*set)(DeviceOptions& options, uint64_t value);
};

constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr uint64_t kLeastPool = uint64_t{1} << 20;

constexpr Row kRows[] = {
    {"stack_bytes",
     "the stack of a work-item in bytes, for kernels that recurse or call through pointers", 1,
     kMaxStackBytes,
     [](DeviceOptions& options, uint64_t value) {
       options.stack_bytes = static_cast<uint32_t>((value + 15) / 16 * 16);
     }},
    {"queue_capacity", "how many operations a queue takes that asks for no capacity of its own", 64,
     16384,
     [](DeviceOptions& options, uint64_t value) {
       options.queue_capacity = static_cast<uint32_t>(value);
     }},
    {"max_queues", "how many queues of the device may live at a time", 1, 1024,
     [](DeviceOptions& options, uint64_t value) {
       options.max_queues = static_cast<uint32_t>(value);
     }},
    {"pool_keep_bytes", "how many bytes the pool of one memory type keeps that no buffer has", 0,
     kMostBytes, [](DeviceOptions& options, uint64_t value) { options.pool_keep_bytes = value; }},
    {"pool_limit_bytes",
     "the most memory in bytes that the device's own pool of one memory type has", kLeastPool,
     kMostBytes, [](DeviceOptions& options, uint64_t value) { options.pool_limit_bytes = value; }},
    {"max_workgroup_size", "the most work-items of a work-group", 1, 1024,
     [](DeviceOptions& options, uint64_t value) {
       options.max_workgroup_size = static_cast<uint32_t>(value);
     }},
    {"wait_spin_us", "how many microseconds a waiting thread looks before it sleeps", 0, 1'000'000,
     [](DeviceOptions& options, uint64_t value) { options.wait_spin_ns = value * 1000; }},
};

constexpr Row kCopyEngine = {
    "copy_engine_bytes",
    "how many bytes a copy between the host and the device has at least for a copy engine to do it",
    0, kMostBytes,
    [](DeviceOptions& options, uint64_t value) { options.copy_engine_bytes = value; }};

constexpr Row kKernarg = {"kernarg_bytes",
                          "how many bytes of kernel arguments a queue has for each operation that "
                          "it takes, rounded up to "
                          "a power of two",
                          512, 16384, [](DeviceOptions& options, uint64_t value) {
                            options.kernarg_bytes = std::bit_ceil(static_cast<uint32_t>(value));
                          }};

std::vector<const Row*> rows_of(const DeviceOptionSet& set) {
  std::vector<const Row*> rows;
  for (const Row& row : kRows) rows.push_back(&row);
  if (set.copy_engine) rows.push_back(&kCopyEngine);
  if (set.kernarg) rows.push_back(&kKernarg);
  return rows;
}

std::string values_of(const Row& row) {
  return fmt::format("a whole number from {} to {}", row.least, row.most);
}

Status read_value(const Row& row, std::string_view text, DeviceOptions* options) {
  uint64_t value = 0;
  const char* const limit = text.data() + text.size();
  const auto [end, trouble] = std::from_chars(text.data(), limit, value);
  if (trouble != std::errc() || end != limit || value < row.least || value > row.most) {
    return error(StatusCode::kInvalidArgument, "The device option {} is given ({}). It is {}: {}.",
                 row.key, printable(text), row.meaning, values_of(row));
  }
  row.set(*options, value);
  return {};
}

}  // namespace

void list_device_options(const DeviceOptionSet& set, driver::DeviceOptionSink sink, void* context) {
  // Texts that live as long as a driver does; a driver's library is never unloaded.
  static const auto* const values = [] {
    auto* const made = new std::map<std::string_view, std::string>;
    for (const Row* const row : rows_of({.copy_engine = true, .kernarg = true})) {
      made->emplace(row->key, values_of(*row));
    }
    return made;
  }();
  for (const Row* const row : rows_of(set)) {
    DeviceOptionInfo option;
    option.key = row->key;
    option.meaning = row->meaning;
    option.values = values->at(row->key);
    sink(context, option);
  }
}

Result<DeviceOptions> read_device_options(const char* driver, const DeviceOptionSet& set,
                                          Span<const Option> options) {
  const std::vector<const Row*> rows = rows_of(set);
  DeviceOptions read;
  for (const Option& option : options) {
    const Row* row = nullptr;
    std::vector<std::string_view> known;
    for (const Row* const one : rows) {
      known.push_back(one->key);
      if (one->key == option.key.view()) row = one;
    }
    if (row == nullptr) {
      return error(StatusCode::kInvalidArgument,
                   "The driver {} does not know the device option ({}). It knows: {}.{}", driver,
                   printable(option.key.view()), list_of(known),
                   did_you_mean_clause(option.key.view(), known));
    }
    HALYARD_RETURN_IF_ERROR(read_value(*row, option.value.view(), &read));
  }
  return read;
}

}  // namespace halyard
