// What operations of serial queues do, immediate ones and recorded ones alike. Ranges have a buffer
// and a length; what the work needs of its parameters it keeps, but for the buffers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plugins/sdk/serial_command_buffer.h"
#include "plugins/sdk/serial_core.h"

namespace halyard {

SerialWork fill_work(const BufferRange& target, std::vector<std::byte> pattern);
SerialWork update_work(const BufferRange& target, std::vector<std::byte> bytes);
SerialWork copy_work(const BufferRange& source, const BufferRange& target,
                     const RectangleCopy& shape);

// Hidden arguments that depend on the queue are put in when it starts.
struct PackedLaunch {
  const Function* function = nullptr;
  Ref<Executable> keep = {};  // or the recording keeps it
  std::string group = {};     // of a recording
  Dim3 grid = {};             // of an indirect dispatch: one work-group
  Dim3 workgroup = {};
  uint32_t lds_bytes = 0;
  std::vector<std::byte> arguments = {};
};
SerialWork launch_work(PackedLaunch launch);
SerialWork indirect_work(PackedLaunch launch, const BufferRange& group_counts);

// A replay, command by command.
SerialWork execute_work(SerialCommandBuffer& commands, std::vector<BufferRange> bindings);

}  // namespace halyard
