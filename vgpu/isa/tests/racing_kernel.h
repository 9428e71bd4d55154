// A kernel whose result depends on the schedule, and schedules from their texts.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "vgpu/isa/schedule.h"

namespace halyard::vgpu::isa::testing {

// sum[0] += 1 by each wave, with nothing between them: the fifth instruction loads, the eighth
// stores.
inline constexpr char kRace[] = R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
    global_load_dword v2, v1, s[8:9]
    s_waitcnt vmcnt(0)
    v_add_u32 v2, 1, v2
    global_store_dword v1, v2, s[8:9])";

inline Schedule schedule_of(const std::string& text) {
  Schedule schedule;
  std::string error;
  EXPECT_TRUE(Schedule::parse(text, schedule, error)) << error;
  return schedule;
}

}  // namespace halyard::vgpu::isa::testing
