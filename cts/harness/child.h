// Tests that lose the device for the whole process, or end the process, run in a child process.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace halyard::cts {

// At the start of a test that ends the device for the whole process:
//   if (runs_in_child()) return;
// In the suite's own process: runs the current test again in a child, adds a failure to the test if
// it fails there, and returns true. In the child: returns false, so that the test goes on.
bool runs_in_child();

// At the start of a test with which a vendor's runtime may end the process:
//   if (ends_in_child("words")) return;
// If the driver's expectations say that it does (ends_process): runs the test in a child, adds a
// failure to the test unless the child is ended by abort() and has written `words` to stderr
// before, and returns true. Otherwise returns false, so that the test goes on.
bool ends_in_child(std::string_view words);

// At the start of a test that ends its process itself, with std::exit(code):
//   if (exits_in_child(42)) return;
// In the suite's own process: runs the test in a child, adds a failure to the test unless the child
// ends with that code, within --timeout (it is killed then), and returns true. In the child:
// returns false.
bool exits_in_child(int code);

// The parts of them. Whether this process is such a child:
bool is_child();
// Runs the current test again in a child, which has `descriptor` as number `as`. -1, and a failure
// of the test, if it does not start.
pid_t start_child(int descriptor, int as);
// Waits until the child has ended. What failed there is a failure of the test.
void finish_child(pid_t child);
// The same of one that the test has killed: not that, but any other end is a failure.
void finish_killed_child(pid_t child);

}  // namespace halyard::cts
