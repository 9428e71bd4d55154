#include "drivers/amdgpu/memory_operations.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/library_operation.h"
#include "drivers/amdgpu/mover.h"
#include "drivers/amdgpu/transfers.h"

namespace halyard::amdgpu {

namespace {

void* at(const BufferRange& range) {
  return static_cast<BufferImpl*>(range.buffer)->at(range.offset);
}

// The runtime reads the variable once as well, when it starts.
uint64_t engine_from(const DeviceImpl& device) {
  return device.options().copy_engine_bytes.value_or(kEngineMovesBytes);
}
bool has_engines() {
  static const bool uses = uses_engines(std::getenv("HSA_ENABLE_SDMA"));
  return uses;
}

// An update whose bytes lie behind the kernel's arguments, so that there is nothing to allocate and
// nothing to free.
class InlineUpdate final : public Operation {
 public:
  // `bytes` stay the caller's, until hold().
  InlineUpdate(const FunctionImpl& copy, Buffer& target, void* to, const void* bytes, uint64_t size)
      : copy_(copy), target_(target), to_(to), bytes_(bytes), size_(size) {}

  uint32_t packets() const override { return 1; }
  OperationFacts facts() const override { return facts_of(ProfileKind::kUpdate, size_); }

  Status issue(QueueCore& core, const IssueContext& context) override {
    impl(target_).users().add(core.user_bit());
    const LibraryLaunch launch = copy_launch(to_, nullptr, size_, 1);
    // Bytes of the kernel arguments are read like the arguments themselves: nothing foreign.
    return emit(core, 1, context, [&](uint64_t index, bool interrupt) {
      write_launch(core, index, interrupt, {copy_, launch.grid, launch.workgroup, context.foreign},
                   [&](void* kernarg) {
                     auto* const payload = static_cast<uint8_t*>(kernarg) + kPayloadOffset;
                     HalyardCopyArguments arguments;
                     std::memcpy(&arguments, launch.arguments, sizeof(arguments));
                     arguments.source = payload;
                     std::memcpy(kernarg, &arguments, sizeof(arguments));
                     std::memcpy(payload, bytes_, size_);
                     return 0u;
                   });
    });
  }

  Result<std::unique_ptr<Operation>> hold() override {
    auto copy = std::make_unique<InlineUpdate>(copy_, target_, to_, nullptr, size_);
    const auto* const bytes = static_cast<const std::byte*>(bytes_);
    copy->keep_bytes_.assign(bytes, bytes + size_);
    copy->bytes_ = copy->keep_bytes_.data();
    copy->keep_target_ = Ref<Buffer>::retain(&target_);
    return std::unique_ptr<Operation>(std::move(copy));
  }

 private:
  static constexpr uint64_t kPayloadOffset = kKernargBlock - kInlineUpdateBytes;
  static_assert(sizeof(HalyardCopyArguments) <= kPayloadOffset);

  const FunctionImpl& copy_;
  Buffer& target_;
  void* to_;
  const void* bytes_;
  uint64_t size_;
  std::vector<std::byte> keep_bytes_;
  Ref<Buffer> keep_target_;
};

// An update from pinned memory, which is given back when the queue has passed it.
class StagedUpdate final : public Operation {
 public:
  StagedUpdate(const FunctionImpl& copy, Buffer& target, void* to, uint64_t size, Staging staging)
      : copy_(copy), target_(target), to_(to), size_(size), staging_(std::move(staging)) {}

  uint32_t packets() const override { return 1; }
  OperationFacts facts() const override { return facts_of(ProfileKind::kUpdate, size_); }

  Status issue(QueueCore& core, const IssueContext& context) override {
    DeviceImpl& device = core.device();
    impl(target_).users().add(core.user_bit());
    const LibraryLaunch launch =
        copy_launch(to_, staging_.data(), size_, device.facts().figures.compute_units);
    uint64_t end = 0;
    const auto write = [&](uint64_t index, bool interrupt) {
      end = index + 1;
      write_library_launch(core, index, interrupt, copy_, launch, true);
    };
    HALYARD_RETURN_IF_ERROR(emit(core, 1, context, write));
    // std::function copies what it holds.
    device.memory().retire_behind(core, end,
                                  [kept = std::make_shared<Staging>(std::move(staging_))] {});
    return {};
  }

  Result<std::unique_ptr<Operation>> hold() override {
    auto copy = std::make_unique<StagedUpdate>(copy_, target_, to_, size_, std::move(staging_));
    copy->keep_target_ = Ref<Buffer>::retain(&target_);
    return std::unique_ptr<Operation>(std::move(copy));
  }

 private:
  const FunctionImpl& copy_;
  Buffer& target_;
  void* to_;
  uint64_t size_;
  Staging staging_;
  Ref<Buffer> keep_target_;
};

// A fill with a pattern that fill_launch does not take. A row of it lies behind the kernel's
// arguments.
class PatternFill final : public Operation {
 public:
  PatternFill(const FunctionImpl& copy, Buffer& target, void* to, uint64_t size,
              const void* pattern, uint32_t pattern_size)
      : copy_(copy),
        target_(target),
        to_(to),
        size_(size),
        row_bytes_(pattern_row_bytes(pattern_size, size, kRoom)) {
    for (uint32_t done = 0; done < row_bytes_; done += pattern_size) {
      std::memcpy(row_.data() + done, pattern, pattern_size);
    }
  }
  // One launch has so many rows.
  bool fits() const { return size_ / row_bytes_ <= UINT32_MAX; }

  uint32_t packets() const override { return 1; }
  OperationFacts facts() const override { return facts_of(ProfileKind::kFill, size_); }

  Status issue(QueueCore& core, const IssueContext& context) override {
    impl(target_).users().add(core.user_bit());
    const LibraryLaunch launch = fill_rows_launch(to_, size_, nullptr, row_bytes_,
                                                  core.device().facts().figures.compute_units);
    return emit(core, 1, context, [&](uint64_t index, bool interrupt) {
      write_launch(core, index, interrupt, {copy_, launch.grid, launch.workgroup, context.foreign},
                   [&](void* kernarg) {
                     auto* const row = static_cast<uint8_t*>(kernarg) + kRowOffset;
                     HalyardCopyRectangleArguments arguments;
                     std::memcpy(&arguments, launch.arguments, sizeof(arguments));
                     arguments.source = row;
                     std::memcpy(kernarg, &arguments, sizeof(arguments));
                     std::memcpy(row, row_.data(), row_bytes_);
                     return 0u;
                   });
    });
  }

  Result<std::unique_ptr<Operation>> hold() override {
    auto copy = std::make_unique<PatternFill>(copy_, target_, to_, size_, row_.data(), row_bytes_);
    copy->keep_target_ = Ref<Buffer>::retain(&target_);
    return std::unique_ptr<Operation>(std::move(copy));
  }

 private:
  static constexpr uint32_t kRowOffset = 128;
  static constexpr uint32_t kRoom = kKernargBlock - kRowOffset;
  static_assert(sizeof(HalyardCopyRectangleArguments) <= kRowOffset && kMaxPattern <= kRoom);

  const FunctionImpl& copy_;
  Buffer& target_;
  void* to_;
  uint64_t size_;
  uint32_t row_bytes_;
  std::array<std::byte, kRoom> row_;
  Ref<Buffer> keep_target_;
};

}  // namespace

Status submit_fill(QueueCore& core, const BufferRange& target, const void* pattern,
                   uint32_t pattern_size, const Sync& sync) {
  DeviceImpl& device = core.device();
  const bool plain = is_fill_pattern(pattern_size);
  const Result<const FunctionImpl*> fill =
      device.library().function(plain ? LibraryKernel::kFill : LibraryKernel::kCopyRectangle);
  if (fill.ok() && !plain) {
    PatternFill operation(**fill, *target.buffer, at(target), target.length, pattern, pattern_size);
    if (operation.fits()) return submit(core, operation, sync);
  }
  // Engines fill with 4-byte patterns at aligned places only: for the rest they need an upload, and
  // copies of it.
  if (!fill.ok() || !plain) {
    HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<UploadOperation> operation,
                             UploadOperation::fill(device, *target.buffer, at(target), pattern,
                                                   pattern_size, target.length));
    return submit(core, *operation, sync);
  }
  LibraryOperation operation(facts_of(ProfileKind::kFill, target.length), **fill,
                             fill_launch(at(target), target.length, pattern, pattern_size,
                                         device.facts().figures.compute_units),
                             false, target.buffer);
  return submit(core, operation, sync);
}

Status submit_update(QueueCore& core, const BufferRange& target, const void* source, uint64_t size,
                     const Sync& sync) {
  DeviceImpl& device = core.device();
  const Result<const FunctionImpl*> copy = device.library().function(LibraryKernel::kCopy);
  const Mover mover = choose_mover({.size = size,
                                    .between_host = true,
                                    .kernels = copy.ok(),
                                    .engines = has_engines(),
                                    .engine_from = engine_from(device)});
  if (mover == Mover::kEngine) {
    HALYARD_ASSIGN_OR_RETURN(
        const std::unique_ptr<UploadOperation> operation,
        UploadOperation::update(device, *target.buffer, at(target), source, size));
    return submit(core, *operation, sync);
  }
  if (size <= kInlineUpdateBytes) {
    InlineUpdate operation(**copy, *target.buffer, at(target), source, size);
    return submit(core, operation, sync);
  }
  HALYARD_ASSIGN_OR_RETURN(Staging staging, device.memory().stage(size));
  std::memcpy(staging.data(), source, size);
  StagedUpdate operation(**copy, *target.buffer, at(target), size, std::move(staging));
  return submit(core, operation, sync);
}

Status submit_copy(QueueCore& core, const BufferRange& source, const BufferRange& target,
                   const Sync& sync) {
  DeviceImpl& device = core.device();
  const bool between_host =
      source.buffer->type() == MemoryType::kHost || target.buffer->type() == MemoryType::kHost;
  const Result<const FunctionImpl*> copy = device.library().function(LibraryKernel::kCopy);
  const Mover mover = choose_mover({.size = source.length,
                                    .between_host = between_host,
                                    .kernels = copy.ok(),
                                    .engines = has_engines(),
                                    .engine_from = engine_from(device)});
  // Whether kernels reach another device's memory is that device's affair.
  if (mover == Mover::kEngine || &source.buffer->device() != &target.buffer->device()) {
    CopyOperation operation(*source.buffer, at(source), *target.buffer, at(target), source.length);
    return submit(core, operation, sync);
  }
  const bool reads_foreign = is_foreign(BufferImpl::origin_for(device, *source.buffer));
  LibraryOperation operation(
      facts_of(ProfileKind::kCopy, target.length), **copy,
      copy_launch(at(target), at(source), source.length, device.facts().figures.compute_units),
      reads_foreign, target.buffer, source.buffer);
  return submit(core, operation, sync);
}

Status submit_copy_rectangle(QueueCore& core, const BufferRange& source, const BufferRange& target,
                             const RectangleCopy& shape, const Sync& sync) {
  DeviceImpl& device = core.device();
  HALYARD_ASSIGN_OR_RETURN(const FunctionImpl* const copy,
                           device.library().function(LibraryKernel::kCopyRectangle));
  LibraryOperation operation(facts_of(ProfileKind::kCopy, bytes_of(shape)), *copy,
                             copy_rectangle_launch(at(target), at(source), rectangle_of(shape),
                                                   device.facts().figures.compute_units),
                             is_foreign(BufferImpl::origin_for(device, *source.buffer)),
                             target.buffer, source.buffer);
  return submit(core, operation, sync);
}

}  // namespace halyard::amdgpu
