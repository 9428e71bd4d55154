// What is said before HIP ends the process.
//
// HIP's own callback for errors of a queue (an illegal instruction, a trap) calls abort(), and its
// message does not name the kernel.
#pragma once

namespace halyard::hip {

// From now on abort() writes to stderr which kernels of the driver's may be running, if there are
// any, before it ends the process. Does nothing where the program, or somebody else in it, handles
// SIGABRT already.
void install_last_words();

}  // namespace halyard::hip
