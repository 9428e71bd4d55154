// What tests of memory that processes share have in common.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "cts/harness/device_test.h"

namespace halyard::cts {

class SharedMemoryTest : public DeviceTest {
 protected:
  // Of a buffer, in bytes: less than a page, some pages, and more than the runtime's own blocks.
  static constexpr uint64_t kSizes[] = {400, 64 << 10, 3 << 20};

  static std::vector<uint32_t> values(uint64_t size, uint32_t first) {
    std::vector<uint32_t> values(size / sizeof(uint32_t));
    std::iota(values.begin(), values.end(), first);
    return values;
  }
  // values(size, first) become values(size, first + by).
  void add(const Ref<Buffer>& buffer, uint32_t by) {
    const auto count = static_cast<uint32_t>(buffer->size() / sizeof(uint32_t));
    EXPECT_OK(queue().dispatch(affine(buffer, count, 1, by), next()));
    EXPECT_OK(finish());
  }
};

}  // namespace halyard::cts
