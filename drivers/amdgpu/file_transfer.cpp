#include "drivers/amdgpu/file_transfer.h"

#include <memory>
#include <utility>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/transfers.h"
#include "hal/error.h"
#include "plugins/sdk/remains.h"

namespace halyard::amdgpu {
namespace {

// How often the wait for a copy looks whether the queue is lost.
constexpr uint64_t kLooksPerSecond = 100;

// What a copy uses. It is released in the opposite order.
struct CopyUse {
  Ref<Buffer> buffer;
  Staging staging;
};

// One copy by an engine, waited for. Nothing else is in flight on the queue. A copy of a lost
// device is never done, so the wait ends when the queue is lost; `use` is then kept until the copy
// is done.
Status copy_now(QueueCore& core, const CopyStep& step, const std::shared_ptr<CopyUse>& use) {
  DeviceImpl& device = core.device();
  const Hsa& hsa = device.hsa();
  hsa_signal_t signal = {};
  HALYARD_RETURN_IF_ERROR(
      check(hsa, hsa.hsa_signal_create(1, 0, nullptr, &signal), "Creating a signal"));
  Status status =
      check(hsa,
            hsa.hsa_amd_memory_async_copy(step.target, step.target_agent, step.source,
                                          step.source_agent, step.size, 0, nullptr, signal),
            fmt::format("Queueing a copy of {} bytes", step.size));
  hsa_signal_value_t left = 0;
  if (status.ok()) {
    const uint64_t ticks = device.info().timestamp_hz / kLooksPerSecond;
    do {
      left = hsa.hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, ticks,
                                           HSA_WAIT_STATE_BLOCKED);
    } while (left > 0 && !core.loss().lost());
  }
  if (left > 0) {
    Remains::instance().keep([&hsa, signal, use] {
      if (hsa.hsa_signal_load_scacquire(signal) > 0) return false;
      hsa.hsa_signal_destroy(signal);
      return true;
    });
    return core.loss().cause();
  }
  if (left < 0) {
    status = error(StatusCode::kInternal, "A copy of {} bytes fails on a copy engine of {}.",
                   step.size, device.info().name);
  }
  hsa.hsa_signal_destroy(signal);
  return status;
}

}  // namespace

Status move_file(QueueCore& core, const FileWork& work) {
  DeviceImpl& device = core.device();
  const BufferRange& range = work.range();
  const auto& buffer = static_cast<const BufferImpl&>(*range.buffer);
  auto* const at = static_cast<std::byte*>(buffer.host_at(range.offset));
  if (buffer.type() != MemoryType::kDevice) {
    return work.move_mapped(at, [&] { buffer.synchronise_with_host(); });
  }
  HALYARD_ASSIGN_OR_RETURN(Staging staging, device.memory().stage(work.staging_size()));
  const auto use = std::make_shared<CopyUse>(Ref<Buffer>::retain(range.buffer), std::move(staging));
  auto* const bytes = static_cast<std::byte*>(use->staging.data());
  const auto copy = [&](uint64_t done, uint64_t size, bool to_buffer) {
    const CopyStep step =
        to_buffer ? CopyStep{at + done, device.agent(), bytes, device.host_agent(), size}
                  : CopyStep{bytes, device.host_agent(), at + done, device.agent(), size};
    return copy_now(core, step, use);
  };
  return work.move_staged(bytes, use->staging.size(), copy);
}

}  // namespace halyard::amdgpu
