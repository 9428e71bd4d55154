// Shapes of launches: dimensions, partial work-groups, and the sizes that a kernel reads.
#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

struct Shape3 {
  Dim3 grid;
  Dim3 workgroup;
};

const Shape3 kLaunches[] = {
    {{1, 1, 1}, {1, 1, 1}},    {{64, 1, 1}, {64, 1, 1}}, {{1000, 1, 1}, {256, 1, 1}},
    {{65, 1, 1}, {64, 1, 1}},  {{257, 1, 1}, {1, 1, 1}}, {{16, 16, 1}, {8, 8, 1}},
    {{33, 17, 1}, {16, 4, 1}}, {{1, 70, 1}, {1, 32, 1}}, {{9, 10, 11}, {4, 4, 4}},
    {{1, 1, 37}, {1, 1, 8}},   {{3, 1, 5}, {2, 1, 2}},   {{130, 3, 2}, {65, 2, 1}},
};

uint32_t dimensions_of(const Dim3& grid) {
  return grid.z > 1 ? 3 : grid.y > 1 ? 2 : 1;
}

struct Axis {
  uint32_t id, item, group, groups, size;
};

// What holds along one axis for the work-item at `id`.
Axis along(uint32_t id, uint32_t grid, uint32_t workgroup) {
  Axis axis = {};
  axis.id = id;
  axis.item = id % workgroup;
  axis.group = id / workgroup;
  axis.groups = (grid + workgroup - 1) / workgroup;
  axis.size = std::min(workgroup, grid - axis.group * workgroup);  // the last one may be partial
  return axis;
}

template <typename Visit>
void for_each_item(const Shape3& launch, const Visit& visit) {
  for (uint32_t z = 0; z < launch.grid.z; ++z) {
    for (uint32_t y = 0; y < launch.grid.y; ++y) {
      for (uint32_t x = 0; x < launch.grid.x; ++x) {
        visit(along(x, launch.grid.x, launch.workgroup.x),
              along(y, launch.grid.y, launch.workgroup.y),
              along(z, launch.grid.z, launch.workgroup.z));
      }
    }
  }
}

// What the kernel "shape" writes for each work-item (cts/kernels/shape.cl).
constexpr size_t kShapeWords = 24;
constexpr size_t kWorkDimWord = 21;

class LaunchShape : public DeviceTest {
 protected:
  std::vector<uint32_t> shape_of(std::string_view object, const Shape3& launch) {
    const Ref<Buffer> out = poisoned(launch.grid.volume() * kShapeWords * sizeof(uint32_t));
    require(run(function(object, "shape"), launch.grid, launch.workgroup, {out}));
    return download<uint32_t>(out);
  }

  // All but get_work_dim, which has tests of its own.
  void check_opencl(std::string_view object) {
    for (const Shape3& launch : kLaunches) {
      SCOPED_TRACE(fmt_of(launch));
      std::vector<uint32_t> actual = shape_of(object, launch);
      for (size_t i = kWorkDimWord; i < actual.size(); i += kShapeWords) actual[i] = 0;
      const Dim3 grid = launch.grid;
      const Dim3 group = launch.workgroup;
      std::vector<uint32_t> expected;
      for_each_item(launch, [&](const Axis& x, const Axis& y, const Axis& z) {
        // The last word is what ROCm's device library makes of get_local_linear_id, which counts by
        // whole work-groups also in a partial one.
        const uint32_t item[] = {x.id,
                                 y.id,
                                 z.id,
                                 x.item,
                                 y.item,
                                 z.item,
                                 x.group,
                                 y.group,
                                 z.group,
                                 grid.x,
                                 grid.y,
                                 grid.z,
                                 x.size,
                                 y.size,
                                 z.size,
                                 group.x,
                                 group.y,
                                 group.z,
                                 x.groups,
                                 y.groups,
                                 z.groups,
                                 0,
                                 (z.id * grid.y + y.id) * grid.x + x.id,
                                 (z.item * group.y + y.item) * group.x + x.item};
        expected.insert(expected.end(), std::begin(item), std::end(item));
      });
      EXPECT_TRUE(same(actual, expected));
    }
  }

  void check_dimensions(std::string_view object) {
    for (const Shape3& launch : kLaunches) {
      SCOPED_TRACE(fmt_of(launch));
      const std::vector<uint32_t> words = shape_of(object, launch);
      std::vector<uint32_t> actual;
      for (size_t i = kWorkDimWord; i < words.size(); i += kShapeWords) actual.push_back(words[i]);
      EXPECT_TRUE(
          same(actual, std::vector<uint32_t>(launch.grid.volume(), dimensions_of(launch.grid))));
    }
  }

  // The compiler's builtins give the size of whole groups also in a partial one.
  void check_builtins(std::string_view object) {
    for (const Shape3& launch : kLaunches) {
      SCOPED_TRACE(fmt_of(launch));
      const Ref<Buffer> out = poisoned(launch.grid.volume() * 12 * sizeof(uint32_t));
      ASSERT_OK(run(function(object, "shape_builtin"), launch.grid, launch.workgroup, {out}));
      std::vector<uint32_t> expected;
      for_each_item(launch, [&](const Axis& x, const Axis& y, const Axis& z) {
        const uint32_t item[] = {x.item,
                                 y.item,
                                 z.item,
                                 x.group,
                                 y.group,
                                 z.group,
                                 launch.workgroup.x,
                                 launch.workgroup.y,
                                 launch.workgroup.z,
                                 launch.grid.x,
                                 launch.grid.y,
                                 launch.grid.z};
        expected.insert(expected.end(), std::begin(item), std::end(item));
      });
      EXPECT_TRUE(same(download<uint32_t>(out), expected));
    }
  }

  static std::string fmt_of(const Shape3& launch) {
    const auto text = [](const Dim3& d) {
      return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
    };
    return "grid " + text(launch.grid) + ", work-group " + text(launch.workgroup);
  }
};

TEST_F(LaunchShape, WorkItemFunctionsOfVersion4) {
  check_opencl("shape_cl_v4");
}
TEST_F(LaunchShape, WorkItemFunctionsOfVersion5) {
  check_opencl("shape_cl_v5");
}
TEST_F(LaunchShape, NumberOfDimensionsOfVersion4) {
  check_dimensions("shape_cl_v4");
}
TEST_F(LaunchShape, NumberOfDimensionsOfVersion5) {
  check_dimensions("shape_cl_v5");
}
TEST_F(LaunchShape, BuiltinsOfVersion4) {
  check_builtins("shape_c_v4");
}
TEST_F(LaunchShape, BuiltinsOfVersion6) {
  check_builtins("shape_c_v6");
}

TEST_F(LaunchShape, LargestWorkGroup) {
  const uint32_t largest = device().info().max_workgroup_size;
  const uint32_t base = 12345;
  // An OpenCL kernel says that it takes 256 at most; C's take what the device can.
  const Ref<Buffer> data = upload(std::vector<uint32_t>(2 * largest, 3));
  const uint32_t n = 2 * largest;
  const uint32_t multiplier = 2;
  ASSERT_OK(run(function("busy", "affine"), {n, 1, 1}, {largest, 1, 1},
                {data, Argument::of(n), Argument::of(multiplier), Argument::of(base)}));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(n, 6 + base)));
}

TEST_F(LaunchShape, ManyGroups) {
  const Dim3 grid = {1024, 65, 3};
  const uint32_t base = 9;
  const Ref<Buffer> out = poisoned(grid.volume() * sizeof(uint32_t));
  ASSERT_OK(run(function("shape_cl_v4", "fill_ids"), grid, {32, 4, 2}, {out, Argument::of(base)}));
  std::vector<uint32_t> expected(grid.volume());
  for (uint32_t i = 0; i < expected.size(); ++i) expected[i] = i + base;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

}  // namespace
}  // namespace halyard::cts
