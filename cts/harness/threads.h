// Several threads that do the same at once, with what came of each.
#pragma once

#include <exception>
#include <thread>
#include <vector>

#include "hal/status.h"

namespace halyard::cts {

// Runs work(0) to work(count - 1), each on a separate thread, and `meanwhile` on this one.
// Returns all results when all have ended. An exception (require, take) becomes INTERNAL with its
// text.
template <typename Work, typename Meanwhile>
std::vector<Status> in_threads(size_t count, const Work& work, const Meanwhile& meanwhile) {
  std::vector<Status> results(count);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < count; ++t) {
    threads.emplace_back([&results, &work, t] {
      try {
        results[t] = work(t);
      } catch (const std::exception& problem) {
        results[t] = Status(StatusCode::kInternal, problem.what());
      }
    });
  }
  meanwhile();
  for (std::thread& thread : threads) thread.join();
  return results;
}

template <typename Work>
std::vector<Status> in_threads(size_t count, const Work& work) {
  return in_threads(count, work, [] {});
}

}  // namespace halyard::cts
