#include "host_call.h"

#include <atomic>

#include "hal/contract/objects.h"

namespace halyard {
namespace internal {
namespace {

constexpr const char* kDirect = "The host function of Queue::host_call";
constexpr const char* kDeferred = "The host function of Queue::host_call_deferred";
constexpr const char* kDirectFails = "The host function of Queue::host_call fails";
constexpr const char* kDeferredFails = "The host call of Queue::host_call_deferred fails";

// The completion of a deferred function. It lives until the function has returned and complete()
// was called, so that a function can throw after another thread got its completion. It is never
// freed if complete() is never called.
class DeferredEnd final : public driver::CompletionBase {
 public:
  explicit DeferredEnd(halyard::HostCompletion& driver) noexcept : driver_(&driver) {}

  // The function is over; `thrown` is OK unless it has thrown.
  void returned(const Status& thrown) {
    if (!thrown.ok()) finish(thrown);
    release();
  }

 private:
  void do_complete(const Status& outcome) noexcept override {
    finish(outcome.with_context(kDeferredFails));
    release();
  }
  // The driver's completion can be gone after the call, so it is called once.
  void finish(const Status& outcome) {
    if (!finished_.exchange(true, std::memory_order_acq_rel)) driver_->complete(outcome);
  }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  halyard::HostCompletion* driver_;
  std::atomic<bool> finished_{false};
  std::atomic<uint32_t> references_{2};  // the function's caller, and complete()
};

}  // namespace

void invoke_host_call(const HostCall& call, HostCompletion& completion) {
  if (call.deferred == nullptr) {
    completion.complete(
        caught(kDirect, [&] { return call.function(call.context).with_context(kDirectFails); }));
    return;
  }
  auto* const end = new (std::nothrow) DeferredEnd(completion);
  if (end == nullptr) {
    completion.complete(error(StatusCode::kResourceExhausted,
                              "{} is not called: there is no host memory for its completion.",
                              kDeferred));
    return;
  }
  const DeferredHostFunction function = call.deferred;
  void* const context = call.context;  // `call` may be gone when the function returns
  end->returned(caught(kDeferred, [&] {
    function(context, *end);
    return Status();
  }));
}

}  // namespace internal

}  // namespace halyard
