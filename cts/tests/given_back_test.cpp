// Buffers after their dealloca: no use of them is taken, so that none touches the memory's next
// owner.
#include <sys/mman.h>
#include <unistd.h>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kGivenBackCount = 1024;
constexpr uint64_t kGivenBackBytes = kGivenBackCount * sizeof(uint32_t);

class GivenBack : public DeviceTest {
 protected:
  // That no operation takes the buffer.
  void expect_no_use(Buffer& buffer) {
    constexpr const char* kWhy = "deallocated";
    const uint32_t five = 5;
    const Ref<Buffer> other = allocate(kGivenBackBytes);
    EXPECT_EQ(buffer.size(), 0u);
    EXPECT_FAILS(queue().fill(buffer, &five, 4), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(queue().fill({buffer, 0, 4}, &five, 4), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(queue().update({buffer, 0, 4}, &five, 4), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(queue().copy(buffer, other), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(queue().copy(other, buffer), StatusCode::kFailedPrecondition, kWhy);
    const int file = memfd_create("given-back", 0);
    ASSERT_GE(file, 0);
    EXPECT_FAILS(queue().read({file, 0}, buffer), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(queue().write(buffer, {file, 0}), StatusCode::kFailedPrecondition, kWhy);
    close(file);
    EXPECT_FAILS(queue().dealloca_buffer(buffer), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(buffer.subspan(0, 4), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(device().export_buffer(buffer), StatusCode::kFailedPrecondition, kWhy);

    const Ref<CommandBuffer> commands = take(device().create_command_buffer());
    EXPECT_FAILS(commands->fill(buffer, &five, 4), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(commands->update({buffer, 0, 4}, &five, 4), StatusCode::kFailedPrecondition, kWhy);
    EXPECT_FAILS(commands->copy(buffer, other), StatusCode::kFailedPrecondition, kWhy);
    ASSERT_OK(commands->fill(BufferRange::binding(0, 0, 4), &five, 4));
    ASSERT_OK(commands->finish());
    EXPECT_FAILS(queue().execute(*commands, {BufferRange(buffer)}), StatusCode::kFailedPrecondition,
                 kWhy);
  }
};

TEST_F(GivenBack, NothingTakesIt) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  expect_no_use(*buffer);
  ASSERT_OK(finish());
  expect_no_use(*buffer);
}

TEST_F(GivenBack, NothingTakesAView) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  const Ref<Buffer> view = take(buffer->subspan(64, 256));
  const Ref<Buffer> inner = take(view->subspan(64, 64));
  take(buffer->subspan(0, 64));  // gone before
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  expect_no_use(*view);
  expect_no_use(*inner);
  ASSERT_OK(finish());
}

// Since it cannot be told when the memory goes.
TEST_F(GivenBack, NothingTakesItWhileTheDeallocaWaits) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  const Ref<Buffer> view = take(buffer->subspan(64, 256));
  ASSERT_OK(queue().dealloca_buffer(*buffer, When(next()).after(gate, 1)));
  expect_no_use(*buffer);
  expect_no_use(*view);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
}

TEST_F(GivenBack, AViewIsBackWithItsBufferAfterAFailure) {
  const Ref<Semaphore> gate = new_semaphore();
  const Sync sync = next();
  const Ref<Semaphore> told = new_semaphore();
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  const Ref<Buffer> view = take(buffer->subspan(64, 256));
  ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(gate, 1).then(told, 1)));
  EXPECT_EQ(view->size(), 0u);
  gate->fail(Status(StatusCode::kAborted, "The tea is cold."));
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted);
  ASSERT_EQ(view->size(), 256u);
  const uint32_t five = 5;
  ASSERT_OK(queue().fill(view, &five, 4, sync));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(view), std::vector<uint32_t>(64, 5)));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  ASSERT_OK(finish());
  expect_no_use(*view);
}

TEST_F(GivenBack, OfHostMemory) {
  PoolOptions options;
  options.type = MemoryType::kHost;
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes, options));
  void* const mapped = take(buffer->map(0, kGivenBackBytes, MapAccess::kReadWrite));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  expect_no_use(*buffer);
  EXPECT_FAILS(buffer->map(0, 4, MapAccess::kRead), StatusCode::kFailedPrecondition, "deallocated");
  EXPECT_FAILS(buffer->flush(0, 4), StatusCode::kFailedPrecondition, "deallocated");
  EXPECT_FAILS(buffer->invalidate(0, 4), StatusCode::kFailedPrecondition, "deallocated");
  EXPECT_OK(buffer->unmap(mapped));
  ASSERT_OK(finish());
}

// What was submitted before is no use afterwards.
TEST_F(GivenBack, WorkFromBeforeGoesOn) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> result = poisoned(kGivenBackBytes);
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  const uint32_t five = 5;
  ASSERT_OK(queue().fill(buffer, &five, 4, When().after(gate, 1)));
  ASSERT_OK(queue().copy(buffer, result));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(result), std::vector<uint32_t>(kGivenBackCount, 5)));
}

TEST_F(GivenBack, ARecordingThatNamesItIsNotExecuted) {
  const Ref<Buffer> result = poisoned(kGivenBackBytes);
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const uint32_t five = 5;
  ASSERT_OK(commands->fill(buffer, &five, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(buffer, result));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(result), std::vector<uint32_t>(kGivenBackCount, 5)));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kFailedPrecondition, "deallocated");
  ASSERT_OK(finish());
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kFailedPrecondition, "deallocated");
}

TEST_F(GivenBack, ARecordingThatNamesAViewIsNotExecuted) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const uint32_t five = 5;
  ASSERT_OK(commands->fill(take(buffer->subspan(64, 64)), &five, 4));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kFailedPrecondition, "deallocated");
  ASSERT_OK(finish());
}

TEST_F(GivenBack, KernelsDoNotTakeIt) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kGivenBackBytes));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(affine(buffer, kGivenBackCount, 3, 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(queue().dispatch(affine(buffer, kGivenBackCount, 3, 4), next()));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  constexpr const char* kWhy = "deallocated";
  const Ref<CommandBuffer> late = take(device().create_command_buffer());
  const Ref<Buffer> data = poisoned(kGivenBackBytes);
  EXPECT_FAILS(queue().dispatch(affine(buffer, kGivenBackCount, 3, 4)),
               StatusCode::kFailedPrecondition, kWhy);
  EXPECT_FAILS(queue().dispatch(affine(BufferRange(*buffer, 4, 8), 1, 3, 4)),
               StatusCode::kFailedPrecondition, kWhy);
  EXPECT_FAILS(queue().dispatch_indirect(affine(data, kGivenBackCount, 3, 4), {*buffer, 0, 12}),
               StatusCode::kFailedPrecondition, kWhy);
  EXPECT_FAILS(late->dispatch(affine(buffer, kGivenBackCount, 3, 4)),
               StatusCode::kFailedPrecondition, kWhy);
  EXPECT_FAILS(late->dispatch_indirect(affine(data, kGivenBackCount, 3, 4), {*buffer, 0, 12}),
               StatusCode::kFailedPrecondition, kWhy);
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kFailedPrecondition, kWhy);
  ASSERT_OK(finish());
}

}  // namespace
}  // namespace halyard::cts
