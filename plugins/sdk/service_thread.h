// Threads of a driver's own.
#pragma once

#include <functional>
#include <thread>

namespace halyard {

// Starts a thread that takes no signals but those of its own faults (SIGSEGV and its like): the
// program's are for the program's threads. `name` (15 characters at most) is what debuggers and ps
// show. Not joinable if there is no thread to be had.
std::thread start_service_thread(const char* name, std::function<void()> work);
// Whether the calling thread is one of these.
bool is_service_thread();

}  // namespace halyard
