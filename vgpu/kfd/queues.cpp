#include "vgpu/kfd/queues.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/user_memory.h"
#include "vgpu/machine/compute_units.h"
#include "vgpu/queue/pm4_queue.h"
#include "vgpu/queue/sdma_queue.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr size_t kMaxQueues = 1024;
// As a rule both indices of an AQL queue lie in its amd_queue_t.
constexpr uint64_t kWriteIndexOffset = offsetof(amd_queue_t, write_dispatch_id);
constexpr uint64_t kReadIndexOffset = offsetof(amd_queue_t, read_dispatch_id);

// Where mappings are in /dev/kfd: what they are in the top bits, then the GPU's node.
constexpr uint64_t kDoorbells = uint64_t{3} << 62;
constexpr uint64_t kRegisters = uint64_t{0} << 62;
constexpr unsigned kNodeShift = 46;
constexpr uint64_t kKindMask = uint64_t{3} << 62;

uint32_t node_at(uint64_t offset) {
  return static_cast<uint32_t>((offset & ~kKindMask) >> kNodeShift);
}

// ROCR looks a queue up by bits 3 to 12 of its doorbell's address. Neighbours are on different
// pages: a page with fewer queues wakes fewer.
uint64_t slot_of(uint32_t id) {
  constexpr uint64_t kHalf = Queues::kMostDoorbells / 2;
  return id % 2 * kHalf + id / 2 % kHalf;
}

bool is_sdma(abi::QueueType type) {
  return type == abi::QueueType::kSdma || type == abi::QueueType::kSdmaXgmi;
}

}  // namespace

Queues::Queues(machine::Machine& machine)
    : machine_(machine), doorbell_pages_(machine.node_count()) {}

Queues::~Queues() {
  for (auto& [id, queue] : queues_) queue.hardware->stop();
}

uint64_t Queues::doorbells_offset(uint32_t node) {
  return kDoorbells | uint64_t{node} << kNodeShift;
}
uint64_t Queues::registers_offset(uint32_t node) {
  return kRegisters | uint64_t{node} << kNodeShift;
}

// None, or memory that the driver knows: packet processors read it. As in Linux, less than the
// smallest ring is taken for that.
int Queues::check_ring(uint64_t base, uint32_t& bytes) const {
  if (bytes != 0 && !std::has_single_bit(bytes)) return -EINVAL;
  if (base == 0 || bytes == 0) return 0;
  bytes = std::max(bytes, abi::kMinRingBytes);
  return machine_.memory().all_memory().find(base).contains(base, bytes) ? 0 : -EFAULT;
}

// As amdkfd, set_queue_properties_from_user(); and what the packet processors themselves use must
// be memory that the driver knows.
int Queues::check(uint32_t node, abi::CreateQueue& arguments) const {
  if (arguments.percentage > abi::kMaxPercentage || arguments.priority > abi::kMaxPriority)
    return -EINVAL;
  const bool is_aql = arguments.type == abi::QueueType::kComputeAql;
  if (!is_aql && !is_sdma(arguments.type) && arguments.type != abi::QueueType::kCompute)
    return -EINVAL;
  if (is_sdma(arguments.type) && machine_.gpu(node)->sdma_engines == 0) return -ENOMEM;
  if (const int refused = check_ring(arguments.ring_base, arguments.ring_size); refused != 0)
    return refused;
  if (arguments.read_pointer % 8 != 0 || arguments.write_pointer % 8 != 0) return -EINVAL;
  return is_known(arguments.read_pointer, 8) && is_known(arguments.write_pointer, 8) ? 0 : -EFAULT;
}

bool Queues::is_known(uint64_t address, uint64_t bytes) const {
  return machine_.memory().all_memory().find(address).contains(address, bytes);
}

// The packet processor finds the queue's other fields, and the address that kernels get, by the
// read index: a number behind it says how far it lies from the queue's beginning (amd_hsa_queue.h,
// read_dispatch_id_field_base_byte_offset). Where the indices do not lie as in an amd_queue_t, the
// program has none.
queue::AqlQueueMemory Queues::memory_of(const abi::CreateQueue& arguments) const {
  const uint64_t base = arguments.read_pointer - kReadIndexOffset;
  const bool has_queue = arguments.read_pointer >= kReadIndexOffset && base % 64 == 0 &&
                         arguments.write_pointer == base + kWriteIndexOffset &&
                         is_known(base, sizeof(amd_queue_t));
  if (has_queue) return {reinterpret_cast<amd_queue_t*>(base), base};
  uint32_t distance = 0;
  if (is_known(arguments.read_pointer, sizeof(uint64_t) + sizeof distance))
    copy_from_user(&distance, arguments.read_pointer + sizeof(uint64_t), sizeof distance);
  return {nullptr, arguments.read_pointer - distance};
}

int Queues::create(uint32_t node, abi::CreateQueue& arguments) {
  abi::CreateQueue checked = arguments;
  if (const int refused = check(node, checked); refused != 0) return refused;
  arguments.ring_size = checked.ring_size;
  const std::lock_guard lock(mutex_);
  if (queues_.size() >= kMaxQueues) return -ENOMEM;
  const uint32_t id = next_id_++;
  const queue::Device& device = machine_.device(node);
  Queue created;
  created.node = node;
  std::unique_ptr<queue::HardwareQueue>& queue = created.hardware;
  const queue::Ring ring = {pointer(arguments.ring_base), arguments.ring_size,
                            reinterpret_cast<uint64_t*>(arguments.write_pointer),
                            reinterpret_cast<uint64_t*>(arguments.read_pointer)};
  if (is_sdma(arguments.type)) {
    queue = std::make_unique<queue::SdmaQueue>(device, id, ring);
  } else if (arguments.type == abi::QueueType::kCompute) {
    queue = std::make_unique<queue::Pm4Queue>(device, id, ring);
  } else {
    queue = std::make_unique<queue::AqlQueue>(device, id, ring, memory_of(arguments));
  }
  queue->set_priority(static_cast<int>(arguments.priority));
  if (arguments.percentage == 0) queue->set_paused(true);
  if (machine_.gpu(node)->watch_doorbells && machine_.doorbells().watching()) {
    created.doorbell = std::make_unique<machine::Doorbell>(machine_.doorbells());
    created.doorbell->set_idle(&queue->idle());
    queue->idle().watch(created.doorbell.get());
    place_doorbell(id, created);
  }
  if (!queue->start()) return -ENOMEM;
  arguments.queue_id = id;
  arguments.doorbell_offset = doorbells_offset(node) + slot_of(id) * sizeof(uint64_t);
  queues_.emplace(id, std::move(created));
  return 0;
}

void Queues::place_doorbell(uint32_t id, Queue& queue) {
  const DoorbellPages& pages = doorbell_pages_[queue.node];
  if (queue.doorbell == nullptr || pages.begin == 0 || pages.several) return;
  machine_.doorbells().place(*queue.doorbell,
                             reinterpret_cast<uint64_t*>(pages.begin) + slot_of(id));
}

void Queues::doorbells_mapped(uint32_t node, uint64_t begin) {
  const std::lock_guard lock(mutex_);
  DoorbellPages& pages = doorbell_pages_[node];
  if (pages.begin != 0 && pages.begin != begin) {
    pages.several = true;
    return forget_doorbells(pages);
  }
  pages.begin = begin;
  if (pages.several) return;
  for (uint64_t at = begin; at < begin + kDoorbellBytes; at += kPage)
    machine_.doorbells().add_page(pointer(at));
  for (auto& [id, queue] : queues_) {
    if (queue.node == node) place_doorbell(id, queue);
  }
}

void Queues::forget_doorbells(const DoorbellPages& pages) {
  for (uint64_t at = pages.begin; at < pages.begin + kDoorbellBytes; at += kPage)
    machine_.doorbells().remove_page(pointer(at));
}

void Queues::unmapped_by_host(uint64_t begin, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (DoorbellPages& pages : doorbell_pages_) {
    const bool below = begin < pages.begin && pages.begin - begin >= bytes;
    const bool above = begin >= pages.begin && begin - pages.begin >= kDoorbellBytes;
    if (pages.begin == 0 || below || above) continue;
    forget_doorbells(pages);
    pages.begin = 0;
  }
}

int Queues::destroy(uint32_t id) {
  Queue queue;
  {
    const std::lock_guard lock(mutex_);
    const auto it = queues_.find(id);
    if (it == queues_.end()) return -EINVAL;
    queue = std::move(it->second);
    queues_.erase(it);
  }
  // Outside the lock: a dispatch that is being cancelled may take a moment.
  queue.hardware->stop();
  return 0;
}

// Without a ring, or with 0 percent, the queue takes no packets.
int Queues::update(const abi::UpdateQueue& arguments) {
  uint32_t bytes = arguments.ring_size;
  if (const int refused = check_ring(arguments.ring_base, bytes); refused != 0) return refused;
  const std::lock_guard lock(mutex_);
  const auto it = queues_.find(arguments.queue_id);
  if (it == queues_.end()) return -EFAULT;
  queue::HardwareQueue& queue = *it->second.hardware;
  queue.set_ring(pointer(arguments.ring_base), bytes);
  queue.set_paused(arguments.percentage == 0);
  queue.set_priority(static_cast<int>(arguments.priority));
  return 0;
}

int Queues::set_units(uint32_t id, const std::vector<uint32_t>& mask) {
  const std::lock_guard lock(mutex_);
  const auto it = queues_.find(id);
  if (it == queues_.end()) return -EFAULT;
  const uint32_t count = machine_.gpu(it->second.node)->compute_units;
  it->second.hardware->set_units(machine::units_in(mask, count));
  return 0;
}

bool Queues::has(uint32_t id) const {
  const std::lock_guard lock(mutex_);
  return queues_.contains(id);
}

bool Queues::any() const {
  const std::lock_guard lock(mutex_);
  return !queues_.empty();
}

void* Queues::map(void* address, uint64_t bytes, int protection, int flags, uint64_t offset) {
  const auto failed = [](int reason) {
    errno = reason;
    return MAP_FAILED;
  };
  const uint32_t node = node_at(offset);
  if (machine_.gpu(node) == nullptr) return failed(EINVAL);
  bytes = (bytes + kPage - 1) / kPage * kPage;
  const bool is_doorbells = offset == doorbells_offset(node) && bytes == kDoorbellBytes;
  const bool is_registers = offset == registers_offset(node) && bytes == kPage;
  if (!is_doorbells && !is_registers) return failed(EINVAL);
  // Ordinary memory: queues look at their write indices, and there is nothing to flush.
  // Doorbells are written, and protected (machine/doorbells.h).
  if (is_doorbells) protection = PROT_READ | PROT_WRITE;
  void* const at =
      mmap(address, bytes, protection,
           MAP_PRIVATE | MAP_ANONYMOUS | (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)), -1, 0);
  if (at == MAP_FAILED) return at;
  madvise(at, bytes, MADV_DONTFORK);
  if (is_doorbells) doorbells_mapped(node, reinterpret_cast<uintptr_t>(at));
  if (is_registers) machine_.watch_window(node, static_cast<uint32_t*>(at));
  return at;
}

}  // namespace halyard::vgpu::kfd
