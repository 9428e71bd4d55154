// QueueOperation: what the driver core knows of an operation of a queue. A driver adds how it gets
// onto the device.
#pragma once

#include "hal/queue.h"
#include "hal/types.h"
#include "plugins/sdk/operation_facts.h"

namespace halyard {

class QueueOperation {
 public:
  QueueOperation() = default;
  QueueOperation(const QueueOperation&) = delete;
  QueueOperation& operator=(const QueueOperation&) = delete;
  virtual ~QueueOperation() = default;

  // What a profile says of it.
  virtual OperationFacts facts() const = 0;
  StringView name() const { return facts().name; }
  // Whether it goes onto the device only when all that other queues do for its waits is done: what
  // is behind a wait on the device runs even if that fails.
  virtual bool waits_on_host() const { return false; }
  // It will never run. Before its signals fail; any thread, more than once.
  virtual void cancel() {}

  // Whether the host has a part in it. Then run() comes first, on a thread that may block, when
  // everything before it is done; it tells the completion once, and touches nothing of its own
  // afterwards. It goes onto the device behind that if issues_after_run().
  virtual bool on_host() const { return false; }
  virtual void run(HostCompletion& completion) { completion.complete({}); }
  virtual bool issues_after_run() const { return false; }
};

}  // namespace halyard
