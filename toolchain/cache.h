// A folder of compiled code, by key: bounded, and shared by processes that run at the same time.
//
// An entry is one file. It appears whole (written beside its place, then renamed) and is checked
// when it is read, so that a damaged one, or one that another process removes meanwhile, is only
// not found. The entries that were used longest ago go when there are too many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hal/status.h"
#include "toolchain/tools.h"

namespace halyard::toolchain {

// What an entry says of itself.
struct CacheEntryInfo {
  std::string what;  // "vadd.cl for gfx900, by clang 22.1.8", for people
  // Files that were read to make it, each with the digest of its bytes. The entry is good as long
  // as they have these bytes.
  std::vector<std::pair<std::string, std::string>> dependencies = {};
};

struct CacheListing {
  std::string key;
  std::string what;
  uint64_t bytes = 0;     // of the file
  int64_t last_used = 0;  // seconds since 1970
};

class Cache {
 public:
  // `limit`: bytes of all entries together; 0: nothing is found or kept. The folder is made when
  // something is stored.
  Cache(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

  const std::string& folder() const { return folder_; }
  uint64_t limit() const { return limit_; }

  // The bytes that are stored for `key` (64 hexadecimal digits), if there are any and their
  // dependencies have not changed.
  std::optional<std::vector<std::byte>> find(const std::string& key) const;

  // Stores the files, replaces others with that key, and evicts entries above the limit; does not
  // store more than the limit. PERMISSION_DENIED, RESOURCE_EXHAUSTED, … if the folder cannot be
  // written.
  Status store(const std::string& key, const CacheEntryInfo& info,
               std::span<const std::byte> bytes) const;

  // All entries, the last used first. One that cannot be read says so in `what`.
  std::vector<CacheListing> list() const;

  // Removes all entries, and what writers that ended early have left. The number of entries.
  Result<size_t> clear() const;

 private:
  std::string path_of(const std::string& key) const;
  void evict() const;

  std::string folder_;
  uint64_t limit_;
};

// HALYARD_CACHE_DIR, or halyard in XDG_CACHE_HOME or in ~/.cache. NOT_FOUND if the environment
// has none of these.
Result<std::string> default_cache_folder(const SearchContext& context);

inline constexpr uint64_t kDefaultCacheLimit = uint64_t{512} << 20;

}  // namespace halyard::toolchain
