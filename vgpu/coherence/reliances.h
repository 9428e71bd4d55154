// What the vendor's runtimes rely on although no document promises it. A program cannot change it,
// so it is no finding of the program's: with the notes asked for, it is a note.
#pragma once

#include <string_view>

#include "vgpu/coherence/findings.h"

namespace halyard::vgpu::coherence {

struct Reliance {
  std::string_view library;  // the beginning of its file's name
  Mistake mistake = Mistake::kHostWindow;
  const char* what = nullptr;  // what it does
  const char* source = nullptr;
};

// Null if the library relies on no such thing.
const Reliance* reliance(Mistake mistake, std::string_view library);
// Whether the table has the library: it is the vendor's runtime's.
bool is_runtime(std::string_view library);

}  // namespace halyard::vgpu::coherence
