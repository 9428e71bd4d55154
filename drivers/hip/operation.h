// Operation: something that goes onto a stream, now or, if it has to be held back, later.
#pragma once

#include <memory>

#include "drivers/common/operation_facts.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/status.h"

namespace halyard::hip {

class QueueCore;

class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  // Puts it onto the queue's stream, whose lock is held.
  virtual Status issue(QueueCore& core) = 0;
  // A copy that refers to nothing of the caller's and keeps alive what it needs; this one is not
  // used any more.
  virtual Result<std::unique_ptr<Operation>> hold() = 0;

  // Whether it goes onto the stream only when all that other streams do for its waits is done: what
  // is behind a wait on the stream runs even if that fails.
  virtual bool waits_on_host() const { return false; }
  // It will never run. Before its signals fail; any thread.
  virtual void cancel() {}
  // Whether another stream may have to wait for it although it signals nothing. placed() is then
  // called when it is on the stream and marked, as operation `number`, before its signals are.
  virtual bool needs_mark() const { return false; }
  virtual void placed(uint64_t) {}

  // What a profile says of it.
  virtual OperationFacts facts() const = 0;
  StringView name() const { return facts().name; }
  // Whether a profile times issue() as a whole; otherwise it sees to that itself.
  virtual bool timed_as_a_whole() const { return true; }
  // Whether the host has a part in it. Then run() comes first, on a thread that may block, when
  // everything before it is done; it tells the completion once, and touches nothing of its own
  // afterwards. issue() follows if issues_after_run().
  virtual bool on_host() const { return false; }
  virtual void run(QueueCore&, HostCompletion& completion) { completion.complete({}); }
  virtual bool issues_after_run() const { return false; }
};

// Only waits and signals.
class BarrierOperation final : public Operation {
 public:
  // `kind` is what it is to the caller.
  explicit BarrierOperation(ProfileKind kind = ProfileKind::kBarrier) : kind_(kind) {}
  OperationFacts facts() const override { return facts_of(kind_); }
  Status issue(QueueCore&) override { return {}; }
  Result<std::unique_ptr<Operation>> hold() override {
    return std::unique_ptr<Operation>(std::make_unique<BarrierOperation>(kind_));
  }

 private:
  ProfileKind kind_;
};

}  // namespace halyard::hip
