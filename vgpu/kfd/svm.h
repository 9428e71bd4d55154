// Shared virtual memory: the program's own memory, which GPUs access at its own addresses.
//
// As in Linux, amdkfd/kfd_svm.c, less migration: memory stays where it is, and locations are only
// remembered. A range that the program has named has attributes. GPUs with access have it in their
// maps. Where GPUs retry faults (XNACK), an access to memory that the program has not named makes a
// range with the attributes of a new one, as long as the program may read the memory itself.
//
// The driver hears of the end of memory by munmap() and its kin. What the C library itself unmaps
// (a large block that is freed) keeps its range until the driver hears of these addresses again.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>

#include "vgpu/kfd/abi.h"
#include "vgpu/machine/machine.h"

namespace halyard::vgpu::kfd {

class Buffers;

// Functions that can fail return 0 or an errno value below 0. Any thread.
class Svm final : public machine::RetryHandler {
 public:
  // Both outlive this.
  Svm(machine::Machine& machine, const Buffers& buffers);
  ~Svm() override;
  Svm(const Svm&) = delete;
  Svm& operator=(const Svm&) = delete;

  // A GPU of the machine has it. If not, the driver is one that was built without SVM.
  bool is_supported() const { return supported_ != 0; }

  bool xnack() const { return xnack_.load(std::memory_order_acquire); }
  // EPERM unless every GPU can retry. The caller has made sure that there are no queues.
  int set_xnack(bool enabled);

  // [begin, begin + size) is in pages and not empty.
  int set(uint64_t begin, uint64_t size, std::span<const abi::SvmAttribute> attributes);
  // Fills in values that hold for the whole range.
  int get(uint64_t begin, uint64_t size, std::span<abi::SvmAttribute> attributes) const;

  // Whatever the program had there is gone. In pages.
  void unmapped(uint64_t begin, uint64_t size);

  bool retry(uint32_t node, uint64_t address) override;

 private:
  using Nodes = uint64_t;  // a set of GPUs: one bit for each, from node 1 on

  struct Attributes {
    uint32_t preferred = abi::kNoLocation;
    uint32_t prefetched = abi::kNoLocation;
    uint32_t flags = abi::kSvmHostAccess | abi::kSvmCoherent;
    uint32_t granularity = 9;  // of migration: log2 of pages
    Nodes access = 0;
    Nodes in_place = 0;
    bool retried = false;  // made by a retry, and not named since

    bool is_coarse() const { return (flags & abi::kSvmCoherent) == 0; }
    bool gpu_may_write() const { return (flags & abi::kSvmGpuReadOnly) == 0; }
  };
  struct Range {
    uint64_t end = 0;
    Attributes attributes;
  };
  using Ranges = std::map<uint64_t, Range>;  // by begin; apart from each other

  // What an observer of the machine's memory has been told of.
  struct Observed {
    uint64_t end = 0;
    bool is_coarse = false;
  };

  Attributes new_attributes() const;
  Nodes node_bit(uint32_t gpu_id) const;
  int check(std::span<const abi::SvmAttribute> attributes) const;
  int check_memory(uint64_t begin, uint64_t size) const;
  void apply(Attributes& to, std::span<const abi::SvmAttribute> attributes) const;
  static void apply_access(Attributes& to, abi::SvmAttributeType type, Nodes node);

  // Makes `at` a border of ranges.
  void split(uint64_t at);
  void add(uint64_t begin, uint64_t end, const Attributes& attributes);
  Ranges::iterator remove(Ranges::iterator range);
  // Changes GPUs' maps: from one set of attributes to another, of a range that is there.
  void publish(uint64_t begin, uint64_t end, const Attributes& before, const Attributes& now);
  // The first range that ends above `at`.
  Ranges::iterator first_above(uint64_t at);
  Ranges::const_iterator first_above(uint64_t at) const;

  // Under mutex_.
  bool make_accessible(Nodes node, uint64_t address);

  // If GPUs have lost access: waits for what they were about. The caller has changes_.
  void finish_taking_away();
  // Tells the machine's observer what has changed in [begin, end).
  void observe(uint64_t begin, uint64_t end);
  std::map<uint64_t, Observed> observable(uint64_t begin, uint64_t end);

  machine::Machine& machine_;
  const Buffers& buffers_;
  Nodes supported_ = 0;
  Nodes retries_ = 0;
  std::atomic<bool> xnack_{false};

  // Changes by the program come one after the other. Never taken by retry(): a GPU's thread may
  // hold what an observer waits for.
  std::mutex changes_;
  std::map<uint64_t, Observed> observed_;  // by begin; under changes_
  bool taken_away_ = false;                // from a GPU, by the change under way; under changes_
  mutable std::mutex mutex_;               // after changes_
  Ranges ranges_;
};

}  // namespace halyard::vgpu::kfd
