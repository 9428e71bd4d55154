// Program: a finished recording as packets and kernel arguments that are ready to be copied.
//
// Where something is known only at execution (the address of a binding, the queue, the slot in the
// ring), a list says what to write where. An Instance is one set of kernel arguments with the
// packets that point at it (program_instance.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/packet.h"
#include "hal/status.h"
#include "plugins/sdk/recording.h"

namespace halyard::amdgpu {

class DeviceImpl;

// 8 bytes of the kernel arguments that hold the address bound to `slot` plus `addend`.
struct ProgramPatch {
  uint32_t offset = 0;
  uint32_t slot = 0;
  uint64_t addend = 0;
};

// A hidden argument whose value is the queue's.
struct QueuePatch {
  uint32_t offset = 0;
  uint32_t size = 0;  // bytes
  ArgumentKind kind = ArgumentKind::kHiddenQueuePtr;
};

// An indirect dispatch: packet `packet` is the kernel that completes the packet behind it, in the
// ring. Its arguments lie at `offset`.
struct IndirectPatch {
  uint32_t packet = 0;
  uint32_t offset = 0;
  bool patches_counts = false;  // block_counts holds an offset into the kernel arguments
};

class Program {
 public:
  // UNIMPLEMENTED if the recording wants something of the device library that there is none for.
  static Result<std::unique_ptr<Program>> make(DeviceImpl& device, Recording recording);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Their kernarg_address is an offset into arguments().
  const std::vector<Packet>& packets() const { return packets_; }
  const std::vector<std::byte>& arguments() const { return arguments_; }
  const std::vector<ProgramPatch>& patches() const { return patches_; }
  const std::vector<QueuePatch>& queue_patches() const { return queue_patches_; }
  const std::vector<IndirectPatch>& indirect() const { return indirect_; }
  uint32_t slot_count() const { return slot_count_; }
  // Recording::check_buffers.
  Status check_buffers() const { return recording_.check_buffers(); }
  // One instance serves all executions, on any queue, at the same time.
  bool is_constant() const {
    return patches_.empty() && queue_patches_.empty() && indirect_.empty();
  }

  // "kernel \"x\" (command 3 of a command buffer, in group \"y\")", for packet `packet`; and those
  // that no barrier keeps from running beside it.
  std::string describe(uint32_t packet) const;
  StringView name(uint32_t packet) const { return facts_of(command_of(packet)).name; }
  // The command that a packet belongs to; its index is command_index().
  const RecordedCommand& command_of(uint32_t packet) const {
    return recording_.commands()[commands_[packet]];
  }
  uint32_t command_index(uint32_t packet) const { return commands_[packet]; }

 private:
  friend class ProgramBuilder;
  Program(DeviceImpl& device, Recording recording)
      : device_(device), recording_(std::move(recording)) {}

  DeviceImpl& device_;
  const Recording recording_;  // keeps alive what it names
  std::vector<Packet> packets_;
  std::vector<uint32_t> commands_;  // of each packet: the command that it belongs to
  std::vector<std::byte> arguments_;
  std::vector<ProgramPatch> patches_;
  std::vector<QueuePatch> queue_patches_;
  std::vector<IndirectPatch> indirect_;
  uint32_t slot_count_ = 0;
  std::byte* payload_ = nullptr;  // what update commands write, where the device reads it
};

}  // namespace halyard::amdgpu
