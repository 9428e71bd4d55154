// Which addresses the program has reserved: mapped privately and without access, as thunks do
// before they ask for memory to be put there. All others may be in use.
#pragma once

#include <cstdint>
#include <map>

#include "vgpu/kfd/windows.h"

namespace halyard::vgpu::kfd {

// Not thread-safe.
class Reservations {
 public:
  // The program has reserved [begin, end).
  void add(uint64_t begin, uint64_t end);
  // [begin, end) is unmapped, or something else is there.
  void remove(uint64_t begin, uint64_t end);
  bool contains(uint64_t begin, uint64_t end) const;
  // [begin, end), and what is reserved around it or right beside it.
  AddressRange around(uint64_t begin, uint64_t end) const;

 private:
  std::map<uint64_t, uint64_t> ends_;  // by begin; apart from each other
};

}  // namespace halyard::vgpu::kfd
