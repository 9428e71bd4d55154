// That a run is the same each time, reaches every part of a file, and sees each way to end a
// process.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "fuzz/mutations/campaign.h"
#include "fuzz/mutations/mutation.h"
#include "fuzz/mutations/seeds.h"

namespace halyard::mutations {
namespace {

std::vector<Seed> seeds_for(const char* device) {
  auto seeds =
      read_seeds({HALYARD_TEST_KERNELS, HALYARD_HAL_TEST_DATA, HALYARD_HAL_TEST_DATA "/fat"},
                 parse_target_id(device).value());
  if (!seeds.ok()) throw std::runtime_error(seeds.status().to_string());
  return std::move(seeds).value();
}

const Seed& seed_named(const std::vector<Seed>& seeds, std::string_view name) {
  for (const Seed& seed : seeds) {
    if (seed.name == name) return seed;
  }
  throw std::runtime_error("no seed " + std::string(name));
}

TEST(Mutations, AreOfFiftyFilesForEachProcessor) {
  for (const char* device : {"gfx900:xnack-", "gfx90a:sramecc+:xnack-"}) {
    const std::vector<Seed> seeds = seeds_for(device);
    EXPECT_GE(seeds.size(), 50u) << device;
    std::set<size_t> chosen;
    for (uint64_t number = 0; number < 2000; ++number) {
      chosen.insert(file_of(1, number, seeds.size()));
    }
    EXPECT_EQ(chosen.size(), seeds.size());
  }
}

TEST(Mutations, PartsAreAllThatAFileHas) {
  const std::vector<Seed> seeds = seeds_for("gfx900:xnack-");
  std::set<std::string> names;
  for (const Part& part : seed_named(seeds, "relocations-gfx900.hsaco").parts) {
    names.insert(part.name);
    EXPECT_FALSE(part.fields.empty()) << part.name;
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"ELF header", "program headers", "section headers", "symbols",
                                   "dynamic symbols", "relocations", "dynamic table", "hash tables",
                                   "strings", "notes", "metadata", "kernel descriptors"}));
}

TEST(Mutations, AreTheSameEachTime) {
  const std::vector<Seed> seeds = seeds_for("gfx900:xnack-");
  const Seed& seed = seed_named(seeds, "relocations-gfx900.hsaco");
  std::set<std::string> all;
  size_t unchanged = 0;
  std::set<std::string> reached;
  for (uint64_t number = 0; number < 3000; ++number) {
    const Bytes mutant = mutate(seed.bytes, seed.parts, 7, number);
    ASSERT_EQ(mutant, mutate(seed.bytes, seed.parts, 7, number));
    all.emplace(reinterpret_cast<const char*>(mutant.data()), mutant.size());
    if (mutant == seed.bytes) ++unchanged;
    if (mutant.size() != seed.bytes.size()) continue;
    for (const Part& part : seed.parts) {
      for (const Field& field : part.fields) {
        if (mutant[field.offset] != seed.bytes[field.offset]) reached.insert(part.name);
      }
    }
  }
  EXPECT_GT(all.size(), 2000u);
  EXPECT_LT(unchanged, 500u);
  EXPECT_EQ(reached.size(), seed.parts.size());
}

// The folder for what is found; and the options of a run of 30 mutations in processes of 10.
class Campaigns : public ::testing::Test {
 protected:
  Campaigns() : seeds_(1) {
    options_.count = 30;
    options_.batch = 10;
    options_.processes = 2;
    options_.timeout = 5;
    options_.found = ::testing::TempDir() + "mutations-" + std::to_string(getpid());
    std::filesystem::create_directories(options_.found);
    seeds_[0].name = "seed";
    seeds_[0].bytes.resize(100);
  }
  ~Campaigns() override { std::filesystem::remove_all(options_.found); }

  std::set<std::string> found() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(options_.found)) {
      names.insert(entry.path().filename());
    }
    return names;
  }
  // Accepts and refuses in turn; `mishap` may end the process first.
  template <typename Mishap>
  bool run(Mishap mishap) {
    return run_campaign(options_, seeds_, [&](uint64_t end, Progress* progress) {
      progress->started = true;
      for (uint64_t number = progress->next; number < end; ++number) {
        progress->next = number;
        mishap(number);
        ++(number % 2 == 0 ? progress->accepted : progress->refused);
      }
      progress->done = true;
      return true;
    });
  }

  Options options_;
  std::vector<Seed> seeds_;
};

TEST_F(Campaigns, PassWhereNothingEndsAProcess) {
  EXPECT_TRUE(run([](uint64_t) {}));
  EXPECT_TRUE(found().empty());
}

TEST_F(Campaigns, SeeEveryEndOfAProcessAndGoOn) {
  EXPECT_FALSE(run([](uint64_t number) {
    if (number == 3) std::abort();
    if (number == 4) _exit(0);
    if (number == 19) _exit(9);
    if (number == 22) {
      for (;;) pause();
    }
  }));
  EXPECT_EQ(found(), (std::set<std::string>{"seed.1.3", "seed.1.4", "seed.1.19", "seed.1.22"}));
}

TEST_F(Campaigns, FailWhereNoProcessStarts) {
  EXPECT_FALSE(run_campaign(options_, seeds_, [](uint64_t, Progress*) { return false; }));
}

TEST_F(Campaigns, FailWhereAllIsAccepted) {
  EXPECT_FALSE(run_campaign(options_, seeds_, [](uint64_t end, Progress* progress) {
    progress->started = true;
    progress->accepted = end - progress->next;
    progress->done = true;
    return true;
  }));
}

}  // namespace
}  // namespace halyard::mutations
