// A queue's packet processor with a fake engine, for its tests: a ring, signals and packets.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/queue/aql_queue.h"
#include "vgpu/queue/signal.h"
#include "vgpu/queue/tests/fake_device.h"

namespace halyard::vgpu::queue::testing {

constexpr uint16_t kDispatch = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                               2 << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                               2 << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
constexpr uint64_t kPackets = 16;

union Packet {
  hsa_kernel_dispatch_packet_t dispatch;
  hsa_barrier_and_packet_t barrier;
  uint32_t words[16];
};

// A kernel object whose code follows it, as both forms of it have. On a page of its own: a fault's
// report searches the page for a code object's header.
struct alignas(4096) KernelObject {
  KernelObject() {
    const int64_t distance = 256;
    std::memcpy(bytes + 16, &distance, sizeof distance);
  }
  void set_rsrc1(uint32_t value) { std::memcpy(bytes + 48, &value, sizeof value); }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(this); }
  unsigned char bytes[4096] = {};
};

class AqlQueueTest : public ::testing::Test {
 protected:
  AqlQueueTest() {
    std::memset(&queue_, 0, sizeof queue_);
    inactive_ = make_signal(0, 3);
    queue_.queue_inactive_signal.handle = reinterpret_cast<uintptr_t>(inactive_);
    queue_.group_segment_aperture_base_hi = 0x10000;
    queue_.private_segment_aperture_base_hi = 0x20000;
    for (Packet& packet : ring_) {
      std::memset(&packet, 0xcd, sizeof packet);
      packet.dispatch.header = HSA_PACKET_TYPE_INVALID;
    }
  }
  ~AqlQueueTest() override {
    if (processor_) processor_->stop();
  }

  void start(bool execute = true) {
    // The runtime's header declares both indices volatile.
    const Ring ring = {ring_, sizeof ring_, const_cast<uint64_t*>(&queue_.write_dispatch_id),
                       const_cast<uint64_t*>(&queue_.read_dispatch_id)};
    const AqlQueueMemory memory = {&queue_, reinterpret_cast<uintptr_t>(&queue_)};
    processor_ = std::make_unique<AqlQueue>(gpu_.device(execute), 7, ring, memory);
    ASSERT_TRUE(processor_->start());
  }

  amd_signal_t* make_signal(int64_t value, uint32_t event = 0) {
    signals_.push_back(std::make_unique<amd_signal_t>());
    amd_signal_t* signal = signals_.back().get();
    std::memset(signal, 0, sizeof *signal);
    signal->value = value;
    if (event != 0) {
      mailboxes_.push_back(std::make_unique<uint64_t>(0));
      signal->event_id = event;
      signal->event_mailbox_ptr = reinterpret_cast<uintptr_t>(mailboxes_.back().get());
    }
    return signal;
  }
  static hsa_signal_t handle(const amd_signal_t* signal) {
    return {reinterpret_cast<uintptr_t>(signal)};
  }
  static int64_t value(const amd_signal_t* signal) {
    return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
  }

  Packet dispatch_packet(amd_signal_t* completion = nullptr) {
    Packet packet;
    std::memset(&packet, 0, sizeof packet);
    packet.dispatch.setup = 3;
    packet.dispatch.workgroup_size_x = 64;
    packet.dispatch.workgroup_size_y = 2;
    packet.dispatch.workgroup_size_z = 1;
    packet.dispatch.grid_size_x = 640;
    packet.dispatch.grid_size_y = 4;
    packet.dispatch.grid_size_z = 5;
    packet.dispatch.private_segment_size = 48;
    packet.dispatch.group_segment_size = 1024;
    packet.dispatch.kernel_object = kernel_.address();
    packet.dispatch.kernarg_address = &kernarg_;
    if (completion != nullptr) packet.dispatch.completion_signal = handle(completion);
    return packet;
  }
  Packet barrier_packet(std::vector<amd_signal_t*> signals, amd_signal_t* completion) {
    Packet packet;
    std::memset(&packet, 0, sizeof packet);
    for (size_t i = 0; i < signals.size(); ++i) packet.barrier.dep_signal[i] = handle(signals[i]);
    packet.barrier.completion_signal = handle(completion);
    return packet;
  }

  // Fills the next slot as a producer does: reserve, wait for room, body, header.
  uint64_t submit(const Packet& packet, uint16_t header) {
    const uint64_t index = __atomic_fetch_add(&queue_.write_dispatch_id, 1, __ATOMIC_ACQ_REL);
    wait_until([&] { return index - read_index() < kPackets; });
    fill(index, packet, header);
    return index;
  }
  void fill(uint64_t index, const Packet& packet, uint16_t header) {
    Packet& slot = ring_[index % kPackets];
    std::memcpy(reinterpret_cast<char*>(&slot) + 4, reinterpret_cast<const char*>(&packet) + 4, 60);
    const uint32_t first = (packet.words[0] & 0xffff0000) | header;
    __atomic_store_n(&slot.words[0], first, __ATOMIC_RELEASE);
  }
  uint64_t read_index() const {
    return __atomic_load_n(&queue_.read_dispatch_id, __ATOMIC_ACQUIRE);
  }

  // Submits a packet that must stop the queue, and returns what stderr got.
  std::string fail_with(const Packet& packet, uint16_t header, uint32_t code) {
    ::testing::internal::CaptureStderr();
    start();
    submit(packet, header);
    wait_until([&] { return value(inactive_) != 0; });
    processor_->stop();
    EXPECT_EQ(value(inactive_), static_cast<int64_t>(code));
    EXPECT_EQ(gpu_.interrupts.raised(3), 1);
    EXPECT_TRUE(processor_->failed());
    return ::testing::internal::GetCapturedStderr();
  }

  FakeGpu gpu_;
  amd_queue_t queue_;
  alignas(64) Packet ring_[kPackets];
  KernelObject kernel_;
  uint64_t kernarg_ = 0;
  std::vector<std::unique_ptr<amd_signal_t>> signals_;
  std::vector<std::unique_ptr<uint64_t>> mailboxes_;
  amd_signal_t* inactive_ = nullptr;
  std::unique_ptr<AqlQueue> processor_;
};

}  // namespace halyard::vgpu::queue::testing
