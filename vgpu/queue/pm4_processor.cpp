#include "vgpu/queue/pm4_processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/queue/kernel_fault.h"
#include "vgpu/shared_memory_access.h"

namespace halyard::vgpu::queue::pm4 {

namespace {

constexpr Generation kGeneration = Generation::kGfx9;
constexpr uint32_t kDeepest = 2;  // an indirect buffer may lead to a second one

// EVENT_WRITE.
constexpr uint32_t kCsPartialFlush = 7;
constexpr uint32_t kIndexOther = 0;
constexpr uint32_t kIndexPartialFlush = 4;

// ACQUIRE_MEM's CP_COHER_CNTL (soc15d.h). "Volatile" lines are those that HSA's fences are about.
constexpr uint32_t kAcquireL1Volatile = 1u << 15;
constexpr uint32_t kAcquireWriteBackL2 = 1u << 18;
constexpr uint32_t kAcquireL1 = 1u << 22;
constexpr uint32_t kAcquireL2 = 1u << 23;
constexpr uint32_t kAcquireScalar = 1u << 27;
constexpr uint32_t kAcquireScalarVolatile = 1u << 28;
constexpr uint32_t kAcquireCode = 1u << 29;
constexpr uint32_t kAcquireWriteBackScalar = 1u << 30;

}  // namespace

Processor::Processor(const Device& device, uint32_t queue, Idle& idle, Owner& owner)
    : device_(device),
      queue_(queue),
      idle_(idle),
      owner_(owner),
      memory_(device.memory),
      runtime_(device.runtime_memory),
      buffers_(device.memory),
      registers_(std::clamp(device.limits.xccs, 1u, isa::kMaximumXccs)) {
  selection_.dies = all_dies();
  dies_ = all_dies();
}

const Registers& Processor::first_registers() const {
  return registers_[static_cast<size_t>(std::countr_zero(dies_))];
}

void Processor::advance_selection(uint32_t words) {
  if (selection_.words == 0) return;
  selection_.words -= std::min(words, selection_.words);
  if (selection_.words == 0) selection_.dies = all_dies();
}

bool Processor::execute(std::span<const uint32_t> packet, uint64_t at, uint32_t& skip) {
  packet_ = packet;
  at_ = at;
  skip = 0;
  dies_ = selection_.dies;
  const Header header(word(0));
  advance_selection(header.words());
  const bool done = carry_out(header, skip);
  advance_selection(skip);
  return done;
}

bool Processor::carry_out(const Header& header, uint32_t& skip) {
  if (const std::string wrong = wrong_header(kGeneration, header); !wrong.empty())
    return fail(wrong);
  if (header.type == 2 || header.opcode == kNop) return true;
  switch (static_cast<Opcode>(header.opcode)) {
    case kNop:
      break;
    case kDispatchDirect:
      return dispatch({word(1), word(2), word(3)}, word(4));
    case kDispatchIndirect:
      return dispatch_indirect();
    case kAtomicMem:
      return atomic();
    case kCondExec:
      return condition(skip);
    case kPredExec:
      select_dies(skip);
      return true;
    case kWriteData:
      return write_data();
    case kWaitRegMem:
      return wait();
    case kIndirectBuffer:
      return indirect_buffer();
    case kCopyData:
      return copy_data();
    case kEventWrite:
      return event_write();
    case kReleaseMem:
      return release();
    case kDmaData:
      return dma_data();
    case kAcquireMem:
      return acquire();
    case kSetShReg:
      return set_registers(kShBegin);
    case kSetUconfigReg:
      return set_registers(kUconfigBegin);
  }
  return true;
}

bool Processor::refuse(std::span<const uint32_t> packet, uint64_t at, const std::string& text) {
  packet_ = packet;
  at_ = at;
  return fail(text);
}

bool Processor::run_buffer_of(std::span<const uint32_t> packet, uint64_t at) {
  packet_ = packet;
  at_ = at;
  const Header header(word(0));
  if (header.type != 3 || header.opcode != kIndirectBuffer)
    return fail("a vendor packet holds an INDIRECT_BUFFER and nothing else");
  uint32_t skip = 0;
  return execute(packet, at, skip);
}

bool Processor::run_buffer(uint64_t address, uint32_t words) {
  ++depth_;
  const Selection outside = std::exchange(selection_, {dies_, 0});
  const bool done = run_to_end({address, words});
  selection_ = outside;
  --depth_;
  return done;
}

// The packets behind are for the dies (XCCs) that the upper bits select.
void Processor::select_dies(uint32_t& skip) {
  const uint32_t dies = word(1) >> 24 & all_dies();
  const uint32_t words = word(1) & 0x3fff;
  if (dies == 0) {
    skip = words;
  } else if (words != 0) {
    selection_ = {dies, words};
  }
}

bool Processor::run_to_end(Buffer buffer) {
  const std::string from = here();
  const auto refuse = [&](const std::string& text) {
    failure_ = {};
    failure_.kind = Failure::Kind::kPacket;
    failure_.text = fmt::format("{}: {}", from, text);
    return false;
  };
  for (uint32_t next = 0; next < buffer.words;) {
    // Buffers can lead in a circle.
    if (owner_.stopping()) return cancel();
    const uint8_t* const begin = buffer.address % 4 == 0
                                     ? buffers_.find(buffer.address, uint64_t{buffer.words} * 4)
                                     : nullptr;
    if (begin == nullptr) {
      return refuse(fmt::format("its {} dwords at {:#x} are not memory of the GPU; {}",
                                buffer.words, buffer.address, describe(buffer.address)));
    }
    const auto* const words = reinterpret_cast<const uint32_t*>(begin) + next;
    uint32_t count = 0;
    {
      const SharedMemoryAccess host_sees;
      words_.assign(1, words[0]);
      const Header header(words_[0]);
      count = header.words();
      if (header.type == 3 && count <= buffer.words - next && header.opcode != kNop)
        words_.insert(words_.end(), words + 1, words + count);
    }
    at_ = buffer.address + uint64_t{next} * 4;
    packet_ = words_;
    if (count > buffer.words - next) {
      return fail(fmt::format("it has {} dwords, {} more than its indirect buffer at {:#x} holds",
                              count, count - (buffer.words - next), buffer.address));
    }
    uint32_t skip = 0;
    if (!execute(packet_, at_, skip)) return false;
    next += count + skip;
    if (chained_.words == 0) continue;
    buffer = std::exchange(chained_, {});
    next = 0;
  }
  return true;
}

bool Processor::indirect_buffer() {
  constexpr uint32_t kChain = 1u << 20;
  const Buffer buffer{address(1) & ~uint64_t{3}, word(3) & 0xfffff};
  if ((word(3) & kChain) != 0) {
    if (depth_ == 0) return fail("only an indirect buffer can be continued (CHAIN) by another one");
    if (buffer.words == 0) return fail("it continues its buffer (CHAIN) with one of 0 dwords");
    chained_ = buffer;
    return true;
  }
  if (depth_ == kDeepest) {
    return fail(fmt::format("it lies {} indirect buffers deep, and cannot lead to a further one",
                            kDeepest));
  }
  return run_buffer(buffer.address, buffer.words);
}

bool Processor::set_registers(uint32_t space) {
  const uint32_t first = space + (word(1) & 0xffff);
  if (space == kShBegin && word(1) >> 28 != 0)
    return fail(fmt::format("its index ({}) must be 0", word(1) >> 28));
  for (uint32_t n = 0; n + 2 < packet_.size(); ++n) {
    if (!set_register(first + n, word(n + 2))) return false;
  }
  return true;
}

bool Processor::set_register(uint32_t address, uint32_t value) {
  if (!Registers::has(address)) {
    return fail(
        fmt::format("the register {:#x} is not one of those that this GPU's compute queues "
                    "have (COMPUTE_* at {:#x} to {:#x}, GRBM_GFX_INDEX at {:#x})",
                    address, kComputeBegin, kComputeEnd - 1, kGrbmGfxIndex));
  }
  for (size_t die = 0; die < registers_.size(); ++die) {
    if ((dies_ >> die & 1) != 0) registers_[die].set(address, value);
  }
  return true;
}

bool Processor::dispatch(const uint32_t (&dimensions)[3], uint32_t initiator) {
  isa::KernelRegisters kernel;
  isa::Dispatch dispatch;
  bool is_empty = false;
  if (dies_ != all_dies()) {
    return fail(fmt::format(
        "PRED_EXEC selects some of the {} dies (mask {:#x}) for it, and a grid that not "
        "all dies start is not implemented",
        registers_.size(), dies_));
  }
  const std::string wrong = first_registers().make_dispatch(dimensions, initiator, device_.limits,
                                                            kernel, dispatch, is_empty);
  if (!wrong.empty()) return fail(wrong);
  if (is_empty) return true;
  for (size_t die = 0; die < registers_.size(); ++die)
    kernel.scratch_base[die] = registers_[die].scratch_base();
  if (memory_.find(kernel.entry, 4) == nullptr) {
    return fail(
        fmt::format("COMPUTE_PGM_LO and HI lead to code at {:#x}, which is not memory of "
                    "the GPU; {}",
                    kernel.entry, describe(kernel.entry)));
  }
  std::vector<uint32_t> units;
  const bool limits = std::any_of(registers_.begin(), registers_.end(),
                                  [](const Registers& die) { return die.limits_units(); });
  if (limits && device_.unit_places != nullptr) {
    for (uint32_t unit = 0; unit < device_.unit_places->size(); ++unit) {
      const Registers& die = registers_[unit % registers_.size()];
      if (die.allows_unit((*device_.unit_places)[unit])) units.push_back(unit);
    }
    if (units.empty())
      return fail("COMPUTE_STATIC_THREAD_MGMT leaves none of this GPU's compute units");
    dispatch.units = &units;
  }
  dispatch.priority = owner_.priority();
  dispatch.shared_aperture_hi = kSharedApertureHi;
  dispatch.private_aperture_hi = kPrivateApertureHi;
  if (device_.engine == nullptr) return true;
  if (device_.observer == nullptr) {
    const isa::DispatchResult result = owner_.run(dispatch);
    is_ordered_ = false;
    if (owner_.stopping()) return cancel();
    return result.fault.kind == isa::Fault::Kind::kNone || fail_kernel(result, kernel.entry);
  }
  PacketObserver::Pm4Dispatch facts;
  facts.node = device_.node;
  facts.queue = queue_;
  facts.place = owner_.place();
  facts.entry = kernel.entry;
  facts.is_ordered = is_ordered_;
  device_.observer->begin(facts);
  const isa::DispatchResult result = owner_.run(dispatch);
  device_.observer->end(facts);
  is_ordered_ = false;
  if (owner_.stopping()) return cancel();
  return result.fault.kind == isa::Fault::Kind::kNone || fail_kernel(result, kernel.entry);
}

bool Processor::dispatch_indirect() {
  constexpr uint32_t kBytes = 12;
  const uint64_t from = address(1);
  if (from % 4 != 0) {
    return fail(fmt::format("its dimensions lie at {:#x}, which must be a multiple of 4", from));
  }
  const uint8_t* const source = find(from, kBytes, false);
  if (source == nullptr) return false;
  uint32_t dimensions[3];
  move(from, 0, kBytes, true, false, [&] { std::memcpy(dimensions, source, kBytes); });
  return dispatch(dimensions, word(3));
}

bool Processor::event_write() {
  const uint32_t type = word(1) & 0x3f;
  const uint32_t index = word(1) >> 8 & 15;
  if (index != kIndexOther && index != kIndexPartialFlush) {
    return fail(
        fmt::format("its event index ({}) is not implemented; {} (an event without data) "
                    "and {} (CS_PARTIAL_FLUSH) are",
                    index, kIndexOther, kIndexPartialFlush));
  }
  if (type != kCsPartialFlush) return true;
  is_ordered_ = true;
  if (device_.observer != nullptr) device_.observer->flush_work(device_.node);
  return true;
}

// Of the whole memory: a range is not heeded, since the caches in question hold nothing that is not
// there to be read again.
bool Processor::acquire() {
  const uint32_t control = word(1);
  if ((control & kAcquireCode) != 0 && device_.engine != nullptr) device_.engine->invalidate_code();
  if (device_.observer == nullptr) return true;
  if ((control & kAcquireCode) != 0) device_.observer->invalidate_code(device_.node);
  PacketObserver::Caches caches;
  caches.scalar = (control & (kAcquireScalar | kAcquireScalarVolatile)) != 0;
  caches.l1 = (control & (kAcquireL1 | kAcquireL1Volatile)) != 0;
  caches.l2 = (control & kAcquireL2) != 0;
  caches.write_back_l2 = (control & kAcquireWriteBackL2) != 0;
  caches.write_back_scalar = (control & kAcquireWriteBackScalar) != 0;
  device_.observer->acquire(device_.node, queue_, caches);
  return true;
}

bool Processor::condition(uint32_t& skip) {
  const uint64_t from = address(1) & ~uint64_t{3};
  const uint8_t* const source = find(from, 4, false);
  if (source == nullptr) return false;
  const uint32_t value =
      __atomic_load_n(reinterpret_cast<const uint32_t*>(source), __ATOMIC_ACQUIRE);
  if (value == 0) skip = word(4) & 0x3fff;
  return true;
}

uint8_t* Processor::find(uint64_t address, uint64_t bytes, bool is_write) {
  uint8_t* found = memory_.find(address, bytes, is_write);
  if (found == nullptr && !memory_.accessible(address, bytes))
    found = runtime_.find(address, bytes, is_write);
  if (found != nullptr) return found;
  failure_ = {};
  failure_.kind = Failure::Kind::kAccess;
  failure_.access = {device_.node, address, is_write, false};
  failure_.text = fmt::format("{}: it may not {} {} bytes at {:#x}; {}", here(),
                              is_write ? "write" : "read", bytes, address, describe(address));
  return nullptr;
}

bool Processor::fail(const std::string& text) {
  failure_ = {};
  failure_.kind = Failure::Kind::kPacket;
  failure_.text = fmt::format("{}: {}", here(), text);
  return false;
}

bool Processor::fail_kernel(const isa::DispatchResult& result, uint64_t entry) {
  failure_ = {};
  failure_.kind = Failure::Kind::kKernel;
  failure_.fault = result.fault.kind;
  failure_.access = {device_.node, result.fault.address, result.fault.is_write, false};
  failure_.text = fmt::format("{}: {} in kernel {}", here(), fault_name(result.fault.kind),
                              failed_kernel(result, entry, *device_.memory, "entry"));
  return false;
}

bool Processor::cancel() {
  failure_ = {};
  return false;
}

std::string Processor::describe(uint64_t address) const {
  char text[512] = "";
  device_.memory->describe(address, text, sizeof text);
  return text;
}

std::string Processor::here() const {
  return fmt::format("{} at {:#x}", name(Header(word(0))), at_);
}

}  // namespace halyard::vgpu::queue::pm4
