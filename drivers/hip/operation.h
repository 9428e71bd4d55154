// Operation: something that goes onto a stream, now or, if it has to be held back, later.
#pragma once

#include <memory>

#include "drivers/hip/stream.h"
#include "hal/status.h"
#include "plugins/sdk/operation.h"

namespace halyard::hip {

class QueueCore;

class Operation : public QueueOperation {
 public:
  // Puts it onto the queue's stream, whose lock is held.
  virtual Status issue(QueueCore& core) = 0;
  // A copy that refers to nothing of the caller's and keeps alive what it needs; this one is not
  // used any more.
  virtual Result<std::unique_ptr<Operation>> hold() = 0;
  // Work that it waits for as well; stream is null if there is none.
  virtual StreamPoint after() const { return {}; }
  // Whether another stream may have to wait for it although it signals nothing. placed() is then
  // called when it is on the stream and marked, as operation `number`, before its signals are.
  virtual bool needs_mark() const { return false; }
  virtual void placed(uint64_t) {}
  // Whether a profile times issue() as a whole; otherwise it sees to that itself.
  virtual bool timed_as_a_whole() const { return true; }
};

// Only waits and signals.
class BarrierOperation final : public Operation {
 public:
  // `kind` is what it is to the caller; `after` is after().
  explicit BarrierOperation(ProfileKind kind = ProfileKind::kBarrier, const StreamPoint& after = {})
      : kind_(kind), after_(after) {}
  OperationFacts facts() const override { return facts_of(kind_); }
  StreamPoint after() const override { return after_; }
  Status issue(QueueCore&) override { return {}; }
  Result<std::unique_ptr<Operation>> hold() override {
    return std::unique_ptr<Operation>(std::make_unique<BarrierOperation>(kind_, after_));
  }

 private:
  ProfileKind kind_;
  StreamPoint after_;
};

}  // namespace halyard::hip
