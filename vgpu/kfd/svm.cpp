#include "vgpu/kfd/svm.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/buffers.h"
#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/host_mappings.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::kfd {
namespace {

// What a retry makes accessible at once at most, aligned (amdkfd,
// svm_range_create_unregistered_range).
constexpr uint64_t kRetryBytes = uint64_t{2} << 20;
constexpr uint32_t kMaxGranularity = 0x3f;

using Type = abi::SvmAttributeType;

// Set while this thread retries: an allocator may then unmap memory of its own, which never had a
// range, and the call would come back here.
thread_local bool retrying = false;

}  // namespace

Svm::Svm(machine::Machine& machine, const Buffers& buffers) : machine_(machine), buffers_(buffers) {
  for (uint32_t node = 1; node < machine.node_count(); ++node) {
    const machine::GpuProfile& gpu = *machine.gpu(node);
    const Nodes bit = Nodes{1} << (node - 1);
    if (gpu.svm) supported_ |= bit;
    if (gpu.retries_faults()) retries_ |= bit;
  }
  machine.memory().set_retry_handler(this);
}

Svm::~Svm() {
  machine_.memory().set_retry_handler(nullptr);
  unmapped(0, kUserEnd);
}

int Svm::set_xnack(bool enabled) {
  const auto gpus = static_cast<uint32_t>(__builtin_popcountll(retries_));
  if (enabled && gpus != machine_.node_count() - 1) return -EPERM;
  xnack_.store(enabled, std::memory_order_release);
  return 0;
}

Svm::Attributes Svm::new_attributes() const {
  Attributes attributes;
  if (xnack()) attributes.access = supported_;
  return attributes;
}

Svm::Nodes Svm::node_bit(uint32_t gpu_id) const {
  const uint32_t node = node_of_gpu_id(gpu_id, machine_.node_count() - 1);
  return node != 0 ? Nodes{1} << (node - 1) : 0;
}

int Svm::check(std::span<const abi::SvmAttribute> attributes) const {
  const auto is_usable = [this](uint32_t gpu_id) { return (node_bit(gpu_id) & supported_) != 0; };
  for (const abi::SvmAttribute& attribute : attributes) {
    const uint32_t value = attribute.value;
    switch (attribute.type) {
      case Type::kPreferredLocation:
        if (value != abi::kSystemMemory && value != abi::kNoLocation && !is_usable(value))
          return -EINVAL;
        break;
      case Type::kPrefetchLocation:
        if (value != abi::kSystemMemory && !is_usable(value)) return -EINVAL;
        break;
      case Type::kAccess:
      case Type::kAccessInPlace:
      case Type::kNoAccess:
        if (!is_usable(value)) return -EINVAL;
        break;
      case Type::kSetFlags:
      case Type::kClearFlags:
      case Type::kGranularity:
        break;
      default:
        return -EINVAL;
    }
  }
  return 0;
}

// The program must have memory there, and it must not be a buffer's.
int Svm::check_memory(uint64_t begin, uint64_t size) const {
  if (begin >= kUserEnd || size > kUserEnd - begin) return -EFAULT;
  // Looks at the mappings only.
  if (msync(reinterpret_cast<void*>(begin), size, MS_ASYNC) != 0) return -EFAULT;
  return buffers_.overlap(begin, size) ? -EADDRINUSE : 0;
}

void Svm::apply_access(Attributes& to, Type type, Nodes node) {
  to.access &= ~node;
  to.in_place &= ~node;
  if (type == Type::kAccess) to.access |= node;
  if (type == Type::kAccessInPlace) to.in_place |= node;
}

void Svm::apply(Attributes& to, std::span<const abi::SvmAttribute> attributes) const {
  to.retried = false;
  for (const abi::SvmAttribute& attribute : attributes) {
    switch (attribute.type) {
      case Type::kPreferredLocation:
        to.preferred = attribute.value;
        break;
      case Type::kPrefetchLocation:
        to.prefetched = attribute.value;
        break;
      case Type::kAccess:
      case Type::kAccessInPlace:
      case Type::kNoAccess:
        apply_access(to, attribute.type, node_bit(attribute.value));
        break;
      case Type::kSetFlags:
        to.flags |= attribute.value;
        break;
      case Type::kClearFlags:
        to.flags &= ~attribute.value;
        break;
      case Type::kGranularity:
        to.granularity = std::min(attribute.value, kMaxGranularity);
        break;
    }
  }
}

Svm::Ranges::iterator Svm::first_above(uint64_t at) {
  const auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) return next;
  const auto below = std::prev(next);
  return below->second.end > at ? below : next;
}

Svm::Ranges::const_iterator Svm::first_above(uint64_t at) const {
  const auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) return next;
  const auto below = std::prev(next);
  return below->second.end > at ? below : next;
}

void Svm::split(uint64_t at) {
  const auto range = first_above(at);
  if (range == ranges_.end() || range->first >= at) return;
  const Range upper{range->second.end, range->second.attributes};
  range->second.end = at;
  ranges_.emplace(at, upper);
}

void Svm::publish(uint64_t begin, uint64_t end, const Attributes& before, const Attributes& now) {
  const Nodes had = before.access | before.in_place;
  const Nodes has = now.access | now.in_place;
  for (uint32_t node = 1; node < machine_.node_count(); ++node) {
    const Nodes bit = Nodes{1} << (node - 1);
    const bool same_writes = before.gpu_may_write() == now.gpu_may_write();
    if (((had ^ has) & bit) == 0 && ((has & bit) == 0 || same_writes)) continue;
    machine::AddressTable& map = machine_.memory().gpu_memory(node);
    // What stays is there all the time.
    if ((has & bit) != 0) map.add(begin, end, 0, now.gpu_may_write());
    if ((had & bit) == 0) continue;
    map.remove(begin, end, before.gpu_may_write());
    taken_away_ = true;
  }
  if (before.is_coarse() == now.is_coarse()) return;
  machine::AddressTable& coarse = machine_.memory().coarse_memory();
  now.is_coarse() ? coarse.add(begin, end) : coarse.remove(begin, end);
}

void Svm::add(uint64_t begin, uint64_t end, const Attributes& attributes) {
  ranges_.emplace(begin, Range{end, attributes});
  publish(begin, end, Attributes(), attributes);
}

Svm::Ranges::iterator Svm::remove(Ranges::iterator range) {
  publish(range->first, range->second.end, range->second.attributes, Attributes());
  return ranges_.erase(range);
}

int Svm::set(uint64_t begin, uint64_t size, std::span<const abi::SvmAttribute> attributes) {
  if (const int refused = check(attributes); refused != 0) return refused;
  const std::lock_guard changes(changes_);
  if (const int refused = check_memory(begin, size); refused != 0) return refused;
  const uint64_t end = begin + size;
  {
    const std::lock_guard lock(mutex_);
    split(begin);
    split(end);
    for (uint64_t at = begin; at < end;) {
      auto range = first_above(at);
      const uint64_t next = range != ranges_.end() ? std::min(range->first, end) : end;
      if (at < next) {
        add(at, next, new_attributes());
        range = first_above(at);
      }
      const Attributes before = range->second.attributes;
      apply(range->second.attributes, attributes);
      publish(range->first, range->second.end, before, range->second.attributes);
      at = range->second.end;
    }
  }
  finish_taking_away();
  observe(begin, end);
  return 0;
}

int Svm::get(uint64_t begin, uint64_t size, std::span<abi::SvmAttribute> attributes) const {
  if (const int refused = check_memory(begin, size); refused != 0) return refused;
  for (const abi::SvmAttribute& attribute : attributes) {
    const bool is_known = attribute.type <= Type::kGranularity;
    if (!is_known || attribute.type == Type::kAccessInPlace || attribute.type == Type::kNoAccess)
      return -EINVAL;
  }
  Attributes common = new_attributes();
  uint32_t any_flags = common.flags;
  {
    const std::lock_guard lock(mutex_);
    bool is_first = true;
    for (auto range = first_above(begin); range != ranges_.end() && range->first < begin + size;
         ++range) {
      const Attributes& own = range->second.attributes;
      if (std::exchange(is_first, false)) {
        common = own;
        any_flags = own.flags;
        continue;
      }
      if (own.preferred != common.preferred) common.preferred = abi::kNoLocation;
      if (own.prefetched != common.prefetched) common.prefetched = abi::kNoLocation;
      common.granularity = std::min(common.granularity, own.granularity);
      common.flags &= own.flags;
      any_flags |= own.flags;
      common.access &= own.access;
      common.in_place &= own.in_place;
    }
  }
  for (abi::SvmAttribute& attribute : attributes) {
    switch (attribute.type) {
      case Type::kPreferredLocation:
        attribute.value = common.preferred;
        break;
      case Type::kPrefetchLocation:
        attribute.value = common.prefetched;
        break;
      case Type::kSetFlags:
        attribute.value = common.flags;
        break;
      case Type::kClearFlags:
        attribute.value = ~any_flags;
        break;
      case Type::kGranularity:
        attribute.value = common.granularity;
        break;
      default: {
        const Nodes node = node_bit(attribute.value);
        if (node == 0) return -EINVAL;
        attribute.type = (common.access & node) != 0     ? Type::kAccess
                         : (common.in_place & node) != 0 ? Type::kAccessInPlace
                                                         : Type::kNoAccess;
      }
    }
  }
  return 0;
}

void Svm::unmapped(uint64_t begin, uint64_t size) {
  if (retrying) return;
  const uint64_t end = begin + size;
  const std::lock_guard changes(changes_);
  {
    const std::lock_guard lock(mutex_);
    if (ranges_.empty()) return;
    split(begin);
    split(end);
    for (auto range = first_above(begin); range != ranges_.end() && range->first < end;)
      range = remove(range);
  }
  finish_taking_away();
  observe(begin, end);
}

// Without mutex_, which a GPU's thread may want in an access.
void Svm::finish_taking_away() {
  if (std::exchange(taken_away_, false)) wait_for_accesses();
}

bool Svm::retry(uint32_t node, uint64_t address) {
  const Nodes bit = Nodes{1} << (node - 1);
  if (!xnack() || (retries_ & bit) == 0 || address >= kUserEnd) return false;
  const std::lock_guard lock(mutex_);
  retrying = true;
  const bool done = make_accessible(bit, address);
  retrying = false;
  return done;
}

bool Svm::make_accessible(Nodes node, uint64_t address) {
  const auto above = first_above(address);
  // Another thread was faster, or the program has taken access away.
  if (above != ranges_.end() && above->first <= address) {
    const Attributes& attributes = above->second.attributes;
    return ((attributes.access | attributes.in_place) & node) != 0;
  }
  uint64_t begin = address / kRetryBytes * kRetryBytes;
  uint64_t end = begin + kRetryBytes;
  if (above != ranges_.end()) end = std::min(end, above->first);
  if (above != ranges_.begin()) begin = std::max(begin, std::prev(above)->second.end);
  const HostMapping mapping = find_readable_mapping(address);
  if (mapping.end == 0) return false;
  begin = std::max(begin, mapping.begin);
  end = std::min(end, mapping.end);
  // A buffer that is not mapped for this GPU stays out of its reach.
  const isa::AddressSpace& placed = machine_.memory().placed_memory();
  const auto is_placed = [&placed](uint64_t at) { return placed.find(at).contains(at, 1); };
  const uint64_t page = address / kPage * kPage;
  if (is_placed(page)) return false;
  uint64_t first = page;
  while (first > begin && !is_placed(first - kPage)) first -= kPage;
  uint64_t last = page + kPage;
  while (last < end && !is_placed(last)) last += kPage;
  Attributes attributes = new_attributes();
  attributes.retried = true;
  add(first, last, attributes);
  return true;
}

// What an observer should know of [begin, end): neighbours of one kind as one piece. What retries
// have made is left out, because an observer cannot be told from a GPU's thread.
std::map<uint64_t, Svm::Observed> Svm::observable(uint64_t begin, uint64_t end) {
  std::map<uint64_t, Observed> pieces;
  const std::lock_guard lock(mutex_);
  for (auto range = first_above(begin); range != ranges_.end() && range->first < end; ++range) {
    const Attributes& attributes = range->second.attributes;
    if (attributes.retried) continue;
    const uint64_t from = std::max(begin, range->first);
    const uint64_t to = std::min(end, range->second.end);
    const auto last = pieces.empty() ? pieces.end() : std::prev(pieces.end());
    if (last != pieces.end() && last->second.end == from &&
        last->second.is_coarse == attributes.is_coarse()) {
      last->second.end = to;
    } else {
      pieces.emplace(from, Observed{to, attributes.is_coarse()});
    }
  }
  return pieces;
}

void Svm::observe(uint64_t begin, uint64_t end) {
  machine::MemoryObserver* const observer = machine_.memory().observer();
  if (observer == nullptr) return;
  auto first = observed_.upper_bound(begin);
  if (first != observed_.begin() && std::prev(first)->second.end > begin) --first;
  const auto last = observed_.lower_bound(end);
  uint64_t from = begin;
  uint64_t to = end;
  for (auto known = first; known != last; ++known) {
    from = std::min(from, known->first);
    to = std::max(to, known->second.end);
  }
  std::map<uint64_t, Observed> now = observable(from, to);
  for (auto known = first; known != last;) {
    const auto [known_begin, old] = *known;
    auto around = now.upper_bound(known_begin);
    if (around != now.begin() && std::prev(around)->second.end > known_begin) --around;
    const bool is_same = around != now.end() && around->first <= known_begin &&
                         around->second.end >= old.end && around->second.is_coarse == old.is_coarse;
    if (is_same) {
      // Only what is around it is new.
      const uint64_t upper = std::exchange(around->second.end, known_begin);
      if (upper > old.end) now.emplace(old.end, Observed{upper, old.is_coarse});
      if (around->first == known_begin) now.erase(around);
      ++known;
      continue;
    }
    const bool is_partly_there = around != now.end() && around->first < old.end;
    is_partly_there ? observer->remapped(known_begin) : observer->removed(known_begin);
    known = observed_.erase(known);
  }
  for (const auto& [piece, facts] : now) {
    observer->added({piece, facts.end - piece, 0, facts.is_coarse, false, false});
    observed_[piece] = facts;
  }
}

}  // namespace halyard::vgpu::kfd
