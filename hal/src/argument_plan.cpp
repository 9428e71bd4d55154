#include "argument_plan.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "hal/hidden_buffers.h"

namespace halyard {
namespace {

bool fits(const FunctionInfo& info, const ArgumentInfo& argument) noexcept {
  return argument.offset <= info.kernarg_size &&
         argument.size <= info.kernarg_size - argument.offset;
}

ArgumentStep explicit_step(const FunctionInfo& info, const ArgumentInfo& argument) noexcept {
  ArgumentStep step{StepKind::kRefused, argument.offset, argument.size, 1};
  if (!fits(info, argument)) return step;
  switch (argument.kind) {
    case ArgumentKind::kValue:
      step.kind = StepKind::kValue;
      break;
    case ArgumentKind::kBuffer:
      if (argument.size == sizeof(uint64_t)) step.kind = StepKind::kBuffer;
      break;
    case ArgumentKind::kDynamicLds:
      if (argument.size == sizeof(uint32_t)) step.kind = StepKind::kDynamicLds;
      if (argument.alignment > 1) step.alignment = argument.alignment;
      break;
    default:
      break;
  }
  return step;
}

// Whether the compiler lists what a kernel might use only because it has proved nothing about it;
// see kernel_arguments.h.
bool lists_everything(const FunctionInfo& info) noexcept {
  bool multigrid = false;
  bool default_queue = false;
  bool completion_action = false;
  for (const ArgumentInfo& argument : info.hidden) {
    multigrid |= argument.kind == ArgumentKind::kHiddenMultigridSync;
    default_queue |= argument.kind == ArgumentKind::kHiddenDefaultQueue;
    completion_action |= argument.kind == ArgumentKind::kHiddenCompletionAction;
  }
  return multigrid && default_queue && completion_action;
}

StepKind hidden_kind(ArgumentKind kind, bool everything) noexcept {
  switch (kind) {
    case ArgumentKind::kHiddenGlobalOffsetX:
    case ArgumentKind::kHiddenGlobalOffsetY:
    case ArgumentKind::kHiddenGlobalOffsetZ:
    case ArgumentKind::kHiddenNone:
    case ArgumentKind::kHiddenMultigridSync:
      return StepKind::kZero;
    case ArgumentKind::kHiddenHostcallBuffer:
    case ArgumentKind::kHiddenPrintfBuffer:
    case ArgumentKind::kHiddenHeap:
      return StepKind::kAddress;
    case ArgumentKind::kHiddenDefaultQueue:
    case ArgumentKind::kHiddenCompletionAction:
      return everything ? StepKind::kZero : StepKind::kRefused;
    case ArgumentKind::kHiddenBlockCountX:
      return StepKind::kBlockCountX;
    case ArgumentKind::kHiddenBlockCountY:
      return StepKind::kBlockCountY;
    case ArgumentKind::kHiddenBlockCountZ:
      return StepKind::kBlockCountZ;
    case ArgumentKind::kHiddenGroupSizeX:
      return StepKind::kGroupSizeX;
    case ArgumentKind::kHiddenGroupSizeY:
      return StepKind::kGroupSizeY;
    case ArgumentKind::kHiddenGroupSizeZ:
      return StepKind::kGroupSizeZ;
    case ArgumentKind::kHiddenRemainderX:
      return StepKind::kRemainderX;
    case ArgumentKind::kHiddenRemainderY:
      return StepKind::kRemainderY;
    case ArgumentKind::kHiddenRemainderZ:
      return StepKind::kRemainderZ;
    case ArgumentKind::kHiddenGridDims:
      return StepKind::kGridDims;
    case ArgumentKind::kHiddenDynamicLdsSize:
      return StepKind::kDynamicLdsSize;
    case ArgumentKind::kHiddenPrivateBase:
      return StepKind::kPrivateBase;
    case ArgumentKind::kHiddenSharedBase:
      return StepKind::kSharedBase;
    case ArgumentKind::kHiddenQueuePtr:
      return StepKind::kQueuePtr;
    default:
      return StepKind::kRefused;
  }
}

ArgumentStep hidden_step(const FunctionInfo& info, const ArgumentInfo& argument,
                         bool everything) noexcept {
  ArgumentStep step{hidden_kind(argument.kind, everything), argument.offset, argument.size, 1};
  const bool word =
      argument.size == 1 || argument.size == 2 || argument.size == 4 || argument.size == 8;
  const bool short_address = step.kind == StepKind::kAddress && argument.size != sizeof(uint64_t);
  if (!fits(info, argument) || (step.kind != StepKind::kZero && !word) || short_address) {
    step.kind = StepKind::kRefused;
  }
  return step;
}

// Whether no dispatch can give the hidden argument; `address` is what the driver gives. Compilers
// list the printf buffer only where it is used.
bool is_refused(ArgumentKind kind, const ArgumentStep& step, bool everything,
                uint64_t address) noexcept {
  if (step.kind != StepKind::kAddress) return step.kind == StepKind::kRefused;
  return address == 0 && (!everything || kind == ArgumentKind::kHiddenPrintfBuffer);
}

// The nine steps of the shape in the order and with the sizes of LLVM AMDGPUUsage, "Code Object V5
// Kernel Argument Metadata".
constexpr struct {
  StepKind kind;
  uint32_t offset;
  uint32_t size;
} kShape[] = {
    {StepKind::kBlockCountX, 0, 4}, {StepKind::kBlockCountY, 4, 4}, {StepKind::kBlockCountZ, 8, 4},
    {StepKind::kGroupSizeX, 12, 2}, {StepKind::kGroupSizeY, 14, 2}, {StepKind::kGroupSizeZ, 16, 2},
    {StepKind::kRemainderX, 18, 2}, {StepKind::kRemainderY, 20, 2}, {StepKind::kRemainderZ, 22, 2},
};
constexpr size_t kShapeSteps = sizeof(kShape) / sizeof(kShape[0]);

// Whether the steps of the shape begin at `steps`.
bool is_shape(const ArgumentStep* steps, size_t count) noexcept {
  if (count < kShapeSteps) return false;
  for (size_t i = 0; i < kShapeSteps; ++i) {
    if (steps[i].kind != kShape[i].kind || steps[i].size != kShape[i].size ||
        steps[i].offset - steps[0].offset != kShape[i].offset) {
      return false;
    }
  }
  return true;
}

}  // namespace

ArgumentPlan* ArgumentPlan::make(const FunctionInfo& info) noexcept {
  const size_t steps = info.arguments.size() + info.hidden.size();
  // At most an address for each hidden argument.
  void* block = std::malloc(sizeof(ArgumentPlan) + steps * sizeof(ArgumentStep) +
                            info.hidden.size() * sizeof(uint64_t));
  if (block == nullptr) return nullptr;
  ArgumentPlan* plan = new (block) ArgumentPlan{
      .argument_count = static_cast<uint32_t>(info.arguments.size()),
      .hidden_count = 0,
      .refused_argument = kNone,
      .refused_hidden = kNone,
      .shape_offset = kNone,
      .lds_argument_count = 0,
      .group_segment_size = info.group_segment_size,
      .max_workgroup_size = info.max_workgroup_size,
      .required_workgroup_size = info.required_workgroup_size,
      .uniform_workgroups = info.uniform_workgroups,
  };
  auto* step = reinterpret_cast<ArgumentStep*>(static_cast<char*>(block) + sizeof(ArgumentPlan));
  for (uint32_t i = 0; i < plan->argument_count; ++i, ++step) {
    *step = explicit_step(info, info.arguments[i]);
    if (step->kind == StepKind::kRefused && plan->refused_argument == kNone) {
      plan->refused_argument = i;
    }
    if (step->kind == StepKind::kDynamicLds) ++plan->lds_argument_count;
  }

  const bool everything = lists_everything(info);
  ArgumentStep* const hidden = step;
  for (uint32_t i = 0; i < info.hidden.size(); ++i, ++step) {
    *step = hidden_step(info, info.hidden[i], everything);
    const bool refused = is_refused(info.hidden[i].kind, *step, everything, 0);
    if (refused && plan->refused_hidden == kNone) plan->refused_hidden = i;
  }
  size_t read = 0;
  size_t written = 0;
  uint32_t addresses = 0;
  const size_t count = info.hidden.size();
  while (read < count) {
    if (plan->shape_offset == kNone && is_shape(hidden + read, count - read)) {
      plan->shape_offset = hidden[read].offset;
      read += kShapeSteps;
      continue;
    }
    ArgumentStep current = hidden[read++];
    if (current.kind == StepKind::kRefused) continue;  // may lie outside of the segment
    if (current.kind == StepKind::kAddress) current.alignment = addresses++;
    // Neighbouring zeros are one store loop.
    if (written > 0 && current.kind == StepKind::kZero) {
      ArgumentStep& last = hidden[written - 1];
      if (last.kind == StepKind::kZero && last.offset + last.size == current.offset) {
        last.size += current.size;
        continue;
      }
    }
    hidden[written++] = current;
  }
  plan->hidden_count = static_cast<uint32_t>(written);
  std::memset(const_cast<uint64_t*>(plan->addresses()), 0, addresses * sizeof(uint64_t));
  return plan;
}

void ArgumentPlan::give(const FunctionInfo& info, ArgumentKind kind, uint64_t address) noexcept {
  refused_hidden = kNone;
  const bool everything = lists_everything(info);
  auto* const values = const_cast<uint64_t*>(addresses());
  for (uint32_t i = 0; i < info.hidden.size(); ++i) {
    const ArgumentInfo& argument = info.hidden[i];
    uint64_t given = 0;
    for (const ArgumentStep* step = hidden(); step != hidden() + hidden_count; ++step) {
      if (step->kind != StepKind::kAddress || step->offset != argument.offset) continue;
      if (argument.kind == kind) values[step->alignment] = address;
      given = values[step->alignment];
    }
    const bool refused =
        is_refused(argument.kind, hidden_step(info, argument, everything), everything, given);
    if (refused && refused_hidden == kNone) refused_hidden = i;
  }
}

void ArgumentPlan::destroy(const ArgumentPlan* plan) noexcept {
  std::free(const_cast<ArgumentPlan*>(plan));
}

bool wants_hidden_buffer(const FunctionInfo& info, ArgumentKind kind) noexcept {
  for (const ArgumentInfo& argument : info.hidden) {
    if (argument.kind == kind) return true;
  }
  return false;
}

}  // namespace halyard
