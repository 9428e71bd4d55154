#include "registry/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "hal/text.h"
#include "registry/installation.h"
#include "registry/trust.h"

namespace halyard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFilePrefix = "libhalyard_driver_";
constexpr std::string_view kFileSuffix = ".so";
constexpr size_t kLongestName = 64;

class Search {
 public:
  explicit Search(bool privileged) : privileged_(privileged) {}

  void add_place(PluginOrigin origin, const std::string& path) {
    SearchedPlace place;
    place.origin = origin;
    place.path = path;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
      place.problem = "there is no such file or folder";
    } else if (status.type() == fs::file_type::none) {
      place.problem = error.message();
    } else if (status.type() == fs::file_type::directory) {
      place.warning = warning_for(path, true);
      if (privileged_ && !place.warning.empty()) {
        place.problem = fmt::format("this process has more privileges than its caller, and {}",
                                    std::exchange(place.warning, {}));
      } else {
        read_folder(place);
      }
    } else {
      // A file that is named directly is tried regardless of its name and type: the loader reports
      // its mistake.
      add_file(place, path);
    }
    report_.places.push_back(std::move(place));
  }

  LoadReport take() { return std::move(report_); }

 private:
  std::string warning_for(const fs::path& path, bool counts_sticky) const {
    return who_else_may_write(path.string(),
                              {.strict = privileged_, .counts_sticky = counts_sticky});
  }

  void read_folder(SearchedPlace& place) {
    std::error_code error;
    std::vector<fs::path> entries;
    fs::directory_iterator entry(place.path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      entries.push_back(entry->path());
    }
    if (error) place.problem = error.message();
    std::sort(entries.begin(), entries.end());
    for (const fs::path& path : entries) {
      const std::string name = path.filename().string();
      if (!name.ends_with(kFileSuffix)) {
        place.ignored.push_back({name, "its name does not end in .so"});
      } else if (fs::is_directory(path, error)) {
        place.ignored.push_back({name, "it is a folder"});
      } else {
        add_file(place, path);
      }
    }
  }

  void add_file(SearchedPlace& place, const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);  // empty on failure
    if (!real.empty()) {
      const auto [known, added] = seen_.emplace(real.string(), path.string());
      if (!added) {
        place.ignored.push_back(
            {path.filename().string(), "it is the same file as " + printable(known->second)});
        return;
      }
    }
    Candidate candidate;
    candidate.path = path.string();
    candidate.real_path = real.string();
    candidate.origin = place.origin;
    candidate.warning = warning_for(real, true);
    // The place's own folder has been looked at; a link or a file by its name lies somewhere else.
    if (candidate.warning.empty() && !fs::equivalent(real.parent_path(), place.path, error))
      candidate.warning = warning_for(real.parent_path(), false);
    if (privileged_ && !candidate.warning.empty()) {
      place.ignored.push_back(
          {path.filename().string(),
           "this process has more privileges than its caller, and " + candidate.warning});
      return;
    }
    report_.candidates.push_back(std::move(candidate));
    ++place.candidates;
  }

  const bool privileged_;
  LoadReport report_;
  std::map<std::string, std::string> seen_;  // from real path to the path that was kept
};

}  // namespace

LoadReport discover(const DiscoveryOptions& options) {
  Search search(options.privileged);
  for (const std::string& path : options.plugin_paths) {
    search.add_place(PluginOrigin::kExplicit, path);
  }
  if (options.use_environment && !options.privileged) {
    const std::string list = trusted_environment("HALYARD_PLUGIN_PATH");
    size_t begin = 0;
    while (begin < list.size()) {
      const size_t end = std::min(list.find(':', begin), list.size());
      // Unlike the shell, an empty entry does not mean the current folder.
      if (end > begin) {
        search.add_place(PluginOrigin::kEnvironment, list.substr(begin, end - begin));
      }
      begin = end + 1;
    }
  }
  for (const std::string& path : options.configured_paths) {
    search.add_place(PluginOrigin::kConfig, path);
  }
  if (options.use_installation) {
    for (const std::string& prefix : installation_prefixes(options.installation)) {
      search.add_place(PluginOrigin::kInstallation, prefix + "/lib/halyard/plugins");
    }
  }
  return search.take();
}

std::string_view driver_of_file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (!name.starts_with(kFilePrefix) || !name.ends_with(kFileSuffix)) return {};
  if (name.size() <= kFilePrefix.size() + kFileSuffix.size()) return {};
  name.remove_prefix(kFilePrefix.size());
  name.remove_suffix(kFileSuffix.size());
  return is_driver_name(name) ? name : std::string_view();
}

bool is_driver_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  if (name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace halyard
