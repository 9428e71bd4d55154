// Loading code objects: those that are good, and every way of not being one.
#include <cstring>
#include <fstream>
#include <iterator>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "hal/target_map.h"

namespace halyard::cts {
namespace {

class Loading : public DeviceTest {
 protected:
  std::vector<std::byte> object(std::string_view name) {
    return take(Environment::get().read_object(processor_of(device().info().target), name));
  }
  Result<Ref<Executable>> load(const std::vector<std::byte>& bytes) {
    return device().load_executable(bytes.data(), bytes.size());
  }
  void expect_no_part_loads(const std::vector<std::byte>& bytes) {
    std::vector<size_t> sizes = {1, 4, 16, 63, 64, 65, bytes.size() - 1, bytes.size() - 64};
    for (size_t i = 1; i < 40; ++i) sizes.push_back(bytes.size() * i / 40);
    for (const size_t size : sizes) {
      // A copy of just that size, so that a sanitizer sees what is read behind it.
      const std::vector<std::byte> part(bytes.begin(),
                                        bytes.begin() + static_cast<ptrdiff_t>(size));
      EXPECT_FAILS(load(part), StatusCode::kInvalidArgument) << size << " of " << bytes.size();
    }
  }
};

// Version 6, for this very processor and for the whole generation.
TEST_F(Loading, Version6) {
  expect_vadd_works(*take(load(object("vadd_c_v6"))));
}

TEST_F(Loading, GenericTarget) {
  const std::string mine = processor_of(device().info().target);
  const auto bytes = take(Environment::get().read_object("gfx9-generic", "vadd_c_v6"));
  // Not every gfx9 is one of gfx9-generic's: gfx908 and gfx90a have changed instructions.
  const auto* processor = find_processor(mine);
  const char* generic = processor != nullptr ? processor->generic : nullptr;
  if (generic == nullptr || std::string_view(generic) != "gfx9-generic") {
    EXPECT_FAILS(load(bytes), StatusCode::kFailedPrecondition, mine);
    return;
  }
  const Ref<Executable> loaded = take(load(bytes));
  EXPECT_EQ(loaded->info().target.view(), "gfx9-generic");
  EXPECT_EQ(loaded->info().code_object_version, 6u);
  expect_vadd_works(*loaded);
}

// Of a fat file the variant for just this processor is taken, if there is one, and otherwise the
// generic one.
TEST_F(Loading, TheClosestVariantOfAFatFile) {
  const std::string mine = processor_of(device().info().target);
  const Ref<Executable> both = take(load(object_bytes("vadd_c_v6")));
  expect_vadd_works(*both);
  EXPECT_EQ(processor_of(both->info().target), mine);
  const Ref<Executable> one = take(load(object_bytes("busy")));
  const auto* processor = find_processor(mine);
  const bool is_generic = processor != nullptr && processor->generic != nullptr;
  EXPECT_EQ(processor_of(one->info().target), is_generic ? processor->generic : mine);
}

// The bytes belong to the caller again when the call returns.
TEST_F(Loading, CopiesWhatItNeeds) {
  std::vector<std::byte> bytes = object("vadd_c_v5");
  const Ref<Executable> loaded = take(load(bytes));
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  bytes = {};
  EXPECT_EQ(loaded->function(0).info().name.view(), "vadd");
  expect_vadd_works(*loaded);
}

// A file that was read into the middle of something is at any address.
TEST_F(Loading, TakesUnalignedBytes) {
  const std::vector<std::byte> bytes = object("vadd_c_v5");
  for (const size_t shift : {1, 2, 4, 7}) {
    std::vector<std::byte> shifted(bytes.size() + shift);
    std::memcpy(shifted.data() + shift, bytes.data(), bytes.size());
    const Ref<Executable> loaded =
        take(device().load_executable(shifted.data() + shift, bytes.size()));
    expect_vadd_works(*loaded);
  }
}

TEST_F(Loading, AnotherTargetNamesBoth) {
  const std::string mine = processor_of(device().info().target);
  for (const std::string other : {"gfx1100", "gfx90a", "gfx900"}) {
    if (other == mine) continue;
    const auto bytes = take(Environment::get().read_object(other, "vadd_c_v5"));
    const Status status = load(bytes).status();
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, other);
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, mine);
  }
}

TEST_F(Loading, Nothing) {
  EXPECT_FAILS(device().load_executable(nullptr, 0), StatusCode::kInvalidArgument, "0 bytes");
  const char byte = 0;
  EXPECT_FAILS(device().load_executable(&byte, 0), StatusCode::kInvalidArgument, "0 bytes");
}

TEST_F(Loading, NotAnElf) {
  for (const std::string_view text :
       {std::string_view("x"),
        std::string_view("\x7f"
                         "ELF",
                         4),
        std::string_view(
            "This is a text of more than sixty-four bytes, which is no ELF at all.")}) {
    EXPECT_FAILS(device().load_executable(text.data(), text.size()), StatusCode::kInvalidArgument);
  }
  const auto noise = random_bits<uint8_t>(10000);
  EXPECT_FAILS(device().load_executable(noise.data(), noise.size()), StatusCode::kInvalidArgument);
}

TEST_F(Loading, AnElfOfTheHost) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(bytes.size(), 64u);
  EXPECT_FAILS(device().load_executable(bytes.data(), bytes.size()), StatusCode::kInvalidArgument);
}

TEST_F(Loading, CutShortAnywhere) {
  expect_no_part_loads(object("vadd_c_v5"));
}

TEST_F(Loading, AFatFileCutShortAnywhere) {
  expect_no_part_loads(object_bytes("vadd_c_v5"));
}

}  // namespace
}  // namespace halyard::cts
