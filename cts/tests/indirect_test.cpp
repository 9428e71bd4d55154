// Dispatches whose work-group counts are read on the device, and kernels that get raw addresses.
#include "cts/tests/indirect.h"

namespace halyard::cts {
namespace {

TEST_F(Indirect, CountsAreWorkGroups) {
  const Ref<Buffer> out = poisoned(4 * kGroup * 4);
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 5), counts(3), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 3 * kGroup, 5));
}

TEST_F(Indirect, ThreeDimensions) {
  const Ref<Buffer> out = poisoned(1000 * 4);
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 1, {4, 3, 2}), counts(2, 3, 4), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 8 * 9 * 8, 1));
}

// A kernel of version 5 reads the number of groups from its arguments, one of version 4 from the
// packet.
TEST_F(Indirect, KernelsSeeTheSizeOfTheGrid) {
  for (const char* object : {"shape_cl_v4", "shape_cl_v5"}) {
    SCOPED_TRACE(object);
    const Function* kernel = function(object, "shape");
    const Dim3 grid = {8, 6, 3};
    const Dim3 group = {4, 2, 1};
    const Ref<Buffer> direct = poisoned(grid.volume() * 24 * 4);
    const Ref<Buffer> indirect = poisoned(grid.volume() * 24 * 4);
    ASSERT_OK(run(kernel, grid, group, {direct}));
    ASSERT_OK(queue().dispatch_indirect(Launch(kernel, group, group, {indirect}), counts(2, 3, 3),
                                        next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download<uint32_t>(indirect), download<uint32_t>(direct)));
  }
}

TEST_F(Indirect, CountsAtAnOffset) {
  const Ref<Buffer> many = upload(std::vector<uint32_t>{9, 9, 9, 2, 1, 1, 9, 9});
  const Ref<Buffer> out = poisoned(4 * kGroup * 4);
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 7), {*many, 12, 12}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 2 * kGroup, 7));
}

TEST_F(Indirect, NoGroupsAreNoWork) {
  const Ref<Buffer> out = poisoned(kGroup * 4);
  for (const Dim3 none : {Dim3{0, 1, 1}, Dim3{1, 0, 1}, Dim3{0, 0, 0}}) {
    ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 5), counts(none.x, none.y, none.z), next()));
    ASSERT_OK(finish());
  }
  EXPECT_TRUE(filled(out, 0, 0));
}

TEST_F(Indirect, CountsThatAKernelHasJustWritten) {
  const Ref<Buffer> number = counts(1, 0, 0);
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  ASSERT_OK(queue().dispatch(affine(number, 3, 0, 1)));                      // 1, 1, 1
  ASSERT_OK(queue().dispatch(affine(BufferRange(*number, 0, 4), 1, 4, 1)));  // 5, 1, 1
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 3), number, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 5 * kGroup, 3));
}

TEST_F(Indirect, CountsAreReadAfterTheWaits) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> ready = new_semaphore();
  const Ref<Buffer> number = counts(1);
  const Ref<Buffer> out = poisoned(8 * kGroup * 4);
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 3), number, When(next()).after(ready, 1)));
  const uint32_t six = 6;
  ASSERT_OK(other->update({*number, 0, 4}, &six, 4, When().then(ready, 1)));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 6 * kGroup, 3));
}

TEST_F(Indirect, EachLaunchInFlightHasItsOwnCounts) {
  constexpr uint32_t kLaunches = 50;
  const Ref<Semaphore> gate = new_semaphore();
  std::vector<Ref<Buffer>> outs;
  ASSERT_OK(queue().barrier(When().after(gate, 1)));
  for (uint32_t i = 0; i < kLaunches; ++i) {
    outs.push_back(allocate(4 * kGroup * 4));
    const Ref<Buffer> number = allocate(12, MemoryType::kHost);
    auto* words = static_cast<uint32_t*>(take(number->map(0, 12, MapAccess::kWrite)));
    words[0] = i % 4 + 1;
    words[1] = words[2] = 1;
    ASSERT_OK(number->flush(0, 12));
    ASSERT_OK(number->unmap(words));
    const uint8_t poison = 0xa5;
    ASSERT_OK(queue().fill(outs.back(), &poison, 1));
    ASSERT_OK(queue().dispatch_indirect(fill_ids(outs.back(), i), number));
  }
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  for (uint32_t i = 0; i < kLaunches; ++i) {
    EXPECT_TRUE(filled(outs[i], (i % 4 + 1) * kGroup, i)) << i;
  }
}

TEST_F(Indirect, CountsInHostMemory) {
  const Ref<Buffer> number = allocate(12, MemoryType::kHost);
  const uint32_t values[3] = {2, 1, 1};
  write(*number, 0, values, 12);
  const Ref<Buffer> out = poisoned(4 * kGroup * 4);
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 5), number, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 2 * kGroup, 5));
}

TEST_F(Indirect, WhatComesNextWaitsForIt) {
  const Ref<Buffer> out = poisoned(4 * kGroup * 4);
  ASSERT_OK(queue().dispatch_indirect(fill_ids(out, 5), counts(4)));
  ASSERT_OK(queue().dispatch(affine(out, 4 * kGroup, 2, 1), next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(4 * kGroup);
  for (uint32_t i = 0; i < expected.size(); ++i) expected[i] = 2 * (i + 5) + 1;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

TEST_F(Indirect, InARecording) {
  const Ref<Buffer> number = counts(1);
  const Ref<Buffer> out = poisoned(4 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 5), number));
  ASSERT_OK(commands->finish());
  for (uint32_t groups = 1; groups <= 3; ++groups) {
    const uint32_t values[3] = {groups, 1, 1};
    write(*number, 0, values, 12);
    ASSERT_OK(queue().execute(*commands, {}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(filled(out, groups * kGroup, 5));
  }
}

TEST_F(Indirect, CountsThatTheRecordingWrites) {
  const Ref<Buffer> number = counts(0, 0, 0);
  const Ref<Buffer> out = poisoned(4 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  const uint32_t values[3] = {3, 1, 1};
  ASSERT_OK(commands->update(number, values, 12));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(out, 5), number));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(filled(out, 3 * kGroup, 5));
}

TEST_F(Indirect, CountsInASlot) {
  const Ref<Buffer> out = poisoned(4 * kGroup * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(
      commands->dispatch_indirect(fill_ids(BufferRange::binding(1), 5), BufferRange::binding(0)));
  ASSERT_OK(commands->finish());
  for (uint32_t groups = 1; groups <= 3; ++groups) {
    ASSERT_OK(queue().execute(*commands, {BufferRange(counts(groups)), BufferRange(out)}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(filled(out, groups * kGroup, 5));
  }
}

TEST_F(Indirect, CountsThatMakeNoSense) {
  const Ref<Buffer> number = allocate(64);
  const Ref<Buffer> out = poisoned(kGroup * 4);
  EXPECT_FAILS(queue().dispatch_indirect(fill_ids(out, 5), {*number, 0, 11}),
               StatusCode::kInvalidArgument, "11 bytes");
  EXPECT_FAILS(queue().dispatch_indirect(fill_ids(out, 5), {*number, 2, 12}),
               StatusCode::kInvalidArgument, "multiple of 4");
  EXPECT_FAILS(queue().dispatch_indirect(fill_ids(out, 5), {*number, 56, 12}),
               StatusCode::kOutOfRange, "group counts of 12 bytes from offset 56");
  EXPECT_FAILS(queue().dispatch_indirect(fill_ids(out, 5), BufferRange()),
               StatusCode::kInvalidArgument, "null");
}

TEST_F(Indirect, ShapesThatMakeNoSense) {
  const Ref<Buffer> out = poisoned(kGroup * 4);
  EXPECT_FAILS(queue().dispatch_indirect(fill_ids(out, 5, {0, 1, 1}), counts(1)),
               StatusCode::kInvalidArgument, "a work-group (0×1×1) of size 0 in x");
  EXPECT_FAILS(queue().dispatch_indirect(fill_ids(out, 5, {4096, 1, 1}), counts(1)),
               StatusCode::kInvalidArgument, "4096");
}

class Address : public DeviceTest {};

TEST_F(Address, OfABuffer) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 3));
  ASSERT_OK(queue().dispatch(affine(Argument::address(data->device_address()), 64, 5, 1), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, 16)));
}

TEST_F(Address, IntoTheMiddleOfABuffer) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 3));
  ASSERT_OK(
      queue().dispatch(affine(Argument::address(data->device_address() + 40), 4, 5, 1), next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(64, 3);
  std::fill(expected.begin() + 10, expected.begin() + 14, 16);
  EXPECT_TRUE(same(download<uint32_t>(data), expected));
}

TEST_F(Address, OfHostMemory) {
  const Ref<Buffer> host = allocate(256, MemoryType::kHost);
  const std::vector<uint32_t> threes(64, 3);
  write(*host, 0, threes.data(), 256);
  ASSERT_OK(queue().dispatch(affine(Argument::address(host->device_address()), 64, 5, 1), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(host), std::vector<uint32_t>(64, 16)));
}

// A kernel that looks at nothing may be given nothing.
TEST_F(Address, OfNothing) {
  ASSERT_OK(queue().dispatch(
      Launch(function("busy", "affine"), {64, 1, 1}, {64, 1, 1},
             {Argument::address(0), Argument::of(0u), Argument::of(5u), Argument::of(1u)}),
      next()));
  EXPECT_OK(finish());
}

TEST_F(Address, OfAGlobalVariable) {
  const GlobalInfo input = take(executable("global")->global("global_input"));
  ASSERT_OK(queue().dispatch(affine(Argument::address(input.device_address), 4, 2, 1), next()));
  ASSERT_OK(finish());
  const Ref<Buffer> out = poisoned(16);
  ASSERT_OK(
      run(function("global", "use_globals"), {64, 1, 1}, {64, 1, 1}, {out, Argument::of(0u)}));
  EXPECT_TRUE(same(download<uint32_t>(out), std::vector<uint32_t>{21, 41 + 1, 61 + 4, 81 + 9}));
}

TEST_F(Address, IsNoValue) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 3));
  EXPECT_FAILS(
      queue().dispatch(Launch(function("busy", "affine"), {64, 1, 1}, {64, 1, 1},
                              {data, Argument::address(64), Argument::of(1u), Argument::of(1u)})),
      StatusCode::kInvalidArgument);
}

class EntryPoints : public DeviceTest {};

TEST_F(EntryPoints, EachDoesItsOwnWork) {
  const Ref<Executable> object = executable("entry_points");
  ASSERT_EQ(object->function_count(), 16u);
  const Ref<Buffer> out = upload(std::vector<uint32_t>(16, 0));
  const uint32_t add = 7;
  for (size_t i = 0; i < 16; ++i) {
    ASSERT_OK(queue().dispatch(
        Launch(&object->function(i), {64, 1, 1}, {64, 1, 1}, {out, Argument::of(add)})));
  }
  ASSERT_OK(drain(queue()));
  std::vector<uint32_t> expected(16);
  for (uint32_t i = 0; i < 16; ++i) expected[i] = 1000 * i + add;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

TEST_F(EntryPoints, AreFoundByName) {
  const Ref<Executable> object = executable("entry_points");
  const Ref<Buffer> out = upload(std::vector<uint32_t>(16, 0));
  ASSERT_OK(run(take(object->find("entry_1_3")), {64, 1, 1}, {64, 1, 1}, {out, Argument::of(5u)}));
  std::vector<uint32_t> expected(16, 0);
  expected[11] = 11005;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
  EXPECT_FAILS(object->find("entry_1_8"), StatusCode::kNotFound, "Did you mean");
}

}  // namespace
}  // namespace halyard::cts
