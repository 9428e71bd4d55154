#include "plugins/sdk/serial_work.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hal/error.h"
#include "hal/text.h"
#include "plugins/sdk/serial_executable.h"

namespace halyard {
namespace {

SerialPlace place(const BufferRange& range) {
  return SerialBuffer::of(*range.buffer).at(range.offset);
}

// Hidden arguments that depend on the queue, which a recording does not know.
void patch_hidden(const SerialCore& core, const FunctionInfo& info, std::byte* arguments) {
  const HiddenValues values = core.engine().hidden_values();
  for (const ArgumentInfo& hidden : info.hidden) {
    uint64_t value = 0;
    if (hidden.kind == ArgumentKind::kHiddenQueuePtr) {
      value = values.queue_address;
    } else if (hidden.kind == ArgumentKind::kHiddenPrivateBase) {
      value = values.private_base;
    } else if (hidden.kind == ArgumentKind::kHiddenSharedBase) {
      value = values.shared_base;
    } else {
      continue;
    }
    std::memcpy(arguments + hidden.offset, &value, std::min<size_t>(hidden.size, sizeof value));
  }
}

}  // namespace

SerialWork fill_work(const BufferRange& target, std::vector<std::byte> pattern) {
  return [to = place(target), length = target.length, pattern = std::move(pattern),
          done = uint64_t{0}](SerialCore& core) mutable -> Result<SerialStep> {
    const uint64_t most = SerialCore::kArenaBytes / pattern.size() * pattern.size();
    const uint64_t repeated = std::min(most, length);
    for (uint64_t i = 0; done == 0 && i < repeated; i += pattern.size()) {
      std::memcpy(core.arena() + i, pattern.data(), pattern.size());
    }
    while (done != length) {
      const uint64_t piece = std::min(repeated, length - done);
      const SerialPlace at = to + std::exchange(done, done + piece);
      HALYARD_ASSIGN_OR_RETURN(const SerialStep step, core.copy({at, core.arena_place(), piece}));
      if (step != SerialStep::kDone) return step;
    }
    return SerialStep::kDone;
  };
}

SerialWork update_work(const BufferRange& target, std::vector<std::byte> bytes) {
  return [to = place(target), bytes = std::move(bytes),
          done = uint64_t{0}](SerialCore& core) mutable -> Result<SerialStep> {
    while (done != bytes.size()) {
      const uint64_t piece = std::min<uint64_t>(SerialCore::kArenaBytes, bytes.size() - done);
      std::memcpy(core.arena(), bytes.data() + done, piece);
      const SerialPlace at = to + std::exchange(done, done + piece);
      HALYARD_ASSIGN_OR_RETURN(const SerialStep step, core.copy({at, core.arena_place(), piece}));
      if (step != SerialStep::kDone) return step;
    }
    return SerialStep::kDone;
  };
}

// Row by row.
SerialWork copy_work(const BufferRange& source, const BufferRange& target,
                     const RectangleCopy& shape) {
  return [from = place(source), to = place(target), shape,
          next = uint64_t{0}](SerialCore& core) mutable -> Result<SerialStep> {
    while (next != shape.slices * shape.rows) {
      const uint64_t z = next / shape.rows;
      const uint64_t y = next++ % shape.rows;
      HALYARD_ASSIGN_OR_RETURN(
          const SerialStep step,
          core.copy({to + (z * shape.target_slice_pitch + y * shape.target_row_pitch),
                     from + (z * shape.source_slice_pitch + y * shape.source_row_pitch),
                     shape.row_bytes}));
      if (step != SerialStep::kDone) return step;
    }
    return SerialStep::kDone;
  };
}

SerialWork launch_work(PackedLaunch launch) {
  return [launch = std::move(launch),
          started = false](SerialCore& core) mutable -> Result<SerialStep> {
    if (std::exchange(started, true)) return SerialStep::kDone;
    if (!launch.arguments.empty())
      std::memcpy(core.arena(), launch.arguments.data(), launch.arguments.size());
    patch_hidden(core, driver::info_of(*launch.function), core.arena());
    return core.launch({SerialFunction::of(*launch.function), launch.grid, launch.workgroup,
                        launch.lds_bytes, core.arena()},
                       launch.group);
  };
}

// The host reads the counts, behind everything before.
SerialWork indirect_work(PackedLaunch launch, const BufferRange& group_counts) {
  return [launch = std::move(launch), counts_at = place(group_counts),
          launched = SerialWork()](SerialCore& core) mutable -> Result<SerialStep> {
    if (launched) return launched(core);
    uint32_t counts[3] = {};
    HALYARD_RETURN_IF_ERROR(core.copy_now({core.arena_place(), counts_at, sizeof counts}));
    std::memcpy(counts, core.arena(), sizeof counts);
    const FunctionInfo& info = driver::info_of(*launch.function);
    uint32_t* const grid[3] = {&launch.grid.x, &launch.grid.y, &launch.grid.z};
    for (int i = 0; i < 3; ++i) {
      const uint64_t items = uint64_t{counts[i]} * *grid[i];
      if (items > UINT32_MAX) {
        return error(StatusCode::kOutOfRange,
                     "An indirect dispatch of \"{}\" has {} work-groups of {} work-items in "
                     "dimension {}, which are more than 4294967295 work-items.",
                     short_name(info.name), counts[i], *grid[i], i);
      }
      *grid[i] = static_cast<uint32_t>(items);
    }
    for (const ArgumentInfo& hidden : info.hidden) {
      const auto dimension = static_cast<uint32_t>(hidden.kind) -
                             static_cast<uint32_t>(ArgumentKind::kHiddenBlockCountX);
      if (dimension > 2) continue;
      std::memcpy(&launch.arguments[hidden.offset], &counts[dimension],
                  std::min<size_t>(hidden.size, sizeof counts[dimension]));
    }
    launched = launch_work(std::move(launch));
    return launched(core);
  };
}

namespace {

SerialWork replay(const Recording& recording, const RecordedCommand& command,
                  Span<const BufferRange> bindings) {
  const auto bound = [&](const BufferRange& range) { return bound_range(range, bindings); };
  const std::byte* const data = recording.data(command);
  std::vector<std::byte> bytes(data, data + command.bytes);
  RectangleCopy whole;
  whole.row_bytes = command.target.length;
  switch (command.kind) {
    case RecordedKind::kFill:
      return fill_work(bound(command.target), std::move(bytes));
    case RecordedKind::kUpdate:
      return update_work(bound(command.target), std::move(bytes));
    case RecordedKind::kCopy:
      return copy_work(bound(command.source), bound(command.target), whole);
    case RecordedKind::kCopyRectangle:
      return copy_work(bound(command.source), bound(command.target), command.shape);
    default:
      break;
  }
  for (const SlotPatch& patch : recording.patches(command)) {
    const BufferRange& binding = bindings[patch.slot];
    const uint64_t at = binding.buffer->device_address() + binding.offset + patch.addend;
    std::memcpy(&bytes[patch.offset], &at, sizeof at);
  }
  PackedLaunch launch = {command.function,
                         {},
                         recording.group_path(command),
                         command.grid,
                         command.workgroup,
                         command.lds_bytes,
                         std::move(bytes)};
  if (command.kind == RecordedKind::kDispatch) return launch_work(std::move(launch));
  return indirect_work(std::move(launch), bound(command.group_counts));
}

}  // namespace

SerialWork execute_work(SerialCommandBuffer& commands, std::vector<BufferRange> bindings) {
  // The buffers of slots are the execution's to keep.
  std::vector<Ref<Buffer>> buffers;
  for (const BufferRange& range : bindings) buffers.push_back(Ref<Buffer>::retain(range.buffer));
  return [keep = Ref<SerialCommandBuffer>::retain(&commands), buffers = std::move(buffers),
          bindings = std::move(bindings), place = RecordedPlace(), next = uint32_t{0},
          current = SerialWork()](SerialCore& core) mutable -> Result<SerialStep> {
    const Recording& recording = keep->recording();
    while (true) {
      if (!current) {
        if (next == recording.commands().size()) return SerialStep::kDone;
        if (place.execution == 0) place.execution = core.next_execution();
        place.command = next++;
        const RecordedCommand& command = recording.commands()[place.command];
        core.begin_timing(facts_of(command), place);
        current = replay(recording, command, bindings);
      }
      HALYARD_ASSIGN_OR_RETURN(const SerialStep step, current(core));
      if (step != SerialStep::kDone) return step;
      core.end_timing();
      current = nullptr;
    }
  };
}

}  // namespace halyard
