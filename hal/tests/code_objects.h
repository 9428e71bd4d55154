// The code objects in data/, and a way to build one of our own for the layouts that no compiler
// writes.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace halyard::testing {

using Bytes = std::vector<char>;

inline Bytes read_data(const std::string& name) {
  std::ifstream file(std::string(HALYARD_HAL_TEST_DATA) + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no test data " + name);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

template <typename T>
void put(Bytes& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}
template <typename T>
T get(const Bytes& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// Offset of the first occurrence of `text`, which is there.
inline size_t find(const Bytes& bytes, const std::string& text) {
  const size_t at = std::string(bytes.begin(), bytes.end()).find(text);
  if (at == std::string::npos) throw std::runtime_error("not in the code object: " + text);
  return at;
}

// Replaces bytes by as many others.
inline void replace(Bytes& bytes, const std::string& from, const std::string& to) {
  if (from.size() != to.size()) throw std::runtime_error("sizes differ: " + from);
  std::memcpy(bytes.data() + find(bytes, from), to.data(), to.size());
}

}  // namespace halyard::testing
