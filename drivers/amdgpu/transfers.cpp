#include "drivers/amdgpu/transfers.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

Transfers::~Transfers() {
  for (Record& record : records_) recycle(record);
}

Status Transfers::submit(std::vector<CopyStep> steps, Staging staging,
                         const IssueContext& context) {
  DeviceImpl& device = core_.device();
  reap();
  Record record;
  record.steps = std::move(steps);
  record.staging = std::move(staging);
  Status status;
  while (record.done.size() < record.steps.size() && status.ok()) {
    Result<hsa_signal_t> signal = device.take_signal();
    if (signal.ok()) record.done.push_back(*signal);
    status = std::move(signal).status();
  }
  uint64_t first = 0;
  if (status.ok()) {
    status = emit(core_, 2, context, [&](uint64_t index, bool interrupt) {
      first = index;
      const hsa_signal_t last_done = record.done.back();
      record.first = index;
      // On the list before its packets run.
      add(std::move(record));
      // Writes the L2 back for the engine, which reads memory past it.
      write_barrier(core_, index, true,
                    {.kind = PacketKind::kBarrier, .observed = true, .reads_foreign = true});
      // The engine wrote past the L2: what it holds is old.
      write_barrier(core_, index + 1, interrupt,
                    {.kind = PacketKind::kBarrier, .observed = interrupt, .reads_foreign = true},
                    {.dependency = last_done});
    });
  }
  if (!status.ok()) {
    recycle(record);
    return status;
  }
  expedite(first);
  return {};
}

void Transfers::add(Record record) {
  const std::lock_guard lock(mutex_);
  // Threads that submit at the same time may come here in another order than their packets'.
  const auto behind = std::find_if(records_.begin(), records_.end(),
                                   [&](const Record& other) { return other.first > record.first; });
  records_.insert(behind, std::move(record));
  outstanding_.store(static_cast<uint32_t>(records_.size()), std::memory_order_release);
}

void Transfers::expedite(uint64_t first) {
  // The first packet alone is done within these.
  constexpr int kLooks = 64;
  for (int i = 0; i < kLooks && core_.epoch().completed() == first; ++i) _mm_pause();
  give_due();
  const auto is_left = [&](bool to_watcher) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(records_.begin(), records_.end(),
                                    [&](const Record& record) { return record.first == first; });
    if (found == records_.end() || found->is_given() || core_.loss().lost()) return false;
    found->watched = to_watcher;
    return true;
  };
  if (!is_left(false)) return;
  Watcher& watcher = core_.device().watcher();
  watcher.add_interest();
  if (!is_left(true)) watcher.remove_interest();
}

Status Transfers::give(Record& record, hsa_signal_t after) const {
  const Hsa& hsa = core_.device().hsa();
  for (; !record.is_given(); ++record.given) {
    const CopyStep& step = record.steps[record.given];
    if (record.given != 0) after = record.done[record.given - 1];
    const uint32_t dependencies = after.handle != 0 ? 1 : 0;
    HALYARD_RETURN_IF_ERROR(
        check(hsa,
              hsa.hsa_amd_memory_async_copy(
                  step.target, step.target_agent, step.source, step.source_agent, step.size,
                  dependencies, dependencies != 0 ? &after : nullptr, record.done[record.given]),
              fmt::format("Giving a copy of {} bytes to the copy engines of {}", step.size,
                          core_.device().info().name)));
  }
  return {};
}

void Transfers::give_due() {
  uint32_t unwatched = 0;
  Status status;
  {
    const std::lock_guard lock(mutex_);
    const Record* before = nullptr;
    for (Record& record : records_) {
      // Under the lock: whoever has found the queue lost, and then quiescent, finds it so for good.
      if (core_.loss().lost()) break;
      if (!record.is_given()) {
        const bool follows = before != nullptr && before->first + 2 == record.first;
        const bool begins = core_.epoch().completed() > record.first;
        if (!follows && !begins) break;
        record.chained = !begins;
        status = give(record, begins ? hsa_signal_t{} : before->done.back());
        if (!status.ok()) break;
        if (std::exchange(record.watched, false)) ++unwatched;
      }
      before = &record;
    }
  }
  for (; unwatched != 0; --unwatched) core_.device().watcher().remove_interest();
  if (!status.ok()) core_.device().lose_queue(core_, status);
}

void Transfers::recycle(Record& record) {
  for (const hsa_signal_t signal : record.done) core_.device().give_signal(signal);
  record.done.clear();
}

void Transfers::reap() {
  if (!any() || core_.loss().lost()) return;
  const uint64_t completed = core_.epoch().completed();
  std::deque<Record> done;
  {
    const std::lock_guard lock(mutex_);
    const auto is_done = [&](const Record& record) { return record.first + 1 < completed; };
    while (!records_.empty() && is_done(records_.front())) {
      // An engine may still have to look at the signal.
      if (records_.size() > 1 && records_[1].chained && !is_done(records_[1])) break;
      done.push_back(std::move(records_.front()));
      records_.pop_front();
    }
    outstanding_.store(static_cast<uint32_t>(records_.size()), std::memory_order_release);
  }
  for (Record& record : done) recycle(record);
}

void Transfers::advance() {
  if (!any() || core_.loss().lost()) return;
  give_due();
  const Hsa& hsa = core_.device().hsa();
  bool failed = false;
  {
    const std::lock_guard lock(mutex_);
    for (const Record& record : records_) {
      for (size_t i = 0; i < record.given; ++i) {
        // hsa_amd_memory_async_copy: a negative value says that the copy has failed.
        failed |= hsa.hsa_signal_load_scacquire(record.done[i]) < 0;
      }
    }
  }
  if (failed) {
    core_.device().lose_queue(
        core_, error(StatusCode::kInternal, "A copy engine of {} reports that a copy has failed.",
                     core_.device().info().name));
    return;
  }
  reap();
}

bool Transfers::needs_looks() const {
  if (!any() || core_.loss().lost()) return false;
  const std::lock_guard lock(mutex_);
  return !records_.empty() && records_.front().given != 0;
}

void Transfers::abandon() {
  const Hsa& hsa = core_.device().hsa();
  uint32_t unwatched = 0;
  {
    const std::lock_guard lock(mutex_);
    for (Record& record : records_) {
      unwatched += std::exchange(record.watched, false) ? 1 : 0;
      // The packets behind an abandoned queue's kernel may still be processed.
      for (size_t i = record.given; i < record.done.size(); ++i) {
        hsa.hsa_signal_store_screlease(record.done[i], 0);
      }
    }
  }
  for (; unwatched != 0; --unwatched) core_.device().watcher().remove_interest();
}

bool Transfers::quiescent() const {
  if (!any()) return true;
  const Hsa& hsa = core_.device().hsa();
  const std::lock_guard lock(mutex_);
  return std::none_of(records_.begin(), records_.end(), [&](const Record& record) {
    return std::any_of(
        record.done.begin(), record.done.begin() + static_cast<ptrdiff_t>(record.given),
        [&](hsa_signal_t signal) { return hsa.hsa_signal_load_scacquire(signal) > 0; });
  });
}

CopyOperation::CopyOperation(Buffer& source, const void* from, Buffer& target, void* to,
                             uint64_t size)
    : source_(source), from_(from), target_(target), to_(to), size_(size) {}

namespace {

// The queue's own device copies, also what is another GPU's memory, to which it has access
// (QueueImpl::share): the runtime copies with the source's agent otherwise, which need not have
// access to the target.
hsa_agent_t agent_of(const DeviceImpl& device, const Buffer& buffer) {
  return buffer.type() == MemoryType::kHost ? device.host_agent() : device.agent();
}

}  // namespace

Status CopyOperation::issue(QueueCore& core, const IssueContext& context) {
  impl(source_).users().add(core.user_bit());
  impl(target_).users().add(core.user_bit());
  const DeviceImpl& device = core.device();
  CopyStep step;
  step.target = to_;
  step.target_agent = agent_of(device, target_);
  step.source = from_;
  step.source_agent = agent_of(device, source_);
  step.size = size_;
  // Between two host agents the runtime would copy on a thread of its own, and not in order.
  if (source_.type() == MemoryType::kHost && target_.type() == MemoryType::kHost) {
    step.target_agent = device.agent();
  }
  return core.transfers().submit({step}, {}, context);
}

Result<std::unique_ptr<Operation>> CopyOperation::hold() {
  auto copy = std::make_unique<CopyOperation>(source_, from_, target_, to_, size_);
  copy->keep_source_ = Ref<Buffer>::retain(&source_);
  copy->keep_target_ = Ref<Buffer>::retain(&target_);
  return std::unique_ptr<Operation>(std::move(copy));
}

Result<std::unique_ptr<UploadOperation>> UploadOperation::update(DeviceImpl& device, Buffer& target,
                                                                 void* to, const void* bytes,
                                                                 uint64_t size) {
  HALYARD_ASSIGN_OR_RETURN(Staging staging, device.memory().stage(size));
  std::memcpy(staging.data(), bytes, size);
  return std::unique_ptr<UploadOperation>(
      new UploadOperation(target, to, std::move(staging), size, size));
}

Result<std::unique_ptr<UploadOperation>> UploadOperation::fill(DeviceImpl& device, Buffer& target,
                                                               void* to, const void* pattern,
                                                               uint32_t pattern_size,
                                                               uint64_t size) {
  constexpr uint64_t kSeed = 64 * 1024;
  const uint64_t seed = std::min(size, kSeed / pattern_size * pattern_size);
  HALYARD_ASSIGN_OR_RETURN(Staging staging, device.memory().stage(seed));
  auto* const bytes = static_cast<std::byte*>(staging.data());
  std::memcpy(bytes, pattern, pattern_size);
  for (uint64_t done = pattern_size; done < seed;) {
    const uint64_t more = std::min(done, seed - done);
    std::memcpy(bytes + done, bytes, more);
    done += more;
  }
  std::unique_ptr<UploadOperation> operation(
      new UploadOperation(target, to, std::move(staging), seed, size));
  operation->fills_ = true;
  return operation;
}

Status UploadOperation::issue(QueueCore& core, const IssueContext& context) {
  impl(target_).users().add(core.user_bit());
  const DeviceImpl& device = core.device();
  std::vector<CopyStep> steps;
  CopyStep step;
  step.target = to_;
  step.target_agent = device.agent();
  step.source = staging_.data();
  step.source_agent = device.host_agent();
  step.size = seed_size_;
  steps.push_back(step);
  // Each step copies all that is there behind itself.
  for (uint64_t done = seed_size_; done < size_;) {
    step.size = std::min(done, size_ - done);
    step.source = to_;
    step.source_agent = agent_of(device, target_);
    step.target = static_cast<std::byte*>(to_) + done;
    steps.push_back(step);
    done += step.size;
  }
  return core.transfers().submit(std::move(steps), std::move(staging_), context);
}

Result<std::unique_ptr<Operation>> UploadOperation::hold() {
  auto copy = std::unique_ptr<UploadOperation>(
      new UploadOperation(target_, to_, std::move(staging_), seed_size_, size_));
  copy->fills_ = fills_;
  copy->keep_target_ = Ref<Buffer>::retain(&target_);
  return std::unique_ptr<Operation>(std::move(copy));
}

}  // namespace halyard::amdgpu
