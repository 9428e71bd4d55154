// The shapes that the device library's kernels are launched in.
#include "drivers/amdgpu/library_launch.h"

#include <gtest/gtest.h>

#include <cstring>

namespace halyard::amdgpu {
namespace {

template <typename Arguments>
Arguments arguments_of(const LibraryLaunch& launch) {
  EXPECT_EQ(launch.arguments_size, sizeof(Arguments));
  EXPECT_EQ(launch.arguments_size, info_of(launch.kernel).arguments_size);
  Arguments arguments;
  std::memcpy(&arguments, launch.arguments, sizeof(arguments));
  return arguments;
}

TEST(LibraryLaunch, APatternIsRepeatedTo16Bytes) {
  const uint8_t pattern[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
    const auto arguments =
        arguments_of<HalyardFillArguments>(fill_launch(nullptr, 64, pattern, size, 1));
    for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(arguments.pattern[i], pattern[i % size]);
  }
}

TEST(LibraryLaunch, RowsOfAPatternDivideWhatIsFilled) {
  EXPECT_TRUE(is_fill_pattern(1) && is_fill_pattern(16));
  EXPECT_FALSE(is_fill_pattern(3) || is_fill_pattern(32) || is_fill_pattern(24));
  for (const uint32_t pattern : {3u, 7u, 33u, 100u, 256u}) {
    for (const uint64_t count : {1u, 2u, 6u, 97u, 1021u, 4096u}) {
      const uint64_t size = count * pattern;
      const uint32_t row = pattern_row_bytes(pattern, size, 384);
      EXPECT_LE(row, 384u);
      EXPECT_EQ(row % pattern, 0u);
      EXPECT_EQ(size % row, 0u);
      // Once more changes nothing (PatternFill::hold).
      EXPECT_EQ(pattern_row_bytes(row, size, 384), row);
    }
  }
  EXPECT_EQ(pattern_row_bytes(3, 3 * 128, 384), 384u);
  EXPECT_EQ(pattern_row_bytes(3, 3 * 127, 384), 381u);
  EXPECT_EQ(pattern_row_bytes(3, 3 * 131, 384), 3u);
}

TEST(LibraryLaunch, APatternIsARowWithoutASourcePitch) {
  const auto arguments = arguments_of<HalyardCopyRectangleArguments>(
      fill_rows_launch(nullptr, 3 * 100, nullptr, 100, 4));
  EXPECT_EQ(arguments.row_bytes, 100u);
  EXPECT_EQ(arguments.row_count, 3u);
  EXPECT_EQ(arguments.slice_count, 1u);
  EXPECT_EQ(arguments.target_row_pitch, 100u);
  EXPECT_EQ(arguments.source_row_pitch, 0u);
}

TEST(LibraryLaunch, EveryTileHasAGroupUntilTheDeviceIsFull) {
  const uint8_t zero = 0;
  const uint64_t tile = HALYARD_TILE_BYTES;
  const struct {
    uint64_t size;
    uint32_t compute_units;
    uint32_t groups;
  } cases[] = {{1, 64, 1},         {tile, 64, 1},         {tile + 1, 64, 2},
               {100 * tile, 1, 8}, {512 * tile, 64, 512}, {UINT64_MAX, 64, 512},
               {100 * tile, 0, 8}};
  for (const auto& c : cases) {
    const LibraryLaunch fill = fill_launch(nullptr, c.size, &zero, 1, c.compute_units);
    EXPECT_EQ(arguments_of<HalyardFillArguments>(fill).group_count, c.groups);
    const LibraryLaunch copy = copy_launch(nullptr, nullptr, c.size, c.compute_units);
    EXPECT_EQ(arguments_of<HalyardCopyArguments>(copy).group_count, c.groups);
    for (const LibraryLaunch& launch : {fill, copy}) {
      EXPECT_EQ(launch.workgroup.x, HALYARD_GROUP_SIZE);
      EXPECT_EQ(launch.grid.x, c.groups * HALYARD_GROUP_SIZE);
    }
  }
}

TEST(LibraryLaunch, ARectangleUsesTheDeviceWhateverItsShape) {
  const Rectangle shapes[] = {{.row_bytes = 1, .row_count = 1},
                              {.row_bytes = 1, .row_count = UINT32_MAX},
                              {.row_bytes = uint64_t{1} << 40, .row_count = 1},
                              {.row_bytes = 16, .row_count = 4, .slice_count = UINT32_MAX},
                              {.row_bytes = 4096, .row_count = 4096, .slice_count = 4096}};
  for (const Rectangle& shape : shapes) {
    const LibraryLaunch launch = copy_rectangle_launch(nullptr, nullptr, shape, 64);
    const auto arguments = arguments_of<HalyardCopyRectangleArguments>(launch);
    const uint64_t groups =
        uint64_t{arguments.group_count[0]} * arguments.group_count[1] * arguments.group_count[2];
    EXPECT_LE(groups, 512u);
    const uint64_t bytes = shape.row_bytes * shape.row_count * shape.slice_count;
    if (bytes > uint64_t{512} * HALYARD_TILE_BYTES) {
      EXPECT_GT(groups, 256u) << shape.row_bytes;
    }
    EXPECT_LE(1u << arguments.log2_lanes_per_row, HALYARD_GROUP_SIZE);
    EXPECT_EQ(launch.grid.x, arguments.group_count[0] * HALYARD_GROUP_SIZE);
    EXPECT_EQ(launch.grid.y, arguments.group_count[1]);
    EXPECT_EQ(launch.grid.z, arguments.group_count[2]);
  }
}

}  // namespace
}  // namespace halyard::amdgpu
