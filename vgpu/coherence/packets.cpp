#include "vgpu/coherence/packets.h"

#include <fmt/format.h>
#include <hsa/hsa.h>

#include <algorithm>
#include <cstring>

#include "vgpu/host_guard.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::coherence {
namespace {

thread_local WorkId current_dispatch = 0;

// Beyond so many, all that is older counts as waited for.
constexpr size_t kMaxTold = 256;

Scope scope_at(uint16_t header, unsigned shift) {
  return static_cast<Scope>(std::min<unsigned>(header >> shift & 3, 2));
}

bool is_dispatch(uint16_t header) {
  return (header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
}

// A copy as findings name it.
class CopyNames final : public AccessNames {
 public:
  CopyNames(const queue::PacketObserver::Copy& copy, bool reads) : copy_(copy), reads_(reads) {}

  AccessText describe(uint64_t line, uint64_t /*mask*/) const override {
    const char* const verb = reads_ ? "reads" : "writes";
    return {fmt::format("a copy by {} queue {} of GPU {}", copy_.is_pm4 ? "PM4" : "SDMA",
                        copy_.queue, copy_.node),
            fmt::format("the copy of {} bytes {} the line at 0x{:x}", copy_.bytes, verb, line), ""};
  }
  uint64_t place() const override {
    return (uint64_t{copy_.node} << 32 | copy_.queue) * 2 + reads_;
  }

 private:
  const queue::PacketObserver::Copy& copy_;
  const bool reads_;
};

}  // namespace

WorkId Packets::current() {
  return current_dispatch;
}

// Says which packets of the queue had ended before this one could start.
void Packets::order(Queue& queue, Work& work) {
  if (work.barrier) {
    queue.told.clear();
    queue.ordered_below = work.packet;
  }
  uint64_t& below = queue.ordered_below;
  for (const Queue::Told& told : queue.told) {
    if (work.position < told.valid_below) continue;
    below = std::max(below, told.ordered_below);
    if (told.packet == below) ++below;
    if (told.packet > below) work.also_ordered.push_back(told.packet);
  }
  std::erase_if(queue.told, [&](const Queue::Told& told) { return told.packet < below; });
  work.ordered_below = below;
}

const std::string& Packets::name_of(uint64_t kernel_object) {
  const auto [found, is_new] = known_names_.try_emplace(kernel_object);
  if (is_new) {
    const std::string name = names_ ? names_(kernel_object) : std::string();
    found->second = name.empty() ? fmt::format("kernel of unknown name (0x{:x})", kernel_object)
                                 : "kernel " + name;
  }
  return found->second;
}

void Packets::begin(const AqlPacket& packet, Ahead& ahead) {
  const Model::Lock lock(model_);
  Queue& queue = queue_of(packet.node, packet.queue);
  queue.ahead = &ahead;
  look(queue);
  Work work;
  const bool dispatches = is_dispatch(packet.header);
  work.kind = dispatches ? WorkKind::kDispatch : WorkKind::kBarrier;
  work.node = packet.node;
  work.queue = packet.queue;
  work.packet = packet.index;
  work.position = packet.index;
  work.acquire = scope_at(packet.header, HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE);
  work.release = scope_at(packet.header, HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  work.barrier = (packet.header >> HSA_PACKET_HEADER_BARRIER & 1) != 0;
  order(queue, work);
  work.kernel_object = packet.kernel_object;
  if (dispatches) work.name = name_of(packet.kernel_object);
  queue.open.push_back(model_.begin(std::move(work)));
  current_dispatch = dispatches ? work_of(queue) : 0;
  if (dispatches) take_arguments(queue, packet);
}

void Packets::look(uint32_t node, uint32_t queue) {
  const Model::Lock lock(model_);
  look(queue_of(node, queue));
}

void Packets::look_behind(WorkId dispatch) {
  const Work* const work = model_.history().work(dispatch);
  if (work != nullptr) look(queue_of(work->node, work->queue));
}

void Packets::look(Queue& queue) {
  if (queue.ahead == nullptr) return;
  while (const auto packet = queue.ahead->next()) {
    if (!is_dispatch(packet->header)) continue;
    std::vector<uint8_t> arguments = arguments_of(*packet);
    if (!arguments.empty()) queue.published[packet->index] = std::move(arguments);
  }
}

void Packets::end(const AqlPacket& packet, uint64_t valid_below) {
  const Model::Lock lock(model_);
  Queue& queue = queue_of(packet.node, packet.queue);
  if (current_dispatch != 0) check_arguments(queue, packet);
  current_dispatch = 0;
  look(queue);
  queue.ahead = nullptr;
  const WorkId id = work_of(queue);
  const Work* const work = model_.history().work(id);
  const uint64_t ordered_below = work != nullptr ? work->ordered_below : 0;
  model_.end(id);
  queue.open.clear();
  // It holds the queue until its signals are there. They may be those of packets of this queue, or
  // of others that have waited for them.
  if (packet.waits) {
    for (Queue::Told& told : queue.told) told.valid_below = packet.index;
  }
  if (packet.signals) tell(queue, {packet.index, ordered_below, valid_below});
}

void Packets::tell(Queue& queue, const Queue::Told& told) {
  queue.told.push_back(told);
  if (queue.told.size() <= kMaxTold) return;
  queue.ordered_below = std::max(queue.ordered_below, queue.told.front().packet + 1);
  queue.told.pop_front();
}

// PM4 queues.

void Packets::begin(const Pm4Dispatch& dispatch) {
  const Model::Lock lock(model_);
  Queue& queue = queue_of(dispatch.node, dispatch.queue);
  Work work;
  work.kind = WorkKind::kDispatch;
  work.is_pm4 = true;
  work.node = dispatch.node;
  work.queue = dispatch.queue;
  work.packet = dispatch.place.index;
  work.position = dispatch.place.position;
  work.acquire = std::exchange(queue.acquired, Scope::kNone);
  work.release = Scope::kNone;
  work.barrier = dispatch.is_ordered;
  order(queue, work);
  work.kernel_object = dispatch.entry;
  work.name = name_of(dispatch.entry);
  queue.open.push_back(model_.begin(std::move(work)));
  current_dispatch = work_of(queue);
}

void Packets::end(const Pm4Dispatch& dispatch) {
  const Model::Lock lock(model_);
  Queue& queue = queue_of(dispatch.node, dispatch.queue);
  current_dispatch = 0;
  model_.end(work_of(queue));
  queue.open.pop_back();
}

void Packets::acquire(uint32_t node, uint32_t queue, const Caches& caches) {
  const Model::Lock lock(model_);
  model_.acquire(node - 1, caches);
  Queue& of = queue_of(node, queue);
  if (!caches.l1 || !caches.scalar) return;
  of.acquired = std::max(of.acquired, caches.l2 ? Scope::kSystem : Scope::kAgent);
}

// An end-of-pipe event waits for all before it, and holds nothing behind it up.
void Packets::release(uint32_t node, uint32_t queue, const Pm4Place& place, const Caches& caches,
                      bool tells) {
  const Model::Lock lock(model_);
  model_.release(node - 1, caches);
  if (tells) tell(queue_of(node, queue), {place.index, place.index, place.written});
}

void Packets::waited(uint32_t node, uint32_t queue) {
  const Model::Lock lock(model_);
  for (Queue::Told& told : queue_of(node, queue).told) told.valid_below = 0;
}

void Packets::flush_work(uint32_t node) {
  const Model::Lock lock(model_);
  model_.flush_work(node - 1);
}

void Packets::flush_window(uint32_t node) {
  const Model::Lock lock(model_);
  model_.flush_window(node - 1);
}

// Arguments are the kernel's from when its packet is published until it ends: the packet processor
// may fetch them ahead, and waves may read them late. Their size is in the kernel's descriptor
// (LLVM AMDGPUUsage, "Kernel Descriptor": KERNARG_SIZE at byte 8); the older amd_kernel_code_t has
// its machine's kind there, and above it a version, which make it too large.
std::vector<uint8_t> Packets::arguments_of(const AqlPacket& packet) const {
  constexpr uint32_t kMostBytes = 64 * 1024;
  uint32_t size = 0;
  const uint64_t object = addresses_(packet.node, packet.kernel_object);
  if (!read_host(&size, reinterpret_cast<const void*>(object + 8), sizeof size)) return {};
  const uint64_t begin = addresses_(packet.node, packet.kernarg);
  const auto allocation = model_.allocation(begin);
  if (!allocation || size > kMostBytes || size > allocation->begin + allocation->size - begin)
    return {};
  std::vector<uint8_t> arguments(size);
  if (!read_host(arguments.data(), reinterpret_cast<const void*>(begin), size)) return {};
  return arguments;
}

void Packets::take_arguments(Queue& queue, const AqlPacket& packet) {
  queue.kernarg = arguments_of(packet);
  const auto known = queue.published.find(packet.index);
  if (known != queue.published.end())
    compare_arguments(known->second, queue.kernarg, packet, work_of(queue), false);
  queue.published.erase(queue.published.begin(), queue.published.upper_bound(packet.index));
}

void Packets::check_arguments(Queue& queue, const AqlPacket& packet) {
  // The waves of a failed dispatch read nothing further, and the host can use the block again as
  // soon as it gets the failure.
  if (!queue.kernarg.empty() && !packet.failed) {
    compare_arguments(queue.kernarg, arguments_of(packet), packet, work_of(queue), true);
  }
  queue.kernarg.clear();
}

void Packets::compare_arguments(const std::vector<uint8_t>& were, const std::vector<uint8_t>& are,
                                const AqlPacket& packet, WorkId id, bool has_begun) {
  if (were.size() != are.size()) return;
  const auto differ = std::mismatch(are.begin(), are.end(), were.begin());
  if (differ.first == are.end()) return;
  if (!model_.findings().is_new(Mistake::kKernarg, packet.kernel_object, has_begun ? 1 : 0)) return;
  const Work* const work = model_.history().work(id);
  const std::string dispatch = model_.history().describe(id);
  model_.findings().tell(
      {.mistake = Mistake::kKernarg,
       .where = fmt::format("{} on {}", work != nullptr ? work->name : "a kernel",
                            model_.gpu(packet.node - 1).processor),
       .access = fmt::format(
           "byte {} of the {} bytes of arguments at 0x{:x} changed {}", differ.first - are.begin(),
           are.size(), packet.kernarg,
           has_begun
               ? fmt::format("while {} ran, and its waves may read them until it ends", dispatch)
               : fmt::format("after the packet of {} was published and before it started",
                             dispatch)),
       .history = "written by the host (or a kernel) before the dispatch was complete",
       .cure = "a wait for the dispatch's completion before its argument block is used again",
       .place = ""});
}

void Packets::stopped(uint32_t node) {
  const Model::Lock lock(model_);
  model_.lost(node - 1);
}

void Packets::invalidate_code(uint32_t node) {
  const Model::Lock lock(model_);
  model_.invalidate_code(node - 1);
  // Code has been loaded, perhaps where other kernels were.
  known_names_.clear();
}

void Packets::copy(const Copy& copy, const std::function<void()>& move) {
  HostFault gone;
  bool moved = false;
  {
    const Model::Lock lock(model_);
    // Each row of a rectangle counts as a separate copy here.
    Work facts;
    facts.kind = WorkKind::kCopy;
    facts.node = copy.node;
    facts.queue = copy.queue;
    facts.packet = copy.packet;
    facts.is_pm4 = copy.is_pm4;
    const WorkId work = model_.begin(std::move(facts));
    const uint64_t from = addresses_(copy.node, copy.from);
    const uint64_t to = addresses_(copy.node, copy.to);
    const CopyNames reads(copy, true);
    const CopyNames writes(copy, false);
    // The model looks at the memory too. The lock is outside: a fault jumps past what is inside.
    const auto look_and_move = [&] {
      if (copy.from != 0) model_.copy_reads(work, from, copy.bytes, reads, copy.reads_l2);
      if (copy.to != 0) model_.copy_writes(work, to, copy.bytes, writes, copy.writes_l2);
      move();
      if (copy.to != 0) model_.copy_wrote(work, to, copy.bytes, copy.writes_l2);
    };
    moved = guarded(look_and_move, gone);
    model_.end(work);
  }
  // Memory that the host has taken away: the queue's own guard is to see the fault.
  if (!moved) move();
}

}  // namespace halyard::vgpu::coherence
