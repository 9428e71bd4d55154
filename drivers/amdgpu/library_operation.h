// LibraryOperation: a kernel of the device library in a queue.
#pragma once

#include <cstring>
#include <memory>

#include "drivers/amdgpu/launch.h"
#include "drivers/amdgpu/library_launch.h"
#include "drivers/amdgpu/operation.h"

namespace halyard::amdgpu {

// Writes the one packet of a launch to a reserved slot. `reads_foreign` as in FenceFacts.
inline void write_library_launch(QueueCore& core, uint64_t index, bool observed,
                                 const FunctionImpl& function, const LibraryLaunch& launch,
                                 bool reads_foreign) {
  write_launch(core, index, observed, {function, launch.grid, launch.workgroup, reads_foreign},
               [&launch](void* kernarg) {
                 std::memcpy(kernarg, launch.arguments, launch.arguments_size);
                 return 0u;
               });
}

class LibraryOperation final : public Operation {
 public:
  // `facts` are those of the queue's operation that it does, with a name that is a literal. `first`
  // and `second` (may be null) are what the launch uses: kept alive while it is held back.
  LibraryOperation(const OperationFacts& facts, const FunctionImpl& function,
                   const LibraryLaunch& launch, bool reads_foreign, Buffer* first,
                   Buffer* second = nullptr)
      : facts_(facts),
        function_(function),
        launch_(launch),
        reads_foreign_(reads_foreign),
        first_(first),
        second_(second) {}

  uint32_t packets() const override { return 1; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override { return facts_; }

 private:
  OperationFacts facts_;
  const FunctionImpl& function_;
  LibraryLaunch launch_;
  bool reads_foreign_;
  Buffer* first_;
  Buffer* second_;
  Ref<Buffer> keep_first_;
  Ref<Buffer> keep_second_;
};

}  // namespace halyard::amdgpu
