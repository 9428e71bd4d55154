// y = a * x + y in AMDGCN assembly, for gfx9 (LLVM AMDGPUUsage, "Code Object Metadata" and
// "AMDHSA Kernel Directives"). Without .amdgcn_target it is for the processor that --target names.
  .text
  .globl saxpy
  .p2align 8
  .type saxpy,@function
// s[0:1]: dispatch packet; s[2:3]: kernel arguments; s4: work-group; v0: work-item.
// gfx90a packs the work-item's three coordinates into v0, x in bits 0 to 9.
saxpy:
  s_load_dword s5, s[0:1], 0x4                // work-group size x, in the lower half
  s_load_dwordx4 s[8:11], s[2:3], 0x0         // x, y
  s_load_dwordx2 s[6:7], s[2:3], 0x10         // a, count
  v_and_b32_e32 v0, 0x3ff, v0
  s_waitcnt lgkmcnt(0)
  s_and_b32 s5, s5, 0xffff
  s_mul_i32 s4, s4, s5
  v_add_u32_e32 v0, s4, v0
  v_cmp_gt_u32_e32 vcc, s7, v0                // those inside only
  s_and_saveexec_b64 s[12:13], vcc
  s_cbranch_execz .Lend
  v_mov_b32_e32 v1, 0
  v_lshlrev_b64 v[0:1], 2, v[0:1]
  v_mov_b32_e32 v3, s9
  v_add_co_u32_e32 v2, vcc, s8, v0
  v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
  global_load_dword v4, v[2:3], off
  v_mov_b32_e32 v3, s11
  v_add_co_u32_e32 v2, vcc, s10, v0
  v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
  global_load_dword v5, v[2:3], off
  s_waitcnt vmcnt(0)
  v_mul_f32_e32 v4, s6, v4
  v_add_f32_e32 v4, v4, v5
  global_store_dword v[2:3], v4, off
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
.if .amdgcn.gfx_generation_stepping == 10     // gfx90a, which has one file of registers for both kinds
  descriptor .amdhsa_accum_offset 8
.else
  descriptor
.endif

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
    .wavefront_size: 64
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
