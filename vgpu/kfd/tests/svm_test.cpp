// Shared virtual memory through ioctls, and page faults that GPUs retry.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;
using Type = abi::SvmAttributeType;
using Attributes = std::vector<abi::SvmAttribute>;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// ioctl() as the thunk calls it: the code's size counts the attributes.
int svm(Kfd& kfd, abi::SvmOperation operation, uint64_t begin, uint64_t size,
        Attributes& attributes) {
  abi::Svm header{begin, size, operation, static_cast<uint32_t>(attributes.size())};
  std::vector<unsigned char> bytes(sizeof header + attributes.size() * sizeof attributes[0]);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!attributes.empty())
    std::memcpy(bytes.data() + sizeof header, attributes.data(), bytes.size() - sizeof header);
  const int result = kfd.ioctl(_IOC(_IOC_READ | _IOC_WRITE, abi::kRequestType,
                                    static_cast<unsigned>(Request::kSvm), bytes.size()),
                               bytes.data());
  if (!attributes.empty())
    std::memcpy(attributes.data(), bytes.data() + sizeof header, bytes.size() - sizeof header);
  return result;
}

class Svm : public ::testing::Test {
 protected:
  explicit Svm(const char* processor = "gfx90a") : process_(processor, true, true) {}

  int set(uint64_t begin, uint64_t size, Attributes attributes) {
    return svm(*process_.kfd, abi::SvmOperation::kSet, begin, size, attributes);
  }
  int get(uint64_t begin, uint64_t size, Attributes& attributes) {
    return svm(*process_.kfd, abi::SvmOperation::kGet, begin, size, attributes);
  }
  uint32_t value(uint64_t begin, uint64_t size, Type type) {
    Attributes attributes = {{type, 0}};
    EXPECT_EQ(get(begin, size, attributes), 0);
    return attributes[0].value;
  }
  Type access(uint64_t begin, uint64_t size, uint32_t gpu_id) {
    Attributes attributes = {{Type::kAccess, gpu_id}};
    EXPECT_EQ(get(begin, size, attributes), 0);
    return attributes[0].type;
  }
  int xnack(int32_t wanted, int32_t* mode = nullptr) {
    abi::SetXnackMode request{wanted};
    const int result = process_.request(Request::kSetXnackMode, request);
    if (mode != nullptr) *mode = request.enabled;
    return result;
  }
  // An address where the program has nothing. No fixed one is: sanitizers map much of the address
  // space for themselves.
  uint64_t unmapped() {
    const uint64_t memory = process_.own_memory(kPage);
    process_.unmap_own(memory, kPage);
    return memory;
  }
  // As a kernel or a copy would: with a retry.
  bool touches(uint32_t node, uint64_t address) {
    return process_.machine->device(node).memory->find(address).contains(address, 1);
  }

  FakeProcess process_;
};

TEST_F(Svm, NewMemoryHasLinuxDefaults) {
  const uint64_t memory = process_.own_memory(4 * kPage);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kPreferredLocation), abi::kNoLocation);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kPrefetchLocation), abi::kNoLocation);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kSetFlags), abi::kSvmHostAccess | abi::kSvmCoherent);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kClearFlags),
            ~(abi::kSvmHostAccess | abi::kSvmCoherent));
  EXPECT_EQ(value(memory, 4 * kPage, Type::kGranularity), 9u);
  EXPECT_EQ(access(memory, 4 * kPage, kGpu), Type::kNoAccess);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory, 1));
}

TEST_F(Svm, AttributesAreThoseThatWereSet) {
  const uint64_t memory = process_.own_memory(4 * kPage);
  ASSERT_EQ(set(memory, 4 * kPage,
                {{Type::kPreferredLocation, kOtherGpu},
                 {Type::kPrefetchLocation, abi::kSystemMemory},
                 {Type::kAccess, kGpu},
                 {Type::kAccessInPlace, kOtherGpu},
                 {Type::kSetFlags, 0x20},
                 {Type::kClearFlags, abi::kSvmCoherent},
                 {Type::kGranularity, 12}}),
            0);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kPreferredLocation), kOtherGpu);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kPrefetchLocation), abi::kSystemMemory);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kSetFlags), abi::kSvmHostAccess | 0x20);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kClearFlags), ~(abi::kSvmHostAccess | 0x20));
  EXPECT_EQ(value(memory, 4 * kPage, Type::kGranularity), 12u);
  EXPECT_EQ(access(memory, 4 * kPage, kGpu), Type::kAccess);
  EXPECT_EQ(access(memory, 4 * kPage, kOtherGpu), Type::kAccessInPlace);
  ASSERT_EQ(set(memory, 4 * kPage, {{Type::kGranularity, 0xff}}), 0);
  EXPECT_EQ(value(memory, 4 * kPage, Type::kGranularity), 0x3fu);
}

TEST_F(Svm, GpusWithAccessSeeTheMemory) {
  const uint64_t memory = process_.own_memory(4 * kPage);
  ASSERT_EQ(set(memory, 4 * kPage, {{Type::kAccess, kGpu}}), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory, 4 * kPage));
  EXPECT_FALSE(process_.gpu_sees(kOtherGpu, memory, 1));
  // A part of it is another range from now on.
  ASSERT_EQ(
      set(memory + kPage, kPage, {{Type::kNoAccess, kGpu}, {Type::kAccessInPlace, kOtherGpu}}), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory, kPage));
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory + kPage, 1));
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory + 2 * kPage, 2 * kPage));
  EXPECT_TRUE(process_.gpu_sees(kOtherGpu, memory + kPage, kPage));
  // Asked twice, given once.
  ASSERT_EQ(set(memory, 4 * kPage, {{Type::kAccess, kGpu}}), 0);
  ASSERT_EQ(set(memory, 4 * kPage, {{Type::kAccessInPlace, kGpu}}), 0);
  ASSERT_EQ(set(memory, 4 * kPage, {{Type::kNoAccess, kGpu}}), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory, 1));
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory + 3 * kPage, 1));
}

TEST_F(Svm, GpusMayBeAllowedToReadOnly) {
  const uint64_t memory = process_.own_memory(4 * kPage);
  const isa::AddressSpace& gpu = process_.machine->memory().gpu_memory(1);
  ASSERT_EQ(set(memory, 4 * kPage, {{Type::kAccess, kGpu}}), 0);
  ASSERT_EQ(set(memory + kPage, kPage, {{Type::kSetFlags, abi::kSvmGpuReadOnly}}), 0);
  EXPECT_TRUE(gpu.find(memory).writable);
  EXPECT_FALSE(gpu.find(memory + kPage).writable);
  EXPECT_TRUE(gpu.find(memory + 2 * kPage).writable);
  ASSERT_EQ(set(memory, 4 * kPage, {{Type::kClearFlags, abi::kSvmGpuReadOnly}}), 0);
  EXPECT_TRUE(gpu.find(memory + kPage).writable);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory, 4 * kPage));
  ASSERT_EQ(
      set(memory, 4 * kPage, {{Type::kSetFlags, abi::kSvmGpuReadOnly}, {Type::kNoAccess, kGpu}}),
      0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory, 1));
  process_.unmap_own(memory, 4 * kPage);
}

TEST_F(Svm, ValuesOfSeveralRangesAreWhatTheyHaveInCommon) {
  const uint64_t memory = process_.own_memory(3 * kPage);
  ASSERT_EQ(set(memory, kPage,
                {{Type::kPreferredLocation, kGpu},
                 {Type::kGranularity, 3},
                 {Type::kSetFlags, 0x24},
                 {Type::kAccess, kGpu},
                 {Type::kPrefetchLocation, kGpu}}),
            0);
  ASSERT_EQ(set(memory + kPage, kPage,
                {{Type::kPreferredLocation, kGpu},
                 {Type::kGranularity, 5},
                 {Type::kSetFlags, 0x20},
                 {Type::kAccess, kGpu},
                 {Type::kPrefetchLocation, kOtherGpu}}),
            0);
  // The third page has no range and does not count.
  EXPECT_EQ(value(memory, 3 * kPage, Type::kPreferredLocation), kGpu);
  EXPECT_EQ(value(memory, 3 * kPage, Type::kPrefetchLocation), abi::kNoLocation);
  EXPECT_EQ(value(memory, 3 * kPage, Type::kGranularity), 3u);
  EXPECT_EQ(value(memory, 3 * kPage, Type::kSetFlags), 0x23u);
  EXPECT_EQ(value(memory, 3 * kPage, Type::kClearFlags), ~0x27u);
  EXPECT_EQ(access(memory, 3 * kPage, kGpu), Type::kAccess);
  ASSERT_EQ(set(memory + kPage, kPage, {{Type::kNoAccess, kGpu}}), 0);
  EXPECT_EQ(access(memory, 3 * kPage, kGpu), Type::kNoAccess);
}

TEST_F(Svm, MistakesAreAnsweredAsByLinux) {
  const uint64_t memory = process_.own_memory(2 * kPage);
  Attributes none;
  EXPECT_EQ(set(memory + 1, kPage, none), -EINVAL);
  EXPECT_EQ(set(memory, kPage + 1, none), -EINVAL);
  EXPECT_EQ(set(memory, 0, none), -EINVAL);
  EXPECT_EQ(set(0, kPage, none), -EINVAL);
  EXPECT_EQ(svm(*process_.kfd, static_cast<abi::SvmOperation>(2), memory, kPage, none), -EINVAL);
  // Nothing, or not all, is mapped there.
  EXPECT_EQ(set(memory, 4096 * kMiB, none), -EFAULT);
  EXPECT_EQ(set(uint64_t{1} << 47, kPage, none), -EFAULT);
  EXPECT_EQ(set(~uint64_t{0xfff}, kPage, none), -EFAULT);
  EXPECT_EQ(get(unmapped(), kPage, none), -EFAULT);
  // GPUs, locations and types that do not exist.
  EXPECT_EQ(set(memory, kPage, {{Type::kAccess, 77}}), -EINVAL);
  EXPECT_EQ(set(memory, kPage, {{Type::kAccess, 0}}), -EINVAL);
  EXPECT_EQ(set(memory, kPage, {{Type::kPreferredLocation, 77}}), -EINVAL);
  EXPECT_EQ(set(memory, kPage, {{Type::kPreferredLocation, abi::kNoLocation}}), 0);
  EXPECT_EQ(set(memory, kPage, {{Type::kPrefetchLocation, abi::kNoLocation}}), -EINVAL);
  EXPECT_EQ(set(memory, kPage, {{static_cast<Type>(8), 0}}), -EINVAL);
  // What is refused has had no effect.
  EXPECT_EQ(set(memory, kPage, {{Type::kAccess, kGpu}, {Type::kAccess, 77}}), -EINVAL);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory, 1));
  Attributes attributes = {{Type::kNoAccess, kGpu}};
  EXPECT_EQ(get(memory, kPage, attributes), -EINVAL);
  attributes = {{Type::kAccess, 77}};
  EXPECT_EQ(get(memory, kPage, attributes), -EINVAL);
  // More attributes than the argument has room for.
  abi::Svm header{memory, kPage, abi::SvmOperation::kSet, 1};
  EXPECT_EQ(process_.request(Request::kSvm, header), -EINVAL);
  header.count = 0xffffffff;
  EXPECT_EQ(process_.request(Request::kSvm, header), -EINVAL);
  EXPECT_EQ(process_.kfd->ioctl(abi::code<abi::Svm>(Request::kSvm), nullptr), -EFAULT);
}

TEST_F(Svm, MemoryOfTheDriverIsNotTheProgramsToShare) {
  const abi::AllocMemory buffer = process_.allocate(2 * kPage, abi::kGtt | abi::kWritable);
  EXPECT_EQ(set(buffer.address, kPage, {{Type::kAccess, kGpu}}), -EADDRINUSE);
  Attributes attributes = {{Type::kSetFlags, 0}};
  EXPECT_EQ(get(buffer.address, kPage, attributes), -EADDRINUSE);
}

TEST_F(Svm, MemoryThatIsUnmappedHasNoRange) {
  const uint64_t memory = process_.own_memory(3 * kPage);
  ASSERT_EQ(set(memory, 3 * kPage, {{Type::kAccess, kGpu}, {Type::kPreferredLocation, kGpu}}), 0);
  process_.unmap_own(memory + kPage, kPage);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory, kPage));
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory + kPage, 1));
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory + 2 * kPage, kPage));
  // New memory there is new.
  ASSERT_EQ(mmap(reinterpret_cast<void*>(memory + kPage), kPage, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
            reinterpret_cast<void*>(memory + kPage));
  EXPECT_EQ(value(memory + kPage, kPage, Type::kPreferredLocation), abi::kNoLocation);
}

// The C library may have unmapped it unseen.
TEST_F(Svm, AddressesThatAreReservedHaveNoRange) {
  const uint64_t memory = process_.own_memory(kPage);
  ASSERT_EQ(set(memory, kPage, {{Type::kAccess, kGpu}}), 0);
  ASSERT_EQ(munmap(reinterpret_cast<void*>(memory), kPage), 0);
  ASSERT_EQ(mmap(reinterpret_cast<void*>(memory), kPage, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
            reinterpret_cast<void*>(memory));
  process_.kfd->reserved_by_host(memory, kPage);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory, 1));
}

TEST_F(Svm, CoherenceDecidesWhetherTheL2HasIt) {
  const uint64_t memory = process_.own_memory(2 * kPage);
  const machine::AddressTable& coarse = process_.machine->memory().coarse_memory();
  ASSERT_EQ(set(memory, 2 * kPage, {{Type::kAccess, kGpu}}), 0);
  EXPECT_FALSE(coarse.find(memory).contains(memory, 1));
  ASSERT_EQ(set(memory, kPage, {{Type::kClearFlags, abi::kSvmCoherent}}), 0);
  EXPECT_TRUE(coarse.find(memory).contains(memory, kPage));
  EXPECT_FALSE(coarse.find(memory + kPage).contains(memory + kPage, 1));
  ASSERT_EQ(set(memory, kPage, {{Type::kSetFlags, abi::kSvmCoherent}}), 0);
  EXPECT_FALSE(coarse.find(memory).contains(memory, 1));
}

// Retries of page faults.

TEST_F(Svm, XnackIsOffUntilItIsTurnedOn) {
  int32_t mode = 7;
  EXPECT_EQ(xnack(-1, &mode), 0);
  EXPECT_EQ(mode, 0);
  EXPECT_EQ(xnack(3, &mode), 0);
  EXPECT_EQ(mode, 1);
  EXPECT_EQ(xnack(-1, &mode), 0);
  EXPECT_EQ(mode, 1);
  EXPECT_EQ(xnack(0, &mode), 0);
  EXPECT_EQ(mode, 0);
}

TEST_F(Svm, XnackCannotChangeWhileThereAreQueues) {
  const abi::AllocMemory ring = process_.allocate(2 * kPage, abi::kGtt | abi::kWritable);
  abi::CreateQueue queue;
  queue.ring_base = ring.address;
  queue.ring_size = 4096;
  queue.read_pointer = ring.address + kPage;
  queue.write_pointer = ring.address + kPage + 8;
  queue.gpu_id = kGpu;
  queue.type = abi::QueueType::kSdma;
  ASSERT_EQ(process_.request(Request::kCreateQueue, queue), 0);
  EXPECT_EQ(xnack(1), -EBUSY);
  EXPECT_EQ(xnack(0), -EBUSY);
  EXPECT_EQ(xnack(-1), 0);
  abi::DestroyQueue destroy{queue.queue_id};
  ASSERT_EQ(process_.request(Request::kDestroyQueue, destroy), 0);
  EXPECT_EQ(xnack(1), 0);
}

TEST_F(Svm, WithoutXnackOnlyWhatIsNamedIsThere) {
  const uint64_t memory = process_.own_memory(kPage);
  EXPECT_FALSE(touches(1, memory));
}

TEST_F(Svm, WithXnackTheProgramsMemoryIsThere) {
  ASSERT_EQ(xnack(1), 0);
  const uint64_t memory = process_.own_memory(8 * kMiB);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory, 1));
  EXPECT_TRUE(touches(1, memory + 5 * kMiB + 17));
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory + 5 * kMiB, kPage));
  // An access may reach into what nobody has touched so far.
  const uint64_t border = (memory + 4 * kMiB) / (2 * kMiB) * 2 * kMiB;
  const isa::MemoryRange range = process_.machine->device(1).memory->find(border - 2);
  EXPECT_TRUE(range.contains(border - 2, 4));
  // And a copy over all of it.
  queue::RangeCache copy(process_.machine->device(2).memory);
  EXPECT_EQ(copy.find(memory, 8 * kMiB), reinterpret_cast<uint8_t*>(memory));
  process_.unmap_own(memory, 8 * kMiB);
  EXPECT_FALSE(touches(1, memory));
  EXPECT_FALSE(process_.gpu_sees(kOtherGpu, memory + 4 * kMiB, 1));
}

TEST_F(Svm, WithXnackWhatTheProgramCannotReadIsNotThere) {
  ASSERT_EQ(xnack(1), 0);
  EXPECT_FALSE(touches(1, process_.reserve(kPage)));
  EXPECT_FALSE(touches(1, unmapped()));
  EXPECT_FALSE(touches(1, 8));
  EXPECT_FALSE(touches(1, ~uint64_t{7}));
  // A buffer is the driver's: it is where it has been mapped.
  const abi::AllocMemory buffer = process_.allocate(kPage, abi::kVram | abi::kPublic);
  EXPECT_FALSE(touches(1, buffer.address));
  EXPECT_FALSE(touches(1, buffer.address + kPage - 1));
}

TEST_F(Svm, WithXnackAccessCanBeTakenAway) {
  ASSERT_EQ(xnack(1), 0);
  const uint64_t memory = process_.own_memory(2 * kPage);
  EXPECT_EQ(access(memory, kPage, kGpu), Type::kAccess);
  EXPECT_TRUE(touches(1, memory));
  ASSERT_EQ(set(memory, kPage, {{Type::kNoAccess, kGpu}}), 0);
  EXPECT_FALSE(touches(1, memory));
  EXPECT_TRUE(touches(1, memory + kPage));
  EXPECT_TRUE(touches(2, memory));
  EXPECT_EQ(access(memory, kPage, kGpu), Type::kNoAccess);
  EXPECT_EQ(access(memory, kPage, kOtherGpu), Type::kAccess);
}

// Other drivers and GPUs.

TEST(SvmSupport, ADriverWithoutItRefuses) {
  FakeProcess process;
  const uint64_t memory = process.own_memory(kPage);
  Attributes none;
  EXPECT_EQ(svm(*process.kfd, abi::SvmOperation::kSet, memory, kPage, none), -EPERM);
  abi::SetXnackMode mode{1};
  EXPECT_EQ(process.request(Request::kSetXnackMode, mode), -EPERM);
  // Which mode it is in it answers: Debian's runtime would write to standard error otherwise.
  mode.enabled = -1;
  EXPECT_EQ(process.request(Request::kSetXnackMode, mode), 0);
  EXPECT_EQ(mode.enabled, 0);
}

TEST(SvmSupport, AGpuWithoutItHasNoAccess) {
  FakeProcess process("gfx90a", true, false);
  const uint64_t memory = process.own_memory(kPage);
  Attributes attributes = {{Type::kAccess, kOtherGpu}};
  EXPECT_EQ(svm(*process.kfd, abi::SvmOperation::kSet, memory, kPage, attributes), -EINVAL);
  EXPECT_EQ(svm(*process.kfd, abi::SvmOperation::kGet, memory, kPage, attributes), 0);
  EXPECT_EQ(attributes[0].type, Type::kNoAccess);
  // XNACK is for the process, so for all of its GPUs.
  abi::SetXnackMode mode{1};
  EXPECT_EQ(process.request(Request::kSetXnackMode, mode), -EPERM);
}

TEST(SvmSupport, OtherProcessorsHaveSvmAndNoXnack) {
  for (const char* const processor : {"gfx900", "gfx906", "gfx908"}) {
    FakeProcess process(processor, true, true);
    const uint64_t memory = process.own_memory(kPage);
    Attributes attributes = {{Type::kAccess, kGpu}};
    EXPECT_EQ(svm(*process.kfd, abi::SvmOperation::kSet, memory, kPage, attributes), 0);
    EXPECT_TRUE(process.gpu_sees(kGpu, memory, kPage));
    abi::SetXnackMode mode{1};
    EXPECT_EQ(process.request(Request::kSetXnackMode, mode), -EPERM);
    mode.enabled = 0;
    EXPECT_EQ(process.request(Request::kSetXnackMode, mode), 0);
    EXPECT_FALSE(process.machine->device(2).memory->find(memory).contains(memory, 1));
  }
}

// An observer of memory, as the coherence check is one.
class Observer final : public machine::MemoryObserver {
 public:
  void added(const Memory& memory) override {
    EXPECT_TRUE(known.emplace(memory.begin, memory).second) << "added twice";
  }
  void removed(uint64_t begin) override {
    EXPECT_EQ(known.erase(begin), 1u);
    ++frees;
  }
  void remapped(uint64_t begin) override {
    EXPECT_EQ(known.erase(begin), 1u);
    ++changes;
  }
  void shared(uint64_t /*begin*/) override {}

  // "offset+pages coarse|fine", of what is known.
  std::string text(uint64_t begin) const {
    std::string words;
    for (const auto& [at, memory] : known) {
      words += words.empty() ? "" : ", ";
      words += std::to_string((at - begin) / kPage) + "+" + std::to_string(memory.size / kPage) +
               (memory.coarse_grained ? " coarse" : " fine");
    }
    return words;
  }

  std::map<uint64_t, Memory> known;
  int frees = 0;
  int changes = 0;
};

class SvmObserver : public Svm {
 protected:
  SvmObserver() { process_.machine->memory().set_observer(&observer_); }
  ~SvmObserver() override { process_.kfd.reset(); }

  Observer observer_;
};

TEST_F(SvmObserver, HearsOnlyOfWhatChangesForTheCaches) {
  const uint64_t memory = process_.own_memory(8 * kPage);
  ASSERT_EQ(set(memory, 8 * kPage, {{Type::kAccess, kGpu}}), 0);
  EXPECT_EQ(observer_.text(memory), "0+8 fine");
  ASSERT_EQ(set(memory + 2 * kPage, kPage, {{Type::kPrefetchLocation, kGpu}}), 0);
  EXPECT_EQ(observer_.text(memory), "0+8 fine");
  EXPECT_EQ(observer_.changes + observer_.frees, 0);
  ASSERT_EQ(set(memory + 4 * kPage, 2 * kPage, {{Type::kClearFlags, abi::kSvmCoherent}}), 0);
  EXPECT_EQ(observer_.text(memory), "0+4 fine, 4+2 coarse, 6+2 fine");
  EXPECT_EQ(observer_.changes, 1);
  process_.unmap_own(memory + 4 * kPage, 2 * kPage);
  EXPECT_EQ(observer_.text(memory), "0+4 fine, 6+2 fine");
  EXPECT_EQ(observer_.frees, 1);
  process_.unmap_own(memory + 2 * kPage, kPage);
  EXPECT_EQ(observer_.text(memory), "0+2 fine, 3+1 fine, 6+2 fine");
  EXPECT_EQ(observer_.changes, 2);
  process_.unmap_own(memory, 8 * kPage);
  EXPECT_EQ(observer_.text(memory), "");
}

TEST_F(SvmObserver, HearsOfNewMemoryBesideKnownMemory) {
  const uint64_t memory = process_.own_memory(6 * kPage);
  ASSERT_EQ(set(memory + 2 * kPage, kPage, {{Type::kAccess, kGpu}}), 0);
  ASSERT_EQ(set(memory, 6 * kPage, {{Type::kAccess, kGpu}}), 0);
  EXPECT_EQ(observer_.text(memory), "0+2 fine, 2+1 fine, 3+3 fine");
  EXPECT_EQ(observer_.changes + observer_.frees, 0);
}

// A GPU's thread may hold the observer's lock.
TEST_F(SvmObserver, HearsNothingOfRetriesUntilTheProgramNamesTheMemory) {
  ASSERT_EQ(xnack(1), 0);
  const uint64_t memory = process_.own_memory(4 * kPage);
  ASSERT_TRUE(touches(1, memory));
  EXPECT_EQ(observer_.text(memory), "");
  ASSERT_EQ(set(memory + kPage, kPage, {{Type::kPreferredLocation, kGpu}}), 0);
  EXPECT_EQ(observer_.text(memory), "1+1 fine");
}

}  // namespace
}  // namespace halyard::vgpu::kfd
