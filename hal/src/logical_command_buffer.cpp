#include "logical_command_buffer.h"

#include <utility>
#include <vector>

#include "gpu_group.h"
#include "hal/contract/forwarding.h"
#include "hal/error.h"
#include "logical_executable.h"

namespace halyard::internal {
namespace {

// Every command is recorded for every GPU, as the queue is known only at execution. A GPU that
// refuses one is out from then on; the command fails where no GPU is left.
class LogicalCommandBuffer final : public driver::ForwardingCommandBuffer<LogicalCommandBuffer> {
 public:
  LogicalCommandBuffer(GpuGroup& device, std::vector<Ref<CommandBuffer>> recordings)
      : ForwardingCommandBuffer(device), keep_alive_(Ref<Device>::retain(&device)) {
    for (Ref<CommandBuffer>& recording : recordings) parts_.push_back({std::move(recording), {}});
  }

  Result<CommandBuffer*> part(size_t gpu) const {
    if (parts_[gpu].refusal.ok()) return parts_[gpu].recording.get();
    return error(parts_[gpu].refusal.code(),
                 "The recording cannot be executed on GPU {} (\"{}\"): {}", gpu,
                 device().gpu(gpu).info().name, parts_[gpu].refusal.message());
  }

  // `record(recording, gpu)` for each GPU that is left.
  template <typename Record>
  Status forward(Record record) {
    std::vector<Status> outcomes(parts_.size());
    Status first;
    bool taken = false;
    for (size_t gpu = 0; gpu < parts_.size(); ++gpu) {
      if (!parts_[gpu].refusal.ok()) continue;
      outcomes[gpu] = record(*parts_[gpu].recording, gpu);
      taken |= outcomes[gpu].ok();
      if (first.ok()) first = outcomes[gpu];
    }
    // No GPU has the command, so each is as it was before.
    if (!taken) return first;
    for (size_t gpu = 0; gpu < parts_.size(); ++gpu) {
      if (!outcomes[gpu].ok()) parts_[gpu].refusal = std::move(outcomes[gpu]);
    }
    return {};
  }

 private:
  struct Part {
    Ref<CommandBuffer> recording;
    Status refusal;  // of the first command that the GPU has refused
  };

  ~LogicalCommandBuffer() = default;
  void destroy() noexcept override { delete this; }

  Status do_dispatch(const Dispatch& dispatch) override {
    return forward([&](CommandBuffer& own, size_t gpu) -> Status {
      Dispatch variant = dispatch;
      HALYARD_RETURN_IF_ERROR(choose_variant(device(), gpu, &variant.function));
      return own.dispatch(variant);
    });
  }
  Status do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts) override {
    return forward([&](CommandBuffer& own, size_t gpu) -> Status {
      Dispatch variant = dispatch;
      HALYARD_RETURN_IF_ERROR(choose_variant(device(), gpu, &variant.function));
      return own.dispatch_indirect(variant, group_counts);
    });
  }

  const Ref<Device> keep_alive_;
  std::vector<Part> parts_;  // one for each GPU
};

}  // namespace

Result<Ref<CommandBuffer>> make_logical_command_buffer(GpuGroup& device) {
  std::vector<Ref<CommandBuffer>> recordings;
  for (const Ref<Device>& gpu : device.gpus()) {
    HALYARD_ASSIGN_OR_RETURN(Ref<CommandBuffer> recording, gpu->create_command_buffer());
    recordings.push_back(std::move(recording));
  }
  return Ref<CommandBuffer>::adopt(new LogicalCommandBuffer(device, std::move(recordings)));
}

Result<CommandBuffer*> recording_for(CommandBuffer& commands, size_t gpu) {
  return static_cast<LogicalCommandBuffer&>(commands).part(gpu);
}

}  // namespace halyard::internal
