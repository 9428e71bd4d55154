// Files with a few bytes changed. The same seed and number give the same file, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halyard::mutations {

using Bytes = std::vector<std::byte>;

// A number in a file that has a meaning, as a section's size.
struct Field {
  uint64_t offset;
  uint32_t width;  // bytes: 1, 2, 4 or 8
};

// The fields of one part of a file: of its ELF header, its section headers, its symbols, …
struct Part {
  std::string name;
  std::vector<Field> fields;
};

// Of a code object that is in order; none of anything else.
std::vector<Part> parts_of(std::span<const std::byte> file);

// The mutation number `number` of the run `seed`. `parts` are those of the file; half of the
// changes go to them.
Bytes mutate(std::span<const std::byte> file, std::span<const Part> parts, uint64_t seed,
             uint64_t number);

// Which of `count` files the mutation is of.
size_t file_of(uint64_t seed, uint64_t number, size_t count);

}  // namespace halyard::mutations
