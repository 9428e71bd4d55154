#include "drivers/amdgpu/program_instance.h"

#include <algorithm>
#include <cstring>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/device/abi.h"

namespace halyard::amdgpu {

bool Instance::in_use() const {
  if (takers_ != 0) return true;
  return std::any_of(uses_.begin(), uses_.end(),
                     [](const Use& use) { return !use.core->is_through(use.index + 1); });
}

Instances::~Instances() {
  for (void* const slab : slabs_) device_.memory().free_kernarg(slab);
}

Status Instances::grow() {
  // Small programs are executed often, large ones few times at once.
  constexpr uint64_t kSlab = 64 * 1024;
  const uint64_t size = std::max<uint64_t>(program_.arguments().size(), 64);
  const uint64_t wanted = program_.is_constant() ? 1 : std::max<uint64_t>(1, kSlab / size);
  void* slab = nullptr;
  HALYARD_RETURN_IF_ERROR(device_.memory().allocate_kernarg(wanted * size, &slab));
  slabs_.push_back(slab);
  next_ = static_cast<std::byte*>(slab);
  left_ = static_cast<uint32_t>(wanted);
  return {};
}

Result<Instance*> Instances::make() {
  if (left_ == 0) HALYARD_RETURN_IF_ERROR(grow());
  auto instance = std::make_unique<Instance>();
  const std::vector<std::byte>& arguments = program_.arguments();
  instance->arguments_ = next_;
  next_ += std::max<uint64_t>(arguments.size(), 64);
  --left_;
  if (!arguments.empty()) std::memcpy(instance->arguments_, arguments.data(), arguments.size());
  instance->packets_ = program_.packets();
  for (Packet& packet : instance->packets_) {
    // A packet that only takes a slot has signals in that place.
    if ((packet.words[0] & 0xff) == HSA_PACKET_TYPE_BARRIER_AND) continue;
    const auto offset = reinterpret_cast<uint64_t>(packet.dispatch.kernarg_address);
    packet.dispatch.kernarg_address = instance->arguments_ + offset;
  }
  for (const IndirectPatch& patch : program_.indirect()) {
    if (!patch.patches_counts) continue;
    std::byte* const counts =
        instance->arguments_ + patch.offset + offsetof(HalyardPatchDispatchArguments, block_counts);
    uint64_t address = 0;
    std::memcpy(&address, counts, sizeof address);
    address += reinterpret_cast<uint64_t>(instance->arguments_);
    std::memcpy(counts, &address, sizeof address);
  }
  instances_.push_front(std::move(instance));
  return instances_.front().get();
}

void Instances::bind(Instance& instance, QueueCore& core, Span<const uint64_t> bound) {
  std::byte* const arguments = instance.arguments_;
  for (const ProgramPatch& patch : program_.patches()) {
    const uint64_t address = bound[patch.slot] + patch.addend;
    std::memcpy(arguments + patch.offset, &address, sizeof address);
  }
  instance.bound_.assign(bound.begin(), bound.end());
  if (program_.queue_patches().empty()) return;
  const HiddenValues& hidden = core.ring().hidden_values();
  for (const QueuePatch& patch : program_.queue_patches()) {
    const uint64_t value = patch.kind == ArgumentKind::kHiddenQueuePtr      ? hidden.queue_address
                           : patch.kind == ArgumentKind::kHiddenPrivateBase ? hidden.private_base
                                                                            : hidden.shared_base;
    std::memcpy(arguments + patch.offset, &value, std::min<size_t>(patch.size, sizeof value));
  }
  instance.queue_ = &core;
}

Result<Instance*> Instances::take(QueueCore& core, Span<const uint64_t> bound) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Instance& instance) {
    // What the device writes into arguments is one execution's.
    if (!program_.indirect().empty() && instance.in_use()) return false;
    if (!program_.queue_patches().empty() && instance.queue_ != &core) return false;
    return std::equal(bound.begin(), bound.end(), instance.bound_.begin(), instance.bound_.end());
  };
  const bool constant = program_.is_constant();
  Instance* found = nullptr;
  bool fresh = false;
  if (!instances_.empty() && (constant || fits(*instances_.back()))) {
    found = instances_.back().get();
  } else {
    if (instances_.empty() || instances_.front()->in_use()) {
      HALYARD_ASSIGN_OR_RETURN(found, make());
    }
    found = instances_.front().get();
    fresh = true;
  }
  if (fresh) {
    bind(*found, core, bound);
    found->uses_.clear();
    // It was used last now.
    std::unique_ptr<Instance> moved = std::move(instances_.front());
    instances_.pop_front();
    instances_.push_back(std::move(moved));
  }
  ++found->takers_;
  return found;
}

void Instances::used_until(Instance& instance, QueueCore& core, uint64_t last) {
  const std::lock_guard lock(mutex_);
  --instance.takers_;
  if (program_.is_constant()) return;
  for (Instance::Use& use : instance.uses_) {
    if (use.core != &core) continue;
    use.index = std::max(use.index, last);
    return;
  }
  instance.uses_.push_back({&core, last});
}

void Instances::give_back(Instance& instance) {
  const std::lock_guard lock(mutex_);
  --instance.takers_;
}

}  // namespace halyard::amdgpu
