// What a loader does beside placing code in memory: init and fini kernels, managed variables. And
// modules of which a part cannot be used.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "hal/target_map.h"

namespace halyard::cts {
namespace {

constexpr Dim3 kOne = {1, 1, 1};

class ProgramStart : public DeviceTest {
 protected:
  // One that is not kept by the fixture.
  Ref<Executable> load(std::string_view object) {
    const std::vector<std::byte> bytes = object_bytes(object);
    return take(device().load_executable(bytes.data(), bytes.size()));
  }
  // That of the device's processor, or of its generic target.
  std::vector<std::byte> code_object(std::string_view name) {
    const std::string mine = processor_of(device().info().target);
    Result<std::vector<std::byte>> exact = Environment::get().read_object(mine, name);
    if (exact.ok()) return std::move(exact).value();
    const auto* processor = find_processor(mine);
    return take(Environment::get().read_object(
        processor != nullptr && processor->generic != nullptr ? processor->generic : "", name));
  }
  const Function* find(Executable& loaded, std::string_view name) {
    return take(loaded.find(name));
  }
  // Host memory, of which the first word is `value`.
  Ref<Buffer> word(uint32_t value) {
    Ref<Buffer> buffer = allocate(64, MemoryType::kHost);
    write(*buffer, 0, &value, sizeof value);
    return buffer;
  }
  uint32_t word_in(Buffer& buffer) {
    uint32_t value = 0;
    read(buffer, 0, &value, sizeof value);
    return value;
  }
};

TEST_F(ProgramStart, ConstructorsHaveRunWhenTheExecutableIsLoaded) {
  const Ref<Buffer> out = poisoned(4);
  for (int i = 0; i < 2; ++i) {
    const Ref<Executable> loaded = load("program_start");
    ASSERT_OK(run(find(*loaded, "read_built"), kOne, kOne, {out}));
    EXPECT_EQ(download<uint32_t>(out)[0], 172u);
  }
}

// Each executable has its own variables.
TEST_F(ProgramStart, ManagedVariablesAreWhereHostAndDeviceSeeThem) {
  const Ref<Buffer> out = poisoned(32);
  const Ref<Executable> first = load("program_start");
  const Ref<Executable> second = load("program_start");
  uint64_t addresses[2] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(run(find(i == 0 ? *first : *second, "use_managed"), kOne, kOne, {out}));
    const auto results = download<uint64_t>(out);
    ASSERT_NE(results[0], 0u);
    EXPECT_EQ(results[1], 42u);
    EXPECT_EQ(results[2], 42u);
    EXPECT_EQ(results[3], 8u) << "what its initial value points to";
    addresses[i] = results[0];
    uint32_t values[3] = {};
    std::memcpy(values, reinterpret_cast<const void*>(results[0]), sizeof values);
    EXPECT_EQ(values[0], 40u);
    EXPECT_EQ(values[1], 9u) << "the kernel has written it";
    EXPECT_EQ(values[2], 42u);
  }
  EXPECT_NE(addresses[0], addresses[1]);
}

TEST_F(ProgramStart, DestructorsHaveRunWhenTheExecutableIsReleased) {
  const Ref<Buffer> mail = word(7);
  Ref<Executable> loaded = load("program_start");
  const Launch launch(find(*loaded, "rebuild"), kOne, kOne,
                      {mail, Argument::of(172u), Argument::of(1u)});
  ASSERT_OK(queue().dispatch(launch, next()));
  ASSERT_OK(finish());
  EXPECT_EQ(word_in(*mail), 7u);
  loaded = {};
  EXPECT_EQ(word_in(*mail), 173u);
}

TEST_F(ProgramStart, DestructorsRunBehindWorkInFlight) {
  const Ref<Buffer> mail = word(7);
  Ref<Executable> loaded = load("program_start");
  const Launch launch(find(*loaded, "rebuild"), kOne, kOne,
                      {mail, Argument::of(500u), Argument::of(20000u)});
  ASSERT_OK(queue().dispatch(launch, next()));
  loaded = {};
  ASSERT_OK(finish());
  // Work in flight may have had the last reference; then a thread of the driver's runs them.
  for (int i = 0; i < 2000 && word_in(*mail) == 7; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(word_in(*mail), 501u);
}

TEST_F(ProgramStart, OneKernelWithoutADescriptorLeavesTheOthersUsable) {
  std::vector<std::byte> bytes = code_object("entry_points");
  // In the metadata, not in the symbol tables: the value of a key.
  constexpr std::string_view kDescriptor = "entry_1_7.kd";
  const std::string key = std::string(".symbol\xac") + std::string(kDescriptor);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t at = text.find(key);
  ASSERT_NE(at, std::string_view::npos);
  bytes[at + key.size() - 1] = std::byte{'x'};

  const Ref<Executable> loaded = take(device().load_executable(bytes.data(), bytes.size()));
  const Ref<Buffer> out = poisoned(64);
  ASSERT_OK(run(find(*loaded, "entry_1_6"), kOne, kOne, {out, Argument::of(2u)}));
  EXPECT_EQ(download<uint32_t>(out)[14], 14002u);
  EXPECT_FAILS(loaded->find("entry_1_7"), StatusCode::kFailedPrecondition,
               "no symbol \"entry_1_7.kx\"");
  const Function* function = nullptr;
  for (size_t i = 0; i < loaded->function_count(); ++i) {
    if (loaded->function(i).info().name.view() == "entry_1_7") function = &loaded->function(i);
  }
  ASSERT_NE(function, nullptr) << "it is listed";
  EXPECT_NE(function->info().problem.view().find("which is its descriptor"), std::string::npos);
  EXPECT_FAILS(run(function, kOne, kOne, {out, Argument::of(2u)}), StatusCode::kFailedPrecondition,
               "\"entry_1_7\" cannot be dispatched");
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  EXPECT_FAILS(commands->dispatch(Launch(function, kOne, kOne, {out, Argument::of(2u)})),
               StatusCode::kFailedPrecondition, "\"entry_1_7\" cannot be dispatched");
}

// As a compiler other than LLVM writes it: no dynamic symbols, which are what HIP goes by.
TEST_F(ProgramStart, WithoutDynamicSymbols) {
  std::vector<std::byte> bytes = code_object("vadd_c_v5");
  const auto at = [&](size_t offset, auto* value) {
    std::memcpy(value, bytes.data() + offset, sizeof *value);
  };
  const auto set = [&](size_t offset, uint32_t value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  };
  // The ELF header's and the entries' fields by their offsets (System V gABI, 64 bits).
  uint64_t segments = 0;
  uint64_t sections = 0;
  uint16_t segment_count = 0;
  uint16_t section_count = 0;
  at(32, &segments);
  at(40, &sections);
  at(56, &segment_count);
  at(60, &section_count);
  constexpr uint32_t kNull = 0;
  constexpr uint32_t kProgramBits = 1;
  constexpr uint32_t kDynamicSegment = 2;
  for (uint16_t i = 0; i < segment_count; ++i) {
    uint32_t type = 0;
    at(segments + 56 * i, &type);
    if (type == kDynamicSegment) set(segments + 56 * i, kNull);
  }
  size_t hidden = 0;
  for (uint16_t i = 0; i < section_count; ++i) {
    uint32_t type = 0;
    at(sections + 64 * i + 4, &type);
    // SHT_HASH, SHT_DYNAMIC, SHT_DYNSYM, SHT_GNU_HASH
    constexpr uint32_t kOfLoaders[] = {5, 6, 11, 0x6ffffff6};
    if (std::count(std::begin(kOfLoaders), std::end(kOfLoaders), type) == 0) continue;
    set(sections + 64 * i, 0);  // no name
    set(sections + 64 * i + 4, kProgramBits);
    ++hidden;
  }
  ASSERT_GE(hidden, 3u);
  expect_vadd_works(*take(device().load_executable(bytes.data(), bytes.size())));
}

}  // namespace
}  // namespace halyard::cts
