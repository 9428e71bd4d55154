// halyard cache: what is in the cache of compiled kernels, and emptying it.
#include "tools/halyard/cache.h"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "hal/error.h"
#include "toolchain/tools.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/session.h"
#include "tools/halyard/table.h"

namespace halyard::cli {
namespace {

std::string text_of_size(uint64_t bytes) {
  if (bytes < uint64_t{1} << 20)
    return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string text_of_time(int64_t seconds) {
  const time_t time = seconds;
  tm local = {};
  if (localtime_r(&time, &local) == nullptr) return "?";
  std::array<char, 32> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local)};
}

Status show(bool as_json) {
  HALYARD_ASSIGN_OR_RETURN(const toolchain::Cache cache, open_cache());
  const std::vector<toolchain::CacheListing> entries = cache.list();
  uint64_t total = 0;
  for (const toolchain::CacheListing& entry : entries) total += entry.bytes;
  if (as_json) {
    Json json = {{"folder", cache.folder()},
                 {"limit", cache.limit()},
                 {"bytes", total},
                 {"entries", Json::array()}};
    for (const toolchain::CacheListing& entry : entries) {
      json["entries"].push_back({{"key", entry.key},
                                 {"what", entry.what},
                                 {"bytes", entry.bytes},
                                 {"last_used", entry.last_used}});
    }
    return print(dump(json));
  }
  std::string text = fmt::format("{}: {} {}, {} of {}\n", cache.folder(), entries.size(),
                                 entries.size() == 1 ? "entry" : "entries", text_of_size(total),
                                 text_of_size(cache.limit()));
  if (!entries.empty()) {
    std::vector<Row> rows = {{"LAST USED", "SIZE", "WHAT"}};
    for (const toolchain::CacheListing& entry : entries) {
      rows.push_back({text_of_time(entry.last_used), text_of_size(entry.bytes), entry.what});
    }
    text += "\n" + format_table(rows);
  }
  return print(text);
}

Status clear() {
  HALYARD_ASSIGN_OR_RETURN(const toolchain::Cache cache, open_cache());
  HALYARD_ASSIGN_OR_RETURN(const size_t count, cache.clear());
  return print(
      fmt::format("{}: {} {} removed\n", cache.folder(), count, count == 1 ? "entry" : "entries"));
}

}  // namespace

Result<toolchain::Cache> open_cache() {
  const toolchain::SearchContext context = toolchain::SearchContext::of_process();
  uint64_t limit = toolchain::kDefaultCacheLimit;
  const std::string size = context.variable("HALYARD_CACHE_SIZE");
  if (!size.empty()) {
    auto number = parse_number(size, {.is_size = true});
    if (!number.ok()) return number.status().with_context("HALYARD_CACHE_SIZE");
    limit = *number;
  }
  HALYARD_ASSIGN_OR_RETURN(std::string folder, toolchain::default_cache_folder(context));
  return toolchain::Cache(std::move(folder), limit);
}

Result<toolchain::Cache> open_cache_or_none() {
  Result<toolchain::Cache> cache = open_cache();
  if (cache.ok() || cache.status().code() != StatusCode::kNotFound) return cache;
  fmt::print(stderr, "halyard: note: {}\n", cache.status().message());
  return toolchain::Cache("", 0);
}

void add_cache_command(Command app, Status& outcome) {
  Command command = app.add_subcommand(
      "cache", "Show or clear the cache of kernels that `halyard run` has compiled");
  const auto as_json = std::make_shared<bool>(false);
  command.add_flag("--json", *as_json, "Print JSON instead of text");
  Command clearing = command.add_subcommand("clear", "Remove all entries");
  command.require_subcommand(0, 1);
  command.footer(
      "HALYARD_CACHE_DIR is its folder (by default halyard in XDG_CACHE_HOME or ~/.cache), and\n"
      "HALYARD_CACHE_SIZE its size limit (512MiB; 0 turns the cache off). Above the limit, the "
      "least\n"
      "recently used entries are removed.\n"
      "\n"
      "Examples:\n"
      "  halyard cache\n"
      "  halyard cache clear");
  clearing.footer(
      "Example:\n"
      "  halyard cache clear");
  command.callback(
      [as_json, clearing, &outcome] { outcome = clearing.parsed() ? clear() : show(*as_json); });
}

}  // namespace halyard::cli
