// Loops on memory: copies, fills and allocation, written once for all APIs.
#pragma once

#include <cstdint>
#include <string>

#include "tools/bench/loop.h"

namespace halyard::bench {

// What these loops need of an API. Every operation is waited for, and throws Failure.
class MemoryApi {
 public:
  // Each of kBlockBytes.
  enum class Block : uint8_t { kHost, kDevice, kOther /* of the same device */, kPeer };

  virtual ~MemoryApi() = default;
  virtual bool has_peer() const = 0;  // a second GPU, whose memory the first one uses
  virtual void* host() = 0;           // the block's address
  virtual void copy(Block from, Block to, uint64_t bytes) = 0;
  virtual void fill(uint32_t pattern, uint64_t bytes) = 0;  // the block kDevice
  virtual void allocate_and_free(uint64_t bytes) = 0;       // device memory
};

inline constexpr uint64_t kBlockBytes = uint64_t{16} << 20;

// `prefix`: of the loops' names. `api` outlives them.
void add_memory_loops(Loops& loops, MemoryApi& api, const std::string& prefix,
                      const std::string& column);

// "64 KiB"
std::string size_text(uint64_t bytes);

}  // namespace halyard::bench
