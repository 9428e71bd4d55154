// Kernels that follow pointers to memory which no argument names.
#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Pointers : public DeviceTest {
 protected:
  // As the kernel "walk" has it.
  struct Node {
    uint64_t next;
    uint32_t value;
    uint32_t visits;
  };

  // Buffers of the device's memory and the host's in turn.
  Ref<Buffer> any_memory(size_t i, uint64_t bytes) {
    return allocate(bytes, i % 2 == 0 ? MemoryType::kDevice : MemoryType::kHost);
  }
};

TEST_F(Pointers, InATable) {
  constexpr uint32_t kCount = 96;
  std::vector<Ref<Buffer>> targets;
  std::vector<uint64_t> table;
  const auto values = random_bits<uint32_t>(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    targets.push_back(any_memory(i, 256));
    const uint64_t offset = i % 64 * 4;
    write(*targets[i], offset, &values[i], 4);
    table.push_back(targets[i]->device_address() + offset);
  }
  const Ref<Buffer> out = poisoned(kCount * 4);
  const Function* const exchange = function("pointers", "exchange");
  ASSERT_OK(run(exchange, whole_groups(kCount, 64), {64, 1, 1},
                {upload(table), out, Argument::of(kCount)}));
  EXPECT_TRUE(same(download<uint32_t>(out), values));
  for (uint32_t i = 0; i < kCount; ++i) {
    uint32_t now = 0;
    read(*targets[i], i % 64 * 4, &now, 4);
    EXPECT_EQ(now, i);
  }
}

TEST_F(Pointers, AListThroughManyAllocations) {
  constexpr uint32_t kNodes = 40;
  std::vector<Ref<Buffer>> memory;
  for (uint32_t i = 0; i < kNodes; ++i) memory.push_back(any_memory(i, sizeof(Node)));
  uint32_t sum = 0;
  for (uint32_t i = 0; i < kNodes; ++i) {
    const Node node = {i + 1 < kNodes ? memory[i + 1]->device_address() : 0, i * i, 0};
    write(*memory[i], 0, &node, sizeof(node));
    sum += node.value;
  }
  const Ref<Buffer> out = poisoned(8);
  const Function* const walk = function("pointers", "walk");
  for (uint32_t round = 1; round <= 3; ++round) {
    ASSERT_OK(run(walk, {1, 1, 1}, {1, 1, 1}, {memory[0], out}));
    EXPECT_TRUE(same(download<uint32_t>(out), std::vector<uint32_t>{sum, kNodes}));
  }
  for (const Ref<Buffer>& buffer : memory) {
    Node node = {};
    read(*buffer, 0, &node, sizeof(node));
    EXPECT_EQ(node.visits, 3u);
  }
}

// What earlier work of the queue has written there, it finds.
TEST_F(Pointers, ToWhatTheWorkBeforeHasWritten) {
  const Ref<Buffer> target = poisoned(256);
  const Ref<Buffer> table = upload(std::vector<uint64_t>{target->device_address() + 64});
  const Ref<Buffer> out = poisoned(4);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const Function* const exchange = function("pointers", "exchange");
  ASSERT_OK(commands->dispatch(affine(target, 64, 0, 7)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(
      Launch(exchange, {1, 1, 1}, {1, 1, 1}, {table, out, Argument::of(uint32_t{1})})));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(out), std::vector<uint32_t>{7}));
  ASSERT_OK(queue().dispatch(affine(target, 64, 0, 11)));
  ASSERT_OK(queue().dispatch(
      Launch(exchange, {1, 1, 1}, {1, 1, 1}, {table, out, Argument::of(uint32_t{1})}), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(out), std::vector<uint32_t>{11}));
}

// The address is in an argument that is passed by value, which a driver does not look into. The
// program drops the buffer before the kernel has begun, and makes others.
TEST_F(Pointers, ABufferInUseOutlivesItsHandle) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Queue> other_queue = new_queue();
  const Ref<Buffer> out = poisoned(4);
  const Function* const load = function("faults", "load_from");
  for (const MemoryType type : {MemoryType::kDevice, MemoryType::kHost}) {
    const uint64_t turn = type == MemoryType::kDevice ? 1 : 2;
    const SemaphorePoint wait = {gate.get(), turn};
    Ref<Buffer> target = allocate(256, type);
    const uint32_t value = 0x1234;
    write(*target, 64, &value, 4);
    const Launch launch(load, {1, 1, 1}, {1, 1, 1},
                        {Argument::of(target->device_address() + 64), out,
                         Argument::uses(BufferRange(*target, 64, 4))});
    const Sync signal = next();
    ASSERT_OK(queue().dispatch(launch, {.wait = {&wait, 1}, .signal = signal.signal}));
    target = nullptr;
    std::vector<Ref<Buffer>> others;
    const uint8_t byte = 0xee;
    for (int i = 0; i < 8; ++i) {
      others.push_back(allocate(256, type));
      ASSERT_OK(other_queue->fill(others.back(), &byte, 1));
    }
    ASSERT_OK(drain(*other_queue));
    ASSERT_OK(gate->signal(turn));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download<uint32_t>(out), std::vector<uint32_t>{0x1234}));
  }
}

TEST_F(Pointers, ARecordingKeepsBuffersInUse) {
  Ref<Buffer> target = poisoned(256);
  const uint32_t value = 0x5678;
  write(*target, 0, &value, 4);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(Launch(function("faults", "load_from"), {1, 1, 1}, {1, 1, 1},
                                      {Argument::of(target->device_address()),
                                       BufferRange::binding(0, 0, 4), Argument::uses(*target)})));
  ASSERT_OK(commands->finish());
  target = nullptr;
  for (int i = 0; i < 2; ++i) {
    const std::vector<Ref<Buffer>> others = {poisoned(256), poisoned(256)};
    const Ref<Buffer> out = poisoned(4);
    const BufferRange binding(*out, 0, 4);
    ASSERT_OK(queue().execute(*commands, {&binding, 1}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download<uint32_t>(out), std::vector<uint32_t>{0x5678}));
  }
}

// An optional pointer: the end of a list.
TEST_F(Pointers, Null) {
  const Function* const walk = function("pointers", "walk");
  const Ref<Buffer> out = poisoned(8);
  ASSERT_OK(run(walk, {1, 1, 1}, {1, 1, 1}, {Argument::address(0), out}));
  EXPECT_TRUE(same(download<uint32_t>(out), std::vector<uint32_t>{0, 0}));
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const Ref<Buffer> recorded = poisoned(8);
  ASSERT_OK(
      commands->dispatch(Launch(walk, {1, 1, 1}, {1, 1, 1}, {Argument::address(0), recorded})));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(recorded), std::vector<uint32_t>{0, 0}));
}

}  // namespace
}  // namespace halyard::cts
