// Operations that the host carries out in a queue's order: host functions, and files.
#pragma once

#include <memory>
#include <utility>

#include "drivers/amdgpu/operation.h"
#include "drivers/common/file_work.h"
#include "hal/queue.h"

namespace halyard::amdgpu {

class HostCallOperation final : public Operation {
 public:
  explicit HostCallOperation(const HostCall& call) : call_(known_part(call)) {}
  uint32_t packets() const override { return 1; }
  bool on_host() const override { return true; }
  // Of a deferred call: returns when it is completed.
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override { return facts_of(ProfileKind::kHostCall); }

 private:
  HostCall call_;
};

class FileOperation final : public Operation {
 public:
  explicit FileOperation(FileWork work) : work_(std::move(work)) {}
  uint32_t packets() const override { return 1; }
  bool on_host() const override { return true; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override { return work_.facts(); }

 private:
  FileWork work_;
};

}  // namespace halyard::amdgpu
