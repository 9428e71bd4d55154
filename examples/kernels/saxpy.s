// y = a * x + y in AMDGCN assembly, for every processor from gfx9 on (LLVM AMDGPUUsage, "Code Object
// Metadata", "AMDHSA Kernel Directives" and "Initial Kernel Execution State"). Without
// .amdgcn_target it is for the processor that --target names.

// What the generations do not have in common.
.if .amdgcn.gfx_generation_number >= 10       // waves of 32 work-items
  .macro only_if_greater scalar, vector       // the work-items whose value is below the scalar go on
    v_cmp_gt_u32_e32 vcc_lo, \scalar, \vector
    s_and_saveexec_b32 s12, vcc_lo
  .endm
  .macro add result, scalar, vector
    v_add_nc_u32_e32 \result, \scalar, \vector
  .endm
.else                                         // waves of 64
  .macro only_if_greater scalar, vector
    v_cmp_gt_u32_e32 vcc, \scalar, \vector
    s_and_saveexec_b64 s[12:13], vcc
  .endm
  .macro add result, scalar, vector
    v_add_u32_e32 \result, \scalar, \vector
  .endm
.endif
.if .amdgcn.gfx_generation_number >= 12       // a counter for each kind of load
  .macro wait_for_scalar_loads
    s_wait_kmcnt 0x0
  .endm
  .macro wait_for_vector_loads
    s_wait_loadcnt 0x0
  .endm
  .macro get_group result
    s_mov_b32 \result, ttmp9
  .endm
.else
  .macro wait_for_scalar_loads
    s_waitcnt lgkmcnt(0)
  .endm
  .macro wait_for_vector_loads
    s_waitcnt vmcnt(0)
  .endm
  .macro get_group result                     // behind the registers that the descriptor asks for
    s_mov_b32 \result, s4
  .endm
.endif

  .text
  .globl saxpy
  .p2align 8
  .type saxpy,@function
// s[0:1]: dispatch packet; s[2:3]: kernel arguments; v0: work-item, with x in bits 0 to 9 where its
// three coordinates are packed into one register (gfx90a and later).
saxpy:
  get_group s6
  s_load_dword s5, s[0:1], 0x4                // work-group size x, in the lower half
  s_load_dwordx4 s[8:11], s[2:3], 0x0         // x, y
  s_load_dwordx2 s[14:15], s[2:3], 0x10       // a, count
  v_and_b32_e32 v0, 0x3ff, v0
  wait_for_scalar_loads
  s_and_b32 s5, s5, 0xffff
  s_mul_i32 s6, s6, s5
  add v0, s6, v0
  only_if_greater s15, v0
  s_cbranch_execz .Lend
  v_lshlrev_b32_e32 v0, 2, v0
  global_load_dword v1, v0, s[8:9]
  global_load_dword v2, v0, s[10:11]
  wait_for_vector_loads
  v_mul_f32_e32 v1, s14, v1
  v_add_f32_e32 v2, v1, v2
  global_store_dword v0, v2, s[10:11]
.Lend:
  s_endpgm
  .size saxpy, .-saxpy

.macro descriptor directive:vararg
  .section .rodata,"a",@progbits
  .p2align 6
  .amdhsa_kernel saxpy
    .amdhsa_kernarg_size 24
    .amdhsa_user_sgpr_dispatch_ptr 1
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 16
    \directive
  .end_amdhsa_kernel
.endm
.macro metadata wave
  .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: saxpy
    .symbol: saxpy.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: \wave
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: y, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: a, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: count, .offset: 20, .size: 4, .value_kind: by_value}
...
  .end_amdgpu_metadata
.endm
.if .amdgcn.gfx_generation_number >= 10
  descriptor
  metadata 32
.elseif .amdgcn.gfx_generation_minor >= 4 || .amdgcn.gfx_generation_stepping == 10
  descriptor .amdhsa_accum_offset 8           // gfx90a, gfx94x, gfx950: one file of registers for both kinds
  metadata 64
.else
  descriptor
  metadata 64
.endif
