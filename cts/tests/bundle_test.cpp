// Damaged fat files: each is an error with its place, and the process and the device continue with
// loaded files and with the next one. (hal/tests/module_damage_test.cpp covers every field of every
// format.)
#include <cstring>
#include <utility>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "hal/bundle_writer.h"
#include "hal/target_id.h"

namespace halyard::cts {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
Bytes with(Bytes bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  return bytes;
}
template <typename T>
T get(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// Clang documentation, "Clang Offload Bundler", "Bundled Binary File Layout" and "Compression and
// Decompression": where the fields are.
constexpr size_t kCount = 24;
constexpr size_t kRows = 32;
constexpr size_t kRowOffset = 0;
constexpr size_t kRowSize = 8;
constexpr size_t kRowIdSize = 16;
constexpr size_t kRowId = 24;
constexpr size_t kPackedVersion = 4;
constexpr size_t kPackedMethod = 6;
constexpr size_t kPackedFileSize = 8;
constexpr size_t kPackedContentsSize = 16;
constexpr size_t kPackedHash = 24;
constexpr size_t kPackedData = 32;

class BrokenBundle : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    const std::string mine = processor_of(device().info().target);
    const Bytes code = take(Environment::get().read_object(mine, "vadd_c_v5"));
    const Bytes other = take(Environment::get().read_object("gfx1100", "vadd_c_v6"));
    good_ = write_bundle({{bundle_entry_id(take(parse_target_id("gfx11-generic"))), other},
                          {bundle_entry_id(take(parse_target_id(mine))), code}});
    // Behind the host's empty entry.
    second_ = next_row(next_row(kRows));
    working_ = take(load(good_));
  }
  void TearDown() override {
    // Both what was loaded before all that was broken, and what is loaded after it.
    if (working_) {
      expect_vadd_works(*working_);
      expect_vadd_works(*take(load(good_)));
    }
    working_ = nullptr;
    DeviceTest::TearDown();
  }

  size_t next_row(size_t row) const {
    return row + kRowId + static_cast<size_t>(get<uint64_t>(good_, row + kRowIdSize));
  }
  Result<Ref<Executable>> load(const Bytes& bytes) {
    return device().load_executable(bytes.data(), bytes.size());
  }

  Bytes good_;
  size_t second_ = 0;  // the row of the entry for the device
  Ref<Executable> working_;
};

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;

TEST_F(BrokenBundle, CutShort) {
  for (const Bytes& whole : {good_, take(compress_bundle(good_, Compression::kZstd)),
                             take(compress_bundle(good_, Compression::kZlib))}) {
    for (const size_t size :
         {size_t{25}, size_t{31}, size_t{40}, whole.size() / 2, whole.size() - 1}) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      EXPECT_FAILS(load(part), kInvalid, "offset") << size << " of " << whole.size();
    }
  }
}

TEST_F(BrokenBundle, EntriesThatOverlap) {
  const auto first = get<uint64_t>(good_, next_row(kRows) + kRowOffset);
  EXPECT_FAILS(load(with(good_, second_ + kRowOffset, first + 8)), kInvalid, "overlap");
  EXPECT_FAILS(load(with(good_, second_ + kRowOffset, uint64_t{64})), kInvalid, "overlap");
}

TEST_F(BrokenBundle, LyingTables) {
  for (const uint64_t lie : {uint64_t{1} << 20, uint64_t{1} << 40, UINT64_MAX - 7, UINT64_MAX}) {
    EXPECT_FAILS(load(with(good_, kCount, lie)), kInvalid, "offset 24") << lie;
    EXPECT_FAILS(load(with(good_, second_ + kRowOffset, lie)), kInvalid, "offset") << lie;
    EXPECT_FAILS(load(with(good_, second_ + kRowSize, lie)), kInvalid, "offset") << lie;
    EXPECT_FAILS(load(with(good_, second_ + kRowIdSize, lie)), kInvalid, "offset") << lie;
  }
}

TEST_F(BrokenBundle, CodeForAnotherGpuThanItsEntrySays) {
  // The other entry's code: what is there is whole, and would not run here.
  const size_t first = next_row(kRows);
  Bytes bytes = with(good_, second_ + kRowOffset, get<uint64_t>(good_, first + kRowOffset));
  bytes = with(bytes, second_ + kRowSize, get<uint64_t>(good_, first + kRowSize));
  bytes = with(bytes, first + kRowOffset, get<uint64_t>(good_, second_ + kRowOffset));
  bytes = with(bytes, first + kRowSize, get<uint64_t>(good_, second_ + kRowSize));
  EXPECT_FAILS(load(bytes), kInvalid, "built for");
}

TEST_F(BrokenBundle, CompressedOnesOfUnknownVersionsAndMethods) {
  const Bytes packed = take(compress_bundle(good_, Compression::kZstd));
  for (const uint16_t version : {0, 4, 0xffff}) {
    EXPECT_FAILS(load(with(packed, kPackedVersion, version)), StatusCode::kUnimplemented,
                 "version " + std::to_string(version) + " at offset 4");
  }
  EXPECT_FAILS(load(with(packed, kPackedMethod, uint16_t{2})), StatusCode::kUnimplemented,
               "(2 at offset 6)");
}

TEST_F(BrokenBundle, CompressedOnesWithLyingHeaders) {
  for (const Compression compression : {Compression::kZstd, Compression::kZlib}) {
    const Bytes packed = take(compress_bundle(good_, compression));
    EXPECT_OK(load(packed).status());
    EXPECT_FAILS(load(with(packed, kPackedFileSize, packed.size() + 1)), kInvalid, "offset 8");
    EXPECT_FAILS(load(with(packed, kPackedContentsSize, UINT64_MAX)), kInvalid, "offset 16");
    EXPECT_FAILS(load(with(packed, kPackedContentsSize, good_.size() - 1)), kInvalid,
                 "more than the");
    EXPECT_FAILS(load(with(packed, kPackedContentsSize, good_.size() + 1)), kInvalid,
                 "instead of the");
    EXPECT_FAILS(load(with(packed, kPackedHash, ~get<uint64_t>(packed, kPackedHash))),
                 StatusCode::kDataLoss, "offset 24");
    EXPECT_FAILS(load(with(packed, kPackedData, UINT64_MAX)), kInvalid, "offset");
  }
}

// Zeros, a few thousand to one.
TEST_F(BrokenBundle, CompressedOnesThatFillTheMemory) {
  const Bytes zeros(size_t{65} << 20);
  const Bytes bomb = take(compress_bundle(zeros, Compression::kZstd));
  EXPECT_FAILS(load(bomb), StatusCode::kResourceExhausted, std::to_string(zeros.size()));
}

}  // namespace
}  // namespace halyard::cts
