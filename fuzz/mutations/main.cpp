// halyard-mutations: loads code objects with a few changed bytes by Device::load_executable. None
// of them may end the process.
#include <cstdio>
#include <fstream>

#include "fuzz/mutations/campaign.h"
#include "fuzz/mutations/loading.h"
#include "fuzz/mutations/options.h"
#include "fuzz/mutations/seeds.h"

namespace halyard::mutations {
namespace {

int write_mutation(const Options& options, const std::vector<Seed>& seeds) {
  const Seed& seed = seeds[file_of(options.seed, options.first, seeds.size())];
  const Bytes mutant = mutate(seed.bytes, seed.parts, options.seed, options.first);
  std::ofstream file(options.write, std::ios::binary);
  file.write(reinterpret_cast<const char*>(mutant.data()),
             static_cast<std::streamsize>(mutant.size()));
  if (!file.flush()) {
    std::fprintf(stderr, "halyard-mutations: The file (\"%s\") cannot be written.\n",
                 options.write.c_str());
    return 1;
  }
  std::printf("Mutation %llu of seed %llu, of %s, is in %s.\n",
              static_cast<unsigned long long>(options.first),
              static_cast<unsigned long long>(options.seed), seed.name.c_str(),
              options.write.c_str());
  return 0;
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  const Result<TargetId> target = parse_target_id(options.target);
  const Result<std::vector<Seed>> seeds = target.ok() ? read_seeds(options.folders, *target)
                                                      : Result<std::vector<Seed>>(target.status());
  if (!seeds.ok()) {
    std::fprintf(stderr, "halyard-mutations: %s\n", seeds.status().to_string().c_str());
    return 2;
  }
  if (!options.write.empty()) return write_mutation(options, *seeds);
  const Loader loader = [&](uint64_t end, Progress* progress) {
    return load_mutations(options, *seeds, end, progress);
  };
  return run_campaign(options, *seeds, loader) ? 0 : 1;
}

}  // namespace
}  // namespace halyard::mutations

int main(int argc, char** argv) {
  return halyard::mutations::run(argc, argv);
}
