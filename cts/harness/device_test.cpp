#include "cts/harness/device_test.h"

#include "cts/harness/environment.h"

namespace halyard::cts {

void DeviceTest::SetUp() {
  Environment& environment = Environment::get();
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  // Each test has its own numbers, regardless of earlier tests.
  seed_ = environment.options().seed;
  std::string name = std::string(test.test_suite_name()) + "." + test.name();
  std::vector<uint32_t> words(name.begin(), name.end());
  words.push_back(static_cast<uint32_t>(seed_));
  words.push_back(static_cast<uint32_t>(seed_ >> 32));
  std::seed_seq sequence(words.begin(), words.end());
  random_.seed(sequence);

  device_ = take(open_device());
  queue_ = new_queue();
  timeline_ = new_semaphore();
}

Result<Ref<Device>> DeviceTest::open_device() {
  return Environment::get().device();
}

void DeviceTest::TearDown() {
  const std::string findings = Environment::get().take_findings();
  EXPECT_EQ(findings, "") << "The virtual GPU's checks have found this.";
  if (HasFailure()) std::printf("The random input came from --seed=%llu\n", 1ull * seed_);
}

Deadline DeviceTest::time_limit() {
  constexpr uint64_t kSecond = 1000 * 1000 * 1000;
  return Deadline::after_ns(Environment::get().options().timeout_seconds * kSecond);
}

Sync DeviceTest::next() {
  // A timeline that has failed stays so; what comes next gets another one.
  if (!timeline_->query().ok()) {
    timeline_ = new_semaphore();
    reached_ = 0;
  }
  point_ = {timeline_.get(), ++reached_};
  return {.wait = {}, .signal = {&point_, 1}};
}

Status DeviceTest::finish() const {
  const Deadline deadline = time_limit();
  Status status = timeline_->wait(reached_, deadline);
  const bool late = Deadline::after_ns(0).monotonic_ns >= deadline.monotonic_ns;
  if (!status.ok() || !late) return status;
  // The wait checked once more at its deadline: without a deadline, it would never end.
  return Status(StatusCode::kDeadlineExceeded,
                "The work was done, but no thread woke the wait for it.");
}

Status DeviceTest::drain(Queue& target) {
  if (Status status = target.barrier(next()); !status.ok()) {
    --reached_;
    return status;
  }
  return finish();
}

Launch DeviceTest::affine(const Argument& data, uint32_t count, uint32_t multiplier,
                          uint32_t addend) {
  return Launch(function("busy", "affine"), whole_groups(count, 64), {64, 1, 1},
                {data, Argument::of(count), Argument::of(multiplier), Argument::of(addend)});
}

Ref<Executable> DeviceTest::executable(std::string_view object) {
  if (const auto found = executables_.find(object); found != executables_.end()) {
    return found->second;
  }
  const std::vector<std::byte> bytes = object_bytes(object);
  Ref<Executable> loaded = take(device().load_executable(bytes.data(), bytes.size()));
  executables_.emplace(object, loaded);
  return loaded;
}

std::vector<std::byte> DeviceTest::object_bytes(std::string_view object) {
  return take(Environment::get().read_module(object));
}

const Function* DeviceTest::function(std::string_view object, std::string_view name) {
  return take(executable(object)->find(name));
}

Status DeviceTest::run(const Function* function, Dim3 grid, Dim3 workgroup,
                       std::initializer_list<Argument> arguments, uint32_t dynamic_lds_bytes) {
  Dispatch dispatch;
  dispatch.function = function;
  dispatch.grid = grid;
  dispatch.workgroup = workgroup;
  dispatch.dynamic_lds_bytes = dynamic_lds_bytes;
  dispatch.arguments = {arguments.begin(), arguments.size()};
  const Sync sync = next();
  if (Status status = queue().dispatch(dispatch, sync); !status.ok()) {
    --reached_;
    return status;
  }
  return finish();
}

void DeviceTest::expect_vadd_works(Executable& loaded) {
  const auto a = random_reals<float>(100, -1, 1);
  const Ref<Buffer> out = poisoned(100 * sizeof(float));
  const uint32_t n = 100;
  ASSERT_OK(run(take(loaded.find("vadd")), {128, 1, 1}, {64, 1, 1},
                {upload(a), upload(a), out, Argument::of(n)}));
  std::vector<float> expected = a;
  for (float& value : expected) value += value;
  EXPECT_TRUE(same(download<float>(out), expected));
}

void DeviceTest::expect_life() {
  const Ref<Device> now = take(Environment::get().device());
  const Ref<Queue> queue = take(now->create_queue());
  BufferOptions options;
  options.type = MemoryType::kHost;
  const Ref<Buffer> buffer = take(now->allocate(128, options));
  const Ref<CommandBuffer> commands = take(now->create_command_buffer());
  const uint32_t submitted = 0x12345678;
  const uint32_t recorded = 0x9abcdef0;
  ASSERT_OK(commands->fill({*buffer, 64, 64}, &recorded, sizeof recorded));
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> done = take(now->create_semaphore());
  ASSERT_OK(queue->fill({*buffer, 0, 64}, &submitted, sizeof submitted));
  ASSERT_OK(queue->execute(*commands, {}, When().then(done, 1)));
  ASSERT_OK(done->wait(1, time_limit()));
  auto* words = static_cast<uint32_t*>(take(buffer->map(0, 128, MapAccess::kRead)));
  ASSERT_OK(buffer->invalidate(0, 128));
  EXPECT_EQ(words[15], submitted);
  EXPECT_EQ(words[31], recorded);
  ASSERT_OK(buffer->unmap(words));
}

Ref<Buffer> DeviceTest::allocate(uint64_t bytes, MemoryType type) {
  BufferOptions options;
  options.type = type;
  return take(device().allocate(bytes, options));
}

Ref<Buffer> DeviceTest::poisoned(uint64_t bytes) {
  Ref<Buffer> buffer = allocate(bytes);
  const uint8_t poison = 0xa5;
  require(queue().fill(buffer, &poison, 1, next()));
  require(finish());
  return buffer;
}

void DeviceTest::write(Buffer& target, uint64_t offset, const void* source, uint64_t size) {
  require(queue().update({target, offset, size}, source, size, next()));
  require(finish());
}

void DeviceTest::read(Buffer& source, uint64_t offset, void* target, uint64_t size) {
  if (size == 0) return;
  Ref<Buffer> staging = allocate(size, MemoryType::kHost);
  require(queue().copy({source, offset, size}, staging, next()));
  require(finish());
  void* mapped = take(staging->map(0, size, MapAccess::kRead));
  require(staging->invalidate(0, size));
  std::memcpy(target, mapped, size);
  require(staging->unmap(mapped));
}

}  // namespace halyard::cts
