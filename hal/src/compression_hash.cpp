#include "compression_hash.h"

#include <md5.h>

#include <cstring>

namespace halyard::internal {

uint64_t bundle_hash(std::span<const std::byte> bytes) {
  MD5_CTX context;
  MD5Init(&context);
  MD5Update(&context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  uint8_t digest[MD5_DIGEST_LENGTH];
  MD5Final(digest, &context);
  uint64_t hash = 0;
  std::memcpy(&hash, digest, sizeof(hash));
  return hash;
}

}  // namespace halyard::internal
