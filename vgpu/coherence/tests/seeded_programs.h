// The programs of the seeded mistakes: right, or with the one mistake of their name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "vgpu/coherence/tests/hsa_program.h"

namespace halyard::vgpu::coherence::testing {

// The processors of the profile's GPUs, of which programs use the first, or it and the last.
struct Machine {
  std::vector<std::string> processors;
  uint32_t xcds = 1;  // of each GPU

  bool has_peer() const { return processors.size() > 1; }
  // Whether the host reaches the GPUs' memory through the PCI window.
  bool has_window() const { return processors != std::vector<std::string>{"gfx900"}; }
  size_t peer() const { return processors.size(); }  // the number of its GPU
  // gfx942 and gfx950: instructions have scopes, a GPU's L2s hold fine-grained memory of its own
  // too, and nothing of the host's.
  bool has_scopes(size_t gpu = 1) const {
    return processors[gpu - 1] == "gfx942" || processors[gpu - 1] == "gfx950";
  }
  // What others write to a GPU's own memory leaves its L2, and waves can write the L2 back.
  bool is_probed(size_t gpu = 1) const {
    return processors[gpu - 1] == "gfx90a" || has_scopes(gpu);
  }
  // Then fences at agent scope are for the L2s too.
  bool has_several_l2s() const { return xcds > 1; }
};

using SeededProgram = void(Program& program, const Machine& machine, bool mistake);

SeededProgram acquire_is_agent;
SeededProgram acquire_is_none;
SeededProgram acquire_is_none_for_arguments;
SeededProgram release_is_agent_before_a_copy;
SeededProgram release_is_none;
SeededProgram release_is_agent_before_a_peer;
SeededProgram acquire_is_agent_on_a_peer;
SeededProgram acquire_is_agent_after_a_peer;
SeededProgram acquire_is_agent_after_a_copy;
SeededProgram acquire_is_agent_after_the_host;
SeededProgram barrier_bit_is_lost_before_a_read;
SeededProgram barrier_bit_is_lost_before_a_write;
SeededProgram barrier_bit_is_lost_behind_a_read;
SeededProgram barrier_packet_waits_for_nothing;
SeededProgram barrier_packet_releases_to_agent;
SeededProgram barrier_packet_acquires_from_agent;
SeededProgram copy_over_unreleased_data;
SeededProgram kernel_of_a_peer_over_unreleased_data;
SeededProgram release_is_agent_before_memory_is_freed;
SeededProgram release_is_agent_before_the_host_reads;
SeededProgram release_is_agent_before_the_host_writes;
SeededProgram release_is_agent_before_the_host_reads_vram;
SeededProgram release_is_agent_before_the_host_writes_vram;
SeededProgram host_write_is_not_flushed;
SeededProgram host_write_is_not_flushed_before_a_copy;
SeededProgram acquire_is_agent_after_a_flush;
SeededProgram copy_while_the_kernel_runs;
SeededProgram arguments_are_reused_early;
SeededProgram arguments_are_reused_before_the_start;
SeededProgram arguments_are_reused_behind_a_kernel;
SeededProgram code_is_replaced_by_a_copy;
SeededProgram code_is_replaced_by_a_kernel;
SeededProgram store_is_not_waited_for;
SeededProgram wait_count_is_one_too_high;
SeededProgram l1_is_not_invalidated;
SeededProgram l1_is_invalidated_for_the_group_only;
SeededProgram l2_of_an_xcd_is_not_written_back;
SeededProgram l2_of_an_xcd_is_written_back_for_the_group_only;
SeededProgram scalar_store_is_not_written_back;
SeededProgram scalar_cache_is_not_invalidated;
SeededProgram scalar_load_overtakes_a_store;
SeededProgram store_for_a_peer_is_not_waited_for;
SeededProgram l2_is_not_written_back;
SeededProgram l2_is_not_invalidated;
SeededProgram coarse_grained_memory_is_shared;

}  // namespace halyard::vgpu::coherence::testing
