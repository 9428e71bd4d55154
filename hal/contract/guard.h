// Keeps exceptions inside a plugin. No exception may leave a driver's virtual method: the program
// can have another standard library, and could not interpret it.
#pragma once

#include <exception>
#include <new>

#include "hal/status.h"

namespace halyard {

// Calls `work`, a Status(), and turns an exception into a failure. For a method that allocates or
// calls a library that throws.
template <typename Work>
Status guarded(Work&& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResourceExhausted, "There is no more host memory.");
  } catch (const std::exception& e) {
    return Status(StatusCode::kInternal, e.what());
  } catch (...) {
    return Status(StatusCode::kInternal, "The driver has thrown an exception of an unknown type.");
  }
}

}  // namespace halyard
