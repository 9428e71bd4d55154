// What a dispatch is refused for, and in which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_device.h"
#include "functions.h"
#include "hal/hidden_buffers.h"

namespace halyard {
namespace {

using testing::FakeDevice;
using testing::FakeExecutable;
using testing::FunctionBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DispatchCheck : public ::testing::Test {
 protected:
  DispatchCheck() {
    device_ = Ref<FakeDevice>::adopt(new FakeDevice);
    other_ = Ref<FakeDevice>::adopt(new FakeDevice("Fake B"));
    executable_ = Ref<FakeExecutable>::adopt(new FakeExecutable(*device_));
    queue_ = device_->create_queue().value();
    buffer_ = device_->allocate(1024).value();
    builder_.info.name = "vadd";
    builder_.add(ArgumentKind::kBuffer, 0, 8, "global_buffer", "out")
        .add(ArgumentKind::kValue, 8, 4, "by_value", "n")
        .add(ArgumentKind::kDynamicLds, 12, 4, "dynamic_shared_pointer", "scratch", 4);
    builder_.info.group_segment_size = 1024;
    builder_.info.max_workgroup_size = 512;
    arguments_ = {buffer_, Argument::of(count_), Argument::dynamic_lds(256)};
    dispatch_.grid = {4096, 1, 1};
    dispatch_.workgroup = {256, 1, 1};
  }

  Status run() {
    if (dispatch_.function == nullptr && !no_function_) {
      dispatch_.function = &builder_.build(*executable_);
    }
    dispatch_.arguments = arguments_;
    device_->log.calls.clear();
    return queue_->dispatch(dispatch_);
  }
  void expect_ok() {
    const Status status = run();
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_THAT(device_->log.calls, ::testing::ElementsAre("dispatch"));
  }
  void expect_refused(StatusCode code, const std::string& message) {
    const Status status = run();
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(std::string(status.message().view()), message);
    EXPECT_THAT(device_->log.calls, IsEmpty());
  }
  void expect_invalid(const std::string& message) {
    expect_refused(StatusCode::kInvalidArgument, message);
  }

  Ref<FakeDevice> device_;
  Ref<FakeDevice> other_;
  Ref<FakeExecutable> executable_;
  Ref<Queue> queue_;
  Ref<Buffer> buffer_;
  FunctionBuilder builder_;
  uint32_t count_ = 4096;
  std::vector<Argument> arguments_;
  Dispatch dispatch_;
  bool no_function_ = false;
};

TEST_F(DispatchCheck, AnAddressStandsForABuffer) {
  arguments_[0] = Argument::address(buffer_->device_address() + 16);
  expect_ok();
}

TEST_F(DispatchCheck, AnAddressIsNoValue) {
  arguments_[1] = Argument::address(16);
  expect_invalid(
      "Argument 1 \"n\" of \"vadd\" (by_value of 4 bytes at offset 8) is given an address; it "
      "takes a value.");
}

TEST_F(DispatchCheck, LetsAValidOneThrough) {
  expect_ok();
}

TEST_F(DispatchCheck, LetsLimitsThemselvesThrough) {
  dispatch_.workgroup = {512, 1, 1};
  dispatch_.grid = {UINT32_MAX, 1, 1};
  dispatch_.dynamic_lds_bytes = 65536 - 1024 - 256;
  expect_ok();
  dispatch_.workgroup = {1, 1, 512};
  dispatch_.grid = {65536, 1, 65535};
  expect_ok();
}

TEST_F(DispatchCheck, NoFunction) {
  no_function_ = true;
  expect_invalid("A dispatch is given no function (null). Executable::find returns one.");
}

// Not even without validation: the driver has no code for it.
TEST_F(DispatchCheck, AFunctionWithAProblem) {
  builder_.info.problem = "It is made of cheese.";
  expect_refused(StatusCode::kFailedPrecondition,
                 "The function \"vadd\" cannot be dispatched. It is made of cheese.");
  device_->set_validation(false);
  expect_refused(StatusCode::kFailedPrecondition,
                 "The function \"vadd\" cannot be dispatched. It is made of cheese.");
  const auto found = executable_->find("vadd");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(DispatchCheck, AFunctionOfAnotherDevice) {
  const Ref<FakeExecutable> elsewhere = Ref<FakeExecutable>::adopt(new FakeExecutable(*other_));
  dispatch_.function = &builder_.build(*elsewhere);
  expect_invalid(
      "A dispatch on device \"Fake A\" is given function \"vadd\" of an executable that is loaded "
      "on another device (\"Fake B\"). Load the executable on each device that runs it.");
}

TEST_F(DispatchCheck, TooFewArguments) {
  arguments_.resize(1);
  expect_invalid(
      "A dispatch of \"vadd\" is given 1 argument; the function takes 3. The first one that is "
      "missing is argument 1 \"n\" (by_value, 4 bytes).");
}

TEST_F(DispatchCheck, TooManyArguments) {
  arguments_.push_back(buffer_);
  expect_invalid("A dispatch of \"vadd\" is given 4 arguments; the function takes 3.");
}

// What a kernel reaches through an address in other data.
TEST_F(DispatchCheck, UsesOfMemoryStandBehindTheArguments) {
  arguments_.push_back(Argument::uses(*buffer_));
  arguments_.push_back(Argument::uses(BufferRange(*buffer_, 16, 8)));
  expect_ok();
  dispatch_.arguments = arguments_;
  EXPECT_TRUE(queue_->dispatch_indirect(dispatch_, BufferRange(*buffer_, 8, 12)).ok());
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  EXPECT_TRUE(commands->dispatch(dispatch_).ok());
  device_->set_validation(false);
  expect_ok();
}

TEST_F(DispatchCheck, AUseIsNoArgument) {
  arguments_[0] = Argument::uses(*buffer_);
  expect_invalid(
      "Argument 0 \"out\" of \"vadd\" (global_buffer of 8 bytes at offset 0) is given a use of "
      "memory (Argument::uses); it takes a buffer.");
  arguments_ = {buffer_, Argument::of(count_), Argument::uses(*buffer_)};
  expect_invalid(
      "Argument 2 \"scratch\" of \"vadd\" (dynamic_shared_pointer of 4 bytes at offset 12) is "
      "given "
      "a use of memory (Argument::uses); it takes dynamic LDS.");
  arguments_.push_back(Argument::uses(*buffer_));
  expect_invalid(
      "A dispatch of \"vadd\" is given 2 arguments; the function takes 3. The first one that is "
      "missing is argument 2 \"scratch\" (dynamic_shared_pointer, 4 bytes).");
  arguments_.back() = Argument::dynamic_lds(4);
  expect_invalid("A dispatch of \"vadd\" is given 4 arguments; the function takes 3.");
}

TEST_F(DispatchCheck, AUseIsOfABufferInReach) {
  const std::string none =
      "Use 0 of memory (Argument::uses) by \"vadd\" names no buffer (null). It keeps a buffer "
      "alive "
      "whose address the kernel is given in other data; a binding slot has none.";
  arguments_.push_back(Argument::uses(BufferRange::binding(0, 0, 8)));
  expect_invalid(none);
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  dispatch_.arguments = arguments_;
  EXPECT_EQ(commands->dispatch(dispatch_).message().view(), none);
  device_->set_validation(false);
  expect_invalid(none);
  device_->set_validation(true);
  const Ref<Buffer> elsewhere = other_->allocate(16).value();
  arguments_.back() = Argument::uses(*elsewhere);
  EXPECT_THAT(std::string(run().message().view()),
              HasSubstr("Use 0 of memory (Argument::uses) by \"vadd\" is given a buffer of another "
                        "device (\"Fake B\""));
  testing::FakeBuffer::set_size(*buffer_, 0);
  arguments_[0] = Argument::address(0);
  arguments_.back() = Argument::uses(*buffer_);
  EXPECT_EQ(run().code(), StatusCode::kFailedPrecondition);
}

TEST_F(DispatchCheck, APartialWorkGroupOfAFunctionThatNeedsWholeOnes) {
  builder_.info.uniform_workgroups = true;
  expect_ok();
  dispatch_.grid = {4096, 3, 1};
  expect_ok();
  dispatch_.grid = {4095, 1, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a grid (4095×1×1) whose last work-group in x is partial "
      "(the "
      "work-group is 256×1×1); the function is compiled for whole ones only "
      "(.uniform_work_group_size). Use a work-group that divides the grid, or a larger grid if the "
      "kernel ignores work-items past its end.");
  dispatch_.grid = {64, 64, 3};
  dispatch_.workgroup = {8, 8, 2};
  EXPECT_THAT(std::string(run().message().view()), HasSubstr("whose last work-group in z"));
  // Counts of work-groups are whole.
  dispatch_.arguments = arguments_;
  EXPECT_TRUE(queue_->dispatch_indirect(dispatch_, BufferRange(*buffer_, 8, 12)).ok());
}

TEST_F(DispatchCheck, AnArgumentOfTheWrongSize) {
  const uint64_t wide = 1;
  arguments_[1] = Argument::of(wide);
  expect_invalid(
      "Argument 1 \"n\" of \"vadd\" (by_value of 4 bytes at offset 8) is given a value of 8 bytes; "
      "it takes 4. Pass a value of the parameter's own type.");
}

TEST_F(DispatchCheck, AnArgumentOfTheWrongKind) {
  arguments_[0] = Argument::of(count_);
  expect_invalid(
      "Argument 0 \"out\" of \"vadd\" (global_buffer of 8 bytes at offset 0) is given a value; it "
      "takes a buffer.");
  arguments_[0] = buffer_;
  arguments_[1] = buffer_;
  expect_invalid(
      "Argument 1 \"n\" of \"vadd\" (by_value of 4 bytes at offset 8) is given a buffer; it takes "
      "a "
      "value.");
  arguments_[1] = Argument::of(count_);
  arguments_[2] = buffer_;
  expect_invalid(
      "Argument 2 \"scratch\" of \"vadd\" (dynamic_shared_pointer of 4 bytes at offset 12) is "
      "given "
      "a buffer; it takes dynamic LDS.");
}

TEST_F(DispatchCheck, NoValueOrNoBuffer) {
  arguments_[1] = Argument::bytes(nullptr, 4);
  expect_invalid(
      "Argument 1 \"n\" of \"vadd\" (by_value of 4 bytes at offset 8) is given no value "
      "(null).");
  arguments_[1] = Argument::of(count_);
  arguments_[0] = Argument(Ref<Buffer>());
  expect_invalid(
      "Argument 0 \"out\" of \"vadd\" (global_buffer of 8 bytes at offset 0) is given no buffer "
      "(null). Only a CommandBuffer takes binding slots in place of buffers. For a null pointer, "
      "pass Argument::address(0).");
}

TEST_F(DispatchCheck, ABufferOfAnotherDevice) {
  const Ref<Buffer> elsewhere = other_->allocate(16).value();
  arguments_[0] = elsewhere;
  const Status status = run();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(status.message().view()),
      HasSubstr("is given a buffer of another device (\"Fake B\"; the dispatch is on \"Fake "
                "A\", which cannot access it: Device::can_access)"));
}

// Two GPUs of one kind have one name: messages tell them apart.
TEST_F(DispatchCheck, DevicesOfOneNameAreToldApart) {
  const Ref<FakeDevice> twin = Ref<FakeDevice>::adopt(new FakeDevice);
  twin->facts().uuid = "GPU-2";
  const Ref<Buffer> elsewhere = twin->allocate(16).value();
  arguments_[0] = elsewhere;
  EXPECT_THAT(
      std::string(run().message().view()),
      HasSubstr("is given a buffer of another device (\"Fake A, fake://GPU-2\"; the dispatch "
                "is on \"Fake A"));
}

TEST_F(DispatchCheck, ARangePastTheEndOfItsBuffer) {
  arguments_[0] = BufferRange(*buffer_, 1025, BufferRange::kToEnd);
  expect_refused(StatusCode::kOutOfRange,
                 "Argument 0 \"out\" of \"vadd\" (global_buffer of 8 bytes at offset 0) is given "
                 "offset 1025, past the end of its buffer (1024 bytes).");
  arguments_[0] = BufferRange(*buffer_, 1000, UINT64_MAX - 1);
  const Status status = run();
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
  arguments_[0] = BufferRange(*buffer_, 1024, 0);
  expect_ok();
  arguments_[0] = BufferRange(*buffer_, 1024, BufferRange::kToEnd);
  expect_ok();
}

TEST_F(DispatchCheck, ABufferThatWasGivenBack) {
  testing::FakeBuffer::set_size(*buffer_, 0);
  for (const uint64_t offset : {0u, 4u}) {
    arguments_[0] = BufferRange(*buffer_, offset, BufferRange::kToEnd);
    expect_refused(
        StatusCode::kFailedPrecondition,
        "Argument 0 \"out\" of \"vadd\" (global_buffer of 8 bytes at offset 0) is given a range in "
        "a buffer whose memory was deallocated (Queue::dealloca_buffer). Deallocate a buffer after "
        "its last use, or allocate a new one with Queue::alloca_buffer.");
  }
}

TEST_F(DispatchCheck, WorkGroupsOfNoSizeOrTooLarge) {
  dispatch_.workgroup = {64, 0, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a work-group (64×0×1) of size 0 in y. Legal are 1 to 1024 "
      "work-items there, and 1024 in all.");
  dispatch_.workgroup = {1, 1, 513};
  expect_invalid(
      "A dispatch of \"vadd\" is given a work-group (1×1×513) whose size in z (513) exceeds the "
      "device's limit (512).");
  dispatch_.workgroup = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  EXPECT_EQ(run().code(), StatusCode::kInvalidArgument);
  dispatch_.workgroup = {64, 32, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a work-group (64×32×1) of 2048 work-items, above the "
      "device's limit (1024).");
  dispatch_.workgroup = {1024, 1, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a work-group (1024×1×1) of 1024 work-items, above the "
      "function's limit (512). Compile it for larger ones (amdgpu_flat_work_group_size, "
      "__launch_bounds__), or use a smaller one.");
}

TEST_F(DispatchCheck, AWorkGroupOtherThanTheRequiredOne) {
  builder_.info.required_workgroup_size = {8, 8, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a work-group (256×1×1) other than the one the function was "
      "compiled for (8×8×1, reqd_work_group_size).");
  dispatch_.workgroup = {8, 8, 1};
  dispatch_.grid = {64, 64, 1};
  expect_ok();
}

TEST_F(DispatchCheck, GridsOfNoSizeOrTooLarge) {
  dispatch_.grid = {0, 1, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a grid (0×1×1) of size 0 in x. Legal are 1 to 4294967295 "
      "work-items there.");
  dispatch_.grid = {256, 65537, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a grid (256×65537×1) whose size in y (65537) exceeds the "
      "device's limit (65536 work-items).");
  dispatch_.grid = {4294967295, 2, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a grid (4294967295×2×1) of more work-items in all than the "
      "device's limit (4294967296).");
  dispatch_.grid = {4294967295, 65536, 65535};  // beyond 64 bits
  EXPECT_EQ(run().code(), StatusCode::kInvalidArgument);
  dispatch_.grid = {100, 1, 1};
  expect_invalid(
      "A dispatch of \"vadd\" is given a grid (100×1×1) that is smaller than its work-group "
      "(256×1×1) in x. The grid counts work-items: at least 256 there, or use a smaller "
      "work-group.");
}

TEST_F(DispatchCheck, MoreLdsThanThereIs) {
  arguments_[2] = Argument::dynamic_lds(64 * 1024);
  expect_invalid(
      "A dispatch of \"vadd\" needs 66560 bytes of LDS for each work-group (1024 static and 65536 "
      "dynamic), above the device's limit (65536).");
  arguments_[2] = Argument::dynamic_lds(UINT32_MAX);
  dispatch_.dynamic_lds_bytes = UINT32_MAX;
  EXPECT_EQ(run().code(), StatusCode::kInvalidArgument);
}

TEST_F(DispatchCheck, ArgumentsThatAreNotSupported) {
  builder_.add(ArgumentKind::kUnsupported, 16, 8, "image", "picture");
  arguments_.push_back(buffer_);
  expect_refused(StatusCode::kUnimplemented,
                 "Argument 3 \"picture\" of \"vadd\" (image of 8 bytes at offset 16) is of a kind "
                 "that Halyard does not support. Supported are by_value, global_buffer and "
                 "dynamic_shared_pointer. The kernarg segment has 24 bytes.");
}

TEST_F(DispatchCheck, ArgumentsOfAnImpossibleSize) {
  builder_.add(ArgumentKind::kBuffer, 16, 4, "global_buffer", "half");
  arguments_.push_back(buffer_);
  EXPECT_EQ(run().code(), StatusCode::kUnimplemented);
}

struct Hidden {
  ArgumentKind kind;
  const char* name;
};

class RefusedHidden : public DispatchCheck, public ::testing::WithParamInterface<Hidden> {};

TEST_P(RefusedHidden, IsNamed) {
  builder_.add(ArgumentKind::kHiddenGridDims, 16, 2, "hidden_grid_dims")
      .add(GetParam().kind, 24, 8, GetParam().name);
  const Status status = run();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message().view()),
              HasSubstr("Function \"vadd\" uses the hidden argument " +
                        std::string(GetParam().name) + " (8 bytes at offset 24)"));
  EXPECT_THAT(device_->log.calls, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    DispatchCheck, RefusedHidden,
    ::testing::Values(Hidden{ArgumentKind::kHiddenPrintfBuffer, "hidden_printf_buffer"},
                      Hidden{ArgumentKind::kHiddenHostcallBuffer, "hidden_hostcall_buffer"},
                      Hidden{ArgumentKind::kHiddenHeap, "hidden_heap_v1"},
                      Hidden{ArgumentKind::kHiddenDefaultQueue, "hidden_default_queue"},
                      Hidden{ArgumentKind::kHiddenCompletionAction, "hidden_completion_action"},
                      Hidden{ArgumentKind::kHiddenUnknown, "hidden_tomorrow"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(DispatchCheck, LetsThroughWhatIsOnlyListed) {
  builder_.add(ArgumentKind::kHiddenMultigridSync, 16, 8, "hidden_multigrid_sync_arg");
  expect_ok();
}

TEST_F(DispatchCheck, LetsThroughAKernelThatListsEverything) {
  builder_.add(ArgumentKind::kHiddenHostcallBuffer, 16, 8, "hidden_hostcall_buffer")
      .add(ArgumentKind::kHiddenMultigridSync, 24, 8, "hidden_multigrid_sync_arg")
      .add(ArgumentKind::kHiddenHeap, 32, 8, "hidden_heap_v1")
      .add(ArgumentKind::kHiddenDefaultQueue, 40, 8, "hidden_default_queue")
      .add(ArgumentKind::kHiddenCompletionAction, 48, 8, "hidden_completion_action");
  expect_ok();
}

TEST_F(DispatchCheck, RefusesPrintfEvenWhereEverythingIsListed) {
  builder_.add(ArgumentKind::kHiddenPrintfBuffer, 16, 8, "hidden_printf_buffer")
      .add(ArgumentKind::kHiddenMultigridSync, 24, 8, "hidden_multigrid_sync_arg")
      .add(ArgumentKind::kHiddenDefaultQueue, 40, 8, "hidden_default_queue")
      .add(ArgumentKind::kHiddenCompletionAction, 48, 8, "hidden_completion_action");
  EXPECT_EQ(run().code(), StatusCode::kUnimplemented);
}

TEST_F(DispatchCheck, TakesPrintfFromADriverThatGivesItsBuffers) {
  builder_.add(ArgumentKind::kHiddenPrintfBuffer, 16, 8, "hidden_printf_buffer")
      .add(ArgumentKind::kHiddenHostcallBuffer, 24, 8, "hidden_hostcall_buffer")
      .add(ArgumentKind::kHiddenHeap, 32, 8, "hidden_heap_v1");
  dispatch_.arguments = arguments_;
  const auto refused = [&](const Function& function) {
    dispatch_.function = &function;
    return std::string(queue_->dispatch(dispatch_).message().view());
  };
  EXPECT_THAT(refused(builder_.build(*executable_)), HasSubstr("hidden_printf_buffer"));
  testing::FakeFunction& prints = builder_.build(*executable_);
  prints.give_hidden_buffer(ArgumentKind::kHiddenPrintfBuffer, 0x1000);
  EXPECT_THAT(refused(prints), HasSubstr("hidden_hostcall_buffer"));
  testing::FakeFunction& calls = builder_.build(*executable_);
  calls.give_hidden_buffer(ArgumentKind::kHiddenPrintfBuffer, 0x1000);
  calls.give_hidden_buffer(ArgumentKind::kHiddenHostcallBuffer, 0x2000);
  // What nobody gives is still refused.
  EXPECT_THAT(refused(calls), HasSubstr("hidden_heap_v1"));
}

TEST_F(DispatchCheck, WithoutValidationOnlyMemoryIsLookedAfter) {
  device_->set_validation(false);
  dispatch_.workgroup = {4096, 1, 1};
  expect_ok();
  arguments_.pop_back();
  EXPECT_EQ(run().code(), StatusCode::kInvalidArgument);
}

TEST_F(DispatchCheck, IndirectChecksTheCountsAndNotTheGrid) {
  dispatch_.function = &builder_.build(*executable_);
  dispatch_.grid = {0, 0, 0};
  dispatch_.arguments = arguments_;
  EXPECT_TRUE(queue_->dispatch_indirect(dispatch_, BufferRange(*buffer_, 8, 12)).ok());
  EXPECT_THAT(device_->log.calls, ::testing::ElementsAre("dispatch_indirect 12@8"));
  const Status small = queue_->dispatch_indirect(dispatch_, BufferRange(*buffer_, 1016, 8));
  EXPECT_THAT(std::string(small.message().view()), HasSubstr("group counts of 8 bytes"));
  const Status odd = queue_->dispatch_indirect(dispatch_, BufferRange(*buffer_, 2, 12));
  EXPECT_THAT(std::string(odd.message().view()), HasSubstr("not a multiple of 4"));
  dispatch_.workgroup = {0, 1, 1};
  EXPECT_FALSE(queue_->dispatch_indirect(dispatch_, BufferRange(*buffer_, 0, 12)).ok());
}

TEST_F(DispatchCheck, ARecordingTakesSlots) {
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  dispatch_.function = &builder_.build(*executable_);
  arguments_[0] = BufferRange::binding(2, 64, 128);
  dispatch_.arguments = arguments_;
  const Status status = commands->dispatch(dispatch_);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(commands->binding_count(), 3u);
  EXPECT_EQ(commands->binding_bytes(2), 192u);
  EXPECT_EQ(commands->binding_bytes(0), 0u);
}

// What a compiler makes of C++ templates may be very long.
TEST_F(DispatchCheck, MessagesDoNotGrowWithNames) {
  const std::string kernel(100000, 'k');
  const std::string argument(100000, 'a');
  builder_.info.name = kernel;
  builder_.add(ArgumentKind::kValue, 16, 4, "by_value", argument);
  const Status missing = run();
  EXPECT_EQ(missing.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(missing.message().view()), HasSubstr("kkk…kkk"));
  EXPECT_THAT(std::string(missing.message().view()), HasSubstr("aaa…aaa"));
  EXPECT_LT(missing.message().view().size(), 1000u);
}

}  // namespace
}  // namespace halyard
