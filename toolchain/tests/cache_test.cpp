#include "toolchain/cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "hal/file.h"
#include "toolchain/hash.h"
#include "toolchain/temporary_folder.h"

namespace halyard::toolchain {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> bytes(size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

class CacheTest : public ::testing::Test {
 protected:
  std::string folder() const { return folder_ / "cache"; }
  std::string path(const std::string& key) const { return folder() + "/" + key + ".entry"; }
  // As if the entry had been used that many seconds ago.
  void age(const std::string& file, int seconds) const {
    timespec times[2] = {};
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  static std::set<std::string> names_in(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
  }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create()).value();
};

TEST_F(CacheTest, WhatIsStoredIsFoundUnderItsKeyOnly) {
  const Cache cache(folder(), 1 << 20);
  EXPECT_FALSE(cache.find("a"));
  ASSERT_TRUE(cache.store("a", {"one"}, bytes(100, 1)).ok());
  ASSERT_TRUE(cache.store("b", {"two"}, {}).ok());
  EXPECT_EQ(cache.find("a"), bytes(100, 1));
  EXPECT_EQ(cache.find("b"), bytes(0, 0));
  EXPECT_FALSE(cache.find("c"));
  ASSERT_TRUE(cache.store("a", {"one"}, bytes(50, 2)).ok());
  EXPECT_EQ(cache.find("a"), bytes(50, 2));
  // Another process sees the same.
  EXPECT_EQ(Cache(folder(), 1 << 20).find("a"), bytes(50, 2));
}

TEST_F(CacheTest, AnEntryIsGoodAsLongAsItsDependenciesAre) {
  const Cache cache(folder(), 1 << 20);
  const std::string header = folder_ / "a.h";
  std::ofstream(header) << "one";
  const std::string digest = digest_of(*read_file(header));
  ASSERT_TRUE(cache.store("a", {"one", {{header, digest}}}, bytes(10, 1)).ok());
  EXPECT_TRUE(cache.find("a"));
  std::ofstream(header) << "two";
  EXPECT_FALSE(cache.find("a"));
  std::ofstream(header) << "one";
  EXPECT_TRUE(cache.find("a"));
  fs::remove(header);
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(CacheTest, ADamagedEntryIsNotFound) {
  const Cache cache(folder(), 1 << 20);
  ASSERT_TRUE(cache.store("a", {"one"}, bytes(200, 1)).ok());
  std::string whole;
  {
    const auto file = *read_file(path("a"));
    whole.assign(reinterpret_cast<const char*>(file.data()), file.size());
  }
  // Each byte, changed; each length, cut short.
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(path("a"), std::ios::binary) << damaged;
    const auto found = cache.find("a");
    // What is in "what" may be anything.
    if (found) {
      EXPECT_EQ(*found, bytes(200, 1)) << i;
    }
    std::ofstream(path("a"), std::ios::binary) << whole.substr(0, i);
    EXPECT_FALSE(cache.find("a")) << i;
  }
  std::ofstream(path("a"), std::ios::binary) << whole.substr(0, 30);
  EXPECT_EQ(cache.list().size(), 1u);
  EXPECT_EQ(cache.list().front().what, "damaged");
}

TEST_F(CacheTest, TheLeastRecentlyUsedGoWhenThereIsTooMuch) {
  const Cache cache(folder(), 3500);  // three of 1,000 bytes and their headers
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(cache.store(key, {key}, bytes(1000, 1)).ok());
    age(path(key), 100 - key[0] + 'a');  // "a" is the oldest
  }
  EXPECT_TRUE(cache.find("a"));  // and now the newest
  ASSERT_TRUE(cache.store("d", {"d"}, bytes(1000, 1)).ok());
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  EXPECT_TRUE(cache.find("d"));
  uint64_t total = 0;
  for (const CacheListing& entry : cache.list()) total += entry.bytes;
  EXPECT_LE(total, 3500u);
}

TEST_F(CacheTest, WhatIsLargerThanTheLimitIsNotStored) {
  const Cache cache(folder(), 1000);
  ASSERT_TRUE(cache.store("small", {"small"}, bytes(10, 1)).ok());
  ASSERT_TRUE(cache.store("large", {"large"}, bytes(1000, 1)).ok());
  EXPECT_TRUE(cache.find("small"));
  EXPECT_FALSE(cache.find("large"));
  // And no limit is no cache.
  const Cache none(folder(), 0);
  EXPECT_FALSE(none.find("small"));
  ASSERT_TRUE(none.store("x", {"x"}, {}).ok());
  EXPECT_FALSE(cache.find("x"));
}

TEST_F(CacheTest, ListIsByLastUseAndClearEmpties) {
  const Cache cache(folder(), 1 << 20);
  EXPECT_TRUE(cache.list().empty());
  EXPECT_EQ(*cache.clear(), 0u);
  ASSERT_TRUE(cache.store("a", {"first"}, bytes(10, 1)).ok());
  ASSERT_TRUE(cache.store("b", {"second \xff"}, bytes(10, 1)).ok());
  age(path("a"), 10);
  const auto list = cache.list();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].key, "b");
  EXPECT_EQ(list[1].what, "first");
  // A file of somebody else's stays.
  std::ofstream(folder() + "/notes.txt") << "mine";
  std::ofstream(folder() + "/.unfinished-abc") << "half";
  EXPECT_EQ(*cache.clear(), 2u);
  EXPECT_THAT(names_in(folder()), ElementsAre("notes.txt"));
}

TEST_F(CacheTest, WhatAWriterLeftIsRemovedLater) {
  const Cache cache(folder(), 1 << 20);
  ASSERT_TRUE(cache.store("a", {"a"}, {}).ok());
  for (const char* name : {"/.unfinished-old", "/.unfinished-new"}) {
    std::ofstream(folder() + name) << "half";
  }
  age(folder() + "/.unfinished-old", 4000);
  ASSERT_TRUE(cache.store("b", {"b"}, {}).ok());
  EXPECT_THAT(names_in(folder()), ElementsAre(".unfinished-new", "a.entry", "b.entry"));
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(folder()) << "a file";
  const Cache cache(folder(), 1 << 20);
  const Status status = cache.store("a", {"a"}, bytes(10, 1));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr(folder()), HasSubstr("HALYARD_CACHE_DIR")));
  EXPECT_FALSE(cache.find("a"));
  EXPECT_TRUE(cache.list().empty());
}

// Writers, readers, evictions and clears at once: what is found is whole, and no one's own.
TEST_F(CacheTest, AnyNumberAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const Cache cache(folder(), 20000);  // less than all of them
      for (int i = 0; i < 100; ++i) {
        const int n = (i * 7 + thread) % 12;
        const std::string key = "key" + std::to_string(n);
        const auto found = cache.find(key);
        if (found) {
          EXPECT_EQ(*found, bytes(3000, n));
        }
        EXPECT_TRUE(cache.store(key, {key}, bytes(3000, n)).ok());
        if (i % 25 == 24) {
          EXPECT_TRUE(cache.clear().ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Cache cache(folder(), 20000);
  ASSERT_TRUE(cache.store("last", {"last"}, {}).ok());
  uint64_t total = 0;
  for (const CacheListing& entry : cache.list()) total += entry.bytes;
  EXPECT_LE(total, 20000u);
  for (const std::string& name : names_in(folder())) EXPECT_THAT(name, HasSubstr(".entry"));
}

TEST(CacheFolder, ComesFromTheEnvironment) {
  EXPECT_EQ(*default_cache_folder({{}, {{"HOME", "/home/a"}}}), "/home/a/.cache/halyard");
  EXPECT_EQ(*default_cache_folder({{}, {{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "/x"}}}),
            "/x/halyard");
  EXPECT_EQ(*default_cache_folder({{}, {{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "x"}}}),
            "/home/a/.cache/halyard");
  EXPECT_EQ(*default_cache_folder({{}, {{"HALYARD_CACHE_DIR", "c"}, {"XDG_CACHE_HOME", "/x"}}}),
            "c");
  EXPECT_FALSE(default_cache_folder({}).ok());
}

TEST(Hash, IsSha256OfFieldsWithTheirLengths) {
  Hash one;
  one.add("ab");
  one.add("c");
  Hash other;
  other.add("a");
  other.add("bc");
  const std::string digest = one.digest();
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_NE(digest, other.digest());
}

}  // namespace
}  // namespace halyard::toolchain
