#include "toolchain/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "toolchain/hash.h"

namespace halyard::toolchain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// An entry: this line, a line of JSON, the bytes.
constexpr std::string_view kMagic = "halyard cache entry 1\n";
constexpr std::string_view kExtension = ".entry";
constexpr std::string_view kUnfinished = ".unfinished-";
// A writer takes milliseconds, so an older file was left by a writer that ended early.
constexpr int64_t kUnfinishedSeconds = 3600;

struct Entry {
  Json header;
  std::span<const std::byte> bytes;
};

// Nothing if the file is damaged or from another version of Halyard.
std::optional<Entry> parse(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) return std::nullopt;
  const size_t end = text.find('\n', kMagic.size());
  if (end == std::string_view::npos) return std::nullopt;
  Entry entry;
  entry.header = Json::parse(text.substr(kMagic.size(), end - kMagic.size()), nullptr, false);
  entry.bytes = file.subspan(end + 1);
  const Json& header = entry.header;
  const bool is_good = header.is_object() && header.contains("digest") &&
                       header["digest"].is_string() && header.contains("what") &&
                       header["what"].is_string() && header.contains("dependencies") &&
                       header["dependencies"].is_object();
  if (!is_good) return std::nullopt;
  return entry;
}

bool are_unchanged(const Json& dependencies) {
  return std::all_of(dependencies.items().begin(), dependencies.items().end(),
                     [](const auto& dependency) {
                       const auto bytes = read_file(dependency.key());
                       return bytes.ok() && dependency.value() == digest_of(*bytes);
                     });
}

struct File {
  fs::path path;
  uint64_t bytes = 0;
  int64_t last_used = 0;  // nanoseconds since 1970
};
constexpr int64_t kSecond = 1'000'000'000;

// Files of the folder whose names `wanted` takes; none if there is no folder.
template <typename Wanted>
std::vector<File> files_in(const std::string& folder, const Wanted& wanted) {
  std::vector<File> files;
  std::error_code wrong;
  for (fs::directory_iterator i(folder, wrong), end; !wrong && i != end; i.increment(wrong)) {
    struct stat facts = {};
    const fs::path& path = i->path();
    // Another process may have removed it by now.
    if (!wanted(path.filename().string()) || lstat(path.c_str(), &facts) != 0) continue;
    if (!S_ISREG(facts.st_mode)) continue;
    files.push_back({path, static_cast<uint64_t>(facts.st_size),
                     facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec});
  }
  return files;
}

bool is_entry(const std::string& name) {
  return name.ends_with(kExtension);
}
bool is_unfinished(const std::string& name) {
  return name.starts_with(kUnfinished);
}

Status cannot_write(const std::string& path, int reason) {
  return error(status_code_of_errno(reason),
               "The cache of compiled kernels ({}) cannot be written: {}. Choose another folder "
               "(HALYARD_CACHE_DIR), or none (HALYARD_CACHE_SIZE=0).",
               printable(path), std::strerror(reason));
}

Status write_all(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_write(path, errno);
    text.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

}  // namespace

std::string Cache::path_of(const std::string& key) const {
  return folder_ + "/" + key + std::string(kExtension);
}

std::optional<std::vector<std::byte>> Cache::find(const std::string& key) const {
  if (limit_ == 0) return std::nullopt;
  const std::string path = path_of(key);
  const auto file = read_file(path);
  if (!file.ok()) return std::nullopt;
  const std::optional<Entry> entry = parse(*file);
  if (!entry || entry->header["digest"] != digest_of(entry->bytes) ||
      !are_unchanged(entry->header["dependencies"])) {
    return std::nullopt;
  }
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  return std::vector<std::byte>(entry->bytes.begin(), entry->bytes.end());
}

Status Cache::store(const std::string& key, const CacheEntryInfo& info,
                    std::span<const std::byte> bytes) const {
  Json header = {
      {"what", info.what}, {"digest", digest_of(bytes)}, {"dependencies", Json::object()}};
  for (const auto& [path, digest] : info.dependencies) header["dependencies"][path] = digest;
  const std::string head =
      std::string(kMagic) + header.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (head.size() + bytes.size() > limit_) return {};

  std::error_code wrong;
  fs::create_directories(folder_, wrong);
  if (wrong) return cannot_write(folder_, wrong.value());
  std::string unfinished = folder_ + "/" + std::string(kUnfinished) + "XXXXXX";
  const int file = mkostemp(unfinished.data(), O_CLOEXEC);
  if (file < 0) return cannot_write(folder_, errno);
  Status written = write_all(file, head, folder_);
  if (written.ok()) {
    written = write_all(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, folder_);
  }
  if (close(file) != 0 && written.ok()) written = cannot_write(folder_, errno);
  // A file that is not there has been removed by another process's clear().
  if (written.ok() && rename(unfinished.c_str(), path_of(key).c_str()) != 0 && errno != ENOENT) {
    written = cannot_write(folder_, errno);
  }
  if (!written.ok()) {
    unlink(unfinished.c_str());
    return written;
  }
  evict();
  return {};
}

void Cache::evict() const {
  const int64_t now = time(nullptr) * kSecond;
  for (const File& file : files_in(folder_, is_unfinished)) {
    if (now - file.last_used > kUnfinishedSeconds * kSecond) unlink(file.path.c_str());
  }
  std::vector<File> files = files_in(folder_, is_entry);
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.last_used > b.last_used; });
  uint64_t total = 0;
  for (const File& file : files) {
    total += file.bytes;
    // A process that reads it has it open, and keeps it.
    if (total > limit_) unlink(file.path.c_str());
  }
}

std::vector<CacheListing> Cache::list() const {
  std::vector<CacheListing> listings;
  for (const File& file : files_in(folder_, is_entry)) {
    CacheListing listing{file.path.stem().string(), "damaged", file.bytes,
                         file.last_used / kSecond};
    const auto bytes = read_file(file.path.string());
    const std::optional<Entry> entry = bytes.ok() ? parse(*bytes) : std::nullopt;
    if (entry) listing.what = entry->header["what"].get<std::string>();
    listings.push_back(std::move(listing));
  }
  std::sort(listings.begin(), listings.end(), [](const CacheListing& a, const CacheListing& b) {
    return a.last_used != b.last_used ? a.last_used > b.last_used : a.key < b.key;
  });
  return listings;
}

Result<size_t> Cache::clear() const {
  size_t count = 0;
  for (const File& file : files_in(folder_, [](const std::string& name) {
         return is_entry(name) || is_unfinished(name);
       })) {
    // One that another process has removed is as good as removed here.
    if (unlink(file.path.c_str()) != 0 && errno != ENOENT) return cannot_write(folder_, errno);
    if (is_entry(file.path.filename().string())) ++count;
  }
  return count;
}

Result<std::string> default_cache_folder(const SearchContext& context) {
  const std::string named = context.variable("HALYARD_CACHE_DIR");
  if (!named.empty()) return named;
  const std::string xdg = context.variable("XDG_CACHE_HOME");
  // The specification says to ignore a relative path.
  if (xdg.starts_with('/')) return xdg + "/halyard";
  const std::string home = context.variable("HOME");
  if (home.starts_with('/')) return home + "/.cache/halyard";
  return error(StatusCode::kNotFound,
               "There is no folder for the cache of compiled kernels, because HOME ({}) is not an "
               "absolute path. Name one (HALYARD_CACHE_DIR).",
               home.empty() ? "which is not set" : printable(home));
}

}  // namespace halyard::toolchain
