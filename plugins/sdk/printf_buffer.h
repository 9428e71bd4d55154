// The buffer that OpenCL's printf writes to (hidden_printf_buffer), read while kernels write.
//
// A kernel takes room by adding to the offset in the buffer's first word, and writes a record
// there: the id of its format, then its arguments (LLVM's AMDGPUPrintfRuntimeBinding; ROCm's device
// library, __printf_alloc). Nothing says when a record is whole. So the host fills the buffer with
// a word that records hardly ever hold, and takes a record when all of its words are others. A
// record with strings may stay shorter than its room (printf_text.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "hal/printf_formats.h"

namespace halyard {

// One thread at a time.
class PrintfBuffer {
 public:
  // A record with the filling in it counts as whole after `long_wait`, because an argument may be
  // that word; where only words at its end have it that strings may have left, after `short_wait`.
  struct Timeouts {
    std::chrono::milliseconds long_wait;
    std::chrono::milliseconds short_wait;
  };
  // Memory of `bytes`, a multiple of 4, that host and device see alike.
  PrintfBuffer(void* memory, size_t bytes, const std::vector<PrintfFormat>& formats,
               const Timeouts& timeouts);

  using Print = std::function<void(std::string_view text)>;
  // Prints the records that are whole, in their order, and gives their room back. Whether there
  // was one. `all_done`: no kernel writes any more, so that all records are whole.
  bool drain(const Print& print, bool all_done);

 private:
  struct Format {
    PrintfFormat format;
    size_t words = 0;  // of a record
    size_t strings = 0;
  };

  // How many words at the end of the record keep the filling; nothing while a kernel may be writing
  // it.
  std::optional<size_t> unused_words(size_t at, const Format& format, bool all_done);
  void give_back();

  uint32_t* const words_;
  const size_t count_;  // of words, with the two at the front
  const Timeouts timeouts_;
  std::map<uint32_t, Format> formats_;  // by id
  size_t done_ = 0;                     // words of records that were printed
  bool waits_ = false;
  std::chrono::steady_clock::time_point waits_since_;  // if waits_: for the record at done_
};

}  // namespace halyard
