#include "drivers/amdgpu/execute_operation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/device/abi.h"
#include "drivers/amdgpu/dispatch_operation.h"

namespace halyard::amdgpu {

// Of a recording that is larger than the ring, what the ring takes at once.
uint32_t ExecuteOperation::packets() const {
  const auto count = static_cast<uint32_t>(commands_.program().packets().size());
  return static_cast<uint32_t>(std::min<uint64_t>(
      batch_layout(count, core_.ring().capacity()).slots(), core_.ring().capacity() / 2));
}

// Tells the kernels that complete the packets behind them where in the ring those are.
void ExecuteOperation::place(QueueCore& core, Instance& instance, const BatchLayout& layout,
                             uint64_t first) {
  for (const IndirectPatch& patch : commands_.program().indirect()) {
    const uint64_t index = first + layout.slot_of(patch.packet + 1);
    std::byte* const at = instance.arguments() + patch.offset;
    const auto store = [&](size_t offset, uint64_t value) {
      std::memcpy(at + offset, &value, sizeof value);
    };
    store(offsetof(HalyardPatchDispatchArguments, packet),
          reinterpret_cast<uint64_t>(&core.ring().slot(index)));
    store(offsetof(HalyardPatchDispatchArguments, doorbell),
          reinterpret_cast<uint64_t>(core.ring().doorbell()));
    store(offsetof(HalyardPatchDispatchArguments, doorbell_value), index);
  }
}

Status ExecuteOperation::issue(QueueCore& core, const IssueContext& context) {
  const Program& program = commands_.program();
  Instances& instances = commands_.instances();
  commands_.users().add(core.user_bit());
  for (const BufferRange& binding : bindings_) impl(*binding.buffer).users().add(core.user_bit());
  give(core, keep_buffers_);
  const BatchLayout layout =
      batch_layout(static_cast<uint32_t>(program.packets().size()), core.ring().capacity());
  Result<Instance*> taken = instances.take(core, bound_.get());
  if (!taken.ok()) return std::move(taken).status();
  Instance& instance = **taken;

  const auto waits = static_cast<uint32_t>(context.waits.size());
  const uint64_t start = core.epoch().reserve_batch(waits, layout, &program);
  const uint64_t first = start + waits;
  const uint64_t last = first + layout.slots() - 1;
  instances.used_until(instance, core, last);
  place(core, instance, layout, first);
  const uint32_t begin = waits != 0 ? waits : layout.size(0) + 1;
  HALYARD_RETURN_IF_ERROR(core.room().wait(start, begin));
  // Before the packets are valid: whoever sees them done finds the points.
  for (const SemaphorePoint& signal : context.signals) {
    impl(*signal.semaphore).add_point(signal.value, {&core, last});
  }
  if (waits != 0) write_waits(core, start, last, context.waits, context.signals);
  issued_ = {.instance = &instance,
             .layout = layout,
             .first = first,
             .next = 0,
             // The profile's end waits for it like whoever a signal tells.
             .signals = !context.signals.empty() || !timed_.empty()};
  put_chunks(core);
  return {};
}

Status ExecuteOperation::issue_timed(QueueCore& core, const IssueContext& context,
                                     Profiler& profiler) {
  HALYARD_RETURN_IF_ERROR(profiler.take_signals(commands_.program(), &timed_));
  const Status status = issue(core, context);
  if (!status.ok()) profiler.give_signals(timed_);
  return status;
}

void ExecuteOperation::publish(QueueCore& core, uint64_t at, uint32_t begin, uint32_t count) {
  const Packet* const packets = issued_.instance->packets() + begin;
  if (timed_.empty()) [[likely]]
    return core.ring().publish_run(at, packets, count);
  std::vector<Packet> timed(packets, packets + count);
  for (uint32_t i = 0; i < count; ++i) {
    if (timed_[begin + i].handle == 0) continue;
    timed[i].dispatch.completion_signal = timed_[begin + i];
  }
  core.ring().publish_run(at, timed.data(), count);
}

void ExecuteOperation::put_chunks(QueueCore& core) {
  Issued& issued = issued_;
  const BatchLayout& layout = issued.layout;
  for (; !issued.is_whole(); ++issued.next) {
    const uint64_t at = issued.first + layout.slot(issued.next);
    const uint32_t count = layout.size(issued.next);
    if (!waits_for_room_ && !core.loss().lost() && !core.room().has_at(at, count + 1)) return;
    if (!core.room().wait(at, count + 1).ok()) {
      // The queue is lost. What was queued fails its points itself, and nothing more comes.
      issued.next = layout.chunks;
      return;
    }
    // The first packet of all acquires.
    if (issued.next == 0) core.fences().acquires_foreign(at);
    const bool end = issued.next + 1 == layout.chunks;
    // An interrupt for whoever does not wait for room.
    const bool interrupt = end ? issued.signals : !waits_for_room_;
    // First what counts, so that the packet processor does not meet an invalid slot.
    write_barrier(
        core, at + count, interrupt,
        packet_header(CountingFacts{.observed = issued.signals && end, .alone = count == 0}));
    publish(core, at, layout.begin(issued.next), count);
    core.ring().ring_doorbell(at + count);
    if (end && issued.signals && core.edges().wanted()) core.edges().add(at + count);
    if (end && !timed_.empty()) [[unlikely]] {
      core.device().profiler().add_execution(core, at + count, commands_.program(),
                                             std::exchange(timed_, {}));
    }
  }
}

bool ExecuteOperation::resume(QueueCore& core) {
  put_chunks(core);
  if (!issued_.is_whole()) return false;
  if (!then_) return true;
  if (!core.loss().lost() && !core.room().has(kRoomForThen)) return false;
  std::exchange(then_, nullptr)();
  return true;
}

void ExecuteOperation::when_whole(const std::function<void()>& then) {
  if (issued_.is_whole()) return then();
  then_ = then;
}

Result<std::unique_ptr<Operation>> ExecuteOperation::hold() {
  auto copy = std::make_unique<ExecuteOperation>(core_, commands_, bindings_);
  copy->keep_commands_ = Ref<CommandBuffer>::retain(&commands_);
  copy->bindings_ = {};
  for (const BufferRange& binding : bindings_) {
    copy->keep_buffers_.push_back(Ref<Buffer>::retain(binding.buffer));
  }
  return std::unique_ptr<Operation>(std::move(copy));
}

}  // namespace halyard::amdgpu
