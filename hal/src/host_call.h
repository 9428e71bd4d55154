// Calling a function of the program's, whose exceptions end here.
#pragma once

#include <exception>
#include <new>

#include "hal/error.h"
#include "hal/queue.h"
#include "hal/status.h"

namespace halyard::internal {

// What `work`, a Status(), returns; or, if it throws, a failure that says so. `whose` is the
// function as the caller knows it: "The host function of Queue::host_call".
template <typename Work>
Status caught(const char* whose, Work&& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc& e) {
    return error(StatusCode::kResourceExhausted, "{} throws an exception ({}).", whose, e.what());
  } catch (const std::exception& e) {
    return error(StatusCode::kInternal, "{} throws an exception ({}).", whose, e.what());
  } catch (...) {
    return error(StatusCode::kInternal, "{} throws an exception of an unknown type.", whose);
  }
}

// HostCall::invoke.
void invoke_host_call(const HostCall& call, HostCompletion& completion);

}  // namespace halyard::internal
