#include "drivers/amdgpu/program.h"

#include <algorithm>
#include <cstring>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/indirect.h"
#include "drivers/amdgpu/library_launch.h"
#include "drivers/amdgpu/packet_header.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "hal/text.h"

namespace halyard::amdgpu {

namespace {

// A line of the caches, so that kernels that run at the same time share none.
constexpr uint64_t kAlignment = 64;

constexpr uint64_t align(uint64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

// A dispatch packet but for its header.
struct RecordedLaunch {
  const FunctionImpl& function;
  const Dim3& grid;
  const Dim3& workgroup;
  uint32_t lds_bytes = 0;
};

}  // namespace

class ProgramBuilder {
 public:
  ProgramBuilder(DeviceImpl& device, Program& program) : device_(device), program_(program) {}

  Status build() {
    HALYARD_RETURN_IF_ERROR(make_payload());
    const auto& commands = program_.recording_.commands();
    for (uint32_t i = 0; i < commands.size(); ++i) {
      command_ = i;
      barrier_ = commands[i].after_barrier;
      HALYARD_RETURN_IF_ERROR(add(commands[i]));
    }
    for (const ProgramPatch& patch : program_.patches_) {
      program_.slot_count_ = std::max(program_.slot_count_, patch.slot + 1);
    }
    return {};
  }

 private:
  Status add(const RecordedCommand& command) {
    switch (command.kind) {
      case RecordedKind::kFill:
        return add_fill(command);
      case RecordedKind::kUpdate:
      case RecordedKind::kCopy:
        return add_copy(command);
      case RecordedKind::kCopyRectangle:
        return add_copy_rectangle(command);
      case RecordedKind::kDispatch:
        add_dispatch(command);
        return {};
      case RecordedKind::kDispatchIndirect:
        return add_indirect(command);
    }
    return {};
  }

  static bool is_pattern_fill(const RecordedCommand& command) {
    return command.kind == RecordedKind::kFill &&
           !is_fill_pattern(static_cast<uint32_t>(command.bytes));
  }
  static uint32_t row_bytes_of(const RecordedCommand& fill) {
    constexpr uint32_t kRoom = 4096;
    return pattern_row_bytes(static_cast<uint32_t>(fill.bytes), fill.target.length, kRoom);
  }

  // What update commands write, and the rows of patterns, in one piece.
  Status make_payload() {
    uint64_t bytes = 0;
    for (const RecordedCommand& command : program_.recording_.commands()) {
      if (command.kind == RecordedKind::kUpdate) bytes += align(command.bytes);
      if (is_pattern_fill(command)) bytes += align(row_bytes_of(command));
    }
    if (bytes == 0) return {};
    void* memory = nullptr;
    HALYARD_RETURN_IF_ERROR(device_.memory().allocate_kernarg(bytes, &memory));
    program_.payload_ = static_cast<std::byte*>(memory);
    return {};
  }

  // Kernel arguments of `size` bytes, zeroed; their offset.
  uint32_t add_arguments(uint64_t size) {
    std::vector<std::byte>& arguments = program_.arguments_;
    const uint64_t offset = arguments.size();
    arguments.resize(offset + align(std::max<uint64_t>(size, 1)));
    return static_cast<uint32_t>(offset);
  }
  std::byte* at(uint32_t offset) { return &program_.arguments_[offset]; }

  void add_packet(const RecordedLaunch& launch, uint32_t arguments, FenceScopes fences,
                  bool barrier) {
    const KernelCode& code = launch.function.code();
    Packet& packet = program_.packets_.emplace_back();
    std::memset(&packet, 0, sizeof packet);
    hsa_kernel_dispatch_packet_t& dispatch = packet.dispatch;
    dispatch.workgroup_size_x = static_cast<uint16_t>(launch.workgroup.x);
    dispatch.workgroup_size_y = static_cast<uint16_t>(launch.workgroup.y);
    dispatch.workgroup_size_z = static_cast<uint16_t>(launch.workgroup.z);
    dispatch.grid_size_x = launch.grid.x;
    dispatch.grid_size_y = launch.grid.y;
    dispatch.grid_size_z = launch.grid.z;
    dispatch.private_segment_size = code.private_bytes;
    dispatch.group_segment_size = launch.lds_bytes;
    dispatch.kernel_object = code.object;
    dispatch.kernarg_address = reinterpret_cast<void*>(uint64_t{arguments});
    packet.words[0] = first_word(packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, fences, barrier),
                                 grid_dimensions(launch.grid));
    program_.commands_.push_back(command_);
  }
  void add_packet(const RecordedLaunch& launch, uint32_t arguments) {
    const bool first = program_.packets_.empty();
    const FenceScopes fences = recorded_scopes({.first = first, .barrier = barrier_});
    add_packet(launch, arguments, fences, first || barrier_);
    barrier_ = false;
  }
  // A packet that takes a slot and no time.
  void add_nothing() {
    constexpr FenceScopes kNone = {.acquire = Scope::kNone, .release = Scope::kNone};
    Packet& packet = program_.packets_.emplace_back();
    std::memset(&packet, 0, sizeof packet);
    packet.words[0] = packet_header(HSA_PACKET_TYPE_BARRIER_AND, kNone, false);
    program_.commands_.push_back(command_);
  }
  // Of the device library's; its arguments' offset.
  Result<uint32_t> add_library_packet(const LibraryLaunch& launch) {
    HALYARD_ASSIGN_OR_RETURN(const FunctionImpl* const function,
                             device_.library().function(launch.kernel));
    const uint32_t arguments = add_arguments(launch.arguments_size);
    std::memcpy(at(arguments), launch.arguments, launch.arguments_size);
    add_packet({*function, launch.grid, launch.workgroup}, arguments);
    return arguments;
  }

  // The address of `range`, at `offset`.
  void add_address(uint32_t offset, const BufferRange& range) {
    uint64_t address = range.offset;
    if (range.buffer != nullptr) {
      address += range.buffer->device_address();
    } else {
      program_.patches_.push_back({offset, range.slot, range.offset});
    }
    std::memcpy(at(offset), &address, sizeof address);
  }

  // The arguments of a dispatch, with what has to be written into them later.
  uint32_t add_dispatch_arguments(const RecordedCommand& command) {
    const uint32_t offset = add_arguments(command.bytes);
    if (command.bytes != 0) {
      std::memcpy(at(offset), program_.recording_.data(command), command.bytes);
    }
    for (const SlotPatch& patch : program_.recording_.patches(command)) {
      program_.patches_.push_back({offset + patch.offset, patch.slot, patch.addend});
    }
    for (const ArgumentInfo& hidden : driver::info_of(*command.function).hidden) {
      if (hidden.kind == ArgumentKind::kHiddenQueuePtr ||
          hidden.kind == ArgumentKind::kHiddenPrivateBase ||
          hidden.kind == ArgumentKind::kHiddenSharedBase) {
        program_.queue_patches_.push_back({offset + hidden.offset, hidden.size, hidden.kind});
      }
    }
    return offset;
  }

  void add_dispatch(const RecordedCommand& command) {
    const auto& function = static_cast<const FunctionImpl&>(*command.function);
    const uint32_t arguments = add_dispatch_arguments(command);
    add_packet({function, command.grid, command.workgroup, command.lds_bytes}, arguments);
  }

  Status add_fill(const RecordedCommand& command) {
    if (is_pattern_fill(command)) return add_pattern_fill(command);
    HALYARD_ASSIGN_OR_RETURN(
        const uint32_t arguments,
        add_library_packet(
            fill_launch(nullptr, command.target.length, program_.recording_.data(command),
                        static_cast<uint32_t>(command.bytes), device_.info().compute_units)));
    add_address(arguments + offsetof(HalyardFillArguments, target), command.target);
    return {};
  }

  // In pieces, as a launch has at most 2^32 - 1 rows. They do not wait for each other.
  Status add_pattern_fill(const RecordedCommand& command) {
    const uint32_t row_bytes = row_bytes_of(command);
    std::byte* const row = program_.payload_ + payload_used_;
    payload_used_ += align(row_bytes);
    for (uint64_t done = 0; done < row_bytes; done += command.bytes) {
      std::memcpy(row + done, program_.recording_.data(command), command.bytes);
    }
    const uint64_t most = uint64_t{UINT32_MAX} * row_bytes;
    for (uint64_t done = 0; done < command.target.length; done += most) {
      BufferRange piece = command.target;
      piece.offset += done;
      const uint64_t size = std::min(most, command.target.length - done);
      HALYARD_ASSIGN_OR_RETURN(const uint32_t arguments,
                               add_library_packet(fill_rows_launch(nullptr, size, row, row_bytes,
                                                                   device_.info().compute_units)));
      add_address(arguments + offsetof(HalyardCopyRectangleArguments, target), piece);
    }
    return {};
  }

  Status add_copy_rectangle(const RecordedCommand& command) {
    HALYARD_ASSIGN_OR_RETURN(
        const uint32_t arguments,
        add_library_packet(copy_rectangle_launch(nullptr, nullptr, rectangle_of(command.shape),
                                                 device_.info().compute_units)));
    add_address(arguments + offsetof(HalyardCopyRectangleArguments, target), command.target);
    add_address(arguments + offsetof(HalyardCopyRectangleArguments, source), command.source);
    return {};
  }

  Status add_copy(const RecordedCommand& command) {
    const std::byte* source = nullptr;
    if (command.kind == RecordedKind::kUpdate) {
      std::memcpy(program_.payload_ + payload_used_, program_.recording_.data(command),
                  command.bytes);
      source = program_.payload_ + payload_used_;
      payload_used_ += align(command.bytes);
    }
    HALYARD_ASSIGN_OR_RETURN(const uint32_t arguments,
                             add_library_packet(copy_launch(nullptr, source, command.target.length,
                                                            device_.info().compute_units)));
    add_address(arguments + offsetof(HalyardCopyArguments, target), command.target);
    if (command.kind == RecordedKind::kCopy) {
      add_address(arguments + offsetof(HalyardCopyArguments, source), command.source);
    }
    return {};
  }

  Status add_indirect(const RecordedCommand& command) {
    const auto& function = static_cast<const FunctionImpl&>(*command.function);
    HALYARD_RETURN_IF_ERROR(check_indirect(function));
    // The two are in the ring together, however that is cut into chunks (batch_layout).
    if (program_.packets_.size() % 2 != 0) add_nothing();
    const uint32_t kernel_arguments = add_dispatch_arguments(command);
    HalyardPatchDispatchArguments arguments = indirect_arguments(device_.info(), command.workgroup);
    IndirectPatch patch;
    patch.patches_counts = function.code().block_counts != KernelCode::kNoBlockCounts;
    if (patch.patches_counts) {
      arguments.block_counts =
          reinterpret_cast<uint32_t*>(uint64_t{kernel_arguments} + function.code().block_counts);
    }
    patch.packet = static_cast<uint32_t>(program_.packets_.size());
    HALYARD_ASSIGN_OR_RETURN(patch.offset, add_library_packet(patch_dispatch_launch(arguments)));
    add_address(patch.offset + offsetof(HalyardPatchDispatchArguments, group_counts),
                command.group_counts);
    program_.indirect_.push_back(patch);
    add_packet({function, command.grid, command.workgroup, command.lds_bytes}, kernel_arguments, {},
               true);
    // The kernel in front of it makes it valid.
    program_.packets_.back().words[0] = HSA_PACKET_TYPE_INVALID;
    return {};
  }

  DeviceImpl& device_;
  Program& program_;
  uint32_t command_ = 0;
  bool barrier_ = false;
  uint64_t payload_used_ = 0;
};

Result<std::unique_ptr<Program>> Program::make(DeviceImpl& device, Recording recording) {
  std::unique_ptr<Program> program(new Program(device, std::move(recording)));
  ProgramBuilder builder(device, *program);
  HALYARD_RETURN_IF_ERROR(builder.build());
  return program;
}

Program::~Program() {
  if (payload_ != nullptr) device_.memory().free_kernarg(payload_);
}

std::string Program::describe(uint32_t packet) const {
  const auto barrier_at = [&](uint32_t i) {
    return (packets_[i].words[0] & (1u << HSA_PACKET_HEADER_BARRIER)) != 0;
  };
  const std::string group = recording_.group_path(command_of(packet));
  std::string text =
      fmt::format("kernel \"{}\" (command {} of a command buffer{})", short_name(name(packet)),
                  commands_[packet], group.empty() ? "" : ", in " + group);
  // The others that may be running, by name.
  uint32_t first = packet;
  while (first > 0 && !barrier_at(first)) --first;
  std::vector<std::string_view> others;
  for (uint32_t i = first; i < packet; ++i) {
    const std::string_view other = name(i);
    const bool known = std::find(others.begin(), others.end(), other) != others.end();
    if (!known && other != name(packet).view()) others.push_back(other);
  }
  for (size_t i = 0; i < others.size(); ++i) {
    text += fmt::format("{}\"{}\"", i == 0 ? " or, beside it, " : ", ", short_name(others[i]));
  }
  return text;
}

}  // namespace halyard::amdgpu
