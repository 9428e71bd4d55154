// Kernel arguments: structs, every scalar kind, parts of buffers.
#include <cmath>
#include <cstring>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Arguments : public DeviceTest {};

// As in struct_arg.c.
struct Shape {
  uint8_t tag;
  uint16_t rows;
  uint32_t columns;
  uint64_t stride;
  float scale;
  double bias;
  struct {
    uint8_t first;
    uint32_t count;
  } nested[2];
};
static_assert(sizeof(Shape) == 48);

TEST_F(Arguments, StructByValue) {
  Shape shape = {};
  shape.tag = 200;
  shape.rows = 37;
  shape.columns = 29;
  shape.stride = 31;
  shape.scale = random_reals<float>(1, -3, 3)[0];
  shape.bias = random_reals<double>(1, -3, 3)[0];
  shape.nested[0] = {11, 1000};
  shape.nested[1] = {250, 70000};
  const uint8_t lead = 17;
  const uint16_t trail = 60000;
  const uint32_t items = shape.rows * shape.columns;
  std::vector<double> expected(shape.rows * shape.stride, -1.0);
  const Ref<Buffer> out = upload(expected);
  ASSERT_OK(run(function("struct_arg", "apply_shape"), whole_groups(items, 64), {64, 1, 1},
                {Argument::of(lead), Argument::of(shape), Argument::of(trail), out}));
  for (uint32_t row = 0; row < shape.rows; ++row) {
    for (uint32_t column = 0; column < shape.columns; ++column) {
      const auto& nested = shape.nested[column % 2];
      const uint32_t base = shape.tag + nested.first + nested.count * row + lead + trail;
      expected[row * shape.stride + column] =
          std::fma(static_cast<double>(shape.scale), static_cast<double>(base), shape.bias);
    }
  }
  EXPECT_TRUE(same(download<double>(out), expected));
}

TEST_F(Arguments, EveryKindArrives) {
  struct Mixed {  // as in arguments.cl
    uint8_t a;
    uint64_t b;
    alignas(16) float c[4];
  };
  static_assert(sizeof(Mixed) == 32);
  const int8_t c1 = -100;
  const uint8_t c2 = 200;
  const int16_t s1 = -30000;
  const uint16_t s2 = 60000;
  const int32_t i1 = -2000000000;
  const uint32_t i2 = 4000000000u;
  const int64_t l1 = -9000000000000000000;
  const uint64_t l2 = 18000000000000000000u;
  const Half h(-1.5);
  const float f = 3.25f;
  const double d = -1e300;
  const uint8_t v3[4] = {1, 2, 3, 0};
  const float v4[4] = {1.5f, -2.5f, 3.5f, -4.5f};
  const double d2[2] = {1e-300, -7.0};
  const Mixed mixed = {99, 0x0123456789abcdefu, {0.5f, 1.5f, 2.5f, 0}};
  const std::vector<int32_t> in = {1, 2, 3, -77};
  const std::vector<int32_t> table = {4, 5, -88};

  constexpr uint32_t kPlaces = 18;
  std::vector<uint8_t> expected(32 * kPlaces, 0);
  const Ref<Buffer> out = upload(expected);
  ASSERT_OK(
      run(function("arguments", "arguments"), {64, 1, 1}, {64, 1, 1},
          {Argument::of(c1), Argument::of(c2), Argument::of(s1), Argument::of(s2), Argument::of(i1),
           Argument::of(i2), Argument::of(l1), Argument::of(l2), Argument::of(h), Argument::of(f),
           Argument::of(d), Argument::of(v3), Argument::of(v4), Argument::of(d2),
           Argument::of(mixed), upload(in), upload(table), Argument::dynamic_lds(8), out}));

  const auto put = [&expected](size_t place, const auto& value, size_t size, size_t offset = 0) {
    std::memcpy(expected.data() + 32 * place + offset, &value, size);
  };
  put(0, c1, 1);
  put(1, c2, 1);
  put(2, s1, 2);
  put(3, s2, 2);
  put(4, i1, 4);
  put(5, i2, 4);
  put(6, l1, 8);
  put(7, l2, 8);
  put(8, h, 2);
  put(9, f, 4);
  put(10, d, 8);
  put(11, v3, 3);
  put(12, v4, 16);
  put(13, d2, 16);
  put(14, mixed.a, 1);
  put(14, mixed.b, 8, 8);
  put(14, mixed.c, 12, 16);
  put(15, in[3], 4);
  put(16, table[2], 4);
  const int32_t from_lds = i1 + 1;
  put(17, from_lds, 4);
  EXPECT_TRUE(same(download<uint8_t>(out), expected));
}

// A range passes the address of its first byte.
TEST_F(Arguments, PartOfABuffer) {
  const uint32_t n = 100;
  const auto values = random_reals<float>(1000, -5, 5);
  const Ref<Buffer> in = upload(values);
  std::vector<float> expected(300, -1.0f);
  const Ref<Buffer> out = upload(expected);
  ASSERT_OK(run(function("vadd_c_v6", "vadd"), {128, 1, 1}, {128, 1, 1},
                {BufferRange(*in, 13 * sizeof(float), n * sizeof(float)),
                 BufferRange(*in, 500 * sizeof(float), n * sizeof(float)),
                 BufferRange(*out, 50 * sizeof(float), n * sizeof(float)), Argument::of(n)}));
  for (uint32_t i = 0; i < n; ++i) expected[50 + i] = values[13 + i] + values[500 + i];
  EXPECT_TRUE(same(download<float>(out), expected));
}

// Values are read before the call returns, so the caller may change them.
TEST_F(Arguments, ValuesAreTakenAtSubmission) {
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint wait = {gate.get(), 1};
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  uint32_t n = 64;
  uint32_t multiplier = 5;
  uint32_t addend = 7;
  Argument arguments[] = {data, Argument::of(n), Argument::of(multiplier), Argument::of(addend)};
  Dispatch dispatch;
  dispatch.function = function("busy", "affine");
  dispatch.grid = dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  Sync sync = next();
  sync.wait = {&wait, 1};
  ASSERT_OK(queue().dispatch(dispatch, sync));
  n = multiplier = addend = 0;
  arguments[0] = Argument();
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, 12)));
}

// A kernel without arguments, in every way to launch it: at once, and held back.
TEST_F(Arguments, NoneAtAll) {
  const Function* const step = function("global", "step_globals");
  EXPECT_TRUE(step->info().arguments.empty());
  const Dim3 group = {64, 1, 1};
  const Launch launch(step, group, group, {});
  const Ref<Buffer> one_group = upload(std::vector<uint32_t>{1, 1, 1});
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(launch));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(launch, one_group));
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint wait = {gate.get(), 1};
  for (const bool held : {false, true}) {
    ASSERT_OK(queue().dispatch(launch, held ? Sync{.wait = {&wait, 1}} : Sync{}));
    ASSERT_OK(queue().dispatch_indirect(launch, one_group));
    ASSERT_OK(queue().execute(*commands));
  }
  ASSERT_OK(gate->signal(1));

  const Ref<Buffer> out = poisoned(16);
  ASSERT_OK(run(function("global", "use_globals"), group, group, {out, Argument::of(0u)}));
  EXPECT_TRUE(
      same(download<uint32_t>(out), std::vector<uint32_t>{10 + 8, 20 + 17, 30 + 28, 40 + 41}));
}

// More launches than a ring of arguments holds, each with its own values.
TEST_F(Arguments, ManyLaunchesInFlightKeepTheirOwn) {
  constexpr uint32_t kLaunches = 5000;
  const Ref<Buffer> out = poisoned(kLaunches * sizeof(uint32_t));
  const Function* kernel = function("shape_cl_v5", "fill_ids");
  for (uint32_t i = 0; i < kLaunches; ++i) {
    const uint32_t base = i * 2654435761u;
    const Argument arguments[] = {BufferRange(*out, i * sizeof(uint32_t), sizeof(uint32_t)),
                                  Argument::of(base)};
    Dispatch dispatch;
    dispatch.function = kernel;
    dispatch.arguments = arguments;
    ASSERT_OK(queue().dispatch(dispatch, i + 1 < kLaunches ? Sync{} : next()));
  }
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(kLaunches);
  for (uint32_t i = 0; i < kLaunches; ++i) expected[i] = i * 2654435761u;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

}  // namespace
}  // namespace halyard::cts
