// A program that is started without standard input, output or error.
#pragma once

namespace halyard::cli {

// Call it first. A descriptor that is opened later would get the number of one that is missing, and
// results, or messages, would be written into that file. What is missing is taken by a descriptor
// on which each read and write fails, as on none (EBADF). Children inherit it.
void reserve_standard_streams();

}  // namespace halyard::cli
