// SHA-256, as the cache's names and checks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace halyard::toolchain {

// Of a sequence of fields: each goes in with its length, so that no two sequences look the same.
class Hash {
 public:
  Hash();
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  ~Hash();

  void add(std::string_view field);
  void add(std::span<const std::byte> field);
  // 64 hexadecimal digits. Ends the sequence.
  std::string digest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The digest of one field.
std::string digest_of(std::span<const std::byte> bytes);

}  // namespace halyard::toolchain
