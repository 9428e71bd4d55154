#include "vgpu/coherence/tests/seeded_programs.h"

#include <sched.h>

#include <cstring>

namespace halyard::vgpu::coherence::testing {
namespace {

constexpr auto kNone = HSA_FENCE_SCOPE_NONE;
constexpr auto kAgent = HSA_FENCE_SCOPE_AGENT;
constexpr auto kSystem = HSA_FENCE_SCOPE_SYSTEM;

hsa_fence_scope_t if_wrong(bool mistake, hsa_fence_scope_t wrong, hsa_fence_scope_t right) {
  return mistake ? wrong : right;
}

constexpr size_t kBytes = 256;  // a word for each lane of a wave

}  // namespace

// Packets' fences.

void acquire_is_agent(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const source = program.memory_of(gpu);
  uint32_t* const data = program.coarse_host_memory();
  queue.run({"write_words", {at(source), 1}});
  queue.run({"read_words", {at(data)}});
  program.copy(data, nullptr, source, &gpu, kBytes);
  queue.run({"read_words", {at(data)}, {.acquire = if_wrong(mistake, kAgent, kSystem)}});
}

void acquire_is_none(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.run({"read_words", {at(data)}});
  queue.run({"write_words", {at(data), 1}, {.acquire = kNone}});
  queue.run({"read_words", {at(data)}, {.acquire = if_wrong(mistake, kNone, kAgent)}});
}

void acquire_is_none_for_arguments(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  void* const block = program.arguments();
  queue.run({"read_words", {at(program.memory_of(gpu))}, {}, 64, block});
  queue.run({"read_words",
             {at(program.memory_of(gpu))},
             {.acquire = if_wrong(mistake, kNone, kAgent)},
             64,
             block});
}

void release_is_agent_before_a_copy(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  program.copy(program.fine_host_memory(), nullptr, data, &gpu, kBytes);
}

void release_is_none(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue writer(program, gpu);
  Queue reader(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  writer.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kNone, kAgent)}});
  reader.run({"read_words", {at(data)}, {.acquire = kAgent}});
}

void release_is_agent_before_a_peer(Program& program, const Machine& machine, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue writer(program, gpu);
  Queue reader(program, program.gpu(machine.peer()));
  uint32_t* const data = program.memory_of(gpu);
  writer.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  reader.run({"read_words", {at(data)}});
}

void acquire_is_agent_on_a_peer(Program& program, const Machine& machine, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue writer(program, gpu);
  Queue reader(program, program.gpu(machine.peer()));
  uint32_t* const data = program.memory_of(gpu);
  reader.run({"read_words", {at(data)}});
  writer.run({"write_words", {at(data), 1}});
  reader.run({"read_words", {at(data)}, {.acquire = if_wrong(mistake, kAgent, kSystem)}});
}

void acquire_is_agent_after_a_peer(Program& program, const Machine& machine, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue writer(program, program.gpu(machine.peer()));
  Queue reader(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  reader.run({"read_words", {at(data)}});
  writer.run({"write_words", {at(data), 1}});
  reader.run({"read_words", {at(data)}, {.acquire = if_wrong(mistake, kAgent, kSystem)}});
}

void acquire_is_agent_after_a_copy(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const source = program.fine_host_memory();
  uint32_t* const data = program.memory_of(gpu);
  std::memset(source, 1, kBytes);
  queue.run({"read_words", {at(data)}});
  program.copy(data, &gpu, source, nullptr, kBytes);
  queue.run({"read_words", {at(data)}, {.acquire = if_wrong(mistake, kAgent, kSystem)}});
}

void acquire_is_agent_after_the_host(Program& program, const Machine&, bool mistake) {
  Queue queue(program, program.gpu(1));
  uint32_t* const data = program.coarse_host_memory();
  queue.run({"read_words", {at(data)}});
  std::memset(data, 1, kBytes);
  queue.run({"read_words", {at(data)}, {.acquire = if_wrong(mistake, kAgent, kSystem)}});
}

// The order of packets.

void barrier_bit_is_lost_before_a_read(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.submit({"write_words", {at(data), 1}});
  queue.run({"read_words", {at(data)}, {.barrier = !mistake}});
}

void barrier_bit_is_lost_before_a_write(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.submit({"write_words", {at(data), 1}});
  queue.run({"overwrite_words", {at(data), 2}, {.barrier = !mistake}});
}

void barrier_bit_is_lost_behind_a_read(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.submit({"read_words", {at(data)}});
  queue.run({"write_words", {at(data), 1}, {.barrier = !mistake}});
}

void barrier_packet_waits_for_nothing(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  const hsa_signal_t all_are_there = Program::signal();
  const hsa_signal_t written = Program::signal();
  queue.submit_barrier({.barrier = false}, all_are_there);
  queue.submit({"write_words", {at(data), 1}, {.barrier = false}, 64, nullptr, written});
  queue.submit_barrier({.barrier = false}, mistake ? hsa_signal_t{} : written);
  queue.start({"read_words", {at(data)}, {.barrier = false}});
  Program::set(all_are_there);
  queue.wait();
}

void barrier_packet_releases_to_agent(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.submit({"write_words", {at(data), 1}, {.release = kNone}});
  queue.start_barrier({.acquire = kNone, .release = if_wrong(mistake, kAgent, kSystem)});
  queue.wait();
  program.copy(program.fine_host_memory(), nullptr, data, &gpu, kBytes);
}

void barrier_packet_acquires_from_agent(Program& program, const Machine&, bool mistake) {
  Queue queue(program, program.gpu(1));
  uint32_t* const data = program.coarse_host_memory();
  queue.run({"read_words", {at(data)}});
  std::memset(data, 1, kBytes);
  queue.start_barrier({.acquire = if_wrong(mistake, kAgent, kSystem), .release = kNone});
  queue.wait();
  queue.run({"read_words", {at(data)}, {.acquire = kAgent}});
}

// Writes over what another cache has yet to write back.

void copy_over_unreleased_data(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const source = program.fine_host_memory();
  uint32_t* const data = program.memory_of(gpu);
  std::memset(source, 1, kBytes);
  queue.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  program.copy(data, &gpu, source, nullptr, kBytes);
}

void kernel_of_a_peer_over_unreleased_data(Program& program, const Machine& machine, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue first(program, gpu);
  Queue second(program, program.gpu(machine.peer()));
  uint32_t* const data = program.memory_of(gpu);
  first.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  second.run({"overwrite_words", {at(data), 2}});
}

void release_is_agent_before_memory_is_freed(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  Program::free(data);
}

// What the host does too early.

void release_is_agent_before_the_host_reads(Program& program, const Machine&, bool mistake) {
  Queue queue(program, program.gpu(1));
  uint32_t* const data = program.coarse_host_memory();
  queue.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  static_cast<void>(__atomic_load_n(data, __ATOMIC_RELAXED));
}

void release_is_agent_before_the_host_writes(Program& program, const Machine&, bool mistake) {
  Queue queue(program, program.gpu(1));
  uint32_t* const data = program.coarse_host_memory();
  queue.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  __atomic_store_n(data, 2, __ATOMIC_RELAXED);
}

// The same with the GPU's memory, which the host reaches through the PCI window.

void release_is_agent_before_the_host_reads_vram(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  static_cast<void>(__atomic_load_n(data, __ATOMIC_RELAXED));
}

void release_is_agent_before_the_host_writes_vram(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.run({"write_words", {at(data), 1}, {.release = if_wrong(mistake, kAgent, kSystem)}});
  __atomic_store_n(data, 2, __ATOMIC_RELAXED);
}

void host_write_is_not_flushed(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  std::memset(data, 1, kBytes);
  if (!mistake) Program::flush_window(gpu);
  queue.run({"read_words", {at(data)}});
}

void host_write_is_not_flushed_before_a_copy(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  uint32_t* const data = program.memory_of(gpu);
  std::memset(data, 1, kBytes);
  if (!mistake) Program::flush_window(gpu);
  program.copy(program.fine_host_memory(), nullptr, data, &gpu, kBytes);
}

// The flush takes the bytes to memory, and not out of the L2.
void acquire_is_agent_after_a_flush(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.run({"read_words", {at(data)}});
  std::memset(data, 1, kBytes);
  Program::flush_window(gpu);
  queue.run({"read_words", {at(data)}, {.acquire = if_wrong(mistake, kAgent, kSystem)}});
}

namespace {

// As in kernels.c.
struct Flags {
  uint32_t ready;
  uint32_t padding[63];
  uint32_t written;
  uint32_t more_padding[63];
  uint32_t seen;
};

void wait_for_start(const Flags* flags) {
  while (__atomic_load_n(&flags->written, __ATOMIC_ACQUIRE) == 0) sched_yield();
}

void end(Flags* flags, Queue& queue) {
  __atomic_store_n(&flags->ready, 1, __ATOMIC_RELEASE);
  queue.wait();
}

}  // namespace

void copy_while_the_kernel_runs(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  auto* const flags = reinterpret_cast<Flags*>(program.fine_host_memory());
  queue.start({"write_words_and_wait", {at(data), at(flags)}});
  wait_for_start(flags);
  if (!mistake) end(flags, queue);
  program.copy(program.fine_host_memory(), nullptr, data, &gpu, kBytes);
  if (mistake) end(flags, queue);
}

void arguments_are_reused_early(Program& program, const Machine&, bool mistake) {
  Queue queue(program, program.gpu(1));
  auto* const flags = reinterpret_cast<Flags*>(program.fine_host_memory());
  auto* const block = static_cast<uint32_t*>(program.arguments());
  const auto reuse = [&] { __atomic_store_n(&block[2], 2, __ATOMIC_RELAXED); };
  queue.start({"wait_for_end", {at(flags), 1}, {}, 64, block});
  wait_for_start(flags);
  if (mistake) reuse();
  end(flags, queue);
  if (!mistake) reuse();
}

// Its packet is there, and waits behind another.
void arguments_are_reused_before_the_start(Program& program, const Machine&, bool mistake) {
  Queue queue(program, program.gpu(1));
  auto* const block = static_cast<uint32_t*>(program.arguments());
  const auto reuse = [&] { __atomic_store_n(&block[2], 2, __ATOMIC_RELAXED); };
  const hsa_signal_t all_are_there = Program::signal();
  const hsa_signal_t is_taken = Program::signal();
  const hsa_signal_t may_start = Program::signal();
  queue.submit_barrier({}, all_are_there, is_taken);
  queue.submit_barrier({}, may_start);
  queue.start({"write_words", {at(program.fine_host_memory()), 1}, {}, 64, block});
  Program::set(all_are_there);
  Program::wait_for(is_taken);
  if (mistake) reuse();
  Program::set(may_start);
  queue.wait();
  if (!mistake) reuse();
}

// The kernel in front of it says that it goes on after the packet was there.
void arguments_are_reused_behind_a_kernel(Program& program, const Machine&, bool mistake) {
  Queue queue(program, program.gpu(1));
  auto* const flags = reinterpret_cast<Flags*>(program.fine_host_memory());
  auto* const block = static_cast<uint32_t*>(program.arguments());
  const auto reuse = [&] { __atomic_store_n(&block[2], 2, __ATOMIC_RELAXED); };
  queue.submit({"echo", {at(flags)}});
  queue.start({"write_words", {at(program.fine_host_memory()), 1}, {}, 64, block});
  __atomic_store_n(&flags->ready, 1, __ATOMIC_RELEASE);
  wait_for_start(flags);
  if (mistake) reuse();
  __atomic_store_n(&flags->seen, 1, __ATOMIC_RELEASE);
  queue.wait();
  if (!mistake) reuse();
}

// Code.

namespace {

// Where write_constant has its constant.
uint64_t constant_of(Program& program, const Gpu& gpu) {
  constexpr uint32_t kConstant = 0x5eed0001;
  const uint64_t object = program.kernel(gpu, "write_constant");
  uint32_t* const page = program.fine_host_memory();
  program.copy(page, nullptr, reinterpret_cast<const void*>(object), &gpu, 64);
  int64_t distance = 0;
  std::memcpy(&distance, page + 4, sizeof distance);
  const uint64_t entry = object + static_cast<uint64_t>(distance);
  program.copy(page, nullptr, reinterpret_cast<const void*>(entry), &gpu, kBytes);
  size_t word = 0;
  while (word < kBytes / 4 && page[word] != kConstant) ++word;
  return entry + word * 4;
}

}  // namespace

void code_is_replaced_by_a_copy(Program& program, const Machine&, bool mistake) {
  Gpu gpu = program.gpu(1);
  Queue queue(program, gpu);
  const uint64_t constant = constant_of(program, gpu);
  uint32_t* const source = program.fine_host_memory();
  *source = 0x5eed0002;
  const Dispatch dispatch = {"write_constant", {at(program.memory_of(gpu))}};
  queue.run(dispatch);
  program.copy(reinterpret_cast<void*>(constant), &gpu, source, nullptr, 4);
  // The runtime invalidates the instruction cache when it loads code.
  Gpu loaded = gpu;
  if (!mistake) program.load(loaded);
  queue.run(dispatch);
}

void code_is_replaced_by_a_kernel(Program& program, const Machine&, bool mistake) {
  Gpu gpu = program.gpu(1);
  // Code in pages that do not change.
  Gpu others = gpu;
  program.load(others);
  Queue queue(program, gpu);
  Queue other_queue(program, others);
  const uint64_t constant = constant_of(program, gpu);
  const Dispatch dispatch = {"write_constant", {at(program.memory_of(gpu))}};
  queue.run(dispatch);
  other_queue.run({"write_words", {constant, 0x5eed0002}, {}, 1});
  if (!mistake) other_queue.run({"invalidate_code", {}});
  queue.run(dispatch);
}

// Within kernels. The kernel with the mistake is another one.

namespace {

void hand_over(Program& program, const char* kernel) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  queue.run(
      {kernel, {at(program.memory_of(gpu)), at(program.fine_host_memory())}, {}, 128, nullptr});
}

}  // namespace

void store_is_not_waited_for(Program& program, const Machine&, bool mistake) {
  hand_over(program, mistake ? "hand_over_no_wait" : "hand_over");
}

void wait_count_is_one_too_high(Program& program, const Machine&, bool mistake) {
  hand_over(program, mistake ? "hand_over_short_wait" : "hand_over");
}

void l1_is_not_invalidated(Program& program, const Machine&, bool mistake) {
  hand_over(program, mistake ? "hand_over_no_invalidate" : "hand_over");
}

void l1_is_invalidated_for_the_group_only(Program& program, const Machine&, bool mistake) {
  hand_over(program, mistake ? "hand_over_invalidate_in_group" : "hand_over");
}

void l2_of_an_xcd_is_not_written_back(Program& program, const Machine&, bool mistake) {
  hand_over(program, mistake ? "hand_over_no_write_back" : "hand_over");
}

void l2_of_an_xcd_is_written_back_for_the_group_only(Program& program, const Machine&,
                                                     bool mistake) {
  hand_over(program, mistake ? "hand_over_write_back_in_group" : "hand_over");
}

void scalar_store_is_not_written_back(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  uint32_t* const data = program.memory_of(gpu);
  queue.run({mistake ? "scalar_store_no_write_back" : "scalar_store", {at(data)}});
  queue.run({"read_words", {at(data)}});
}

void scalar_cache_is_not_invalidated(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  queue.run({mistake ? "scalar_read_again_no_invalidate" : "scalar_read_again",
             {at(program.memory_of(gpu))}});
}

void scalar_load_overtakes_a_store(Program& program, const Machine&, bool mistake) {
  Gpu& gpu = program.gpu(1);
  Queue queue(program, gpu);
  queue.run(
      {mistake ? "scalar_read_again_no_wait" : "scalar_read_again", {at(program.memory_of(gpu))}});
}

// Between kernels that run on two GPUs.

namespace {

void hand_over_to_peer(Program& program, const Machine& machine, const uint32_t* data,
                       const char* publish, const char* await) {
  Queue writer(program, program.gpu(1));
  Queue reader(program, program.gpu(machine.peer()));
  uint32_t* const flags = program.fine_host_memory();
  reader.start({await, {at(data), at(flags)}});
  writer.run({publish, {at(data), at(flags)}});
  reader.wait();
}

}  // namespace

void store_for_a_peer_is_not_waited_for(Program& program, const Machine& machine, bool mistake) {
  hand_over_to_peer(program, machine, program.fine_host_memory(),
                    mistake ? "publish_no_wait" : "publish_to_agent", "await_of_agent");
}

void l2_is_not_written_back(Program& program, const Machine& machine, bool mistake) {
  hand_over_to_peer(program, machine, program.memory_of(program.gpu(1)),
                    mistake ? "publish_to_agent" : "publish_to_system", "await_of_system");
}

void l2_is_not_invalidated(Program& program, const Machine& machine, bool mistake) {
  hand_over_to_peer(program, machine, program.memory_of(program.gpu(1)), "publish_to_system",
                    mistake ? "await_of_agent" : "await_of_system");
}

void coarse_grained_memory_is_shared(Program& program, const Machine& machine, bool mistake) {
  const Gpu& peer = program.gpu(machine.peer());
  hand_over_to_peer(program, machine,
                    mistake ? program.memory_of(peer) : program.fine_host_memory(),
                    "publish_to_agent", "await_of_agent");
}

}  // namespace halyard::vgpu::coherence::testing
