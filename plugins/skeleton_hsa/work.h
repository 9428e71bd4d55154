// What operations do, immediate ones and recorded ones alike. Ranges have a buffer and a length;
// what the work needs of its parameters it keeps, but for the buffers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "queue.h"

namespace halyard::skeleton {

Work fill_work(const BufferRange& target, std::vector<std::byte> pattern);
Work update_work(const BufferRange& target, std::vector<std::byte> bytes);
Work copy_work(const BufferRange& source, const BufferRange& target, const RectangleCopy& shape);

struct Launch {
  const Function* function = nullptr;
  Ref<Executable> keep = {};  // or the recording keeps it
  std::string group = {};     // of a recording
  Dim3 grid = {};             // of an indirect dispatch: one work-group
  Dim3 workgroup = {};
  uint32_t lds_bytes = 0;
  std::vector<std::byte> arguments = {};
};
Work launch_work(Launch launch);
Work indirect_work(Launch launch, const BufferRange& group_counts);

// A replay, command by command.
Work execute_work(CommandBufferImpl& commands, std::vector<BufferRange> bindings);

}  // namespace halyard::skeleton
