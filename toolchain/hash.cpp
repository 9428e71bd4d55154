#include "toolchain/hash.h"

#include <sha2.h>

#include <array>
#include <cstdint>

namespace halyard::toolchain {

struct Hash::State {
  SHA2_CTX context = {};
};

Hash::Hash() : state_(std::make_unique<State>()) {
  SHA256Init(&state_->context);
}
Hash::~Hash() = default;

void Hash::add(std::string_view field) {
  const uint64_t size = field.size();
  SHA256Update(&state_->context, reinterpret_cast<const uint8_t*>(&size), sizeof size);
  SHA256Update(&state_->context, reinterpret_cast<const uint8_t*>(field.data()), field.size());
}

void Hash::add(std::span<const std::byte> field) {
  add(std::string_view(reinterpret_cast<const char*>(field.data()), field.size()));
}

std::string Hash::digest() {
  std::array<uint8_t, SHA256_DIGEST_LENGTH> bytes = {};
  SHA256Final(bytes.data(), &state_->context);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string digest_of(std::span<const std::byte> bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.digest();
}

}  // namespace halyard::toolchain
