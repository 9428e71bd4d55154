#include "drivers/hip/host_operation.h"

#include <algorithm>
#include <cstring>

#include "drivers/hip/buffer.h"
#include "drivers/hip/command_buffer.h"
#include "drivers/hip/device.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/transfers.h"
#include "hal/error.h"
#include "hal/text.h"
#include "plugins/sdk/recording.h"

namespace halyard::hip {

namespace {

// A stream of its own and pinned memory, for copies that a host thread waits for.
class StagedCopy {
 public:
  static Result<StagedCopy> make(DeviceImpl& device, uint64_t size) {
    HALYARD_ASSIGN_OR_RETURN(Stream* const stream,
                             Streams::instance().take(device.hip(), device.facts().device, 0));
    StagedCopy staged(device, *stream);
    HALYARD_ASSIGN_OR_RETURN(staged.staging_, device.memory().take_staging(size));
    return staged;
  }
  StagedCopy(StagedCopy&& other) noexcept
      : device_(other.device_),
        stream_(std::exchange(other.stream_, nullptr)),
        staging_(std::exchange(other.staging_, {})) {}
  StagedCopy& operator=(StagedCopy&&) = delete;
  ~StagedCopy() {
    if (stream_ != nullptr) Streams::instance().give(*stream_);
    if (staging_.base != nullptr) device_.memory().return_staging(staging_);
  }

  std::byte* bytes() const { return static_cast<std::byte*>(staging_.base); }
  Place place() const { return {staging_.base, true}; }
  Status copy(const Place& target, const Place& source, uint64_t size) const {
    uint64_t number = 0;
    {
      const std::lock_guard lock(stream_->order());
      HALYARD_RETURN_IF_ERROR(put_copy_on(*stream_, target, source, size));
      stream_->count();
      HALYARD_RETURN_IF_ERROR(stream_->mark());
      number = stream_->number();
    }
    // Not hipStreamSynchronize, which does not come back when the device is lost.
    const PointState state = Progress::instance().wait_until(
        [&] { return stream_->state_of(number); }, Deadline::infinite());
    return state == PointState::kReached ? Status() : stream_->fault();
  }

 private:
  StagedCopy(DeviceImpl& device, Stream& stream) : device_(device), stream_(&stream) {}

  DeviceImpl& device_;
  Stream* stream_;
  Block staging_;
};

}  // namespace

Status move_file(DeviceImpl& device, const FileWork& work) {
  const BufferRange& range = work.range();
  const auto& buffer = static_cast<const BufferImpl&>(*range.buffer);
  if (std::byte* const host = buffer.host_at(range.offset); host != nullptr) {
    return work.move_mapped(host, [&] { buffer.synchronise_with_host(); });
  }
  const Place place = place_of(range);
  const uint64_t staging = work.staging_size();
  HALYARD_ASSIGN_OR_RETURN(const StagedCopy staged, StagedCopy::make(device, staging));
  const auto copy = [&](uint64_t done, uint64_t size, bool to_buffer) {
    return to_buffer ? staged.copy(advance(place, done), staged.place(), size)
                     : staged.copy(staged.place(), advance(place, done), size);
  };
  return work.move_staged(staged.bytes(), staging, copy);
}

IndirectLaunch::IndirectLaunch(const Function& function, const Dim3& workgroup, uint32_t lds_bytes,
                               std::vector<std::byte> kernarg, const BufferRange& group_counts,
                               const RecordedPlace& place)
    : function_(static_cast<const FunctionImpl&>(function)),
      workgroup_(workgroup),
      lds_bytes_(lds_bytes),
      kernarg_(std::move(kernarg)),
      group_counts_(group_counts),
      place_(place),
      keep_executable_(Ref<Executable>::retain(&function.executable())) {
  keep(group_counts.buffer);
}

std::unique_ptr<IndirectLaunch> indirect_launch(const Dispatch& dispatch,
                                                const BufferRange& group_counts) {
  std::vector<std::byte> kernarg(driver::info_of(*dispatch.function).kernarg_size);
  const uint32_t lds = pack_indirect_arguments(dispatch, kNoHiddenValues, kernarg.data());
  auto launch = std::make_unique<IndirectLaunch>(*dispatch.function, dispatch.workgroup, lds,
                                                 std::move(kernarg), group_counts);
  for (const Argument& argument : dispatch.arguments) {
    if (argument.has_range() && argument.range.buffer != nullptr) {
      launch->keep(argument.range.buffer);
    }
  }
  return launch;
}

Status IndirectLaunch::read_counts() {
  auto& device = static_cast<DeviceImpl&>(function_.executable().device());
  const auto& buffer = static_cast<const BufferImpl&>(*group_counts_.buffer);
  if (const std::byte* const host = buffer.host_at(group_counts_.offset); host != nullptr) {
    buffer.synchronise_with_host();
    std::memcpy(counts_, host, sizeof(counts_));
  } else {
    HALYARD_ASSIGN_OR_RETURN(const StagedCopy staged, StagedCopy::make(device, sizeof(counts_)));
    HALYARD_RETURN_IF_ERROR(staged.copy(staged.place(), place_of(group_counts_), sizeof(counts_)));
    std::memcpy(counts_, staged.bytes(), sizeof(counts_));
  }
  const uint32_t sides[] = {workgroup_.x, workgroup_.y, workgroup_.z};
  for (int i = 0; i < 3; ++i) {
    if (uint64_t{counts_[i]} * sides[i] > UINT32_MAX) {
      return error(StatusCode::kOutOfRange,
                   "The indirect dispatch of \"{}\" reads a count ({} work-groups of {} work-items "
                   "in dimension {}) above what a grid has (4294967295 work-items).",
                   short_name(function_.info().name), counts_[i], sides[i], i);
    }
  }
  return {};
}

void IndirectLaunch::run(HostCompletion& completion) {
  completion.complete(read_counts());
}

Status IndirectLaunch::issue(QueueCore& core) {
  for (const Ref<Buffer>& buffer : keep_buffers_) use(core, *buffer);
  // One that replays a recording has kept that, and not its buffers.
  if (keep_commands_) use(core, static_cast<CommandBufferImpl&>(*keep_commands_));
  // A grid of nothing is done.
  if (counts_[0] == 0 || counts_[1] == 0 || counts_[2] == 0) return {};
  for (const ArgumentInfo& argument : function_.info().hidden) {
    const auto dimension = static_cast<uint32_t>(argument.kind) -
                           static_cast<uint32_t>(ArgumentKind::kHiddenBlockCountX);
    if (dimension > 2) continue;
    std::memcpy(kernarg_.data() + argument.offset, &counts_[dimension],
                std::min<size_t>(argument.size, sizeof(uint32_t)));
  }
  const Dim3 grid = {counts_[0] * workgroup_.x, counts_[1] * workgroup_.y,
                     counts_[2] * workgroup_.z};
  return launch(core, {function_, grid, workgroup_, lds_bytes_, kernarg_.data(), place_});
}

Result<std::unique_ptr<Operation>> IndirectLaunch::hold() {
  return error(StatusCode::kInternal, "Internal error: a held launch was held back again.");
}

}  // namespace halyard::hip
