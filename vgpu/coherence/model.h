// A model of the caches of all GPUs of the machine.
//
// Memory itself stays coherent, and each access gets the newest data. Beside memory, the model
// keeps the contents that each cache could have in the worst case, in which it evicts nothing. An
// access that hardware could have answered differently is a finding. The model has, for each GPU,
//
//   - the vector L1 of a compute unit, as one for each work-group (two work-groups need not share
//     one), written through, invalidated by buffer_wbinvl1 and by a packet's acquire fence;
//   - one scalar cache, invalidated by s_dcache_inv and by a packet's acquire fence;
//   - the L2, which bypasses, keeps or probes a page as its memory type says (caching.h), written
//     back by a release and invalidated by an acquire at system scope; of a GPU with several XCDs
//     one for each, which fences at agent scope write back and invalidate too;
//   - stores that no s_waitcnt has waited for;
//
// and also the host, whose writes appear as memory that changed without another writer, and the
// copy engines, which bypass the L2s.
//
// The order of events is the order in which they happened. So the model finds nothing in a program
// whose order is correct by chance. Packets of one queue are an exception, because a queue here
// executes packets one after the other that hardware may overlap.
//
// All methods require a Lock. A kernel's access holds it from before the instruction until after
// it, so that only the host can come between.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/coherence/findings.h"
#include "vgpu/coherence/history.h"
#include "vgpu/coherence/host_writers.h"
#include "vgpu/coherence/shadow.h"
#include "vgpu/queue/packet_observer.h"

namespace halyard::vgpu::coherence {

struct GpuFacts {
  uint32_t node = 1;
  std::string processor;  // "gfx90a"
  CachingFacts caching;
  uint32_t xcds = 1;  // each has an L2
  // What a wave invalidates and writes back caches with; null: it cannot.
  const char* invalidate_l1 = "buffer_wbinvl1_vol";
  const char* invalidate_l2 = nullptr;
  const char* write_back_l2 = nullptr;
};

// Of a GPU, from the facts of its processor.
GpuFacts facts_of(uint32_t node, const std::string& processor, uint32_t xcds = 1, bool apu = false);

// The bytes of one line that an instruction or a copy touches.
struct LineAccess {
  uint64_t line = 0;  // the host's address of its first byte
  uint64_t mask = 0;
};

// The name of an access in findings; called only for a finding.
struct AccessText {
  std::string where;   // Finding::where
  std::string access;  // "work-group (0, 0, 0), wave 1, lane 3 reads 4 bytes at 0x7f…"
  std::string place;   // Finding::place
};

class AccessNames {
 public:
  virtual ~AccessNames() = default;
  // Tells the first access that touches one of the bytes of `mask` in `line`.
  virtual AccessText describe(uint64_t line, uint64_t mask) const = 0;
  // The access's place in the program: the same for every run of the same instruction.
  virtual uint64_t place() const = 0;
};

// A store that its wave has not waited for. Atomics are left out: loads that meet them without any
// order are the first look of a compare-and-swap loop.
struct PendingStore {
  uint64_t line = 0;
  uint64_t mask = 0;
  uint64_t operation = 0;  // the wave's vector memory operations are counted
};

struct WaveState {
  uint64_t operations = 0;  // of vector memory, so far
  std::deque<PendingStore> pending;
};

// A work-group's view: the L1 of its compute unit, and what its waves have under way.
struct GroupView {
  uint32_t gpu = 0;
  uint32_t l2 = 0;  // that of its XCD: Model::l2_of()
  WorkId work = 0;
  std::unordered_map<uint64_t, CachedLine> l1;
  bool invalidated = false;  // it has dropped its L1, and what others left there
  std::vector<WaveState> waves;
};

enum class Use : uint8_t { kLoad, kStore, kAtomic };

// A vector memory instruction.
struct VectorAccess {
  Use use = Use::kLoad;
  bool past_l1 = false;       // a load that the L1 does not answer
  bool synchronises = false;  // an atomic, or a load as waves synchronize by
  // The scope of the instruction's bits (SC0, SC1), where it has some.
  Scope scope = Scope::kNone;
  uint32_t wave = 0;
  AuthorId author = 0;  // of a store or an atomic
  const std::vector<LineAccess>* lines = nullptr;
};

class Model {
 public:
  // `notes`: see Findings.
  Model(std::vector<GpuFacts> gpus, Findings::Report report, bool notes = false);

  // Holds the model. A thread has one at most.
  class Lock {
   public:
    explicit Lock(Model& model) : lock_(model.mutex_) { is_held = true; }
    ~Lock() { is_held = false; }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    // Whether this thread has one, of whichever model.
    static bool held() { return is_held; }

   private:
    std::lock_guard<std::mutex> lock_;
    // In the static TLS block: a signal's handler looks at it.
    [[gnu::tls_model("initial-exec")]] static thread_local bool is_held;
  };

  History& history() { return history_; }
  Findings& findings() { return findings_; }
  const GpuFacts& gpu(uint32_t gpu) const { return gpus_[gpu].facts; }
  // The L2 of a GPU's XCD, as all L2s are counted.
  uint32_t l2_of(uint32_t gpu, uint32_t xcd) const { return gpus_[gpu].first_l2 + xcd; }
  std::optional<Allocation> allocation(uint64_t address) const { return shadow_.find(address); }

  void allocated(const Allocation& allocation);
  void freed(uint64_t begin);
  // As freed(), but nothing of it is left in a cache.
  void forget(uint64_t begin);
  void shared(uint64_t begin);
  // One or all queues of the GPU have stopped: the program may be unable to release the L2's data
  // before it frees memory.
  void lost(uint32_t gpu) { gpus_[gpu].is_lost = true; }

  // Where the host flushes the HDP of a GPU: it stores anything but 0 there.
  void set_window_register(uint32_t gpu, uint32_t* hdp_flush) { gpus_[gpu].hdp_flush = hdp_flush; }
  // Takes rights to pages from the host (host_view.h). Call it before the first allocation.
  void guard_host_pages() { guards_ = true; }
  // The host is about to touch an address of such a page.
  void host_touches(uint64_t address, bool is_write, const AccessNames& names);
  // Gives the page to the process, as far as the access needs. False if it was never taken.
  bool give_back_to_read(uint64_t address);
  bool give_back_to_write(uint64_t address, HostWriterId writer);
  bool give_back_to_gpu(uint64_t address);
  // Whose code stores to the page of an address from now on, if it is reached through the PCI
  // window. Until then, and after a GPU has written to it, nobody knows.
  void host_writes(uint64_t address, HostWriterId writer);
  HostWriters& host_writers() { return host_writers_; }
  // Other code of the host's runs now: whose stores come next is asked anew.
  void watch_host_again();

  // A packet's fences. begin() when its acquire fence takes effect, end() when its release fence
  // does. Copies have none.
  WorkId begin(Work work);
  void acquire(uint32_t gpu, Scope scope);
  void end(WorkId work);
  // PM4 packets, which do to each cache what they say.
  void acquire(uint32_t gpu, const queue::PacketObserver::Caches& caches);
  void release(uint32_t gpu, const queue::PacketObserver::Caches& caches);
  // All waves before have ended: their stores are in the L2, or beyond.
  void flush_work(uint32_t gpu);
  void flush_window(uint32_t gpu) { ++gpus_[gpu].flushes; }

  // Work-groups. A view that is left takes its L1 along: another one may find its lines there.
  void enter(GroupView& view, uint32_t waves);
  void leave(GroupView& view);

  // Before and after a vector memory instruction; `past` is skipped if the instruction faulted.
  void before(GroupView& view, const VectorAccess& access, const AccessNames& names);
  void after(GroupView& view, const VectorAccess& access);
  // s_waitcnt vmcnt(count).
  void wait(GroupView& view, uint32_t wave, uint32_t count);

  void before_scalar(GroupView& view, Use use, const std::vector<LineAccess>& lines,
                     const AccessNames& names);
  void after_scalar(GroupView& view, Use use, AuthorId author,
                    const std::vector<LineAccess>& lines);

  // Cache instructions.
  static void invalidate_l1(GroupView& view) {
    view.l1.clear();
    view.invalidated = true;
  }
  // Of the L2 of one XCD. At agent scope they do nothing to the only L2 of a GPU.
  void write_back_l2(const GroupView& view, Scope scope = Scope::kSystem);
  void invalidate_l2(const GroupView& view, Scope scope = Scope::kSystem);
  void invalidate_scalar(uint32_t gpu) { ++gpus_[gpu].scalar_generation; }
  void write_back_scalar(uint32_t gpu);
  void invalidate_code(uint32_t gpu) { gpus_[gpu].code.clear(); }

  // A wave of `gpu` runs code in a page, which is `memory` now. If the instruction cache may hold
  // other code: the first byte that differs, and who wrote it.
  struct ChangedCode {
    uint64_t address = 0;
    std::string writer;
  };
  std::optional<ChangedCode> fetch_code(uint32_t gpu, uint64_t page, const uint8_t* memory);

  // A copy engine of `gpu` reads, is about to write, or has written, [begin, begin + size). PM4
  // packets can do so through the L2.
  void copy_reads(WorkId work, uint64_t begin, uint64_t size, const AccessNames& names,
                  bool through_l2 = false);
  void copy_writes(WorkId work, uint64_t begin, uint64_t size, const AccessNames& names,
                   bool through_l2 = false);
  void copy_wrote(WorkId work, uint64_t begin, uint64_t size, bool through_l2 = false);

 private:
  struct Gpu {
    GpuFacts facts;
    uint32_t first_l2 = 0;
    bool is_lost = false;
    uint32_t* hdp_flush = nullptr;
    uint64_t flushes = 0;  // that have been seen
    uint64_t scalar_generation = 1;
    std::vector<ShadowPage*> scalar_dirty;  // with bytes that only the scalar cache has
    uint64_t released = 0;                  // when a packet last released at agent scope or wider
    std::unordered_map<uint64_t, std::vector<uint8_t>> code;  // by page, as it was fetched
    // What work-groups that are gone have left in the L1s since the last acquire.
    struct Left {
      WorkId work = 0;
      std::unordered_map<uint64_t, CachedLine> l1;
    };
    std::vector<Left> left;
    size_t left_lines = 0;
  };

  struct L2 {
    uint32_t gpu = 0;
    uint64_t generation = 1;
    std::vector<ShadowPage*> dirty;    // with bytes that only this L2 has
    std::vector<ShadowPage*> exposed;  // dirty, and the host may touch it unseen
  };

  // The source and the kind of an access.
  struct Reader {
    uint32_t gpu = 0;
    uint32_t l2 = 0;
    WorkId work = 0;
    const AccessNames* names = nullptr;
    bool reads = true;           // or writes only
    bool past_l2 = false;        // a copy engine, or the host
    Scope scope = Scope::kNone;  // of the instruction's bits
    bool synchronises = false;   // an atomic, or a load as waves synchronize by
  };

  void release(uint32_t gpu, Scope scope);
  bool has_several_l2s(uint32_t gpu) const { return gpus_[gpu].facts.xcds > 1; }
  // Whether a fence of a scope is for the GPU's L2s.
  bool reaches_l2s(uint32_t gpu, Scope scope) const {
    return scope == Scope::kSystem || (scope == Scope::kAgent && has_several_l2s(gpu));
  }
  void write_back(L2& l2, uint32_t index);
  void write_back_l2s(uint32_t gpu);
  void landed(const PendingStore& store);
  Caching caching_of(const ShadowPage& page, uint32_t gpu) const;
  void drop_l2s(uint32_t gpu);
  CachedPage& l2_page(ShadowPage& page, uint32_t l2);
  CachedPage& scalar_page(ShadowPage& page, uint32_t gpu);
  void expose(uint32_t l2, ShadowPage& page);
  void take_exposed(uint32_t gpu);
  bool give_back(uint64_t address, HostRights rights);
  void give_back_all(const Allocation& allocation);
  void watch(ShadowPage& page);
  static void settle(ShadowPage& page);
  void open_for_gpu(ShadowPage& page);
  bool open(const Allocation& allocation);
  void watch_opened();
  void stop_watching(const Allocation& allocation);
  void take_again(const Allocation& allocation);
  static void list_dirty(std::vector<ShadowPage*>& list, CachedPage& cached, ShadowPage& page);

  void check_order(const Reader& reader, const ShadowPage& page, const LineAccess& at);
  // True if there are such bytes.
  bool check_l2s(const Reader& reader, const ShadowPage& page, const LineAccess& at);
  void check_scalar(const Reader& reader, const ShadowPage& page, const LineAccess& at);
  // Of a page that is freed.
  void check_freed(const ShadowPage& page, uint32_t l2);
  void check_window(const Reader& reader, ShadowPage& page, const LineAccess& at);
  static void know(ShadowPage& page, const LineAccess& at);
  // `in_order`: the work-group whose stores the access comes behind; null for scalar loads, copies.
  void check_flight(const GroupView* in_order, const Reader& reader, const ShadowPage& page,
                    const LineAccess& at);
  void read_l1(GroupView& view, const Reader& reader, const ShadowPage& page, const LineAccess& at);
  void read_l2(const Reader& reader, ShadowPage& page, const LineAccess& at);
  void read_scalar(const Reader& reader, ShadowPage& page, const LineAccess& at);
  void check_copy(WorkId id, uint64_t begin, uint64_t size, const AccessNames& names, bool reads,
                  bool through_l2);
  // `through`: to memory, so that the L2 has nothing that memory has not.
  void write_l2(uint32_t l2, WorkId work, ShadowPage& page, const LineAccess& at,
                bool through = false);
  void wrote(ShadowPage& page, const LineAccess& at, AuthorId author);
  static void read(ShadowPage& page, const LineAccess& at, WorkId work);
  // The writer of bytes, if known.
  struct Writer {
    WorkId work = 0;
    uint64_t place = 0;  // the same for every run of the same instruction
    std::string name;
    std::string library;  // of the host's code, if known
  };
  // `otherwise`: whose they are if they are not those that were written last; 0: the host's.
  Writer writer_of(const ShadowPage& page, const LineAccess& at, WorkId otherwise = 0) const;
  Writer writer_named(WorkId work) const;
  // Of the host's stores through the PCI window.
  Writer host_writer_of(const ShadowPage& page, unsigned line) const;
  static bool overlaps(const Work* earlier, const Work* work);
  static bool is_of_own_atomics(const Reader& reader, const ShadowPage& page, const LineAccess& at);
  void report_stale(const Reader& reader, const ShadowPage& page, const LineAccess& stale,
                    const std::string& cache, const CachedLine& line, const std::string& cure);
  // `before` and `after` stand around the writer's name.
  void report(Mistake mistake, const Reader& reader, const ShadowPage& page, const LineAccess& at,
              const std::string& relation, const std::string& before, const Writer& writer,
              const std::string& after, const std::string& cure);
  std::string name_of(WorkId id) const;
  std::string fence_in(WorkId work, const char* fence, const char* scope) const;
  std::string packet_at(WorkId work, const char* fence, const char* scope) const;
  std::string missing_acquire(const Reader& reader, WorkId filler, Scope scope,
                              const std::string& instruction) const;
  // The instruction, and its place in a kernel: behind the notification of a write.
  static std::string cure_in_kernel(const std::string& instruction);
  std::string missing_write_back(uint32_t gpu, WorkId writer, Scope scope) const;
  // "the L2 of GPU 1", "the L2 of XCD 3 of GPU 1".
  std::string name_of_l2(uint32_t l2) const;

  std::mutex mutex_;
  bool guards_ = false;
  HostWriters host_writers_;
  std::vector<Allocation> opened_;       // for GPUs' writes, since packets ended last
  std::deque<ShadowPage*> host_opened_;  // for the host's, the oldest first
  std::string last_library_;             // whose code the host's last one was
  uint32_t pieces_ = 0;                  // of memory that is watched
  std::vector<Gpu> gpus_;
  std::vector<L2> l2s_;
  Shadow shadow_;
  History history_;
  Findings findings_;
  uint64_t clock_ = 0;   // counts packets that end
  uint64_t writes_ = 0;  // counts lines that kernels and copies write
  // Stores in flight: of the work-groups that run, and of waves that have ended without waiting,
  // by dispatch and line.
  std::vector<GroupView*> views_;
  std::unordered_map<WorkId, std::unordered_map<uint64_t, std::vector<PendingStore>>> left_behind_;
};

}  // namespace halyard::vgpu::coherence
