#include "hal/kernel_arguments.h"

#include <cstring>

#include "argument_plan.h"
#include "hal/contract/objects.h"

namespace halyard {
namespace {

struct Blocks {
  uint32_t count;      // whole work-groups
  uint32_t remainder;  // work-items of the partial one, or 0
};

// Work-group sizes are nearly always powers of two, and a division costs as much as all the rest.
Blocks blocks_of(uint32_t grid, uint32_t workgroup) noexcept {
  if ((workgroup & (workgroup - 1)) == 0) [[likely]]
    return {grid >> __builtin_ctz(workgroup), grid & (workgroup - 1)};
  return {grid / workgroup, grid % workgroup};
}

void store(std::byte* at, uint64_t value, uint32_t size) noexcept {
  // Little-endian, as both sides are.
  switch (size) {
    case 8:
      std::memcpy(at, &value, 8);
      break;
    case 4:
      std::memcpy(at, &value, 4);
      break;
    case 2:
      std::memcpy(at, &value, 2);
      break;
    default:
      std::memcpy(at, &value, 1);
      break;
  }
}

void store_value(std::byte* at, const void* value, uint32_t size) noexcept {
  switch (size) {
    case 4:
      std::memcpy(at, value, 4);
      break;
    case 8:
      std::memcpy(at, value, 8);
      break;
    default:
      std::memcpy(at, value, size);
      break;
  }
}

// Of an address, `range` has no buffer and the address as offset.
void store_address(std::byte* at, const Argument& argument) noexcept {
  const BufferRange& range = argument.range;
  const uint64_t address =
      (range.buffer != nullptr ? range.buffer->device_address() : 0) + range.offset;
  std::memcpy(at, &address, sizeof(address));
}

void store_shape(std::byte* at, const Dispatch& dispatch) noexcept {
  const Dim3& group = dispatch.workgroup;
  const Blocks x = blocks_of(dispatch.grid.x, group.x);
  const Blocks y = blocks_of(dispatch.grid.y, group.y);
  const Blocks z = blocks_of(dispatch.grid.z, group.z);
  const uint64_t words[3] = {
      uint64_t{x.count} | uint64_t{y.count} << 32,
      uint64_t{z.count} | uint64_t{group.x & 0xffff} << 32 | uint64_t{group.y & 0xffff} << 48,
      uint64_t{group.z & 0xffff} | uint64_t{x.remainder & 0xffff} << 16 |
          uint64_t{y.remainder & 0xffff} << 32 | uint64_t{z.remainder & 0xffff} << 48,
  };
  std::memcpy(at, words, sizeof(words));
}

uint64_t hidden_value(const ArgumentPlan& plan, const ArgumentStep& step, const Dispatch& dispatch,
                      const HiddenValues& hidden, uint32_t dynamic_lds) noexcept {
  const Dim3& grid = dispatch.grid;
  const Dim3& group = dispatch.workgroup;
  switch (step.kind) {
    case StepKind::kBlockCountX:
      return blocks_of(grid.x, group.x).count;
    case StepKind::kBlockCountY:
      return blocks_of(grid.y, group.y).count;
    case StepKind::kBlockCountZ:
      return blocks_of(grid.z, group.z).count;
    case StepKind::kGroupSizeX:
      return group.x;
    case StepKind::kGroupSizeY:
      return group.y;
    case StepKind::kGroupSizeZ:
      return group.z;
    case StepKind::kRemainderX:
      return blocks_of(grid.x, group.x).remainder;
    case StepKind::kRemainderY:
      return blocks_of(grid.y, group.y).remainder;
    case StepKind::kRemainderZ:
      return blocks_of(grid.z, group.z).remainder;
    case StepKind::kGridDims:
      return grid_dimensions(grid);
    case StepKind::kDynamicLdsSize:
      return dynamic_lds;
    case StepKind::kPrivateBase:
      return hidden.private_base;
    case StepKind::kSharedBase:
      return hidden.shared_base;
    case StepKind::kQueuePtr:
      return hidden.queue_address;
    case StepKind::kAddress:
      return plan.addresses()[step.alignment];
    default:
      return 0;
  }
}

uint64_t align_up(uint64_t value, uint64_t alignment) noexcept {
  return (value + alignment - 1) / alignment * alignment;
}

// The arguments that the caller does not give. `dynamic_lds` is in bytes.
void pack_hidden(const ArgumentPlan& plan, const Dispatch& dispatch, const HiddenValues& hidden,
                 uint32_t dynamic_lds, std::byte* base) noexcept {
  if (plan.shape_offset != ArgumentPlan::kNone) store_shape(base + plan.shape_offset, dispatch);
  const ArgumentStep* step = plan.hidden();
  for (const ArgumentStep* const end = step + plan.hidden_count; step != end; ++step) {
    std::byte* const at = base + step->offset;
    if (step->kind == StepKind::kZero) {
      std::memset(at, 0, step->size);
      continue;
    }
    store(at, hidden_value(plan, *step, dispatch, hidden, dynamic_lds), step->size);
  }
}

// The arguments from `index` on, and the hidden ones.
[[gnu::noinline]] uint32_t pack_rest(const Dispatch& dispatch, const HiddenValues& hidden,
                                     const ArgumentPlan& plan, std::byte* base,
                                     size_t index) noexcept {
  uint32_t lds_end = plan.group_segment_size + dispatch.dynamic_lds_bytes;
  for (; index < plan.argument_count; ++index) {
    const ArgumentStep& step = plan.arguments()[index];
    const Argument& argument = dispatch.arguments[index];
    std::byte* const at = base + step.offset;
    switch (step.kind) {
      case StepKind::kBuffer:
        store_address(at, argument);
        break;
      case StepKind::kValue:
        store_value(at, argument.data(), step.size);
        break;
      case StepKind::kDynamicLds:
        lds_end = static_cast<uint32_t>(align_up(lds_end, step.alignment));
        std::memcpy(at, &lds_end, sizeof(lds_end));
        lds_end += argument.size;
        break;
      default:
        break;
    }
  }
  pack_hidden(plan, dispatch, hidden, lds_end - plan.group_segment_size, base);
  return lds_end;
}

}  // namespace

uint32_t lds_bytes(const Dispatch& dispatch) noexcept {
  const ArgumentPlan& plan = *driver::FunctionBase::of(*dispatch.function).plan();
  uint64_t end = uint64_t{plan.group_segment_size} + dispatch.dynamic_lds_bytes;
  if (plan.lds_argument_count != 0) {
    const ArgumentStep* step = plan.arguments();
    for (uint32_t i = 0; i < plan.argument_count; ++i) {
      if (step[i].kind != StepKind::kDynamicLds) continue;
      end = align_up(end, step[i].alignment) + dispatch.arguments[i].size;
    }
  }
  return end > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(end);
}

uint32_t pack_kernel_arguments(const Dispatch& dispatch, const HiddenValues& hidden,
                               void* kernarg) noexcept {
  const ArgumentPlan& plan = *driver::FunctionBase::of(*dispatch.function).plan();
  auto* const base = static_cast<std::byte*>(kernarg);
  // Buffers and words, which nearly all arguments are, without a call: so this needs no stack
  // frame, and leaves the rest, if there is any, with a jump.
  const ArgumentStep* const steps = plan.arguments();
  const Argument* const arguments = dispatch.arguments.data();
  const size_t count = plan.argument_count;
  for (size_t i = 0; i < count; ++i) {
    const ArgumentStep& step = steps[i];
    std::byte* const at = base + step.offset;
    if (step.kind == StepKind::kBuffer) [[likely]] {
      store_address(at, arguments[i]);
    } else if (step.kind == StepKind::kValue && step.size == 4) {
      std::memcpy(at, arguments[i].data(), 4);
    } else if (step.kind == StepKind::kValue && step.size == 8) {
      std::memcpy(at, arguments[i].data(), 8);
    } else {
      return pack_rest(dispatch, hidden, plan, base, i);
    }
  }
  if (plan.hidden_count != 0 || plan.shape_offset != ArgumentPlan::kNone) {
    return pack_rest(dispatch, hidden, plan, base, count);
  }
  return plan.group_segment_size + dispatch.dynamic_lds_bytes;
}

}  // namespace halyard
