// Tests that end the device for the whole process run in a process of their own.
#pragma once

namespace halyard::cts {

// At the start of such a test:
//   if (runs_in_child()) return;
// In the suite's own process: runs the current test again in a child, adds a failure to the test if
// it fails there, and returns true. In the child: returns false, so that the test goes on.
bool runs_in_child();

}  // namespace halyard::cts
