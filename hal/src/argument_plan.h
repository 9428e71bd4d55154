// ArgumentPlan: a function's metadata reduced to the needs of a dispatch, in few cache lines. One
// block of memory: the steps follow this struct. The host has one for each function, for
// validation; a driver has another one, for packing.
#pragma once

#include <cstdint>

#include "hal/executable.h"
#include "hal/types.h"

namespace halyard {

// The first four values are ArgumentKind's, and the first three Argument::Kind's, so that kinds
// are compared as numbers.
enum class StepKind : uint32_t {
  kValue = 0,
  kBuffer = 1,
  kDynamicLds = 2,
  kRefused = 3,
  kZero,  // `size` bytes
  kBlockCountX,
  kBlockCountY,
  kBlockCountZ,
  kGroupSizeX,
  kGroupSizeY,
  kGroupSizeZ,
  kRemainderX,
  kRemainderY,
  kRemainderZ,
  kGridDims,
  kDynamicLdsSize,
  kPrivateBase,
  kSharedBase,
  kQueuePtr,
  kAddress,  // `size` bytes of the value `alignment` of addresses()
};

struct ArgumentStep {
  StepKind kind;
  uint32_t offset;     // bytes from the start of the kernarg segment
  uint32_t size;       // bytes
  uint32_t alignment;  // kDynamicLds: at least 1; kAddress: an index
};
static_assert(sizeof(ArgumentStep) == 16);

struct alignas(8) ArgumentPlan {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t argument_count;
  uint32_t hidden_count;
  // Index into FunctionInfo::arguments or hidden of the first one that no dispatch can give, or
  // kNone.
  uint32_t refused_argument;
  uint32_t refused_hidden;
  // Where block counts, group sizes and remainders lie in the one order that compilers use since
  // version 5: 24 bytes that are written as three words. kNone if they do not; then they are steps.
  uint32_t shape_offset;
  uint32_t lds_argument_count;
  uint32_t group_segment_size;
  uint32_t max_workgroup_size;
  Dim3 required_workgroup_size;
  bool uniform_workgroups;

  const ArgumentStep* arguments() const noexcept {
    return reinterpret_cast<const ArgumentStep*>(this + 1);
  }
  const ArgumentStep* hidden() const noexcept { return arguments() + argument_count; }
  // Of buffers that the driver gives (hal/hidden_buffers.h); 0 until it has.
  const uint64_t* addresses() const noexcept {
    return reinterpret_cast<const uint64_t*>(hidden() + hidden_count);
  }

  // Null if there is no memory.
  static ArgumentPlan* make(const FunctionInfo& info) noexcept;
  static void destroy(const ArgumentPlan* plan) noexcept;
  // give_hidden_buffer().
  void give(const FunctionInfo& info, ArgumentKind kind, uint64_t address) noexcept;
};

}  // namespace halyard
