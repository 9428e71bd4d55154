#include "tools/bench/memory_loops.h"

#include <fmt/format.h>

#include <cstring>

#include "tools/bench/failure.h"
#include "tools/bench/timing.h"

namespace halyard::bench {
namespace {

using Block = MemoryApi::Block;

constexpr uint64_t kCopySizes[] = {4 << 10, 64 << 10, 1 << 20, kBlockBytes};
constexpr uint64_t kAllocationSizes[] = {4 << 10, 1 << 20, 64 << 20};

struct Direction {
  Block from, to;
  const char* name;
  const char* row;
};
constexpr Direction kDirections[] = {
    {Block::kHost, Block::kDevice, "h2d", "host to device"},
    {Block::kDevice, Block::kHost, "d2h", "device to host"},
    {Block::kDevice, Block::kOther, "d2d", "within the device"},
    {Block::kDevice, Block::kPeer, "d2p", "to another GPU"},
};

// Contents that are never the same twice.
uint32_t new_seed() {
  static uint32_t seed = 0;
  return seed += 0x9e3779b9;
}
uint32_t word_of(uint32_t seed, uint64_t index) {
  return static_cast<uint32_t>((index + 1) * 2654435761U) ^ seed;
}

void write_words(MemoryApi& api, uint32_t seed, uint64_t bytes) {
  auto* const words = static_cast<uint32_t*>(api.host());
  for (uint64_t i = 0; i < bytes / 4; ++i) words[i] = word_of(seed, i);
}

template <typename Expected>
void check_words(MemoryApi& api, uint64_t bytes, const char* what, Expected expected) {
  const auto* const words = static_cast<const uint32_t*>(api.host());
  for (uint64_t i = 0; i < bytes / 4; ++i) {
    if (words[i] == expected(i)) continue;
    throw Failure(
        fmt::format("The {} of {} has left a wrong word ({:#010x}) at byte {}, where "
                    "{:#010x} should be.",
                    what, size_text(bytes), words[i], i * 4, expected(i)));
  }
}

// Copies `block` to the host.
void fetch(MemoryApi& api, Block block, uint64_t bytes) {
  if (block == Block::kHost) return;
  std::memset(api.host(), 0, bytes);
  api.copy(block, Block::kHost, bytes);
}

Loop copy_loop(MemoryApi& api, const Direction& direction, uint64_t bytes) {
  const auto seed = std::make_shared<uint32_t>(0);
  Loop loop;
  loop.bytes = bytes;
  loop.run = [&api, direction, bytes](uint64_t iterations) {
    return each(iterations, [&] { api.copy(direction.from, direction.to, bytes); });
  };
  loop.prepare = [&api, direction, bytes, seed] {
    *seed = new_seed();
    write_words(api, *seed, bytes);
    if (direction.from == Block::kHost) return;
    api.copy(Block::kHost, direction.from, bytes);
    if (direction.to == Block::kHost) std::memset(api.host(), 0, bytes);
  };
  loop.check = [&api, direction, bytes, seed] {
    fetch(api, direction.to, bytes);
    check_words(api, bytes, "copy", [&](uint64_t i) { return word_of(*seed, i); });
  };
  return loop;
}

Loop fill_loop(MemoryApi& api, uint64_t bytes) {
  const auto seed = std::make_shared<uint32_t>(0);
  Loop loop;
  loop.bytes = bytes;
  loop.run = [&api, bytes, seed](uint64_t iterations) {
    return each(iterations, [&] { api.fill(*seed, bytes); });
  };
  loop.prepare = [seed] { *seed = new_seed(); };
  loop.check = [&api, bytes, seed] {
    fetch(api, Block::kDevice, bytes);
    check_words(api, bytes, "fill", [&](uint64_t) { return *seed; });
  };
  return loop;
}

void add(Loops& loops, Loop loop, std::string name, std::string row, const std::string& column) {
  loop.name = std::move(name);
  loop.row = std::move(row);
  loop.column = column;
  loops.push_back(std::move(loop));
}

std::string without_space(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

std::string size_text(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

void add_memory_loops(Loops& loops, MemoryApi& api, const std::string& prefix,
                      const std::string& column) {
  for (const Direction& direction : kDirections) {
    if (direction.to == Block::kPeer && !api.has_peer()) continue;
    for (const uint64_t bytes : kCopySizes) {
      const std::string size = size_text(bytes);
      add(loops, copy_loop(api, direction, bytes),
          fmt::format("{}_copy_{}_{}", prefix, direction.name, without_space(size)),
          fmt::format("copy {}, {}", direction.row, size), column);
    }
  }
  for (const uint64_t bytes : kCopySizes) {
    const std::string size = size_text(bytes);
    add(loops, fill_loop(api, bytes), fmt::format("{}_fill_{}", prefix, without_space(size)),
        "fill, " + size, column);
  }
  for (const uint64_t bytes : kAllocationSizes) {
    const std::string size = size_text(bytes);
    Loop loop;
    loop.run = [&api, bytes](uint64_t iterations) {
      return each(iterations, [&] { api.allocate_and_free(bytes); });
    };
    add(loops, std::move(loop), fmt::format("{}_allocate_{}", prefix, without_space(size)),
        "allocate and free, " + size, column);
  }
}

}  // namespace halyard::bench
