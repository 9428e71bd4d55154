// Clang's compressed offload bundle, "CCOB": a header and an offload bundle that is compressed
// (Clang documentation, "Clang Offload Bundler", "Compression and Decompression"; the layouts of
// the three versions as llvm/lib/Object/OffloadBundle.cpp of LLVM 22 reads them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "byte_range.h"
#include "hal/bundle_writer.h"
#include "hal/status.h"

namespace halyard::internal {

inline constexpr std::string_view kCompressedBundleMagic = "CCOB";

struct CompressedBundle {
  uint32_t version = 0;  // 1 to 3
  Compression compression = Compression::kZlib;
  uint64_t size = 0;  // bytes in the file, header included
  std::unique_ptr<std::byte[]> data;
  uint64_t data_size = 0;  // bytes of `data`
};

inline bool is_compressed_bundle(const ByteRange& range) {
  return range.text().starts_with(kCompressedBundleMagic);
}

// Decompresses the bundle at the beginning of `range`, to at most `limit` bytes. Allocates no
// memory for a size that the compressed bytes cannot have. INVALID_ARGUMENT names the mistake and
// its offset, DATA_LOSS a wrong hash, RESOURCE_EXHAUSTED the limit.
Result<CompressedBundle> read_compressed_bundle(const ByteRange& range, uint64_t limit);

}  // namespace halyard::internal
