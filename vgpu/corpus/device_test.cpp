// The corpus on the vendor's unmodified runtime: one build of each kernel, through the driver
// amdgpu. HALYARD_VGPU_PROFILE says on which processor.
//
//   --target=TARGET   what the code is for: the processor, or a generic target that covers it
//   --driver=NAME     another driver: hip

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "hal/device.h"
#include "registry/registry.h"
#include "registry/vgpu.h"
#include "vgpu/corpus/compare.h"
#include "vgpu/corpus/host_result.h"

namespace halyard::vgpu::corpus {
namespace {

constexpr const char* kLevel = "O2";
std::string target;
std::string driver = "amdgpu";

std::string processor() {
  const char* const profile = std::getenv("HALYARD_VGPU_PROFILE");
  return profile ? profile : "gfx900";
}

// The file's code object.
std::filesystem::path object_of(const std::string& source) {
  const bool is_generic = target.ends_with("-generic");
  return std::filesystem::path(HALYARD_CORPUS_OBJECTS) / (is_generic ? "generic" : "") /
         (source + "." + (target.empty() ? processor() : target) + "." + kLevel + ".hsaco");
}

class CorpusDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Status status = load_virtual_gpu(processor());
    ASSERT_TRUE(status.ok()) << status.to_string();
    registry() = Registry::create();
  }
  static void TearDownTestSuite() { registry().reset(); }
  static decltype(Registry::create())& registry() {
    static decltype(Registry::create()) the_registry;
    return the_registry;
  }
};

uint64_t bytes_of(const std::vector<uint32_t>& words) {
  return (words.size() + 1) * sizeof(uint32_t);  // a buffer is not empty
}

Result<Ref<Buffer>> host_buffer_of(Device& device, const std::vector<uint32_t>& words) {
  BufferOptions options;
  options.type = MemoryType::kHost;
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> buffer, device.allocate(bytes_of(words), options));
  HALYARD_ASSIGN_OR_RETURN(void* const mapped, buffer->map(0, bytes_of(words), MapAccess::kWrite));
  std::copy(words.begin(), words.end(), static_cast<uint32_t*>(mapped));
  HALYARD_RETURN_IF_ERROR(buffer->unmap(mapped));
  return buffer;
}

// Device memory with these contents, once `queue` is there: fine-grained memory, as the host's is,
// does not carry out float atomics.
Result<Ref<Buffer>> buffer_of(Queue& queue, const std::vector<uint32_t>& words) {
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> staging, host_buffer_of(queue.device(), words));
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> buffer, queue.device().allocate(bytes_of(words)));
  HALYARD_RETURN_IF_ERROR(queue.copy(BufferRange(*staging), BufferRange(*buffer)));
  return buffer;
}

// The kernel's output.
Result<std::vector<uint32_t>> run_on_device(Device& device, Executable& executable,
                                            const CorpusCase& one,
                                            const std::vector<uint32_t>& words_in) {
  HALYARD_ASSIGN_OR_RETURN(const Function* const kernel, executable.find(one.name));
  std::vector<uint32_t> words_out(one.words_out, one.initial);
  HALYARD_ASSIGN_OR_RETURN(const Ref<Queue> queue, device.create_queue());
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> in, buffer_of(*queue, words_in));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> out, buffer_of(*queue, words_out));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> work,
                           buffer_of(*queue, std::vector<uint32_t>(one.words_work)));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> result, host_buffer_of(device, words_out));
  const Argument arguments[] = {in, out, work, Argument::of(one.n)};
  Dispatch dispatch;
  dispatch.function = kernel;
  const auto at_least_one = [](uint32_t v) { return v ? v : 1; };
  const Dim3 items = {at_least_one(one.items[0]), at_least_one(one.items[1]),
                      at_least_one(one.items[2])};
  dispatch.workgroup = items;
  dispatch.grid = {items.x * at_least_one(one.groups[0]), items.y * at_least_one(one.groups[1]),
                   items.z * at_least_one(one.groups[2])};
  dispatch.arguments = arguments;
  HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> semaphore, device.create_semaphore());
  const SemaphorePoint done = {semaphore.get(), 1};
  HALYARD_RETURN_IF_ERROR(queue->dispatch(dispatch));
  HALYARD_RETURN_IF_ERROR(
      queue->copy(BufferRange(*out), BufferRange(*result), {.wait = {}, .signal = {&done, 1}}));
  HALYARD_RETURN_IF_ERROR(semaphore->wait(1));
  const uint64_t bytes = words_out.size() * sizeof(uint32_t);
  HALYARD_ASSIGN_OR_RETURN(void* const mapped, result->map(0, bytes, MapAccess::kRead));
  std::memcpy(words_out.data(), mapped, bytes);
  HALYARD_RETURN_IF_ERROR(result->unmap(mapped));
  return words_out;
}

TEST_F(CorpusDevice, AgreesWithHost) {
  Result<Ref<Device>> device = registry()->open_device(driver);
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  std::map<std::string, Ref<Executable>> executables;
  for (const CorpusCase* one : all_cases()) {
    if (one->more_count) continue;  // their types are not known here
    SCOPED_TRACE(one->name);
    const std::string source = std::filesystem::path(one->file).filename();
    Ref<Executable>& executable = executables[source];
    if (!executable) {
      std::ifstream file(object_of(source), std::ios::binary);
      const std::string code{std::istreambuf_iterator<char>(file), {}};
      Result<Ref<Executable>> loaded = (*device)->load_executable(code.data(), code.size());
      ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
      executable = *loaded;
    }
    const HostResult host = run_on_host(*one);
    const Result<std::vector<uint32_t>> out = run_on_device(**device, *executable, *one, host.in);
    ASSERT_TRUE(out.ok()) << out.status().to_string();
    const std::string wrong = differences(host.out, out->data(), one->compare, one->ulps);
    EXPECT_TRUE(wrong.empty()) << wrong;
  }
}

}  // namespace
}  // namespace halyard::vgpu::corpus

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string_view target_flag = "--target=";
  const std::string_view driver_flag = "--driver=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(target_flag)) {
      halyard::vgpu::corpus::target = word.substr(target_flag.size());
    } else if (word.starts_with(driver_flag)) {
      halyard::vgpu::corpus::driver = word.substr(driver_flag.size());
    }
  }
  return RUN_ALL_TESTS();
}
