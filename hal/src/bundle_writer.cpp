#include "hal/bundle_writer.h"

#include <zlib.h>
#include <zstd.h>

#include <cstring>

#include "compressed_bundle.h"
#include "compression_hash.h"
#include "hal/error.h"
#include "offload_bundle.h"

namespace halyard {
namespace {

constexpr uint16_t kWrittenVersion = 3;
constexpr int kZstdLevel = 9;
constexpr int kZlibLevel = 9;
// Version 3's header: magic, version, method, sizes (8 bytes each), hash.
constexpr size_t kHeaderBytes = 32;

template <typename T>
void put(std::vector<std::byte>& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

void append(std::vector<std::byte>& bytes, const void* data, size_t size) {
  // Not insert(): gcc 12 warns of an overflow in there.
  const size_t end = bytes.size();
  bytes.resize(end + size);
  if (size != 0) std::memcpy(bytes.data() + end, data, size);
}
void append(std::vector<std::byte>& bytes, uint64_t value) {
  append(bytes, &value, sizeof(value));
}

void append_entry(std::vector<std::byte>& table, uint64_t offset, uint64_t size,
                  const std::string& id) {
  append(table, offset);
  append(table, size);
  append(table, id.size());
  append(table, id.data(), id.size());
}

}  // namespace

std::string bundle_entry_id(const TargetId& target) {
  return "hipv4-amdgcn-amd-amdhsa--" + to_string(target);
}

std::vector<std::byte> write_bundle(const std::vector<BundleInput>& inputs, uint64_t alignment) {
  const std::string host = "host-x86_64-unknown-linux-gnu-";
  uint64_t table_size = internal::kBundleMagic.size() + sizeof(uint64_t);
  const auto add_row = [&](const std::string& id) {
    table_size += 3 * sizeof(uint64_t) + id.size();
  };
  add_row(host);
  for (const BundleInput& input : inputs) add_row(input.id);
  const auto aligned = [alignment](uint64_t offset) {
    return (offset + alignment - 1) & ~(alignment - 1);
  };

  std::vector<std::byte> bundle;
  append(bundle, internal::kBundleMagic.data(), internal::kBundleMagic.size());
  append(bundle, uint64_t{inputs.size() + 1});
  uint64_t offset = aligned(table_size);
  append_entry(bundle, offset, 0, host);
  for (const BundleInput& input : inputs) {
    append_entry(bundle, offset, input.bytes.size(), input.id);
    offset = aligned(offset + input.bytes.size());
  }
  for (const BundleInput& input : inputs) {
    bundle.resize(aligned(bundle.size()));
    append(bundle, input.bytes.data(), input.bytes.size());
  }
  return bundle;
}

Result<std::vector<std::byte>> compress_bundle(std::span<const std::byte> bundle,
                                               Compression compression) {
  const bool is_zstd = compression == Compression::kZstd;
  std::vector<std::byte> file(
      kHeaderBytes + (is_zstd ? ZSTD_compressBound(bundle.size()) : compressBound(bundle.size())));
  std::byte* const data = file.data() + kHeaderBytes;
  size_t size = file.size() - kHeaderBytes;
  bool good = false;
  if (is_zstd) {
    size = ZSTD_compress(data, size, bundle.data(), bundle.size(), kZstdLevel);
    good = ZSTD_isError(size) == 0;
  } else {
    uLongf written = size;
    good =
        compress2(reinterpret_cast<Bytef*>(data), &written,
                  reinterpret_cast<const Bytef*>(bundle.data()), bundle.size(), kZlibLevel) == Z_OK;
    size = written;
  }
  // The room suffices, so nothing but memory can be missing.
  if (!good) {
    return error(StatusCode::kResourceExhausted,
                 "The bundle ({} bytes) cannot be compressed: there is no memory for it.",
                 bundle.size());
  }
  file.resize(kHeaderBytes + size);
  std::memcpy(file.data(), internal::kCompressedBundleMagic.data(), 4);
  put(file, 4, kWrittenVersion);
  put(file, 6, compression);
  put(file, 8, uint64_t{file.size()});
  put(file, 16, uint64_t{bundle.size()});
  put(file, 24, internal::bundle_hash(bundle));
  return file;
}

}  // namespace halyard
