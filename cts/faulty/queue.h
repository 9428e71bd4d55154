// A queue with a fault in front. Its device is the inner one, so that buffers and semaphores fit.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "fault.h"
#include "hal/contract/forwarding.h"
#include "hal/device.h"
#include "hal/queue.h"

namespace faulty {

class FaultyQueue final : public halyard::driver::ForwardingQueue<FaultyQueue> {
 public:
  FaultyQueue(halyard::Ref<halyard::Device> device, halyard::Ref<halyard::Queue> inner, Fault fault)
      : ForwardingQueue(*device),
        owner_(std::move(device)),
        inner_(std::move(inner)),
        fault_(fault) {}

  halyard::Queue& inner() const { return *inner_; }
  template <typename Submit>
  halyard::Status forward(const halyard::Sync& sync, Submit submit) {
    return submit(*inner_, spoil(sync));
  }

 private:
  ~FaultyQueue() = default;
  void destroy() noexcept override { delete this; }

  halyard::Status do_fill(const halyard::BufferRange& target, const void* pattern,
                          uint32_t pattern_size, const halyard::Sync& sync) override;
  halyard::Status do_copy(const halyard::BufferRange& source, const halyard::BufferRange& target,
                          const halyard::Sync& sync) override;
  halyard::Status do_dispatch(const halyard::Dispatch& dispatch,
                              const halyard::Sync& sync) override;
  halyard::Status do_execute(halyard::CommandBuffer& commands,
                             halyard::Span<const halyard::BufferRange> bindings,
                             const halyard::Sync& sync) override;
  halyard::Status do_read(const halyard::FileRange& source, const halyard::BufferRange& target,
                          const halyard::Sync& sync) override;
  halyard::Status do_host_call(const halyard::HostCall& call, const halyard::Sync& sync) override;

  // What becomes of an operation's waits and signals.
  halyard::Sync spoil(const halyard::Sync& sync) const;
  halyard::Status dispatch_stale(const halyard::Dispatch& dispatch, const halyard::Sync& sync);
  halyard::Status dispatch_roughly(const halyard::Dispatch& dispatch, const halyard::Sync& sync);

  halyard::Ref<halyard::Device> owner_;
  halyard::Ref<halyard::Queue> inner_;
  Fault fault_;
  std::mutex mutex_;
  std::map<const halyard::Function*, std::vector<halyard::Argument>> last_arguments_;
};

}  // namespace faulty
