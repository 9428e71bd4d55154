// Whose code writes to a GPU's memory through the PCI window.
//
// A store says nothing of itself. So the model takes the right to write from the process
// (host_view.h), and the signal of a store has the stack with it: the writer is the first function
// on it that is not of the C library.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::coherence {

// 0: nobody knows.
using HostWriterId = uint32_t;

struct HostWriter {
  std::string library;  // the file's name, "libamdhip64.so.5"; or the program's
  std::string place;    // "main (./program+0x1234)"
  uint64_t pc = 0;
};

// Not for several threads at once.
class HostWriters {
 public:
  // The code at an address; the same for the same address.
  HostWriterId id_of(uint64_t pc);
  HostWriterId add(HostWriter writer);
  const HostWriter& writer(HostWriterId id) const { return writers_[id - 1]; }

 private:
  std::deque<HostWriter> writers_;
  std::unordered_map<uint64_t, HostWriterId> ids_;
};

struct HostCallers {
  // The function whose access it is: the first on the stack outside of the C library. 0 if it is
  // the virtual GPU's own.
  uint64_t writer = 0;
  // Where the vendor's runtime will return to the program, if that function is the runtime's. 0 if
  // it will not, or to code that is in no file.
  uint64_t returns_to = 0;
};
// In the signal's handler.
HostCallers callers_of(const HostAccess& access);

// "main (./program+0x1234)".
std::string function_text(uint64_t pc);

}  // namespace halyard::vgpu::coherence
