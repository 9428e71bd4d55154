// CommandBuffer of the host_memory driver: a list of closures.
#pragma once

#include <functional>
#include <vector>

#include "hal/command_buffer.h"
#include "hal/contract/objects.h"

namespace host_memory {

class HostMemoryDevice;

class HostMemoryCommandBuffer final : public halyard::driver::CommandBufferBase {
 public:
  explicit HostMemoryCommandBuffer(HostMemoryDevice& device);

  // Runs what was recorded, in order. `bindings[i]` stands for slot i.
  halyard::Status run(halyard::Span<const halyard::BufferRange> bindings) const;

 private:
  using Bindings = halyard::Span<const halyard::BufferRange>;
  using Command = std::function<void(Bindings bindings)>;

  ~HostMemoryCommandBuffer() = default;
  void destroy() noexcept override;
  halyard::Status do_fill(const halyard::BufferRange& target, const void* pattern,
                          uint32_t pattern_size) override;
  halyard::Status do_update(const halyard::BufferRange& target, const void* source,
                            uint64_t size) override;
  halyard::Status do_copy(const halyard::BufferRange& source,
                          const halyard::BufferRange& target) override;
  halyard::Status do_dispatch(const halyard::Dispatch& dispatch) override;
  halyard::Status do_dispatch_indirect(const halyard::Dispatch& dispatch,
                                       const halyard::BufferRange& group_counts) override;
  halyard::Status do_barrier() override;
  halyard::Status do_begin_debug_group(halyard::StringView label) override;
  halyard::Status do_end_debug_group() override;
  halyard::Status do_finish() override;
  halyard::Status do_copy_rectangle(const halyard::BufferRange& source,
                                    const halyard::BufferRange& target,
                                    const halyard::RectangleCopy& shape) override;

  halyard::Ref<halyard::Device> owner_;
  std::vector<Command> commands_;
};

}  // namespace host_memory
