#include "vgpu/isa/tests/machine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/assembler.h"

namespace halyard::vgpu::isa::testing {

MemoryRange FakeMemory::find(uint64_t address) const {
  const Ranges* const ranges = ranges_.load(std::memory_order_acquire);
  if (ranges == nullptr) return {};
  auto at = ranges->upper_bound(address);
  if (at == ranges->begin()) return {};
  --at;
  if (address >= at->first + at->second.size) return {};
  return {at->first, at->first + at->second.size, at->second.to_host, at->second.writable};
}

uint64_t FakeMemory::address_of_fault(uint64_t host) const {
  return find(host + kApart).end != 0 ? host + kApart : host;
}

void FakeMemory::describe(uint64_t address, char* text, uint64_t capacity) const {
  const MemoryRange range = find(address);
  std::snprintf(text, capacity, range.end ? "inside an allocation" : "in no allocation");
}

template <class F>
void FakeMemory::change(F&& f) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_unique<Ranges>(versions_.empty() ? Ranges{} : *versions_.back());
  f(*changed);
  ranges_.store(changed.get(), std::memory_order_release);
  versions_.push_back(std::move(changed));
}

void FakeMemory::map(const void* begin, uint64_t size) {
  change([&](Ranges& ranges) {
    ranges[reinterpret_cast<uint64_t>(begin)] = {size, 0, true};
    ranges[address_of(begin)] = {size, uint64_t{0} - kApart, true};
  });
}

void FakeMemory::unmap(const void* begin) {
  change([&](Ranges& ranges) {
    ranges.erase(reinterpret_cast<uint64_t>(begin));
    ranges.erase(address_of(begin));
  });
  epoch_.fetch_add(1, std::memory_order_relaxed);
}

void FakeMemory::protect(const void* begin) {
  change([&](Ranges& ranges) {
    for (const uint64_t at : {reinterpret_cast<uint64_t>(begin), address_of(begin)})
      ranges.at(at).writable = false;
  });
  epoch_.fetch_add(1, std::memory_order_relaxed);
}

Machine::Machine(EngineOptions options) {
  if (options.processor.empty()) options.processor = "gfx900";
  if (!options.raise_event)
    options.raise_event = [this](uint32_t payload) { events.push_back(payload); };
  processor_ = options.processor;
  std::string error;
  engine_ = Engine::create(options, memory_, error);
  if (!engine_) {
    std::fprintf(stderr, "no engine: %s\n", error.c_str());
    std::abort();
  }
}

Machine::~Machine() {
  engine_.reset();
  for (void* block : blocks_) std::free(block);
}

void* Machine::allocate_bytes(size_t bytes) {
  const size_t size = (bytes + 255) / 256 * 256;
  void* const block = std::aligned_alloc(256, size);
  std::memset(block, 0, size);
  blocks_.push_back(block);
  memory_.map(block, bytes);
  return block;
}

void Machine::release(void* pointer) {
  memory_.unmap(pointer);
}

uint64_t Machine::kernel(const std::string& text, const KernelOptions& options) {
  std::string error;
  const std::vector<uint8_t> code = assemble(text + "\ns_endpgm", processor_, error);
  EXPECT_EQ(error, "") << text;
  return kernel_from_bytes(code, options);
}

uint64_t Machine::kernel_from_bytes(const std::vector<uint8_t>& code,
                                    const KernelOptions& options) {
  constexpr uint64_t kEntry = 256;
  auto* const object = static_cast<uint8_t*>(allocate_bytes(kEntry + code.size()));
  const auto put = [&](uint64_t offset, auto value) {
    std::memcpy(object + offset, &value, sizeof value);
  };
  Target target;
  std::string unknown;
  find_target(processor_, "", target, unknown);
  const uint32_t granule = target.vgpr_granule;
  put(16, int64_t{kEntry});
  const uint32_t vgpr_granules = (options.vgprs + granule - 1) / granule - 1;
  const uint32_t sgpr_granules = ((options.sgprs + 15) / 16 - 1) * 2;
  put(48, vgpr_granules | sgpr_granules << 6 | options.float_mode << 12 | options.rsrc1_extra);
  put(52, options.rsrc2 | options.user_sgprs << 1);
  if (options.legacy) {
    put(0, uint32_t{1});  // version 1.1
    put(4, uint32_t{1});
    put(8, uint16_t{1});  // AMDGPU, 8.0.3
    put(10, uint16_t{8});
    put(14, uint16_t{3});
    put(56, options.properties);
  } else {
    put(44, options.rsrc3);
    put(56, options.properties);  // and KERNARG_PRELOAD's fields
  }
  std::memcpy(object + kEntry, code.data(), code.size());
  return address_of(object);
}

uint64_t Machine::code_of(uint64_t kernel) const {
  return kernel + 256;
}

DispatchResult Machine::run(uint64_t kernel, const std::vector<uint64_t>& arguments,
                            Dispatch dispatch) {
  if (dispatch.grid[0] == 1 && dispatch.group[0] == 1) {
    dispatch.grid[0] = 64;
    dispatch.group[0] = 64;
  }
  dispatch.kernel_object = kernel;
  dispatch.shared_aperture_hi = kSharedHigh;
  dispatch.private_aperture_hi = kPrivateHigh;
  if (!arguments.empty()) {
    auto* const kernarg = allocate<uint64_t>(arguments.size());
    std::memcpy(kernarg, arguments.data(), arguments.size() * 8);
    dispatch.kernarg_address = address_of(kernarg);
  }
  const volatile bool cancel = false;
  return engine_->run(dispatch, cancel);
}

void Machine::expect_ok(const std::string& text, const std::vector<uint64_t>& arguments,
                        Dispatch dispatch, const KernelOptions& options) {
  const DispatchResult result = run(kernel(text, options), arguments, dispatch);
  EXPECT_EQ(result.fault.kind, Fault::Kind::kNone) << result.report;
}

Dispatch Machine::grid(uint32_t x, uint16_t group_x) {
  Dispatch dispatch;
  dispatch.grid[0] = x;
  dispatch.group[0] = group_x;
  return dispatch;
}

}  // namespace halyard::vgpu::isa::testing
