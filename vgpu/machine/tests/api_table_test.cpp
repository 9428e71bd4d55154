// Where the runtime's functions are in its table, in the layouts of releases before and since 5.6.
#include "vgpu/machine/api_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace halyard::vgpu::machine {
namespace {

// The number of the function that a pointer to a table's member is of.
template <class T>
size_t slot_of(const std::vector<uint64_t>& table, const T& member) {
  const auto at =
      reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(table.data());
  return (static_cast<size_t>(at) - sizeof(ApiTableVersion)) / sizeof(void*);
}

// With `functions` functions, as the runtime fills in its version.
std::vector<uint64_t> table_of(size_t functions) {
  std::vector<uint64_t> table(sizeof(ApiTableVersion) / sizeof(uint64_t) + functions);
  ApiTableVersion version = {};
  version.major_id = 2;
  version.minor_id = static_cast<uint32_t>(table.size() * sizeof(uint64_t));
  std::memcpy(table.data(), &version, sizeof version);
  return table;
}

size_t slot_of_image_create(size_t functions) {
  std::vector<uint64_t> functions_of_amd = table_of(functions);
  HsaApiTable table = {};
  table.amd_ext_ = reinterpret_cast<AmdExtTable*>(functions_of_amd.data());
  return slot_of(functions_of_amd, functions_behind_copy(table).hsa_amd_image_create_fn);
}

// ROCR's hsa_api_trace.h: hsa_amd_image_create is the 26th function up to 5.5, the 28th since 5.6.
TEST(ApiTable, TheLayoutIsTheReleases) {
  EXPECT_EQ(slot_of_image_create(48), 25u) << "5.2";
  EXPECT_EQ(slot_of_image_create(51), 25u) << "5.5";
  EXPECT_EQ(slot_of_image_create(55), 27u) << "5.6";
  EXPECT_EQ(slot_of_image_create(68), 27u) << "6.1";
}

}  // namespace
}  // namespace halyard::vgpu::machine
