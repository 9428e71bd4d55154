// Transfers: a queue's copies, which the device's copy engines carry out, in the queue's order.
//
// In the ring a transfer is two barrier packets. When the first is done, so is all before it, and
// the host gives the copies to the engines; the second waits for the signal of the last copy.
//
// All queues share the engines, and an engine takes its copies in the order in which it gets them.
// A copy that waited there for its queue would hold up every other queue's copies, among them maybe
// what it waits for itself. So an engine only gets a copy that can begin, or whose predecessor on
// its queue the engines have already. The thread that submits gives it if nothing is in front of it
// in the ring; otherwise the watcher does, whom the first packet wakes.
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

  // Queues the steps, of which there is at least one. `staging` (may be empty) is released when
  // they are done.
  Status submit(std::vector<CopyStep> steps, Staging staging, const IssueContext& context);

  // Gives the engines what can begin, looks for copies that have failed, and loses the queue if one
  // has. Frees what is done. Any thread, without a lock of the watcher's.
  void advance();
  // The engines have copies of whose failure nothing but a look tells.
  bool needs_looks() const;
  // The queue is lost: its engines get no more copies. They carry out those that they have, so what
  // these use stays in use until quiescent().
  void abandon();
  // No engine has a copy left to do.
  bool quiescent() const;
  bool any() const { return outstanding_.load(std::memory_order_acquire) != 0; }

 private:
  struct Record {
    uint64_t first = 0;  // index of the first packet
    std::vector<CopyStep> steps;
    std::vector<hsa_signal_t> done;  // of each step
    size_t given = 0;                // steps that the engines have
    bool chained = false;            // the first of them waits for the record before
    bool watched = false;            // the watcher is interested until it is given
    Staging staging;

    bool is_given() const { return given == steps.size(); }
  };

  void add(Record record);
  // Gives what can begin.
  void give_due();
  // … one record's steps, of which the first waits for `after` (may be none). Under mutex_.
  Status give(Record& record, hsa_signal_t after) const;
  // The record with this first packet was submitted: gives it, or has the watcher see to that.
  void expedite(uint64_t first);
  void recycle(Record& record);
  void reap();

  QueueCore& core_;
  mutable std::mutex mutex_;
  std::deque<Record> records_;            // under mutex_, in the ring's order
  std::atomic<uint32_t> outstanding_{0};  // records_.size()
};

class CopyOperation final : public Operation {
 public:
  CopyOperation(Buffer& source, const void* from, Buffer& target, void* to, uint64_t size);
  uint32_t packets() const override { return 2; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override { return facts_of(ProfileKind::kCopy, size_); }

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
  OperationFacts facts() const override {
    return facts_of(fills_ ? ProfileKind::kFill : ProfileKind::kUpdate, size_);
  }

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
