// The fixture of tests of command buffers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "cts/harness/device_test.h"

namespace halyard::cts {

inline constexpr uint32_t kWordCount = 192;
inline constexpr uint64_t kWordBytes = kWordCount * sizeof(uint32_t);

class Commands : public DeviceTest {
 protected:
  Ref<CommandBuffer> record() { return take(device().create_command_buffer()); }
  Ref<Buffer> words(uint32_t value) { return upload(std::vector<uint32_t>(kWordCount, value)); }
  testing::AssertionResult all_are(const Ref<Buffer>& buffer, uint32_t value) {
    return same(download<uint32_t>(buffer), std::vector<uint32_t>(kWordCount, value));
  }
  Status execute(const Ref<CommandBuffer>& commands, std::initializer_list<BufferRange> bindings) {
    if (Status status = queue().execute(*commands, bindings, next()); !status.ok()) return status;
    return finish();
  }
};

}  // namespace halyard::cts
