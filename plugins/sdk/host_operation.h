// Operations that the host carries out in a queue's order: host functions, and files.
#pragma once

#include <functional>
#include <utility>

#include "hal/queue.h"
#include "hal/status.h"
#include "plugins/sdk/file_work.h"
#include "plugins/sdk/operation.h"

namespace halyard {

class HostCallOperation final : public QueueOperation {
 public:
  explicit HostCallOperation(const HostCall& call) : call_(known_part(call)) {}
  OperationFacts facts() const override { return facts_of(ProfileKind::kHostCall); }
  bool on_host() const override { return true; }
  void run(HostCompletion& completion) override {
    const HostCall call = call_;  // this may be gone as soon as the call is completed
    call.run(completion);
  }

 private:
  HostCall call_;
};

class FileOperation final : public QueueOperation {
 public:
  // `transfer` moves the bytes, and returns when that is done.
  using Transfer = std::function<Status(const FileWork& work)>;
  FileOperation(const FileWork& work, Transfer transfer)
      : work_(work.held()), transfer_(std::move(transfer)) {}
  OperationFacts facts() const override { return work_.facts(); }
  bool on_host() const override { return true; }
  void run(HostCompletion& completion) override { completion.complete(transfer_(work_)); }

 private:
  FileWork work_;
  Transfer transfer_;
};

}  // namespace halyard
