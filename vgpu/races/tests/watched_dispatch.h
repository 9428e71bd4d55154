// An engine under the check of races, for tests.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "vgpu/isa/tests/machine.h"
#include "vgpu/races/race_check.h"

namespace halyard::vgpu::races::testing {

using isa::testing::address_of;
using isa::testing::Machine;

class RacesTest : public ::testing::Test {
 protected:
  explicit RacesTest(bool notes = false, uint64_t most_bytes = uint64_t{1} << 26,
                     const char* processor = "gfx900", uint32_t workers = 1)
      : check({.names = [](uint64_t) { return "sum"; },
               .report = [this](std::string_view text) { add(findings, text); },
               .warn = [this](std::string_view text) { add(warnings, text); },
               .describe = {},
               .notes = notes,
               .most_bytes = most_bytes}),
        machine([&] {
          isa::EngineOptions options;
          options.processor = processor;
          options.workers = workers;
          options.observers = {&check};
          return options;
        }()),
        data(machine.allocate<uint32_t>(kDwords)) {}

  // s[6:7] is the memory, s10 the wave's number in its work-group, s2 the work-group's; v0 the
  // work-item, v1 four times that, v2 is 0.
  void run(const std::string& text, uint32_t groups = 1, uint32_t waves = 2) {
    isa::testing::KernelOptions options;
    options.rsrc3 = 15;  // 64 VGPRs, where AGPRs are in the same file
    machine.expect_ok(
        "s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 0\n"
        "v_readfirstlane_b32 s10, v0\ns_lshr_b32 s10, s10, 6\ns_waitcnt lgkmcnt(0)\n" +
            text,
        {address_of(data)}, Machine::grid(groups * waves * 64, static_cast<uint16_t>(waves * 64)),
        options);
  }

  static constexpr size_t kDwords = 1 << 16;
  std::vector<std::string> findings, warnings;
  std::mutex mutex;
  RaceCheck check;
  Machine machine;
  uint32_t* data;

 private:
  void add(std::vector<std::string>& list, std::string_view text) {
    const std::lock_guard lock(mutex);
    list.emplace_back(text);
  }
};

}  // namespace halyard::vgpu::races::testing
