#include "drivers/amdgpu/transfers.h"

#include <algorithm>
#include <cstring>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

Transfers::~Transfers() {
  for (Record& record : records_) recycle(record);
}

Status Transfers::submit(const std::vector<CopyStep>& steps, Staging staging,
                         const IssueContext& context) {
  DeviceImpl& device = core_.device();
  const Hsa& hsa = device.hsa();
  reap();
  Record record;
  record.staging = std::move(staging);
  HALYARD_ASSIGN_OR_RETURN(record.marker, device.take_signal());
  Status status;
  for (size_t i = 0; i < steps.size() && status.ok(); ++i) {
    Result<hsa_signal_t> signal = device.take_signal();
    if (signal.ok()) record.done.push_back(*signal);
    status = std::move(signal).status();
  }
  if (!status.ok()) {
    recycle(record);
    return status;
  }

  const std::lock_guard order(order_mutex_);
  size_t queued = 0;
  for (; queued < steps.size() && status.ok(); ++queued) {
    const CopyStep& step = steps[queued];
    const hsa_signal_t* const after = queued == 0 ? &record.marker : &record.done[queued - 1];
    status = check(
        hsa,
        hsa.hsa_amd_memory_async_copy(step.target, step.target_agent, step.source,
                                      step.source_agent, step.size, 1, after, record.done[queued]),
        fmt::format("Queueing a copy of {} bytes", step.size));
    if (!status.ok()) break;
  }
  if (queued == 0) {
    recycle(record);
    return status;
  }
  // Copies that are queued already need their packets, whatever became of the later ones; nobody is
  // told of them then.
  const hsa_signal_t marker = record.marker;
  const hsa_signal_t last_done = record.done[queued - 1];
  // Unused signals count as done.
  for (size_t i = queued; i < record.done.size(); ++i) {
    hsa.hsa_signal_store_screlease(record.done[i], 0);
  }
  IssueContext rest = context;
  if (!status.ok()) rest.signals = {};
  Record* stored = nullptr;
  {
    // On the list before its packets run, so that its marker is never overlooked.
    const std::lock_guard lock(mutex_);
    record.last = UINT64_MAX;
    records_.push_back(std::move(record));
    stored = &records_.back();
    outstanding_.store(static_cast<uint32_t>(records_.size()), std::memory_order_release);
  }
  Status emitted = emit(core_, 2, rest, [&](uint64_t index, bool loud) {
    {
      const std::lock_guard lock(mutex_);
      stored->last = index + 1;
    }
    // Writes the L2 back for the engine, which reads memory past it.
    hsa_signal_t first = marker;
    core_.write_barrier(index, false,
                        {.kind = PacketKind::kBarrier, .observed = true, .reads_foreign = true}, {},
                        &first);
    // The engine wrote past the L2: what it holds is old.
    core_.write_barrier(index + 1, loud,
                        {.kind = PacketKind::kBarrier, .observed = loud, .reads_foreign = true},
                        last_done);
  });
  // Lost meanwhile: then the packets may never run, and whoever lost it may have overlooked us.
  if (!emitted.ok() || core_.lost()) abandon();
  if (!emitted.ok()) return emitted;
  if (!status.ok()) fail_signals(context.signals, status);
  return status;
}

uint64_t Transfers::count_markers() const {
  const Hsa& hsa = core_.device().hsa();
  const std::lock_guard lock(mutex_);
  for (Record& record : records_) {
    if (record.counted) continue;
    // In order: a later one is not done before an earlier one.
    if (hsa.hsa_signal_load_scacquire(record.marker) != 0) break;
    record.counted = true;
    markers_.fetch_add(1, std::memory_order_acq_rel);
  }
  return markers_.load(std::memory_order_relaxed);
}

void Transfers::recycle(Record& record) {
  DeviceImpl& device = core_.device();
  if (record.marker.handle != 0) device.give_signal(record.marker);
  for (const hsa_signal_t signal : record.done) device.give_signal(signal);
  record.done.clear();
  record.marker = {};
}

void Transfers::reap() {
  if (!any() || core_.lost()) return;
  const uint64_t completed = core_.completed();
  std::deque<Record> done;
  {
    const std::lock_guard lock(mutex_);
    while (!records_.empty() && records_.front().counted && records_.front().last < completed) {
      done.push_back(std::move(records_.front()));
      records_.pop_front();
    }
    outstanding_.store(static_cast<uint32_t>(records_.size()), std::memory_order_release);
  }
  for (Record& record : done) recycle(record);
}

void Transfers::find_failures() {
  if (!any() || core_.lost()) return;
  const Hsa& hsa = core_.device().hsa();
  bool failed = false;
  {
    const std::lock_guard lock(mutex_);
    for (const Record& record : records_) {
      for (const hsa_signal_t signal : record.done) {
        // hsa_amd_memory_async_copy: a negative value says that the copy has failed.
        failed |= hsa.hsa_signal_load_scacquire(signal) < 0;
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

void Transfers::abandon() {
  const Hsa& hsa = core_.device().hsa();
  const std::lock_guard lock(mutex_);
  for (const Record& record : records_) hsa.hsa_signal_store_screlease(record.marker, 0);
}

bool Transfers::quiescent() const {
  if (!any()) return true;
  const Hsa& hsa = core_.device().hsa();
  const std::lock_guard lock(mutex_);
  for (const Record& record : records_) {
    for (const hsa_signal_t signal : record.done) {
      if (hsa.hsa_signal_load_scacquire(signal) > 0) return false;
    }
  }
  return true;
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
  // A multiple of every pattern's size.
  constexpr uint64_t kSeed = 64 * 1024;
  const uint64_t seed = std::min(size, kSeed);
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
  return core.transfers().submit(steps, std::move(staging_), context);
}

Result<std::unique_ptr<Operation>> UploadOperation::hold() {
  auto copy = std::unique_ptr<UploadOperation>(
      new UploadOperation(target_, to_, std::move(staging_), seed_size_, size_));
  copy->fills_ = fills_;
  copy->keep_target_ = Ref<Buffer>::retain(&target_);
  return std::unique_ptr<Operation>(std::move(copy));
}

}  // namespace halyard::amdgpu
