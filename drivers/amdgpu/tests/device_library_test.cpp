// The device library's kernels on the virtual GPU, against a model on the host.
#include "drivers/amdgpu/device_library.h"

#include <fmt/format.h>
#include <hsa/amd_hsa_signal.h>

#include <algorithm>

#include "drivers/amdgpu/library_operation.h"
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

// Around each vector and tile, and far enough for several rounds of the loop.
constexpr uint64_t kSizes[] = {1,
                               2,
                               3,
                               15,
                               16,
                               17,
                               31,
                               33,
                               255,
                               4095,
                               HALYARD_TILE_BYTES - 1,
                               HALYARD_TILE_BYTES,
                               HALYARD_TILE_BYTES + 1,
                               65535,
                               65536,
                               65537,
                               5 * HALYARD_TILE_BYTES + 77};
constexpr uint64_t kAlignments[] = {0, 1, 2, 3, 7, 8, 15};
// Few, so that ranges of some tiles take several rounds.
constexpr uint32_t kComputeUnits = 0;

class DeviceLibraryTest : public VirtualDeviceTest {
 protected:
  const FunctionImpl& kernel(LibraryKernel kernel) {
    return *take(impl().library().function(kernel));
  }
  void run(Queue& queue, const LibraryLaunch& launch) {
    LibraryOperation operation(OperationFacts(), kernel(launch.kernel), launch, true, nullptr);
    ASSERT_OK(submit(static_cast<QueueImpl&>(queue).core(), operation, {}));
    finish(queue);
  }
  // Bytes that show where they come from.
  static void scatter(uint8_t* bytes, uint64_t size, uint32_t seed) {
    uint32_t state = seed * 2654435761u + 1;
    for (uint64_t i = 0; i < size; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes[i] = static_cast<uint8_t>(state >> 24);
    }
  }
};

TEST_F(DeviceLibraryTest, FillsEverySizeAtEveryAlignmentAndNothingElse) {
  const Ref<Queue> queue = new_queue();
  const uint64_t margin = 64;
  const Ref<Buffer> buffer = host_buffer(kSizes[std::size(kSizes) - 1] + 3 * margin);
  auto* const bytes = view<uint8_t>(buffer);
  uint8_t pattern[16];
  scatter(pattern, sizeof(pattern), 1);
  std::vector<uint8_t> expected(buffer->size());
  for (const uint32_t pattern_size : {1u, 2u, 4u, 8u, 16u}) {
    for (const uint64_t size : kSizes) {
      for (const uint64_t alignment : kAlignments) {
        SCOPED_TRACE(fmt::format("pattern {}, {} bytes at {}", pattern_size, size, alignment));
        std::fill_n(bytes, buffer->size(), 0xa5);
        std::fill(expected.begin(), expected.end(), 0xa5);
        const uint64_t begin = margin + alignment;
        for (uint64_t i = 0; i < size; ++i) expected[begin + i] = pattern[i % pattern_size];
        run(*queue, fill_launch(bytes + begin, size, pattern, pattern_size, kComputeUnits));
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), bytes));
      }
    }
  }
}

TEST_F(DeviceLibraryTest, CopiesEverySizeBetweenAllAlignmentsAndNothingElse) {
  const Ref<Queue> queue = new_queue();
  const uint64_t margin = 64;
  const uint64_t room = kSizes[std::size(kSizes) - 1] + 3 * margin;
  const Ref<Buffer> source = host_buffer(room);
  const Ref<Buffer> target = host_buffer(room);
  auto* const from = view<uint8_t>(source);
  auto* const to = view<uint8_t>(target);
  scatter(from, room, 2);
  std::vector<uint8_t> expected(room);
  for (const uint64_t size : kSizes) {
    for (const uint64_t target_alignment : kAlignments) {
      for (const uint64_t source_alignment : {0, 1, 4, 10, 15}) {
        SCOPED_TRACE(
            fmt::format("{} bytes from {} to {}", size, source_alignment, target_alignment));
        std::fill_n(to, room, 0x5a);
        std::fill(expected.begin(), expected.end(), 0x5a);
        std::copy_n(from + margin + source_alignment, size,
                    expected.begin() + static_cast<ptrdiff_t>(margin + target_alignment));
        run(*queue, copy_launch(to + margin + target_alignment, from + margin + source_alignment,
                                size, kComputeUnits));
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to));
      }
    }
  }
}

TEST_F(DeviceLibraryTest, CopiesRectangles) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> source = host_buffer(1 << 20);
  const Ref<Buffer> target = host_buffer(1 << 20);
  auto* const from = view<uint8_t>(source);
  auto* const to = view<uint8_t>(target);
  scatter(from, source->size(), 3);
  std::vector<uint8_t> expected(target->size());
  const Rectangle rectangles[] = {
      // row bytes, rows, slices, target pitches, source pitches
      {1, 1, 1, 1, 1, 1, 1},
      {1, 300, 1, 3, 900, 5, 1500},
      {16, 64, 2, 16, 1024, 32, 4096},
      {17, 33, 3, 19, 640, 23, 800},
      {255, 7, 5, 256, 2048, 301, 2107},
      {4096, 9, 2, 4096, 36864, 4100, 36900},
      {4097, 3, 7, 5001, 15003, 4099, 12297},
      {100'001, 2, 3, 120'000, 240'000, 130'001, 260'002},
      {7, 2000, 4, 8, 16000, 7, 14000},
  };
  for (const Rectangle& r : rectangles) {
    for (const uint64_t alignment : {0, 1, 9}) {
      for (const uint32_t compute_units : {0u, 60u}) {
        SCOPED_TRACE(fmt::format("{} bytes × {} × {} at {}", r.row_bytes, r.row_count,
                                 r.slice_count, alignment));
        std::fill_n(to, target->size(), 0x5a);
        std::fill(expected.begin(), expected.end(), 0x5a);
        for (uint64_t z = 0; z < r.slice_count; ++z) {
          for (uint64_t y = 0; y < r.row_count; ++y) {
            const uint64_t at = alignment + z * r.target_slice_pitch + y * r.target_row_pitch;
            std::copy_n(from + 3 + z * r.source_slice_pitch + y * r.source_row_pitch, r.row_bytes,
                        expected.begin() + static_cast<ptrdiff_t>(at));
          }
        }
        run(*queue, copy_rectangle_launch(to + alignment, from + 3, r, compute_units));
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to));
      }
    }
  }
}

TEST_F(DeviceLibraryTest, CollectsTimestamps) {
  const Ref<Queue> queue = new_queue();
  for (const uint32_t count : {1u, 255u, 257u, 5000u}) {
    const Ref<Buffer> signals = host_buffer(count * sizeof(uint64_t));
    // Their layout is what counts; a signal of the runtime's would do no more.
    const Ref<Buffer> memory = host_buffer(count * sizeof(amd_signal_t));
    const Ref<Buffer> results = host_buffer((count + 1) * sizeof(HalyardTimestamps));
    auto* const words = view<HalyardTimestamps>(results);
    std::memset(words, 0xee, results->size());
    for (uint32_t i = 0; i < count; ++i) {
      amd_signal_t& signal = view<amd_signal_t>(memory)[i];
      signal.start_ts = 1000 + i;
      signal.end_ts = uint64_t{1} << 40 | i;
      view<uint64_t>(signals)[i] = i % 7 == 3 ? 0 : reinterpret_cast<uint64_t>(&signal);
    }
    run(*queue, collect_timestamps_launch(view<uint64_t>(signals), words, count, kComputeUnits));
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(words[i].start, i % 7 == 3 ? 0 : 1000 + i) << i;
      ASSERT_EQ(words[i].end, i % 7 == 3 ? 0 : (uint64_t{1} << 40 | i)) << i;
    }
    EXPECT_EQ(words[count].start, 0xeeeeeeeeeeeeeeee);
  }
}

// A launch of shape_builtin whose grid the device reads from memory.
class PatchDispatchTest : public DeviceLibraryTest {
 protected:
  static constexpr uint32_t kGroup[3] = {8, 2, 3};

  const Function& shape(const char* file) {
    const std::vector<std::byte> bytes = read_kernels(impl().facts().processor, file);
    executable_ = take(device_->load_executable(bytes.data(), bytes.size()));
    return *take(executable_->find("shape_builtin"));
  }
  // Puts the patching kernel and the packet that it completes into the ring. The arguments are
  // those of a launch of one work-group.
  void dispatch(Queue& queue, const Function& function, uint32_t* counts, const Ref<Buffer>& out) {
    QueueCore& core = static_cast<QueueImpl&>(queue).core();
    const auto& target = static_cast<const FunctionImpl&>(function);
    const Argument arguments[] = {out};
    Dispatch dispatch;
    dispatch.function = &function;
    dispatch.grid = dispatch.workgroup = {kGroup[0], kGroup[1], kGroup[2]};
    dispatch.arguments = arguments;
    HalyardPatchDispatchArguments patch = {};
    const uint16_t setup = 3 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    const FenceFacts facts = {.observed = true, .reads_foreign = true};
    patch.group_counts = counts;
    patch.first_word = packet_header(facts) | uint32_t{setup} << 16;
    patch.empty_first_word =
        packet_header({.kind = PacketKind::kBarrier, .observed = true, .reads_foreign = true});
    for (int i = 0; i < 3; ++i) {
      patch.group_size[i] = kGroup[i];
      patch.max_grid[i] = INT32_MAX;
    }
    const auto write = [&](uint64_t index, bool) {
      Packet& packet = core.ring().slot(index + 1);
      hsa_kernel_dispatch_packet_t& launch = packet.dispatch;
      launch.workgroup_size_x = kGroup[0];
      launch.workgroup_size_y = kGroup[1];
      launch.workgroup_size_z = kGroup[2];
      launch.reserved0 = 0;
      launch.private_segment_size = target.code().private_bytes;
      launch.kernel_object = target.code().object;
      launch.kernarg_address = core.ring().kernarg(index + 1);
      launch.group_segment_size = pack_kernel_arguments(dispatch, core.ring().hidden_values(),
                                                        core.ring().kernarg(index + 1));
      launch.reserved2 = 0;
      launch.completion_signal = core.epoch().signals().completion(false);
      core.notes().note(index + 1, &function, false);
      patch.packet = packet.words;
      for (const ArgumentInfo& hidden : function.info().hidden) {
        if (hidden.kind != ArgumentKind::kHiddenBlockCountX) continue;
        patch.block_counts = reinterpret_cast<uint32_t*>(
            static_cast<std::byte*>(core.ring().kernarg(index + 1)) + hidden.offset);
      }
      write_library_launch(core, index, false, kernel(LibraryKernel::kPatchDispatch),
                           patch_dispatch_launch(patch), true);
    };
    ASSERT_OK(emit(core, 2, {}, write));
  }

 private:
  Ref<Executable> executable_;
};

TEST_F(PatchDispatchTest, RunsTheGridThatTheDeviceReads) {
  for (const char* file : {"shape_c_v4", "shape_c_v6"}) {
    const Function& function = shape(file);
    const Ref<Queue> queue = new_queue();
    const Ref<Buffer> counts = host_buffer(3 * sizeof(uint32_t));
    auto* const groups = view<uint32_t>(counts);
    for (const std::vector<uint32_t>& wanted :
         {std::vector<uint32_t>{1, 1, 1}, {3, 1, 2}, {2, 5, 1}, {1, 4, 3}}) {
      std::copy(wanted.begin(), wanted.end(), groups);
      const uint32_t items = 48 * wanted[0] * wanted[1] * wanted[2];
      const Ref<Buffer> out = host_buffer((items + 1) * 48);
      auto* const words = view<uint32_t>(out);
      std::memset(words, 0xff, out->size());
      dispatch(*queue, function, groups, out);
      finish(*queue);
      for (uint32_t i = 0; i < items; ++i) {
        SCOPED_TRACE(fmt::format("{}, work-item {}", file, i));
        for (int d = 0; d < 3; ++d) {
          ASSERT_LT(words[12 * i + 3 + d], wanted[d]);
          ASSERT_EQ(words[12 * i + 6 + d], kGroup[d]);
          ASSERT_EQ(words[12 * i + 9 + d], kGroup[d] * wanted[d]);
        }
      }
      EXPECT_EQ(words[12 * items], UINT32_MAX);
    }
  }
}

TEST_F(PatchDispatchTest, AnEmptyGridRunsNothing) {
  const Function& function = shape("shape_c_v6");
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> counts = host_buffer(3 * sizeof(uint32_t));
  const Ref<Buffer> out = host_buffer(48 * 48);
  std::memset(view<uint8_t>(out), 0xff, out->size());
  for (int empty = 0; empty < 3; ++empty) {
    for (int d = 0; d < 3; ++d) view<uint32_t>(counts)[d] = d == empty ? 0 : 1;
    dispatch(*queue, function, view<uint32_t>(counts), out);
    finish(*queue);
    EXPECT_EQ(view<uint32_t>(out)[0], UINT32_MAX);
  }
  std::fill_n(view<uint32_t>(counts), 3, 1u);
  dispatch(*queue, function, view<uint32_t>(counts), out);
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(out)[0], 0u);
}

TEST_F(PatchDispatchTest, AGridThatIsTooLargeFailsTheQueue) {
  const Function& function = shape("shape_c_v6");
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> counts = host_buffer(3 * sizeof(uint32_t));
  const Ref<Buffer> out = host_buffer(48 * 48);
  // 2^32 + 8 work-items: their low half would be a legal grid.
  const uint32_t groups[] = {(1u << 29) + 1, 1, 1};
  std::copy_n(groups, 3, view<uint32_t>(counts));
  dispatch(*queue, function, view<uint32_t>(counts), out);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  // It may come after the news or before.
  const Status submitted = queue->barrier({.wait = {}, .signal = {&point, 1}});
  const Status status = submitted.ok() ? done->wait(1, time_limit()) : submitted;
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(text(status), HasSubstr("shape_builtin"));
}

// Counts that a kernel before has just written, without the host in between.
TEST_F(PatchDispatchTest, SeesWhatTheKernelBeforeWrote) {
  const Function& function = shape("shape_c_v6");
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> counts = device_buffer(3 * sizeof(uint32_t));
  const Ref<Buffer> out = host_buffer(48 * 48 * 8);
  auto* const words = view<uint32_t>(out);
  auto* const address = reinterpret_cast<uint32_t*>(counts->device_address());
  for (uint32_t wanted = 1; wanted <= 2; ++wanted) {
    std::memset(words, 0xff, out->size());
    LibraryOperation fill(facts_of(ProfileKind::kFill), kernel(LibraryKernel::kFill),
                          fill_launch(address, 12, &wanted, 4, 1), false, nullptr);
    ASSERT_OK(submit(core(queue), fill, {}));
    dispatch(*queue, function, address, out);
    finish(*queue);
    EXPECT_EQ(words[9], kGroup[0] * wanted);
    EXPECT_EQ(words[12 * 48 * wanted * wanted * wanted - 1], kGroup[2] * wanted);
  }
}

TEST_F(DeviceLibraryTest, LoadsOnce) {
  const FunctionImpl* const first = &kernel(LibraryKernel::kFill);
  EXPECT_EQ(first, &kernel(LibraryKernel::kFill));
  EXPECT_NE(first, &kernel(LibraryKernel::kCopy));
}

}  // namespace
}  // namespace halyard::amdgpu
