// Findings: each is reported once for a pair of places.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace halyard::vgpu::coherence {

enum class Mistake : uint8_t {
  kStaleRead,        // a cache may still have what was there before
  kUnreleasedRead,   // what was written may still be in the writer's cache only
  kUnreleasedWrite,  // ... and be written back over what is written now
  kUnreleasedFree,   // ... and be written back over what the memory's next owner writes
  kInFlight,         // the writer has not waited for its store
  kOverlap,          // packets that nothing orders
  kKernarg,          // arguments changed before the kernel was done with them
  kCode,             // code changed, and the instruction cache was not told
  kHostWindow,       // the host's write may still be in the HDP
};

// "stale read", ...: the first words of a report.
const char* text_of(Mistake mistake);

struct Reliance;  // reliances.h

// A finding, in the words of its report.
struct Finding {
  Mistake mistake = Mistake::kStaleRead;
  std::string where;    // "kernel vadd on gfx900", "a copy by SDMA queue 3 of GPU 1"
  std::string access;   // "work-group (0, 0, 0), wave 1, lane 3 reads 4 bytes at …, which …"
  std::string history;  // who wrote, since when
  std::string cure;     // which fence at which place is missing
  std::string place;    // the instruction; may be empty
  // Not null: the vendor's runtime is known to rely on it, and the finding is a note.
  const Reliance* relied_on = nullptr;
};

// Not for several threads at once.
class Findings {
 public:
  using Report = std::function<void(std::string_view)>;
  // `notes`: of what the vendor's runtime relies on, too.
  explicit Findings(Report report, bool notes = false)
      : report_(std::move(report)), notes_(notes) {}

  bool notes() const { return notes_; }

  // False if this pair of places was already reported.
  bool is_new(Mistake mistake, uint64_t reader, uint64_t writer) {
    return told_.emplace(mistake, reader, writer).second;
  }
  void tell(const Finding& finding) const;

 private:
  Report report_;
  const bool notes_;
  std::set<std::tuple<Mistake, uint64_t, uint64_t>> told_;
};

}  // namespace halyard::vgpu::coherence
