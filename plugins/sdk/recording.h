// Recording: the commands of a command buffer, with all that they need copied or kept alive, in the
// form that replaying wants: kernel arguments packed, places where bindings go listed.
//
// Written by one thread; afterwards constant, for any thread to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hal/buffer.h"
#include "hal/dispatch.h"
#include "hal/executable.h"
#include "hal/kernel_arguments.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/types.h"
#include "plugins/sdk/operation_facts.h"

namespace halyard {

enum class RecordedKind : uint8_t {
  kFill,
  kUpdate,
  kCopy,
  kCopyRectangle,
  kDispatch,
  kDispatchIndirect
};

// A place in a command's kernel arguments that holds the address bound to `slot` plus `addend`.
struct SlotPatch {
  uint32_t offset = 0;  // bytes from the start of the kernel arguments
  uint32_t slot = 0;
  uint64_t addend = 0;  // bytes; also what the place holds before it is patched
};

struct RecordedCommand {
  RecordedKind kind = RecordedKind::kDispatch;
  // A barrier lies between this command and the one before it.
  bool after_barrier = false;
  uint32_t group = 0;  // the innermost open debug group, for Recording::group_path; 0: none

  // Ranges have a buffer, or else a slot. Their lengths are known.
  BufferRange target;        // kFill, kUpdate, kCopy, kCopyRectangle
  BufferRange source;        // kCopy, kCopyRectangle
  BufferRange group_counts;  // kDispatchIndirect

  uint64_t bytes = 0;  // of data(): fill's pattern, update's source, or the kernel arguments
  uint64_t data = 0;   // where they are in Recording::data()

  // Dispatches.
  const Function* function = nullptr;
  Dim3 grid;  // work-items; of an indirect dispatch: one work-group
  Dim3 workgroup;
  uint32_t lds_bytes = 0;    // static and dynamic
  uint32_t first_patch = 0;  // in Recording::patches()
  uint32_t patch_count = 0;

  RectangleCopy shape;  // kCopyRectangle
};

// What a profile says of it, but for its place.
OperationFacts facts_of(const RecordedCommand& command);

// Packs the arguments of an indirect dispatch: those of one whole work-group in three dimensions,
// until the device puts the counts in. Partial work-groups there are none. `kernarg` is ordinary
// memory. Returns the bytes of LDS.
uint32_t pack_indirect_arguments(const Dispatch& dispatch, const HiddenValues& hidden,
                                 void* kernarg) noexcept;

class Recording {
 public:
  // Whether a buffer may be given back to a pool while it lives (Queue::dealloca_buffer).
  using MayBeGivenBack = bool (*)(Buffer& buffer);

  // `may_be_given_back` may be null: then no buffer is.
  explicit Recording(MayBeGivenBack may_be_given_back = nullptr)
      : may_be_given_back_(may_be_given_back) {}

  void fill(const BufferRange& target, const void* pattern, uint32_t pattern_size);
  void update(const BufferRange& target, const void* source, uint64_t size);
  void copy(const BufferRange& source, const BufferRange& target);
  void copy_rectangle(const BufferRange& source, const BufferRange& target,
                      const RectangleCopy& shape);
  // Hidden arguments that depend on the queue are packed from `hidden`.
  void dispatch(const Dispatch& dispatch, const HiddenValues& hidden = {});
  void dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                         const HiddenValues& hidden = {});
  void barrier() { barrier_ = true; }
  void begin_group(StringView label);
  void end_group();

  const std::vector<RecordedCommand>& commands() const { return commands_; }
  // That commands name, each at least once.
  const std::vector<Ref<Buffer>>& buffers() const { return buffers_; }
  // For each execution: FAILED_PRECONDITION if a buffer that a command names was given back since.
  Status check_buffers() const { return pooled_.empty() ? Status() : check_pooled(); }
  // 16-byte aligned. Of a command without bytes it is where none may be read.
  const std::byte* data(const RecordedCommand& command) const {
    return data_.data() + command.data;
  }
  Span<const SlotPatch> patches(const RecordedCommand& command) const {
    return {patches_.data() + command.first_patch, command.patch_count};
  }
  // "outer/inner"; empty outside of all groups.
  std::string group_path(const RecordedCommand& command) const;

 private:
  struct Group {
    uint32_t parent = 0;
    std::string label;
  };

  RecordedCommand& add(RecordedKind kind);
  void keep(const BufferRange& range);
  Status check_pooled() const;
  // Room for `size` bytes in data_, zeroed.
  std::byte* reserve(RecordedCommand& command, uint64_t size);
  RecordedCommand& add_dispatch(RecordedKind kind, const Dispatch& dispatch);

  MayBeGivenBack may_be_given_back_;
  std::vector<RecordedCommand> commands_;
  std::vector<std::byte> data_;
  std::vector<SlotPatch> patches_;
  std::vector<Ref<Buffer>> buffers_;          // each once in a row
  std::vector<const Buffer*> pooled_;         // of these, what may be given back
  std::vector<Ref<Executable>> executables_;  // each once in a row
  std::vector<Group> groups_;                 // group n is groups_[n - 1]
  uint32_t open_group_ = 0;
  bool barrier_ = false;
};

// Where `range` lies when `bindings` are bound: a slot's binding, from its offset on.
inline BufferRange bound_range(const BufferRange& range, Span<const BufferRange> bindings) {
  if (range.buffer != nullptr) return range;
  const BufferRange& binding = bindings[range.slot];
  BufferRange bound = range;
  bound.buffer = binding.buffer;
  bound.offset = binding.offset + range.offset;
  return bound;
}

}  // namespace halyard
