// The history of dispatches and copies, and of their instructions that wrote memory.
//
// Findings name the writer of bytes long after its end, so each piece of work and each place that
// wrote gets a number. Only the newest ones and unfinished work are kept; older work is "an earlier
// dispatch or copy".
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace halyard::vgpu::coherence {

// Scopes as packet headers have them (HSA System Architecture 1.2, 2.9.1).
enum class Scope : uint8_t { kNone = 0, kAgent = 1, kSystem = 2 };
const char* text_of(Scope scope);

using WorkId = uint32_t;    // 0: none
using AuthorId = uint32_t;  // 0: none, or the host

enum class WorkKind : uint8_t { kDispatch, kBarrier, kCopy };

// One packet of a queue.
struct Work {
  WorkKind kind = WorkKind::kDispatch;
  uint32_t node = 0;
  uint32_t queue = 0;
  uint64_t packet = 0;    // AQL: the packet's index; SDMA: its byte; PM4: its number
  uint64_t position = 0;  // in its ring, as far as that says what had been written when
  bool is_pm4 = false;
  uint64_t number = 0;  // dispatches and copies are counted from 1 in the process
  Scope acquire = Scope::kSystem;
  Scope release = Scope::kSystem;
  bool barrier = true;
  // A PM4 dispatch has no fences: `acquire` is what packets before it have done.
  // Packets of the same queue with a smaller index had ended before this one could start, and
  // these.
  uint64_t ordered_below = 0;
  std::vector<uint64_t> also_ordered;
  uint64_t kernel_object = 0;
  std::string name;    // of a kernel; empty while unknown
  uint64_t ended = 0;  // the model's clock; 0: has not
};

// A place that wrote memory.
struct Author {
  WorkId work = 0;
  std::string place;       // "at +0x0040 (global_store_dword …)"; empty for copies
  bool is_atomic = false;  // two of those need no order
};

class History {
 public:
  WorkId add(Work work);
  // Null if it is too old.
  Work* work(WorkId id);
  const Work* work(WorkId id) const;

  // The author for an instruction of `work`; the same for the same pc.
  AuthorId author(WorkId work, uint64_t pc, const std::string& place, bool is_atomic = false);
  const Author* author(AuthorId id) const;

  // "dispatch 7 (kernel vadd, packet 3 of queue 2 on GPU 1)", "copy 3 (SDMA queue 5 of GPU 1)".
  std::string describe(WorkId id) const;
  // The same with the place within it.
  std::string describe_author(AuthorId id) const;

 private:
  std::deque<Work> works_;
  WorkId first_work_ = 1;
  std::unordered_map<WorkId, Work> running_;  // older ones that had not ended
  uint64_t dispatches_ = 0;
  uint64_t copies_ = 0;
  std::deque<Author> authors_;
  AuthorId first_author_ = 1;
  // Of the newest pieces of work, by work and pc.
  std::unordered_map<uint64_t, AuthorId> by_place_;
};

}  // namespace halyard::vgpu::coherence
