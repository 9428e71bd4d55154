// Transfers: a queue's copies, which the device's copy engines carry out, in the queue's order.
//
// In the ring a transfer is two barrier packets. The first completes the "marker" signal, for which
// the engine's first copy waits; the second waits for the signal of the last copy. The marker
// packet counts itself in neither of the queue's epoch signals, hence markers_done().
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/amdgpu/hsa.h"
#include "drivers/amdgpu/memory.h"
#include "drivers/amdgpu/operation.h"

namespace halyard::amdgpu {

// One copy of an engine's. Each starts when the one before it is done.
struct CopyStep {
  void* target = nullptr;
  hsa_agent_t target_agent = {};
  const void* source = nullptr;
  hsa_agent_t source_agent = {};
  uint64_t size = 0;  // bytes
};

class Transfers {
 public:
  explicit Transfers(QueueCore& core) : core_(core) {}
  ~Transfers();

  // Queues the steps. `staging` (may be empty) is released when they are done.
  Status submit(const std::vector<CopyStep>& steps, Staging staging, const IssueContext& context);

  // Marker packets that are done, of all that there ever were.
  uint64_t markers_done() const {
    if (outstanding_.load(std::memory_order_acquire) == 0) [[likely]]
      return markers_.load(std::memory_order_acquire);
    return count_markers();
  }
  // Looks for copies that have failed, and loses the queue if one has. Frees what is done.
  void find_failures();
  // The queue is lost: lets the engines go on, which serve others as well. They then carry the
  // copies out, so what these use stays in use until quiescent().
  void abandon();
  // No engine has a copy left to do.
  bool quiescent() const;
  bool any() const { return outstanding_.load(std::memory_order_acquire) != 0; }

 private:
  struct Record {
    hsa_signal_t marker = {};
    std::vector<hsa_signal_t> done;  // of each step
    uint64_t last = 0;               // index of the second packet
    bool counted = false;            // marker is in markers_
    Staging staging;
  };

  uint64_t count_markers() const;
  void recycle(Record& record);
  void reap();

  QueueCore& core_;
  // Held from the first copy's submission until its packets are published, so that the engines get
  // copies in the order of the ring; otherwise each could wait for the other.
  std::mutex order_mutex_;
  mutable std::mutex mutex_;
  mutable std::deque<Record> records_;  // under mutex_, in order
  mutable std::atomic<uint64_t> markers_{0};
  std::atomic<uint32_t> outstanding_{0};  // records_.size()
};

class CopyOperation final : public Operation {
 public:
  CopyOperation(Buffer& source, const void* from, Buffer& target, void* to, uint64_t size);
  uint32_t packets() const override { return 2; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  StringView name() const override { return "copy"; }

 private:
  Buffer& source_;
  const void* from_;
  Buffer& target_;
  void* to_;
  uint64_t size_;
  Ref<Buffer> keep_source_;
  Ref<Buffer> keep_target_;
};

// fill and update: bytes of the host's go to a buffer, and for a fill are then doubled until it is
// full.
class UploadOperation final : public Operation {
 public:
  // Copies `seed_size` bytes at once; the rest of the `size` bytes repeats them, so seed_size is
  // then a multiple of the pattern.
  static Result<std::unique_ptr<UploadOperation>> update(DeviceImpl& device, Buffer& target,
                                                         void* to, const void* bytes,
                                                         uint64_t size);
  static Result<std::unique_ptr<UploadOperation>> fill(DeviceImpl& device, Buffer& target, void* to,
                                                       const void* pattern, uint32_t pattern_size,
                                                       uint64_t size);
  uint32_t packets() const override { return 2; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  StringView name() const override { return fills_ ? "fill" : "update"; }

 private:
  UploadOperation(Buffer& target, void* to, Staging staging, uint64_t seed_size, uint64_t size)
      : target_(target),
        to_(to),
        staging_(std::move(staging)),
        seed_size_(seed_size),
        size_(size) {}

  Buffer& target_;
  void* to_;
  Staging staging_;
  uint64_t seed_size_;
  uint64_t size_;
  bool fills_ = false;  // made by fill()
  Ref<Buffer> keep_target_;
};

}  // namespace halyard::amdgpu
