// Which of the suite's tests run: patterns and shards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halyard::cts {

// Whether `name` ("Suite.Test") matches one glob: * is any text, ? any one character.
bool matches_glob(std::string_view glob, std::string_view name);

// gtest's filters: globs separated by colons, and behind the first '-' those that are taken away
// again. An empty positive part is everything.
bool matches_filter(std::string_view filter, std::string_view name);

// Part `index` of `count`, from 1 on.
struct Shard {
  uint32_t index = 1;
  uint32_t count = 1;
};

// The names that the filter takes, and of those every count-th, so that neighbours, which cost
// alike, are spread over the shards.
std::vector<std::string> select_tests(const std::vector<std::string>& all, std::string_view filter,
                                      Shard shard);

// Every test that is linked into this program, in the order in which gtest runs them.
std::vector<std::string> all_tests();

}  // namespace halyard::cts
