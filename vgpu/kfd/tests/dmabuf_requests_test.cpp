// Dma-bufs through ioctls.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cts/harness/descriptor_message.h"
#include "vgpu/host_guard.h"
#include "vgpu/kfd/dmabuf.h"
#include "vgpu/kfd/tests/fake_process.h"
#include "vgpu/machine/memory_file.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;

constexpr uint32_t kOrdinary = abi::kVram | abi::kPublic | abi::kExecutable | abi::kWritable;
constexpr uint32_t kSystem = abi::kGtt | abi::kExecutable | abi::kWritable;

unsigned char* bytes_at(uint64_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

// A descriptor of this process.
class Descriptor {
 public:
  explicit Descriptor(uint32_t number) : number_(static_cast<int>(number)) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

uint32_t export_of(FakeProcess& process, uint64_t handle, uint32_t flags = O_CLOEXEC) {
  abi::ExportDmabuf exported;
  exported.handle = handle;
  exported.flags = flags;
  EXPECT_EQ(process.request(Request::kExportDmabuf, exported), 0);
  return exported.dmabuf_fd;
}

int export_error(FakeProcess& process, uint64_t handle) {
  abi::ExportDmabuf exported;
  exported.handle = handle;
  return process.request(Request::kExportDmabuf, exported);
}

int import_into(FakeProcess& process, int fd, uint64_t bytes, abi::ImportDmabuf& imported) {
  imported.address = process.reserve(bytes);
  imported.gpu_id = kGpu;
  imported.dmabuf_fd = static_cast<uint32_t>(fd);
  return process.request(Request::kImportDmabuf, imported);
}

abi::IpcExport ipc_export_of(FakeProcess& process, uint64_t handle) {
  abi::IpcExport exported;
  exported.handle = handle;
  exported.gpu_id = kGpu;
  EXPECT_EQ(process.request(Request::kIpcExportHandle, exported), 0);
  return exported;
}

int ipc_import_into(FakeProcess& process, const abi::IpcExport& exported, uint64_t bytes,
                    abi::IpcImport& imported) {
  imported.gpu_id = kGpu;
  imported.address = process.reserve(bytes);
  std::memcpy(imported.share_handle, exported.share_handle, sizeof imported.share_handle);
  return process.request(Request::kIpcImportHandle, imported);
}

class Dmabufs : public ::testing::Test {
 protected:
  FakeProcess process_;
  FakeProcess other_;
};

TEST_F(Dmabufs, BothProcessesAndMappingsSeeOneMemory) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinary);
  std::memset(bytes_at(memory.address), 0x5a, 4 * kPage);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  abi::ImportDmabuf imported;
  ASSERT_EQ(import_into(other_, dmabuf.get(), 4 * kPage, imported), 0);
  EXPECT_EQ(bytes_at(imported.address)[4 * kPage - 1], 0x5a);
  bytes_at(memory.address)[7] = 1;
  EXPECT_EQ(bytes_at(imported.address)[7], 1);
  bytes_at(imported.address)[3 * kPage] = 2;
  EXPECT_EQ(bytes_at(memory.address)[3 * kPage], 2);
  // Any program may map the descriptor itself.
  void* const mapped =
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  static_cast<unsigned char*>(mapped)[9] = 3;
  EXPECT_EQ(bytes_at(memory.address)[9], 3);
  EXPECT_EQ(bytes_at(imported.address)[9], 3);
  munmap(mapped, 4 * kPage);
  ASSERT_EQ(other_.map(imported.handle, kGpu), 0);
  EXPECT_TRUE(other_.gpu_sees(kGpu, imported.address, 4 * kPage));
  ASSERT_EQ(other_.unmap(imported.handle, kGpu), 0);
  EXPECT_EQ(other_.free(imported.handle), 0);
  EXPECT_EQ(process_.free(memory.handle), 0);
}

TEST_F(Dmabufs, TheMemoryLivesAsLongAsAnybodyHasIt) {
  const abi::AllocMemory memory = process_.allocate(2 * kPage, kOrdinary);
  bytes_at(memory.address)[kPage] = 8;
  Descriptor dmabuf(export_of(process_, memory.handle));
  ASSERT_EQ(process_.free(memory.handle), 0);
  abi::ImportDmabuf imported;
  ASSERT_EQ(import_into(other_, dmabuf.get(), 2 * kPage, imported), 0) << "the descriptor has it";
  dmabuf.reset();
  EXPECT_EQ(bytes_at(imported.address)[kPage], 8) << "the import has it";
  const Descriptor again(export_of(other_, imported.handle));
  ASSERT_EQ(other_.free(imported.handle), 0);
  unsigned char byte = 0;
  ASSERT_EQ(pread(again.get(), &byte, 1, kPage), 1);
  EXPECT_EQ(byte, 8);
}

// As libdrm's amdgpu_bo_import(), and as kernels' dma-bufs.
TEST_F(Dmabufs, ADescriptorHasTheBuffersSizeForGood) {
  const abi::AllocMemory memory = process_.allocate(8 * kPage, kOrdinary);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  EXPECT_EQ(lseek(dmabuf.get(), 0, SEEK_END), static_cast<off_t>(8 * kPage));
  EXPECT_EQ(ftruncate(dmabuf.get(), kPage), -1);
  EXPECT_EQ(ftruncate(dmabuf.get(), 16 * kPage), -1);
  EXPECT_EQ(fcntl(dmabuf.get(), F_GETFD), FD_CLOEXEC);
  const Descriptor inherited(export_of(process_, memory.handle, 0));
  EXPECT_EQ(fcntl(inherited.get(), F_GETFD), 0);
  EXPECT_NE(inherited.get(), dmabuf.get());
}

TEST_F(Dmabufs, InfoIsOfTheBuffer) {
  const abi::AllocMemory vram = process_.allocate(2 * kPage, kOrdinary);
  const abi::AllocMemory host = process_.allocate(4 * kPage, kSystem, kOtherGpu);
  const Descriptor one(export_of(process_, vram.handle));
  const Descriptor two(export_of(process_, host.handle));
  char metadata[64] = "untouched";
  abi::GetDmabufInfo info;
  info.dmabuf_fd = static_cast<uint32_t>(one.get());
  info.metadata_pointer = reinterpret_cast<uintptr_t>(metadata);
  info.metadata_size = sizeof metadata;
  ASSERT_EQ(other_.request(Request::kGetDmabufInfo, info), 0);
  EXPECT_EQ(info.size, 2 * kPage);
  EXPECT_EQ(info.gpu_id, kGpu);
  EXPECT_EQ(info.flags, abi::kVram | abi::kPublic);
  EXPECT_EQ(info.metadata_size, 0u);
  EXPECT_STREQ(metadata, "untouched");
  info.dmabuf_fd = static_cast<uint32_t>(two.get());
  ASSERT_EQ(other_.request(Request::kGetDmabufInfo, info), 0);
  EXPECT_EQ(info.size, 4 * kPage);
  EXPECT_EQ(info.gpu_id, kOtherGpu);
  EXPECT_EQ(info.flags, abi::kGtt);
}

// A ring that is mapped twice stays one memory.
TEST_F(Dmabufs, ADoubleMappedRingStaysDouble) {
  const abi::AllocMemory ring = process_.allocate(4 * kPage, kSystem | abi::kAqlQueueMemory);
  bytes_at(ring.address)[10] = 6;
  const Descriptor dmabuf(export_of(process_, ring.handle));
  EXPECT_EQ(bytes_at(ring.address + 2 * kPage)[10], 6);
  bytes_at(ring.address + 2 * kPage)[20] = 7;
  EXPECT_EQ(bytes_at(ring.address)[20], 7);
  unsigned char byte = 0;
  ASSERT_EQ(pread(dmabuf.get(), &byte, 1, 20), 1);
  EXPECT_EQ(byte, 7);
}

TEST_F(Dmabufs, TheHostsMappingsOfARenderNodeAreTheSameMemory) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinary);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  void* const part = process_.kfd->buffers().map_for_host(
      nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, memory.mmap_offset + 2 * kPage);
  ASSERT_NE(part, MAP_FAILED);
  static_cast<unsigned char*>(part)[5] = 9;
  EXPECT_EQ(bytes_at(memory.address)[2 * kPage + 5], 9);
  munmap(part, kPage);
}

// The memory is moved when it is exported first: nothing that is written meanwhile is lost.
TEST_F(Dmabufs, ThreadsGoOnWhileTheMemoryIsMoved) {
  constexpr uint64_t kBytes = 512 * kPage;
  const abi::AllocMemory memory = process_.allocate(kBytes, kOrdinary);
  auto* const words = reinterpret_cast<std::atomic<uint64_t>*>(memory.address);
  constexpr uint64_t kWords = kBytes / sizeof(uint64_t);
  constexpr int kThreads = 3;
  std::atomic<int> started{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::vector<uint64_t> rounds(kThreads, 0);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      uint64_t& round = rounds[static_cast<size_t>(i)];
      while (!stop) {
        // Each thread counts in words of its own, and finds what it has written.
        for (uint64_t at = static_cast<uint64_t>(i); at < kWords; at += 64 * kThreads) {
          if (words[at].load() != round) return;
          words[at].store(round + 1);
        }
        ++round;
        if (round == 1) ++started;
      }
    });
  }
  while (started < kThreads) std::this_thread::yield();
  const Descriptor dmabuf(export_of(process_, memory.handle));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) {
    for (uint64_t at = static_cast<uint64_t>(i); at < kWords; at += 64 * kThreads) {
      ASSERT_EQ(words[at].load(), rounds[static_cast<size_t>(i)]) << i << " " << at;
      uint64_t in_file = 0;
      ASSERT_EQ(pread(dmabuf.get(), &in_file, sizeof in_file, static_cast<off_t>(at * 8)), 8);
      ASSERT_EQ(in_file, rounds[static_cast<size_t>(i)]);
    }
  }
}

// Accesses that are refused for another reason are still the program's faults.
TEST_F(Dmabufs, RealFaultsThereAreNotRepeatedForEver) {
  const abi::AllocMemory memory = process_.allocate(kPage, kOrdinary);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  ASSERT_EQ(mprotect(bytes_at(memory.address), kPage, PROT_NONE), 0);
  for (int round = 0; round < 3; ++round) {
    unsigned char byte = 0;
    EXPECT_FALSE(read_host(&byte, bytes_at(memory.address), 1));
  }
}

TEST_F(Dmabufs, IpcHandlesThatWereMadeBeforeLeadToTheMemory) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinary);
  bytes_at(memory.address)[0] = 4;
  const abi::IpcExport before = ipc_export_of(process_, memory.handle);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  EXPECT_EQ(bytes_at(memory.address)[0], 4);
  abi::IpcImport imported;
  ASSERT_EQ(ipc_import_into(other_, before, 4 * kPage, imported), 0);
  bytes_at(imported.address)[0] = 5;
  EXPECT_EQ(bytes_at(memory.address)[0], 5);
  unsigned char byte = 0;
  ASSERT_EQ(pread(dmabuf.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 5);
}

TEST_F(Dmabufs, IpcHandlesOfExportedAndOfImportedMemory) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinary);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  abi::ImportDmabuf by_descriptor;
  ASSERT_EQ(import_into(process_, dmabuf.get(), 4 * kPage, by_descriptor), 0);
  for (const uint64_t handle : {by_descriptor.handle, memory.handle}) {
    const abi::IpcExport exported = ipc_export_of(process_, handle);
    abi::IpcImport imported;
    ASSERT_EQ(ipc_import_into(other_, exported, 4 * kPage, imported), 0);
    bytes_at(imported.address)[1] = static_cast<unsigned char>(handle);
    EXPECT_EQ(bytes_at(memory.address)[1], static_cast<unsigned char>(handle));
    ASSERT_EQ(other_.free(imported.handle), 0);
    // As of memory that was never a dma-buf.
    ASSERT_EQ(process_.free(handle), 0);
    EXPECT_EQ(ipc_import_into(other_, exported, 4 * kPage, imported), -EINVAL);
  }
}

// Its mapping would not follow.
TEST_F(Dmabufs, MemoryThatAnotherProcessHasByAnIpcHandleIsBusy) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinary);
  bytes_at(memory.address)[0] = 4;
  const abi::IpcExport exported = ipc_export_of(process_, memory.handle);
  abi::IpcImport imported;
  ASSERT_EQ(ipc_import_into(other_, exported, 4 * kPage, imported), 0);
  EXPECT_EQ(export_error(process_, memory.handle), -EBUSY);
  EXPECT_EQ(bytes_at(memory.address)[0], 4);
  bytes_at(memory.address)[0] = 6;
  EXPECT_EQ(bytes_at(imported.address)[0], 6) << "still one memory";
  ASSERT_EQ(other_.free(imported.handle), 0);
  EXPECT_EQ(export_error(process_, memory.handle), 0);
}

TEST_F(Dmabufs, BadRequestsAreRefused) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinary);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  EXPECT_EQ(export_error(process_, 12345), -EINVAL);
  abi::AllocMemory doorbells;
  doorbells.address = process_.reserve(Queues::kDoorbellBytes);
  doorbells.size = Queues::kDoorbellBytes;
  doorbells.gpu_id = kGpu;
  doorbells.flags = abi::kDoorbell | abi::kWritable;
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, doorbells), 0);
  EXPECT_EQ(export_error(process_, doorbells.handle), -EINVAL);

  abi::ImportDmabuf import;
  import.gpu_id = kGpu;
  import.dmabuf_fd = static_cast<uint32_t>(dmabuf.get());
  import.address = other_.reserve(4 * kPage) + 8;
  EXPECT_EQ(other_.request(Request::kImportDmabuf, import), -EINVAL);
  import.address = memory.address;
  EXPECT_EQ(process_.request(Request::kImportDmabuf, import), -EINVAL) << "in use";
  import.address = other_.reserve(4 * kPage);
  import.gpu_id = 3;
  EXPECT_EQ(other_.request(Request::kImportDmabuf, import), -EINVAL);
  import.gpu_id = kOtherGpu;
  EXPECT_EQ(other_.request(Request::kImportDmabuf, import), -EINVAL) << "another GPU's memory";
  import.gpu_id = kGpu;
  for (const uint32_t fd : {uint32_t{0xffffffff}, uint32_t{1} << 20}) {
    import.dmabuf_fd = fd;
    EXPECT_EQ(other_.request(Request::kImportDmabuf, import), -EBADF);
    abi::GetDmabufInfo info;
    info.dmabuf_fd = fd;
    EXPECT_EQ(other_.request(Request::kGetDmabufInfo, info), -EBADF);
  }
}

TEST_F(Dmabufs, OtherDescriptorsAreRefused) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  const Descriptor reader(static_cast<uint32_t>(pipe_ends[0]));
  const Descriptor writer(static_cast<uint32_t>(pipe_ends[1]));
  const Descriptor file(static_cast<uint32_t>(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
  // The right name, but its size can change under the GPU.
  const Descriptor unsealed(
      static_cast<uint32_t>(memfd_create("halyard-dmabuf:1:1", MFD_ALLOW_SEALING)));
  ASSERT_EQ(ftruncate(unsealed.get(), kPage), 0);
  const auto forged = [](const char* name, uint64_t bytes) {
    return static_cast<uint32_t>(machine::create_memory_file(name, bytes));
  };
  const Descriptor no_node(forged("halyard-dmabuf:0:1", kPage));
  const Descriptor far_node(forged("halyard-dmabuf:900:1", kPage));
  const Descriptor no_kind(forged("halyard-dmabuf:1:0", kPage));
  const Descriptor two_kinds(forged("halyard-dmabuf:1:3", kPage));
  const Descriptor more(forged("halyard-dmabuf:1:1x", kPage));
  const Descriptor odd(forged("halyard-dmabuf:1:1", kPage + 8));
  const Descriptor empty(forged("halyard-dmabuf:1:1", 0));
  for (const Descriptor* const one : {&reader, &file, &unsealed, &no_node, &far_node, &no_kind,
                                      &two_kinds, &more, &odd, &empty}) {
    abi::GetDmabufInfo info;
    info.dmabuf_fd = static_cast<uint32_t>(one->get());
    EXPECT_EQ(process_.request(Request::kGetDmabufInfo, info), -EINVAL) << one->get();
    abi::ImportDmabuf imported;
    EXPECT_EQ(import_into(process_, one->get(), kPage, imported), -EINVAL) << one->get();
  }
}

TEST_F(Dmabufs, ImportsAreNotCountedAsVram) {
  const abi::AllocMemory memory = process_.allocate(uint64_t{8} << 20, kOrdinary);
  const Descriptor dmabuf(export_of(process_, memory.handle));
  abi::ImportDmabuf imported;
  ASSERT_EQ(import_into(other_, dmabuf.get(), uint64_t{8} << 20, imported), 0);
  EXPECT_EQ(other_.kfd->buffers().available(1), uint64_t{64} << 20);
  EXPECT_EQ(process_.kfd->buffers().available(1), uint64_t{56} << 20);
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_EQ(process_.kfd->buffers().available(1), uint64_t{64} << 20);
}

// A real other process: it gets the descriptor, and the exporter is gone when it looks.
TEST(DmabufsOfTwoProcesses, ADescriptorIsSent) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
  const pid_t child = fork();
  if (child == 0) {
    FakeProcess exporter;
    const abi::AllocMemory memory = exporter.allocate(4 * kPage, kOrdinary);
    std::memset(bytes_at(memory.address), 0x33, 4 * kPage);
    const Descriptor dmabuf(export_of(exporter, memory.handle));
    const bool sent = cts::send_descriptor(sockets[1], dmabuf.get());
    char byte = 0;
    const bool told = read(sockets[1], &byte, 1) == 1;
    _exit(sent && told && bytes_at(memory.address)[kPage] == 0x44 ? 0 : 1);
  }
  close(sockets[1]);
  const Descriptor dmabuf(static_cast<uint32_t>(cts::receive_descriptor(sockets[0])));
  ASSERT_GE(dmabuf.get(), 0);
  FakeProcess importer;
  abi::ImportDmabuf imported;
  ASSERT_EQ(import_into(importer, dmabuf.get(), 4 * kPage, imported), 0);
  EXPECT_EQ(bytes_at(imported.address)[0], 0x33);
  bytes_at(imported.address)[kPage] = 0x44;
  ASSERT_EQ(write(sockets[0], "x", 1), 1);
  int state = -1;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_EQ(state, 0) << "the exporter sees what the importer writes";
  EXPECT_EQ(bytes_at(imported.address)[3 * kPage], 0x33);
  close(sockets[0]);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
