#include "compressed_bundle.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <string>

#include "compression_hash.h"
#include "hal/error.h"

namespace halyard::internal {
namespace {

// Magic, version (2 bytes) and method (2 bytes) are common to all versions.
constexpr uint64_t kVersionOffset = 4;
constexpr uint64_t kMethodOffset = 6;
constexpr uint64_t kCommonBytes = 8;

// How many bytes one compressed byte can stand for at most, rounded up: deflate codes 258 bytes in
// 2 bits, and a Zstandard block makes up to 128 KiB from 4 bytes (RFC 8878, "Blocks").
constexpr uint64_t kZlibRatio = 1032;
constexpr uint64_t kZstdRatio = 32768;
// For headers and trailers, generously.
constexpr uint64_t kSlackBytes = 64;

template <typename... Arguments>
Status failed(StatusCode code, const ByteRange& range, fmt::format_string<Arguments...> format,
              Arguments&&... arguments) {
  return error(code, "The compressed offload bundle at offset {} {}", range.base,
               fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <typename... Arguments>
Status damaged_bundle(const ByteRange& range, fmt::format_string<Arguments...> format,
                      Arguments&&... arguments) {
  return failed(StatusCode::kInvalidArgument, range, format, std::forward<Arguments>(arguments)...);
}

Status no_memory(const ByteRange& range, uint64_t size) {
  return failed(StatusCode::kResourceExhausted, range,
                "holds {} bytes, and there is not enough memory to decompress them.", size);
}

struct BundleHeader {
  uint32_t version = 0;
  Compression compression = Compression::kZlib;
  uint64_t size = 0;          // of the header, bytes
  uint64_t file_size = 0;     // with the header; version 1 does not say it: 0
  uint64_t file_size_at = 0;  // offset in the bundle
  uint64_t uncompressed = 0;  // bytes
  uint64_t uncompressed_at = 0;
  uint64_t hash = 0;
  uint64_t hash_at = 0;
};

Result<BundleHeader> read_header(const ByteRange& range) {
  const auto truncated = [&](uint64_t needed) {
    return damaged_bundle(range,
                          "is truncated: its header has {} bytes, and the bytes end at offset {}.",
                          needed, range.end());
  };
  if (!range.holds(0, kCommonBytes)) return truncated(kCommonBytes);
  BundleHeader header;
  header.version = range.read<uint16_t>(kVersionOffset);
  if (header.version < 1 || header.version > 3) {
    return failed(StatusCode::kUnimplemented, range,
                  "has version {} at offset {}. Halyard reads 1 to 3: bundle it again with "
                  "COMPRESSED_BUNDLE_FORMAT_VERSION=3, or without -compress.",
                  header.version, range.base + kVersionOffset);
  }
  const auto method = range.read<uint16_t>(kMethodOffset);
  if (method > 1) {
    return failed(StatusCode::kUnimplemented, range,
                  "has a compression method ({} at offset {}) other than zlib (0) and zstd (1).",
                  method, range.base + kMethodOffset);
  }
  header.compression = static_cast<Compression>(method);
  const uint64_t width = header.version == 3 ? 8 : 4;  // of the sizes
  header.file_size_at = kCommonBytes;
  header.uncompressed_at = kCommonBytes + (header.version == 1 ? 0 : width);
  header.hash_at = header.uncompressed_at + width;
  header.size = header.hash_at + sizeof(uint64_t);
  if (!range.holds(0, header.size)) return truncated(header.size);

  const auto size_at = [&](uint64_t at) {
    return width == 8 ? range.read<uint64_t>(at) : range.read<uint32_t>(at);
  };
  header.uncompressed = size_at(header.uncompressed_at);
  header.hash = range.read<uint64_t>(header.hash_at);
  if (header.version == 1) return header;
  header.file_size = size_at(header.file_size_at);
  if (header.file_size < header.size) {
    return damaged_bundle(range,
                          "says at offset {} that it has {} bytes, fewer than its header ({}).",
                          range.base + header.file_size_at, header.file_size, header.size);
  }
  if (!range.holds(0, header.file_size)) {
    return damaged_bundle(range,
                          "is truncated: it says at offset {} that it has {} bytes, and the bytes "
                          "end at offset {}.",
                          range.base + header.file_size_at, header.file_size, range.end());
  }
  return header;
}

Status check_size(const ByteRange& range, const BundleHeader& header, uint64_t compressed,
                  uint64_t limit) {
  const uint64_t ratio = header.compression == Compression::kZlib ? kZlibRatio : kZstdRatio;
  if (header.uncompressed / ratio > compressed + kSlackBytes) {
    return damaged_bundle(range,
                          "claims at offset {} to hold {} bytes, more than {} compressed bytes "
                          "can.",
                          range.base + header.uncompressed_at, header.uncompressed, compressed);
  }
  if (header.uncompressed > limit) {
    return failed(StatusCode::kResourceExhausted, range,
                  "holds {} bytes (offset {}); the limit is {}. Take the code object for the "
                  "device out of it with clang-offload-bundler --unbundle.",
                  header.uncompressed, range.base + header.uncompressed_at, limit);
  }
  return {};
}

// Decompresses all of `compressed` into the `size` bytes at `data`. The bytes that were read.
Result<uint64_t> inflate_all(const ByteRange& range, const ByteRange& compressed, std::byte* data,
                             uint64_t size) {
  uLongf produced = size;
  uLong consumed = compressed.size;
  const int result = uncompress2(reinterpret_cast<Bytef*>(data), &produced,
                                 reinterpret_cast<const Bytef*>(compressed.data), &consumed);
  if (result == Z_MEM_ERROR) return no_memory(range, size);
  // The only thing that uncompress2 calls by this name.
  if (result == Z_BUF_ERROR) {
    return damaged_bundle(range, "holds more than the {} bytes that its header says.", size);
  }
  if (result != Z_OK) {
    return damaged_bundle(
        range, "cannot be decompressed: zlib stops at offset {} ({}).", compressed.base + consumed,
        consumed == compressed.size ? "the data end too early" : "the data are damaged");
  }
  if (produced != size) {
    return damaged_bundle(range, "holds {} bytes instead of the {} that its header says.", produced,
                          size);
  }
  return consumed;
}

Result<uint64_t> zstd_frame_size(const ByteRange& range, const ByteRange& compressed) {
  const size_t frame = ZSTD_findFrameCompressedSize(compressed.data, compressed.size);
  if (ZSTD_isError(frame) != 0) {
    return damaged_bundle(range, "has no whole zstd frame at offset {} ({}).", compressed.base,
                          ZSTD_getErrorName(frame));
  }
  return frame;
}

Result<uint64_t> unzstd_all(const ByteRange& range, const ByteRange& compressed, std::byte* data,
                            uint64_t size) {
  HALYARD_ASSIGN_OR_RETURN(const uint64_t frame, zstd_frame_size(range, compressed));
  const size_t produced = ZSTD_decompress(data, size, compressed.data, frame);
  if (ZSTD_isError(produced) != 0) {
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(produced);
    if (code == ZSTD_error_memory_allocation) return no_memory(range, size);
    if (code == ZSTD_error_dstSize_tooSmall) {
      return damaged_bundle(range, "holds more than the {} bytes that its header says.", size);
    }
    return damaged_bundle(range,
                          "cannot be decompressed: the zstd frame at offset {} is damaged ({}).",
                          compressed.base, ZSTD_getErrorName(produced));
  }
  if (produced != size) {
    return damaged_bundle(range, "holds {} bytes instead of the {} that its header says.", produced,
                          size);
  }
  return frame;
}

}  // namespace

Result<CompressedBundle> read_compressed_bundle(const ByteRange& range, uint64_t limit) {
  HALYARD_ASSIGN_OR_RETURN(const BundleHeader header, read_header(range));
  const uint64_t end = header.version == 1 ? range.size : header.file_size;
  const ByteRange compressed = range.part(header.size, end - header.size);
  HALYARD_RETURN_IF_ERROR(check_size(range, header, compressed.size, limit));

  CompressedBundle bundle;
  bundle.version = header.version;
  bundle.compression = header.compression;
  bundle.data_size = header.uncompressed;
  // Not touched before it is written, so a claim costs address space only.
  bundle.data.reset(new (std::nothrow) std::byte[header.uncompressed]);
  if (bundle.data == nullptr) return no_memory(range, header.uncompressed);
  const auto decompress = header.compression == Compression::kZlib ? inflate_all : unzstd_all;
  HALYARD_ASSIGN_OR_RETURN(const uint64_t consumed,
                           decompress(range, compressed, bundle.data.get(), bundle.data_size));
  // Where the header says the size, what follows the compressed data may only be padding.
  bundle.size = header.version == 1 ? header.size + consumed : header.file_size;
  const std::string_view rest = range.text().substr(0, bundle.size).substr(header.size + consumed);
  if (const size_t junk = rest.find_first_not_of('\0'); junk != std::string_view::npos) {
    return damaged_bundle(range,
                          "has bytes that are not part of the compressed data, from offset {} on.",
                          range.base + header.size + consumed + junk);
  }
  if (const uint64_t hash = bundle_hash({bundle.data.get(), bundle.data_size});
      hash != header.hash) {
    return failed(StatusCode::kDataLoss, range,
                  "is damaged: its contents have the hash {:#018x}, and its header at offset {} "
                  "says {:#018x}. Copy or build it again.",
                  hash, range.base + header.hash_at, header.hash);
  }
  return bundle;
}

}  // namespace halyard::internal
