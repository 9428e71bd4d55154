// SerialCommandBuffer: a recording that a SerialQueue goes through command by command.
#pragma once

#include "plugins/sdk/recording_command_buffer.h"
#include "plugins/sdk/serial_memory.h"

namespace halyard {

class SerialCommandBuffer final : public RecordingCommandBuffer {
 public:
  explicit SerialCommandBuffer(Device& device)
      : RecordingCommandBuffer(device, &SerialBuffer::may_be_given_back) {}
  const Recording& recording() const { return recording_; }
  // A profile_bit() for each kind of its commands.
  uint64_t kinds() const { return kinds_; }

 private:
  ~SerialCommandBuffer() = default;
  void destroy() noexcept override { delete this; }
  Status do_finish() override {
    for (const RecordedCommand& command : recording_.commands()) {
      kinds_ |= profile_bit(facts_of(command).kind);
    }
    return {};
  }

  uint64_t kinds_ = 0;
};

}  // namespace halyard
