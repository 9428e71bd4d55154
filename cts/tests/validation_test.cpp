// Launches that make no sense: refused with a sentence, before anything is queued.
#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Validation : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    vadd_ = function("vadd_cl_v5", "vadd");
    buffer_ = allocate(1024);
  }

  Status launch(const Function* function, std::initializer_list<Argument> arguments,
                Dim3 grid = {64, 1, 1}, Dim3 workgroup = {64, 1, 1}, uint32_t dynamic_lds = 0) {
    return run(function, grid, workgroup, arguments, dynamic_lds);
  }
  Status launch_vadd(Dim3 grid, Dim3 workgroup, uint32_t dynamic_lds = 0) {
    return launch(vadd_, {buffer_, buffer_, buffer_, Argument::of(n_)}, grid, workgroup,
                  dynamic_lds);
  }

  const Function* vadd_ = nullptr;
  Ref<Buffer> buffer_;
  uint32_t n_ = 64;
};

TEST_F(Validation, AGoodLaunchIsNotRefused) {
  EXPECT_OK(launch_vadd({64, 1, 1}, {64, 1, 1}));
}

TEST_F(Validation, NoFunction) {
  EXPECT_FAILS(launch(nullptr, {}), StatusCode::kInvalidArgument, "null");
}

TEST_F(Validation, TooFewAndTooManyArguments) {
  EXPECT_FAILS(launch(vadd_, {}), StatusCode::kInvalidArgument, "vadd");
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, buffer_}), StatusCode::kInvalidArgument,
               "is given 3 arguments; the function takes 4");
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, buffer_, Argument::of(n_), Argument::of(n_)}),
               StatusCode::kInvalidArgument, "is given 5 arguments; the function takes 4");
}

TEST_F(Validation, ValuesOfTheWrongSize) {
  const uint64_t wide = 64;
  const uint8_t narrow = 64;
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, buffer_, Argument::of(wide)}),
               StatusCode::kInvalidArgument, "is given a value of 8 bytes; it takes 4");
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, buffer_, Argument::of(narrow)}),
               StatusCode::kInvalidArgument, "is given a value of 1 byte; it takes 4");
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, buffer_, Argument::bytes(nullptr, 4)}),
               StatusCode::kInvalidArgument, "null");
}

TEST_F(Validation, ArgumentsOfTheWrongKind) {
  EXPECT_FAILS(launch(vadd_, {buffer_, Argument::of(n_), buffer_, Argument::of(n_)}),
               StatusCode::kInvalidArgument, "Argument 1 \"b\" of \"vadd\"");
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, buffer_, buffer_}), StatusCode::kInvalidArgument,
               "Argument 3 \"n\" of \"vadd\"");
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, Argument::dynamic_lds(4), Argument::of(n_)}),
               StatusCode::kInvalidArgument, "out");
  EXPECT_FAILS(launch(vadd_, {buffer_, buffer_, BufferRange(), Argument::of(n_)}),
               StatusCode::kInvalidArgument);
  const Function* lds = function("dynamic_lds_cl", "dynamic_lds");
  EXPECT_FAILS(launch(lds, {buffer_, buffer_, buffer_, Argument::dynamic_lds(8)}),
               StatusCode::kInvalidArgument, "first");
}

TEST_F(Validation, RangesOutsideTheirBuffer) {
  EXPECT_FAILS(launch(vadd_, {buffer_, BufferRange(*buffer_, 1025, 0), buffer_, Argument::of(n_)}),
               StatusCode::kOutOfRange, "1025");
  EXPECT_FAILS(launch(vadd_, {buffer_, BufferRange(*buffer_, 512, 513), buffer_, Argument::of(n_)}),
               StatusCode::kOutOfRange, "513");
}

TEST_F(Validation, EmptyShapes) {
  for (const Dim3 zero : {Dim3{0, 1, 1}, Dim3{64, 0, 1}, Dim3{64, 1, 0}}) {
    EXPECT_FAILS(launch_vadd(zero, {64, 1, 1}), StatusCode::kInvalidArgument, "of size 0 in");
    EXPECT_FAILS(launch_vadd({64, 64, 64}, zero), StatusCode::kInvalidArgument, "of size 0 in");
  }
}

// HSA wants at least one whole work-group (HSA System Architecture 2.9.6).
TEST_F(Validation, GridsThatAreSmallerThanAWorkGroup) {
  EXPECT_FAILS(launch_vadd({63, 1, 1}, {64, 1, 1}), StatusCode::kInvalidArgument,
               "a grid (63×1×1) that is smaller than its work-group (64×1×1) in x");
  EXPECT_FAILS(launch_vadd({64, 3, 1}, {16, 4, 1}), StatusCode::kInvalidArgument,
               "a grid (64×3×1) that is smaller than its work-group (16×4×1) in y");
}

TEST_F(Validation, WorkGroupsThatAreTooLarge) {
  const uint32_t most = device().info().max_workgroup_size;
  EXPECT_FAILS(launch_vadd({most * 2, 1, 1}, {most * 2, 1, 1}), StatusCode::kInvalidArgument,
               std::to_string(most * 2));
  EXPECT_FAILS(launch_vadd({256, 256, 1}, {32, 64, 1}), StatusCode::kInvalidArgument);
  EXPECT_FAILS(launch_vadd({64, 1, 1}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}),
               StatusCode::kInvalidArgument);
  // The kernel's own limit (OpenCL's default is 256) is below the device's.
  const uint32_t own = vadd_->info().max_workgroup_size;
  ASSERT_LT(own, most);
  EXPECT_FAILS(launch_vadd({1024, 1, 1}, {own + 1, 1, 1}), StatusCode::kInvalidArgument,
               std::to_string(own));
}

TEST_F(Validation, TheRequiredWorkGroupSize) {
  const Function* kernel = function("private_array", "private_registers");
  EXPECT_FAILS(launch(kernel, {buffer_, buffer_, Argument::of(n_)}, {64, 1, 1}, {32, 1, 1}),
               StatusCode::kInvalidArgument,
               "a work-group (32×1×1) other than the one the function was compiled for (64×1×1");
}

TEST_F(Validation, GridsThatAreTooLarge) {
  const DeviceInfo& info = device().info();
  if (info.max_grid.y < UINT32_MAX) {
    EXPECT_FAILS(launch_vadd({1, info.max_grid.y + 1, 1}, {1, 1, 1}), StatusCode::kInvalidArgument,
                 std::to_string(info.max_grid.y));
  }
  if (info.max_grid_size < UINT64_MAX) {
    EXPECT_FAILS(launch_vadd(info.max_grid, {256, 1, 1}), StatusCode::kInvalidArgument);
  }
}

TEST_F(Validation, MoreLdsThanThereIs) {
  const uint32_t all = device().info().lds_bytes;
  EXPECT_FAILS(launch_vadd({64, 1, 1}, {64, 1, 1}, all + 1), StatusCode::kInvalidArgument,
               std::to_string(all));
  const Function* lds = function("dynamic_lds_cl", "dynamic_lds");
  EXPECT_FAILS(
      launch(lds, {buffer_, buffer_, Argument::dynamic_lds(all), Argument::dynamic_lds(8)}),
      StatusCode::kInvalidArgument, std::to_string(all));
}

// A refused call has queued and signalled nothing.
TEST_F(Validation, ARefusedLaunchSignalsNothing) {
  const Ref<Semaphore> semaphore = new_semaphore();
  const SemaphorePoint point = {semaphore.get(), 1};
  Dispatch dispatch;
  dispatch.function = vadd_;
  EXPECT_FAILS(queue().dispatch(dispatch, {.wait = {}, .signal = {&point, 1}}),
               StatusCode::kInvalidArgument);
  EXPECT_EQ(take(semaphore->query()), 0u);
  EXPECT_OK(semaphore->signal(1));
}

}  // namespace
}  // namespace halyard::cts
