// What the host does of a queue's work: files, and launches whose size the device has written.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "drivers/hip/launch.h"
#include "drivers/hip/operation.h"
#include "hal/command_buffer.h"
#include "hal/queue.h"
#include "plugins/sdk/file_work.h"

namespace halyard::hip {

// What a queue's read or write of a file does with the GPU's memory. Returns when the bytes are
// where they belong.
Status move_file(DeviceImpl& device, const FileWork& work);

// HIP has no launch that reads its size on the device. So the host reads the counts when their turn
// comes, and then launches. `kernarg` is packed for one work-group (pack_indirect_arguments).
class IndirectLaunch final : public Operation {
 public:
  IndirectLaunch(const Function& function, const Dim3& workgroup, uint32_t lds_bytes,
                 std::vector<std::byte> kernarg, const BufferRange& group_counts,
                 const RecordedPlace& place = {});
  // `buffer` lives until the launch is on the stream.
  void keep(Buffer* buffer) { keep_buffers_.push_back(Ref<Buffer>::retain(buffer)); }
  void keep_recording(CommandBuffer& commands) {
    keep_commands_ = Ref<CommandBuffer>::retain(&commands);
  }
  bool on_host() const override { return true; }
  bool issues_after_run() const override { return true; }
  // It tells its launch the grid that it has read.
  OperationFacts facts() const override { return facts_of(function_, {0, 0, 0}, workgroup_); }
  bool timed_as_a_whole() const override { return false; }
  void run(HostCompletion& completion) override;
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  Status read_counts();

  const FunctionImpl& function_;
  Dim3 workgroup_;
  uint32_t lds_bytes_;
  std::vector<std::byte> kernarg_;
  BufferRange group_counts_;
  RecordedPlace place_;
  Ref<Executable> keep_executable_;
  Ref<CommandBuffer> keep_commands_;
  std::vector<Ref<Buffer>> keep_buffers_;
  uint32_t counts_[3] = {0, 0, 0};
};

// Makes one of a dispatch.
std::unique_ptr<IndirectLaunch> indirect_launch(const Dispatch& dispatch,
                                                const BufferRange& group_counts);

}  // namespace halyard::hip
