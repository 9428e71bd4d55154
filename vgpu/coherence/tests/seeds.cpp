#include "vgpu/coherence/tests/seeds.h"

#include <fmt/format.h>

#include <utility>

namespace halyard::vgpu::coherence::testing {
namespace {

// The words of findings, as regular expressions.

std::string kernel(const char* name, int packet, size_t gpu = 1) {
  return fmt::format(R"(dispatch [0-9]+ \(kernel {}, packet {} of queue [0-9]+ on GPU {}\))", name,
                     packet, gpu);
}
std::string instruction(const char* name) {
  return fmt::format(R"( at \+0x[0-9a-f]+ \({} [^)]*\))", name);
}
std::string copy(size_t gpu = 1) {
  return fmt::format(R"(copy [0-9]+ \(SDMA queue [0-9]+ of GPU {}\))", gpu);
}

std::string unreleased_in(const std::string& writer, const char* cache) {
  return fmt::format("written by {}; {} has them since$", writer, cache);
}

class List {
 public:
  explicit List(const Machine& machine) : machine_(machine) {}

  std::vector<Seed> take() { return std::move(seeds_); }

  void packets();
  void writes();
  void host();
  void window();
  void code();
  void groups();
  void scopes();
  void scalars();
  void peers();

 private:
  // "stale read in kernel read_words on gfx900"
  std::string in(const char* mistake, const char* name, size_t gpu = 1) const {
    return fmt::format("{} in kernel {} on {}", mistake, name, machine_.processors[gpu - 1]);
  }

  // Whether a release at agent scope leaves data in the L2 that others would need.
  bool agent_keeps_l2() const { return !machine_.has_several_l2s(); }
  // Whether the L2 holds the host's coarse-grained memory.
  bool holds_the_hosts() const { return !machine_.has_scopes(); }
  std::string unreleased(const std::string& writer) const {
    return unreleased_in(
        writer, machine_.has_several_l2s() ? "the L2 of XCD 0 of GPU 1" : "the L2 of GPU 1");
  }
  // The instructions of LLVM's code sequences.
  const char* invalidate_l1() const {
    return machine_.has_scopes() ? "buffer_inv sc1" : "buffer_wbinvl1_vol";
  }
  const char* write_back_l2() const {
    return machine_.has_scopes() ? "buffer_wbl2 sc0 sc1" : "buffer_wbl2";
  }

  const Machine& machine_;
  std::vector<Seed> seeds_;
};

std::string lane(const char* verb, const char* relation, const char* memory, int group = 0) {
  return fmt::format(
      R"(work-group \({}, 0, 0\), wave 0, lane 0 {} 4 bytes at 0x[0-9a-f]+, {}: byte [0-9]+ of the [0-9]+ bytes of {} memory)",
      group, verb, relation, memory);
}
std::string copying(const char* verb, const char* relation) {
  return fmt::format(
      R"(the copy of 256 bytes {} the line at 0x[0-9a-f]+, {}: byte [0-9]+ of the [0-9]+ bytes of GPU 1's coarse-grained memory)",
      verb, relation);
}

std::string touching(const char* touches, const char* relation, const char* memory) {
  return fmt::format("the host {} 0x[0-9a-f]+, {}: byte [0-9]+ of the [0-9]+ bytes of {} memory",
                     touches, relation, memory);
}

constexpr const char* kOlder = "where a cache may still hold older bytes";
constexpr const char* kNotInMemory = "which are not in memory yet";
constexpr const char* kInDevice = "GPU 1's coarse-grained";
constexpr const char* kInHost = "the host's coarse-grained";
constexpr const char* kByCopy =
    R"(read of unreleased data in a copy by SDMA queue [0-9]+ of GPU 1)";

std::string held(const std::string& cache, const std::string& since, const std::string& writer) {
  return fmt::format("{} may hold the line since {}; after that it was written by {}$", cache,
                     since, writer);
}
std::string acquire(const char* scope, const std::string& packet, const char* has) {
  return fmt::format(
      "an acquire fence at {} scope in {}, whose packet has {}, or in a packet between$", scope,
      packet, has);
}
std::string release(const char* scope, const std::string& packet, const char* has) {
  return fmt::format(
      "a release fence at {} scope in {}, whose packet has {}, or in a packet between$", scope,
      packet, has);
}

void List::packets() {
  const std::string write = kernel("write_words", 0);
  const std::string stored = write + instruction("global_store_dword");
  const std::string stale = in("stale read", "read_words");
  seeds_.push_back({"AcquireIsAgent",
                    holds_the_hosts(),
                    {stale, lane("reads", kOlder, kInHost),
                     held("the L2 of GPU 1", kernel("read_words", 1), copy()),
                     acquire("system", kernel("read_words", 2), "agent")},
                    acquire_is_agent});
  seeds_.push_back({"AcquireIsNone",
                    true,
                    {stale, lane("reads", kOlder, kInDevice),
                     held("the L1 of a compute unit", kernel("read_words", 0),
                          kernel("write_words", 1) + instruction("global_store_dword")),
                     acquire("agent", kernel("read_words", 2), "none")},
                    acquire_is_none});
  seeds_.push_back(
      {"AcquireIsNoneForArguments",
       true,
       {stale,
        R"(work-group \(0, 0, 0\), wave 0 reads 8 bytes at 0x[0-9a-f]+, where a cache may still hold older bytes: byte [0-9]+ of the 4096 bytes of the host's fine-grained memory)",
        held("the scalar cache of GPU 1", kernel("read_words", 0), "the host"),
        acquire("agent", kernel("read_words", 1), "none")},
       acquire_is_none_for_arguments});
  seeds_.push_back({"ReleaseIsAgentBeforeACopy",
                    agent_keeps_l2(),
                    {kByCopy, copying("reads", kNotInMemory), unreleased(stored),
                     release("system", write, "agent")},
                    release_is_agent_before_a_copy});
  seeds_.push_back(
      {"ReleaseIsNone",
       true,
       {in("read of unreleased data", "read_words"),
        lane("reads", "which an earlier packet has written and not released", kInDevice),
        "written by " + stored + "$", release("agent", write, "none")},
       release_is_none});
  // From gfx90a on, a GPU's own memory is probed.
  seeds_.push_back({"AcquireIsAgentAfterACopy",
                    !machine_.is_probed(),
                    {stale, lane("reads", kOlder, kInDevice),
                     held("the L2 of GPU 1", kernel("read_words", 0), copy()),
                     acquire("system", kernel("read_words", 1), "agent")},
                    acquire_is_agent_after_a_copy});
  seeds_.push_back({"AcquireIsAgentAfterTheHost",
                    holds_the_hosts(),
                    {stale, lane("reads", kOlder, kInHost),
                     held("the L2 of GPU 1", kernel("read_words", 0), "the host"),
                     acquire("system", kernel("read_words", 1), "agent")},
                    acquire_is_agent_after_the_host});
  const std::string overlap =
      "written by " + stored +
      ", which may still run: neither packet nor one between has the barrier bit$";
  const char* const earlier = "which an earlier packet of the queue has written";
  seeds_.push_back({"BarrierBitIsLostBeforeARead",
                    true,
                    {in("unordered packets", "read_words"), lane("reads", earlier, kInDevice),
                     overlap, "the barrier bit in " + kernel("read_words", 1) + "$"},
                    barrier_bit_is_lost_before_a_read});
  seeds_.push_back({"BarrierBitIsLostBeforeAWrite",
                    true,
                    {in("unordered packets", "overwrite_words"), lane("writes", earlier, kInDevice),
                     overlap, "the barrier bit in " + kernel("overwrite_words", 1) + "$"},
                    barrier_bit_is_lost_before_a_write});
  seeds_.push_back({"BarrierBitIsLostBehindARead",
                    true,
                    {in("unordered packets", "write_words"),
                     lane("writes", "which an earlier packet of the queue reads", kInDevice),
                     "read by " + kernel("read_words", 0) + ", which may still run",
                     "the barrier bit in " + kernel("write_words", 1) + "$"},
                    barrier_bit_is_lost_behind_a_read});
  seeds_.push_back({"BarrierPacketWaitsForNothing",
                    true,
                    {in("unordered packets", "read_words"), lane("reads", earlier, kInDevice),
                     "written by " + kernel("write_words", 1) + instruction("global_store_dword"),
                     "the barrier bit in " + kernel("read_words", 3) + "$"},
                    barrier_packet_waits_for_nothing});
  seeds_.push_back({"BarrierPacketReleasesToAgent",
                    agent_keeps_l2(),
                    {kByCopy, copying("reads", kNotInMemory), unreleased(stored),
                     release("system", write, "none")},
                    barrier_packet_releases_to_agent});
  seeds_.push_back({"BarrierPacketAcquiresFromAgent",
                    holds_the_hosts(),
                    {stale, lane("reads", kOlder, kInHost),
                     held("the L2 of GPU 1", kernel("read_words", 0), "the host"),
                     acquire("system", kernel("read_words", 2), "agent")},
                    barrier_packet_acquires_from_agent});
}

void List::writes() {
  const std::string write = kernel("write_words", 0);
  const std::string stored = write + instruction("global_store_dword");
  const char* const unwritten = "which are still to be written back";
  seeds_.push_back(
      {"CopyOverUnreleasedData",
       agent_keeps_l2(),
       {"overwrite of unreleased data in a copy by SDMA queue [0-9]+ of GPU 1",
        copying("writes", unwritten), unreleased(stored), release("system", write, "agent")},
       copy_over_unreleased_data});
  seeds_.push_back({"ReleaseIsAgentBeforeMemoryIsFreed",
                    agent_keeps_l2(),
                    {"unreleased data in freed memory in the host's program",
                     fmt::format("the host frees memory, of which bytes are still to be written "
                                 "back: byte 0 of the [0-9]+ bytes of {} memory",
                                 kInDevice),
                     unreleased(stored), release("system", write, "agent")},
                    release_is_agent_before_memory_is_freed});
  if (!machine_.has_peer()) return;
  seeds_.push_back({"KernelOfAPeerOverUnreleasedData",
                    true,
                    {in("overwrite of unreleased data", "overwrite_words", machine_.peer()),
                     lane("writes", unwritten, kInDevice), unreleased(stored),
                     release("system", write, "agent")},
                    kernel_of_a_peer_over_unreleased_data});
}

void List::host() {
  const std::string stored = kernel("write_words", 0) + instruction("global_store_dword");
  const std::string missing = release("system", kernel("write_words", 0), "agent");
  seeds_.push_back({"ReleaseIsAgentBeforeTheHostReads",
                    holds_the_hosts(),
                    {"read of unreleased data in the host's program",
                     touching("reads from", kNotInMemory, kInHost), unreleased(stored), missing},
                    release_is_agent_before_the_host_reads});
  seeds_.push_back({"ReleaseIsAgentBeforeTheHostWrites",
                    holds_the_hosts(),
                    {"overwrite of unreleased data in the host's program",
                     touching("writes to", "which are still to be written back", kInHost),
                     unreleased(stored), missing},
                    release_is_agent_before_the_host_writes});
  if (machine_.has_window()) window();
  const std::string write = kernel("write_words_and_wait", 0);
  seeds_.push_back({"CopyWhileTheKernelRuns",
                    true,
                    {kByCopy, copying("reads", kNotInMemory),
                     unreleased(write + instruction("global_store_dword")),
                     (machine_.is_probed() ? "buffer_wbl2 .*, or " : "") +
                         std::string("a wait for the end of ") + write +
                         ", whose packet releases at system scope$"},
                    copy_while_the_kernel_runs});
  seeds_.push_back(
      {"ArgumentsAreReusedEarly",
       true,
       {in("kernel arguments overwritten", "wait_for_end"),
        "byte 8 of the (12|16) bytes of arguments at 0x[0-9a-f]+ changed while " +
            kernel("wait_for_end", 0) + " ran, and its waves may read them until it ends$",
        "written by the host",
        "a wait for the dispatch's completion before its argument block is used again$"},
       arguments_are_reused_early});
  const auto reused = [&](int packet) {
    return Words{in("kernel arguments overwritten", "write_words"),
                 "byte 8 of the (12|16) bytes of arguments at 0x[0-9a-f]+ changed after the packet "
                 "of " +
                     kernel("write_words", packet) + " was published and before it started$",
                 "written by the host",
                 "a wait for the dispatch's completion before its argument block is used again$"};
  };
  seeds_.push_back(
      {"ArgumentsAreReusedBeforeTheStart", true, reused(2), arguments_are_reused_before_the_start});
  seeds_.push_back(
      {"ArgumentsAreReusedBehindAKernel", true, reused(1), arguments_are_reused_behind_a_kernel});
}

// The PCI window.
void List::window() {
  const std::string stored = kernel("write_words", 0) + instruction("global_store_dword");
  const std::string missing = release("system", kernel("write_words", 0), "agent");
  seeds_.push_back({"ReleaseIsAgentBeforeTheHostReadsVram",
                    agent_keeps_l2(),
                    {"read of unreleased data in the host's program",
                     touching("reads from", kNotInMemory, kInDevice), unreleased(stored), missing},
                    release_is_agent_before_the_host_reads_vram});
  seeds_.push_back({"ReleaseIsAgentBeforeTheHostWritesVram",
                    agent_keeps_l2(),
                    {"overwrite of unreleased data in the host's program",
                     touching("writes to", "which are still to be written back", kInDevice),
                     unreleased(stored), missing},
                    release_is_agent_before_the_host_writes_vram});
  const char* const came = "which have come through the PCI window";
  const char* const still =
      "written by the host, in .*vgpu_seeded_test\\+0x[0-9a-f]+\\), and may still be in the HDP of "
      "GPU 1$";
  const char* const flush = R"(a store to the register HDP_MEM_FLUSH_CNTL .* behind the host's)";
  seeds_.push_back(
      {"HostWriteIsNotFlushed",
       true,
       {in("host write in flight", "read_words"), lane("reads", came, kInDevice), still, flush},
       host_write_is_not_flushed});
  seeds_.push_back({"HostWriteIsNotFlushedBeforeACopy",
                    true,
                    {"host write in flight in a copy by SDMA queue [0-9]+ of GPU 1",
                     copying("reads", came), still, flush},
                    host_write_is_not_flushed_before_a_copy});
  // From gfx90a on, a GPU's own memory is probed.
  seeds_.push_back(
      {"AcquireIsAgentAfterAFlush",
       !machine_.is_probed(),
       {in("stale read", "read_words"), lane("reads", kOlder, kInDevice),
        held("the L2 of GPU 1", kernel("read_words", 0), "the host, in .*vgpu_seeded_test.*"),
        acquire("system", kernel("read_words", 1), "agent")},
       acquire_is_agent_after_a_flush});
}

void List::code() {
  Words words = {
      in("stale code", "write_constant"),
      R"(work-group \(0, 0, 0\), wave 0 runs code at 0x[0-9a-f]+, whose page has changed)",
      "written by " + copy() + "$", "an invalidation of the instruction cache"};
  seeds_.push_back({"CodeIsReplacedByACopy", true, words, code_is_replaced_by_a_copy});
  words.history =
      "written by " + kernel("write_words", 0) + instruction("global_store_dword") + "$";
  seeds_.push_back({"CodeIsReplacedByAKernel", true, words, code_is_replaced_by_a_kernel});
}

void List::groups() {
  const auto in_flight = [&](const char* name) {
    return Words{in("read of a store in flight", name),
                 lane("reads", "which another work-group has written", kInDevice, 1),
                 "written by " + kernel(name, 0) + instruction("global_store_dword") +
                     ", whose wave has not waited for its store",
                 R"(s_waitcnt vmcnt\(0\) after the store)"};
  };
  seeds_.push_back(
      {"StoreIsNotWaitedFor", true, in_flight("hand_over_no_wait"), store_is_not_waited_for});
  seeds_.push_back({"WaitCountIsOneTooHigh", true, in_flight("hand_over_short_wait"),
                    wait_count_is_one_too_high});
  const char* const name = "hand_over_no_invalidate";
  seeds_.push_back({"L1IsNotInvalidated",
                    true,
                    {in("stale read", name), lane("reads", kOlder, kInDevice, 1),
                     held("the L1 of this work-group's compute unit", "this dispatch first read it",
                          kernel(name, 0) + instruction("global_store_dword")),
                     std::string(invalidate_l1()) +
                         " between the operation that notified this wave of the write, and this "
                         "read$"},
                    l1_is_not_invalidated});
  if (machine_.has_scopes()) scopes();
}

// A work-group's scope is too narrow for another one, on whichever die that runs.
void List::scopes() {
  const auto written = [](const char* name) {
    return kernel(name, 0) + instruction("global_store_dword");
  };
  const char* name = "hand_over_invalidate_in_group";
  seeds_.push_back({"L1IsInvalidatedForTheGroupOnly",
                    true,
                    {in("stale read", name), lane("reads", kOlder, kInDevice, 1),
                     held("the L1 of this work-group's compute unit", "this dispatch first read it",
                          written(name)),
                     "buffer_inv sc1 between the operation that notified this wave"},
                    l1_is_invalidated_for_the_group_only});
  const auto not_there = [&](const char* kernel) {
    return Words{in("read of unreleased data", kernel), lane("reads", kNotInMemory, kInDevice, 1),
                 unreleased(written(kernel)),
                 R"(buffer_wbl2 sc1 and s_waitcnt vmcnt\(0\) after the store)"};
  };
  seeds_.push_back({"L2OfAnXcdIsNotWrittenBack", machine_.has_several_l2s(),
                    not_there("hand_over_no_write_back"), l2_of_an_xcd_is_not_written_back});
  seeds_.push_back({"L2OfAnXcdIsWrittenBackForTheGroupOnly", machine_.has_several_l2s(),
                    not_there("hand_over_write_back_in_group"),
                    l2_of_an_xcd_is_written_back_for_the_group_only});
}

void List::scalars() {
  seeds_.push_back(
      {"ScalarStoreIsNotWrittenBack",
       true,
       {in("read of unreleased data", "read_words"), lane("reads", kNotInMemory, kInDevice),
        unreleased_in(kernel("scalar_store_no_write_back", 0) + instruction("s_store_dword"),
                      "the scalar cache of GPU 1"),
        "s_dcache_wb after the store$"},
       scalar_store_is_not_written_back});
  const char* const name = "scalar_read_again_no_invalidate";
  seeds_.push_back(
      {"ScalarCacheIsNotInvalidated",
       true,
       {in("stale read", name),
        R"(work-group \(0, 0, 0\), wave 0 reads 4 bytes at 0x[0-9a-f]+, where a cache)",
        held("the scalar cache of GPU 1", "this dispatch first read it",
             kernel(name, 0) + instruction("global_store_dword")),
        "s_dcache_inv between the operation that notified this wave of the write, and this read$"},
       scalar_cache_is_not_invalidated});
  const char* const hasty = "scalar_read_again_no_wait";
  seeds_.push_back(
      {"ScalarLoadOvertakesAStore",
       true,
       {in("read of a store in flight", hasty),
        R"(work-group \(0, 0, 0\), wave 0 reads 4 bytes at 0x[0-9a-f]+, which a vector)",
        "written by " + kernel(hasty, 0) + instruction("global_store_dword") +
            ", whose wave has not waited for its store",
        R"(s_waitcnt vmcnt\(0\) between the store and this read by the scalar cache$)"},
       scalar_load_overtakes_a_store});
}

void List::peers() {
  if (!machine_.has_peer()) return;
  const size_t peer = machine_.peer();
  const std::string write = kernel("write_words", 0);
  const std::string stored = write + instruction("global_store_dword");
  const std::string published = kernel("publish_to_agent", 0) + instruction("global_store_dword");
  seeds_.push_back(
      {"ReleaseIsAgentBeforeAPeer",
       true,
       {in("read of unreleased data", "read_words", peer), lane("reads", kNotInMemory, kInDevice),
        unreleased(stored), release("system", write, "agent")},
       release_is_agent_before_a_peer});
  seeds_.push_back(
      {"AcquireIsAgentOnAPeer",
       true,
       {in("stale read", "read_words", peer), lane("reads", kOlder, kInDevice),
        held(fmt::format("the L2 of GPU {}", peer), kernel("read_words", 0, peer), stored),
        acquire("system", kernel("read_words", 1, peer), "agent")},
       acquire_is_agent_on_a_peer});
  seeds_.push_back({"AcquireIsAgentAfterAPeer",
                    !machine_.is_probed(),
                    {in("stale read", "read_words"), lane("reads", kOlder, kInDevice),
                     held("the L2 of GPU 1", kernel("read_words", 0),
                          kernel("write_words", 0, peer) + instruction("global_store_dword")),
                     acquire("system", kernel("read_words", 1), "agent")},
                    acquire_is_agent_after_a_peer});
  seeds_.push_back(
      {"StoreForAPeerIsNotWaitedFor",
       true,
       {in("read of a store in flight", "await_of_agent", peer),
        lane("reads", "which another work-group has written", "the host's fine-grained"),
        "written by " + kernel("publish_no_wait", 0) + instruction("global_store_dword") +
            ", whose wave has not waited for its store",
        R"(s_waitcnt vmcnt\(0\) after the store)"},
       store_for_a_peer_is_not_waited_for});
  const std::string ending = kernel("publish_to_agent", 0);
  const std::string in_peer = fmt::format("GPU {}'s coarse-grained", peer);
  seeds_.push_back({"CoarseGrainedMemoryIsShared",
                    true,
                    {in("read of unreleased data", "await_of_agent", peer),
                     lane("reads", kNotInMemory, in_peer.c_str()), unreleased(published),
                     machine_.is_probed() ? "buffer_wbl2 " : "a wait for the end of " + ending},
                    coarse_grained_memory_is_shared});
  if (!machine_.is_probed() || !machine_.is_probed(peer)) return;
  seeds_.push_back({"L2IsNotWrittenBack",
                    true,
                    {in("read of unreleased data", "await_of_system", peer),
                     lane("reads", kNotInMemory, kInDevice), unreleased(published),
                     std::string(write_back_l2()) + R"( and s_waitcnt vmcnt\(0\) after the store)"},
                    l2_is_not_written_back});
  seeds_.push_back(
      {"L2IsNotInvalidated",
       true,
       {in("stale read", "await_of_agent", peer), lane("reads", kOlder, kInDevice),
        held(fmt::format("the L2 of GPU {}", peer), "this dispatch first read it",
             kernel("publish_to_system", 0) + instruction("global_store_dword")),
        std::string(machine_.has_scopes() ? "buffer_inv sc0 sc1" : "buffer_invl2") +
            " between the operation that notified this wave of the write, and this read$"},
       l2_is_not_invalidated});
}

}  // namespace

std::vector<Seed> seeds(const Machine& machine) {
  List list(machine);
  list.packets();
  list.writes();
  list.host();
  list.code();
  list.groups();
  list.scalars();
  list.peers();
  return list.take();
}

}  // namespace halyard::vgpu::coherence::testing
