// The fixture of tests of dispatches whose work-group counts are read on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "cts/harness/device_test.h"

namespace halyard::cts {

inline constexpr uint32_t kGroup = 64;

class Indirect : public DeviceTest {
 protected:
  // fill_ids writes place + base for each work-item of the grid.
  Launch fill_ids(const Argument& out, uint32_t base, Dim3 workgroup = {kGroup, 1, 1}) {
    return Launch(function("shape_cl_v5", "fill_ids"), workgroup, workgroup,
                  {out, Argument::of(base)});
  }
  Ref<Buffer> counts(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
    return upload(std::vector<uint32_t>{x, y, z});
  }
  // What `items` work-items have written into `out`, which was poisoned.
  testing::AssertionResult filled(const Ref<Buffer>& out, uint32_t items, uint32_t base) {
    std::vector<uint32_t> expected(out->size() / 4, 0xa5a5a5a5);
    for (uint32_t i = 0; i < items; ++i) expected[i] = i + base;
    return same(download<uint32_t>(out), expected);
  }
  Ref<CommandBuffer> record() { return take(device().create_command_buffer()); }
};

}  // namespace halyard::cts
