// SerialCommandBuffer: a recording that a SerialQueue goes through command by command.
#pragma once

#include "drivers/common/recording_command_buffer.h"
#include "drivers/common/serial_memory.h"

namespace halyard {

class SerialCommandBuffer final : public RecordingCommandBuffer {
 public:
  explicit SerialCommandBuffer(Device& device)
      : RecordingCommandBuffer(device, &SerialBuffer::may_be_given_back) {}
  const Recording& recording() const { return recording_; }

 private:
  ~SerialCommandBuffer() = default;
  void destroy() noexcept override { delete this; }
  Status do_finish() override { return {}; }
};

}  // namespace halyard
