// The text of a kernel's printf, from what the kernel sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hal/printf_formats.h"
#include "hal/types.h"

namespace halyard {

// What the format asks for and the kernel has not sent is left out, together with the rest of the
// format. %n prints nothing. Vectors are OpenCL's (%v4f): elements with commas between.

// `words`: the format and the arguments, as ROCm's device library appends them to a message. The
// format and each string are bytes that end in 0, padded to whole words; every other argument is
// one word: an integer, a pointer, or a double.
std::string printf_text(Span<const uint64_t> words);

// `arguments`: as they lie behind a record's id, each as long as the format's sizes say. But LLVM
// (22) writes a string whose length is a multiple of 4 without its 0, and one word shorter than its
// size: of `short_strings` of the strings.
std::string printf_text(const PrintfFormat& format, Span<const std::byte> arguments,
                        size_t short_strings = 0);

// How many strings (%s) the format asks for.
size_t count_strings(std::string_view format);

}  // namespace halyard
