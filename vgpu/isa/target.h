// What differs between processors, as facts with names, and which features
// of the processor are on. Whoever executes, decodes or starts a wave asks for the fact, never for
// the processor.
//
// Sources: LLVM's AMDGPUUsage ("Processors", "Kernel Descriptor", "Initial Kernel Execution State")
// and its subtarget features; AMD's ISA documents of Vega, MI100, MI200, CDNA 3 and CDNA 4.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "vgpu/isa/generation.h"

namespace halyard::vgpu::isa {

// How matrix instructions compute: each generation rounds and flushes in its own way.
enum class MatrixArithmetic : uint8_t { kNone, kCdna1, kCdna2, kCdna3, kCdna4 };

// What the bits of an 8-bit float mean.
enum class Float8 : uint8_t {
  kNone,
  kFnuz,  // one zero and one NaN, no infinities; exponent biases 8 (fp8) and 16 (bf8)
  kOcp,   // E4M3 and E5M2 of the Open Compute Project; biases 7 and 15
};

struct Target {
  std::string processor;
  Generation generation = Generation::kGfx900;  // whose encodings it has
  bool is_executed = true;                      // by the engine; else its code can be read only

  // --- Registers.
  unsigned wave_size = 64;
  bool has_null_scalar = false;  // a scalar that reads 0, and of which what is written is lost
  unsigned first_special_scalar = 102;  // FLAT_SCRATCH or, from gfx10 on, VCC
  uint32_t vgpr_granule = 4;            // rsrc1's GRANULATED_WORKITEM_VGPR_COUNT counts in these
  uint32_t vgprs_per_simd = 256;        // per lane, AGPRs of the same file included
  bool accumulators = false;            // there are AGPRs
  // AGPRs are the rest of one file, from ACCUM_OFFSET (rsrc3) on. Otherwise they have a file of
  // their own, of the same size as the VGPRs'.
  bool accum_offset = false;
  bool aligned_vgpr_pairs = false;  // an operand of several VGPRs starts at an even one
  // The register file has ECC, so no load can write half of a register: a D16 load writes 0 to the
  // other half. So it is with sramecc on (LLVM, AMDGPUSubtarget's d16PreservesUnusedBits), and on
  // gfx90a always (seen there with ECC off: github.com/ROCm/rocMLIR, pull request 422).
  bool d16_loads_clear = false;

  // --- Encodings.
  bool lds_direct = true;          // vector instructions have src_lds_direct
  bool buffer_tfe = true;          // buffer instructions have TFE
  bool memory_acc_bit = false;     // memory instructions say that their data are in AGPRs
  bool matrix_acc_cd_bit = false;  // matrix instructions say where C and D are; else in AGPRs
  bool scope_bits = false;         // memory instructions have SC0, SC1 and NT, not GLC, SLC, SCC

  // --- Arithmetic.
  MatrixArithmetic matrix_arithmetic = MatrixArithmetic::kNone;
  Float8 float8 = Float8::kNone;
  bool float_atomics_return = true;   // atomics of f32 and of two f16 can return the old value
  bool matrix_f64_negates = false;    // BLGP of f64 matrix instructions negates A, B and C
  bool matrix_halves_permute = true;  // BLGP permutes B of one block of f16 or bf16
  // Adding to an f32 in memory keeps denormals (LLVM, FeatureMemoryAtomicFAddF32DenormalSupport);
  // else they are flushed whatever MODE says.
  bool f32_atomic_denormals = false;

  // --- Loads from memory to LDS (CDNA 3 ISA and CDNA 4 ISA, 9.1.9 and 10.3).
  uint32_t buffer_lds_m0 = 0xffff;  // the bits of M0 that are the offset in LDS
  uint32_t flat_lds_m0 = 0xffff;    // of global and scratch loads
  bool wide_lds_loads = false;      // also of 3 and 4 dwords, with 16 bytes of LDS for each lane

  // --- Start of a wave.
  bool packed_work_item_ids = false;      // v0 holds x, y and z, 10 bits each
  bool architected_flat_scratch = false;  // FLAT_SCRATCH is set; no SGPRs say where scratch is
  bool kernarg_preload = false;           // descriptors ask for kernel arguments in user SGPRs

  // --- Features that a program or an administrator chooses.
  bool has_sramecc = false;
  // Each process chooses whether page faults are retried (XNACK). Elsewhere Linux turns retries off
  // when it starts, unless it is told otherwise (amdgpu_gmc.c, kfd_process.c).
  bool xnack_per_process = false;

  // --- Memory.
  bool own_memory = true;  // not the host's, as those of Ryzen have it
  // Float atomics need memory that the L2 holds: coarse-grained memory (float_atomics.h).
  bool float_atomics_in_l2 = false;
  // Writes from outside drop the lines that the L2 holds of the GPU's own memory (MTYPE RW); waves
  // can write it back and invalidate it.
  bool probed_l2 = false;
  // The lengths of SDMA's packets: 22 bits in SDMA 4.0 to 4.2, 30 from 4.4 on (Linux, sdma_v4_0.c
  // and sdma_v4_4_2.c).
  uint32_t sdma_count_bits = 22;

  // --- A compute unit, and the dies with compute units.
  bool has_xcds = false;  // a GPU can have several of them (XCDs), each with an L2
  uint32_t waves_per_simd = 10;
  uint32_t lds_bytes = 65536;
  uint32_t lds_granule = 512;

  // --- Hardware registers: 1 to 7 and from 15 on. gfx942's begin at 20 with XCC_ID.
  uint32_t last_hwreg = 19;
};

// The processors that the engine executes.
inline constexpr std::initializer_list<const char*> kKnownProcessors = {
    "gfx900", "gfx902", "gfx904", "gfx906", "gfx908",
    "gfx909", "gfx90a", "gfx90c", "gfx942", "gfx950"};

// `features` is what LLVM takes as target features: "+sramecc,-xnack"; a feature that it does not
// name is off. False if the engine does not execute this processor; `error` then says which ones it
// does.
bool find_target(std::string_view processor, std::string_view features, Target& target,
                 std::string& error);

// The same, but for a processor whose code can be read, whether the engine executes it or not.
bool find_encodings(std::string_view processor, std::string_view features, Target& target,
                    std::string& error);

}  // namespace halyard::vgpu::isa
