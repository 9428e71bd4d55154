// Managed memory: what does not depend on a vendor's API.
#pragma once

#include <functional>
#include <utility>

#include "hal/buffer.h"
#include "hal/queue.h"
#include "hal/status.h"
#include "plugins/sdk/operation.h"

namespace halyard {

// The vendors' runtimes wait on the host until pages have moved, so a host thread does it when it
// is the operation's turn.
class PrefetchOperation final : public QueueOperation {
 public:
  // `move` returns when the pages have moved.
  using Move = std::function<Status(const BufferRange& range, PrefetchTarget to)>;
  PrefetchOperation(const BufferRange& range, PrefetchTarget to, Move move)
      : range_(range), to_(to), move_(std::move(move)), keep_(Ref<Buffer>::retain(range.buffer)) {}
  OperationFacts facts() const override { return facts_of(ProfileKind::kCopy, range_.length); }
  bool on_host() const override { return true; }
  void run(HostCompletion& completion) override { completion.complete(move_(range_, to_)); }

 private:
  BufferRange range_;
  PrefetchTarget to_;
  Move move_;
  Ref<Buffer> keep_;
};

// FAILED_PRECONDITION unless the buffer's memory is managed.
Status check_is_managed(const char* operation, const Buffer& buffer, bool is_managed);

}  // namespace halyard
