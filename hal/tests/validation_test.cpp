// What the interface refuses before a driver sees it, and what a driver then sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fake_device.h"

namespace halyard {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::FakeExecutable;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Validation : public ::testing::Test {
 protected:
  Validation() {
    device_ = Ref<FakeDevice>::adopt(new FakeDevice);
    other_ = Ref<FakeDevice>::adopt(new FakeDevice("Fake B"));
    queue_ = device_->create_queue().value();
    buffer_ = device_->allocate(1024).value();
    target_ = device_->allocate(512).value();
  }
  std::vector<std::string>& calls() { return device_->log.calls; }

  void expect_ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.to_string(); }
  void expect_error(const Status& status, StatusCode code, const std::string& says) {
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_THAT(std::string(status.message().view()), HasSubstr(says));
    EXPECT_THAT(calls(), IsEmpty());
  }
  void expect_invalid(const Status& status, const std::string& says) {
    expect_error(status, StatusCode::kInvalidArgument, says);
  }

  Ref<FakeDevice> device_;
  Ref<FakeDevice> other_;
  Ref<Queue> queue_;
  Ref<Buffer> buffer_;
  Ref<Buffer> target_;
  const uint32_t pattern_ = 0;
};

TEST_F(Validation, RangesReachTheDriverResolved) {
  expect_ok(queue_->fill(BufferRange(*buffer_, 1000, BufferRange::kToEnd), &pattern_, 4));
  expect_ok(queue_->copy(BufferRange(*buffer_, 512, BufferRange::kToEnd), target_));
  expect_ok(queue_->update(BufferRange(*buffer_, 8, BufferRange::kToEnd), &pattern_, 4));
  EXPECT_THAT(calls(), ElementsAre("fill 24@1000 4", "copy 512@512 512@0", "update 4@8 4"));
}

TEST_F(Validation, ManagedMemoryIsAllocatedWhereThereIsSuchMemory) {
  BufferOptions options;
  options.managed = true;
  expect_invalid(device_->allocate(64, options).status(), "managed memory of type (device)");
  options.type = MemoryType::kHost;
  expect_error(device_->allocate(64, options).status(), StatusCode::kUnimplemented,
               "DeviceInfo::managed_memory is false");
  device_->facts().managed_memory = true;
  expect_ok(device_->allocate(64, options).status());
  EXPECT_THAT(calls(), ElementsAre("allocate managed 64"));
}

TEST_F(Validation, BuffersAreReservedAndCommittedInGranules) {
  BufferOptions options;
  options.reserve = true;
  expect_error(device_->allocate(512, options).status(), StatusCode::kUnimplemented,
               "DeviceInfo::commit_granule is 0");
  expect_error(device_->commit(buffer_), StatusCode::kUnimplemented, "Device::commit");
  expect_error(device_->decommit(buffer_), StatusCode::kUnimplemented, "Device::decommit");
  device_->facts().commit_granule = 512;
  expect_invalid(device_->allocate(0, options).status(), "0 bytes");
  expect_invalid(device_->allocate(513, options).status(), "not a multiple of 512");
  options.type = MemoryType::kHost;
  expect_invalid(device_->allocate(512, options).status(), "memory type (host)");
  options.type = MemoryType::kDevice;
  options.alignment = 64;
  expect_invalid(device_->allocate(512, options).status(), "with an alignment");
  options.alignment = 0;
  expect_invalid(device_->commit({*buffer_, 512, 100}), "multiples of 512");
  expect_invalid(device_->decommit({*buffer_, 100, 512}), "multiples of 512");
  expect_error(device_->commit({*buffer_, 512, 1024}), StatusCode::kOutOfRange, "Device::commit");
  expect_ok(device_->allocate(uint64_t{1} << 40, options).status());
  expect_ok(device_->commit(buffer_));
  expect_ok(device_->commit({*buffer_, 512, 0}));
  expect_ok(device_->decommit(BufferRange(*buffer_, 512, BufferRange::kToEnd)));
  EXPECT_THAT(calls(), ElementsAre("reserve 1099511627776", "commit 1024@0", "decommit 512@512"));
}

TEST_F(Validation, PrefetchesAndAdviceReachTheDriverResolved) {
  expect_invalid(queue_->prefetch(buffer_, static_cast<PrefetchTarget>(2)), "target (2)");
  expect_invalid(device_->advise(buffer_, static_cast<MemoryAdvice>(7)), "advice (7)");
  expect_error(queue_->prefetch({*buffer_, 1000, 25}, PrefetchTarget::kHost),
               StatusCode::kOutOfRange, "Queue::prefetch");
  expect_error(device_->advise({*buffer_, 1000, 25}, MemoryAdvice::kReadMostly),
               StatusCode::kOutOfRange, "Device::advise");
  expect_ok(
      queue_->prefetch(BufferRange(*buffer_, 1000, BufferRange::kToEnd), PrefetchTarget::kHost));
  expect_ok(queue_->prefetch({*buffer_, 0, 0}, PrefetchTarget::kDevice));
  expect_ok(device_->advise({*buffer_, 8, 0}, MemoryAdvice::kReadMostly));
  expect_ok(device_->advise(buffer_, MemoryAdvice::kPreferHost));
  EXPECT_THAT(calls(), ElementsAre("prefetch 24@1000 1", "barrier", "advise 1024@0 prefer host"));
}

TEST_F(Validation, AnOlderDriverCommitsNothing) {
  device_->facts().commit_granule = 512;
  device_->lacks_from(&HalyardDeviceFunctions::commit);
  expect_error(device_->commit(buffer_), StatusCode::kUnimplemented, "Device::commit");
  expect_error(device_->decommit(buffer_), StatusCode::kUnimplemented, "Device::decommit");
}

TEST_F(Validation, AnOlderDriverHasNoAdvice) {
  device_->lacks_from(&HalyardDeviceFunctions::advise);
  expect_error(device_->advise(buffer_, MemoryAdvice::kReadMostly), StatusCode::kUnimplemented,
               "Device::advise");
}

TEST_F(Validation, AnOperationOnNothingIsABarrier) {
  expect_ok(queue_->fill(BufferRange(*buffer_, 1024, BufferRange::kToEnd), &pattern_, 4));
  expect_ok(queue_->copy(BufferRange(*buffer_, 0, 0), BufferRange(*target_, 512, 0)));
  expect_ok(queue_->update(BufferRange(*buffer_, 0, 0), nullptr, 0));
  EXPECT_THAT(calls(), ElementsAre("barrier", "barrier", "barrier"));
}

TEST_F(Validation, RangesStayInsideOfTheirBuffers) {
  expect_error(queue_->fill(BufferRange(*buffer_, 1025, BufferRange::kToEnd), &pattern_, 4),
               StatusCode::kOutOfRange,
               "Queue::fill is given a target whose offset (1025) lies past the end of its buffer "
               "(1024 bytes).");
  expect_error(
      queue_->copy(BufferRange(*buffer_, 1000, 100), BufferRange(*target_, 0, 100)),
      StatusCode::kOutOfRange,
      "Queue::copy is given a source of 100 bytes from offset 1000, which does not fit into "
      "its buffer (1024 bytes, of which 24 are left).");
  expect_error(queue_->fill(BufferRange(*buffer_, 8, UINT64_MAX - 1), &pattern_, 4),
               StatusCode::kOutOfRange, "does not fit");
  expect_error(queue_->update(BufferRange(*target_, 510, BufferRange::kToEnd), &pattern_, 4),
               StatusCode::kOutOfRange, "does not fit");
}

// What a driver does when a buffer is given back.
TEST_F(Validation, ABufferWithoutBytesIsNotUsed) {
  constexpr StatusCode kCode = StatusCode::kFailedPrecondition;
  const std::string why = "deallocated";
  testing::FakeBuffer::set_size(*buffer_, 0);
  EXPECT_EQ(buffer_->size(), 0u);
  expect_error(queue_->fill(buffer_, &pattern_, 4), kCode, why);
  expect_error(queue_->fill({*buffer_, 0, 0}, &pattern_, 4), kCode, why);
  expect_error(queue_->fill({*buffer_, 4, 4}, &pattern_, 4), kCode, why);
  expect_error(queue_->update(buffer_, &pattern_, 4), kCode, why);
  expect_error(queue_->copy(buffer_, target_), kCode, why);
  expect_error(queue_->copy(target_, buffer_), kCode, why);
  expect_error(queue_->dealloca_buffer(*buffer_), kCode, why);
  expect_error(device_->export_buffer(*buffer_).status(), kCode, why);
  expect_error(buffer_->map(0, 4, MapAccess::kRead).status(), kCode, why);
  expect_error(buffer_->subspan(0, 4).status(), kCode, why);
  device_->set_validation(false);
  expect_error(queue_->fill(buffer_, &pattern_, 4), kCode, why);
}

TEST_F(Validation, RangesAreCheckedEvenWithoutValidation) {
  device_->set_validation(false);
  expect_error(queue_->fill(BufferRange(*buffer_, 0, 2048), &pattern_, 4), StatusCode::kOutOfRange,
               "does not fit");
}

TEST_F(Validation, FillTakesPatternsOfUpTo256Bytes) {
  expect_invalid(queue_->fill(buffer_, &pattern_, 0),
                 "Queue::fill is given a pattern of 0 bytes. A pattern has 1 to 256 bytes.");
  expect_invalid(queue_->fill(buffer_, &pattern_, 257), "pattern of 257 bytes");
  expect_invalid(queue_->fill(buffer_, nullptr, 4), "no pattern (null)");
  expect_invalid(queue_->fill(BufferRange(*buffer_, 0, 10), &pattern_, 4),
                 "a target (10 bytes) that is not a multiple of its pattern (4 bytes)");
  const uint8_t pattern[256] = {};
  expect_ok(queue_->fill(BufferRange(*buffer_, 0, 9), pattern, 3));
  expect_ok(queue_->fill(buffer_, pattern, 256));
  EXPECT_THAT(calls(), ElementsAre("fill 9@0 3", "fill 1024@0 256"));
}

TEST_F(Validation, RectanglesReachTheDriverWithTheirPitches) {
  RectangleCopy shape;
  shape.row_bytes = 10;
  shape.rows = 3;
  shape.slices = 2;
  shape.source_row_pitch = 12;
  shape.target_slice_pitch = 100;
  expect_ok(queue_->copy_rectangle({*buffer_, 8, BufferRange::kToEnd}, {*target_, 0, 400}, shape));
  EXPECT_THAT(calls(), ElementsAre("copy_rectangle 70@8 130@0 pitches 12/36 10/100"));
}

TEST_F(Validation, ARectangleOfNothingIsABarrier) {
  RectangleCopy shape;
  expect_ok(queue_->copy_rectangle(buffer_, target_, shape));
  shape.row_bytes = 4;
  shape.slices = 0;
  expect_ok(queue_->copy_rectangle(buffer_, target_, shape));
  EXPECT_THAT(calls(), ElementsAre("barrier", "barrier"));
}

TEST_F(Validation, RectanglesStayInsideOfTheirBuffers) {
  RectangleCopy shape;
  shape.row_bytes = 16;
  shape.rows = 33;
  expect_error(queue_->copy_rectangle(buffer_, target_, shape), StatusCode::kOutOfRange,
               "target of 528 bytes");
  shape.rows = 2;
  shape.source_row_pitch = 15;
  expect_invalid(queue_->copy_rectangle(buffer_, target_, shape), "a row pitch of the source (15");
  shape.source_row_pitch = UINT64_MAX;
  expect_error(queue_->copy_rectangle(buffer_, target_, shape), StatusCode::kOutOfRange,
               "more than an address can hold");
}

// Against each byte, for all small shapes and distances.
TEST_F(Validation, RectanglesThatMeetAreRefused) {
  const Ref<Buffer> buffer = device_->allocate(4096).value();
  for (const uint64_t row_bytes : {1u, 2u, 5u}) {
    for (const uint64_t row_pitch : {5u, 6u, 9u}) {
      for (const uint64_t rows : {1u, 2u, 3u}) {
        for (const uint64_t slice_pitch : {27u, 30u, 40u}) {
          RectangleCopy shape;
          shape.row_bytes = row_bytes;
          shape.rows = rows;
          shape.slices = 3;
          shape.source_row_pitch = shape.target_row_pitch = row_pitch;
          shape.source_slice_pitch = shape.target_slice_pitch = slice_pitch;
          for (uint64_t distance = 0; distance < 130; ++distance) {
            std::vector<bool> taken(512);
            const auto each = [&](uint64_t first, auto&& visit) {
              for (uint64_t s = 0; s < 3; ++s) {
                for (uint64_t r = 0; r < rows; ++r) {
                  for (uint64_t b = 0; b < row_bytes; ++b) {
                    visit(first + s * slice_pitch + r * row_pitch + b);
                  }
                }
              }
            };
            bool meet = false;
            each(0, [&](uint64_t at) { taken[at] = true; });
            each(distance, [&](uint64_t at) { meet |= taken[at]; });
            for (const bool swapped : {false, true}) {
              const BufferRange near(*buffer, 0, BufferRange::kToEnd);
              const BufferRange far(*buffer, distance, BufferRange::kToEnd);
              const Status status = swapped ? queue_->copy_rectangle(far, near, shape)
                                            : queue_->copy_rectangle(near, far, shape);
              EXPECT_EQ(status.ok(), !meet)
                  << row_bytes << "/" << row_pitch << " " << rows << "/" << slice_pitch << " at "
                  << distance << ": " << status.to_string();
            }
          }
        }
      }
    }
  }
}

TEST_F(Validation, EmptyThingsAreRefused) {
  expect_invalid(queue_->host_call(nullptr, nullptr), "no function (null)");
  expect_invalid(device_->load_executable(nullptr, 0).status(), "an empty code object (0 bytes)");
  expect_invalid(device_->import_buffer({}).status(), "no memory (null)");
  expect_invalid(device_->import_buffer({.pointer = &pattern_}).status(), "a size of 0 bytes");
  expect_invalid(device_->end_profile(nullptr, nullptr), "no sink (null)");
  expect_error(device_->heap(2).status(), StatusCode::kOutOfRange,
               "Device::heap is given heap 2; the device has 2.");
  expect_error(device_->link(0).status(), StatusCode::kOutOfRange, "the device has 0");
}

TEST_F(Validation, AQueueSaysItsOwnFault) {
  device_->log.queue_fault = Status(StatusCode::kCancelled, "It was abandoned.");
  device_->fault_of_device = Status(StatusCode::kInternal, "It is lost.");
  expect_ok(queue_->abandon());
  EXPECT_THAT(calls(), ElementsAre("abandon"));
  EXPECT_EQ(queue_->fault().message().view(), "It was abandoned.");
  EXPECT_EQ(device_->fault().message().view(), "It is lost.");
}

TEST_F(Validation, FindNamesTheFunctionsThatExist) {
  FakeExecutable* executable = new FakeExecutable(*device_);
  const Ref<FakeExecutable> owner = Ref<FakeExecutable>::adopt(executable);
  const auto none = executable->find("saxpy");
  expect_error(none.status(), StatusCode::kNotFound, "which has no functions at all");
  FunctionInfo info;
  info.name = "saxpy";
  executable->add(info);
  info.name = "vector_add";
  executable->add(info);
  EXPECT_TRUE(executable->find("saxpy").ok());
  EXPECT_EQ(executable->find("saxpi").status().message().view(),
            "There is no function \"saxpi\" in the executable. Did you mean \"saxpy\"? It has 2: "
            "saxpy and vector_add.");
}

TEST_F(Validation, ARecordingIsFinishedOnceAndThenExecuted) {
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  expect_error(queue_->execute(*commands), StatusCode::kFailedPrecondition,
               "still being recorded. Call CommandBuffer::finish first.");
  expect_ok(commands->begin_debug_group("group"));
  expect_error(commands->finish(), StatusCode::kFailedPrecondition, "1 debug group is open");
  expect_ok(commands->end_debug_group());
  expect_error(commands->end_debug_group(), StatusCode::kFailedPrecondition, "no debug group");
  expect_ok(commands->finish());
  calls().clear();
  expect_error(commands->barrier(), StatusCode::kFailedPrecondition, "recording is finished");
  expect_ok(queue_->execute(*commands));
}

TEST_F(Validation, ARecordingKnowsWhatItsSlotsMustHold) {
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  expect_invalid(commands->fill(BufferRange::binding(0), &pattern_, 4),
                 "a target in slot 0 without a length");
  expect_error(commands->fill(BufferRange::binding(4096, 0, 4), &pattern_, 4),
               StatusCode::kOutOfRange, "slots 0 to 4095");
  expect_error(commands->fill(BufferRange::binding(0, UINT64_MAX - 2, 4), &pattern_, 4),
               StatusCode::kOutOfRange, "more than an address can hold");
  expect_invalid(commands->copy(BufferRange::binding(1, 0, 64), BufferRange::binding(1, 32, 64)),
                 "overlap");
  // One length that is known stands for both.
  expect_ok(commands->copy(BufferRange(*buffer_, 0, 64), BufferRange::binding(1, 16)));
  expect_ok(commands->fill(BufferRange::binding(0, 0, 32), &pattern_, 4));
  EXPECT_EQ(calls()[0], "record copy 64@0 64@16");
  expect_ok(commands->finish());
  EXPECT_EQ(commands->binding_count(), 2u);

  calls().clear();
  const BufferRange one[] = {buffer_};
  expect_invalid(queue_->execute(*commands, one),
                 "given 1 bindings for a command buffer that uses "
                 "2 slots (0 to 1)");
  const BufferRange small[] = {buffer_, BufferRange(*target_, 0, 79)};
  expect_error(queue_->execute(*commands, small), StatusCode::kOutOfRange,
               "given 79 bytes for slot 1, of which the recording uses 80");
  const BufferRange itself[] = {target_, buffer_};
  expect_invalid(queue_->execute(*commands, itself), "overlap (64 bytes, 16 apart)");
  const BufferRange enough[] = {buffer_, BufferRange(*target_, 0, 80)};
  expect_ok(queue_->execute(*commands, enough));
}

}  // namespace
}  // namespace halyard
