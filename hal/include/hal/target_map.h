// The target map: the AMDGPU processors, their facts, and their other names. The facts are in
// config/targets.yaml; docs/targets.md shows them.
//
// For host code and drivers; not part of the ABI. Everything points into constant tables. Any
// thread may call any function.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard {

enum class ProcessorKind : uint8_t {
  kExact,     // a GPU, gfx900 or later
  kGeneric,   // a target whose code several processors run; code object version 6 and later
  kHistoric,  // a GPU before gfx900 or retired from LLVM, for messages
};

struct ProcessorInfo {
  const char* name;
  ProcessorKind kind;
  uint8_t elf_machine;  // EF_AMDGPU_MACH (LLVM AMDGPUUsage, "AMDGPU ELF Header e_flags")
  // Whether e_flags contain a setting of the feature.
  bool has_xnack;
  bool has_sramecc;
  // Whether a target ID can select the processor's features; otherwise code leaves them
  // open.
  bool features_can_be_chosen;
  // Lanes. The first size is the compiler's default; the second is 0 if there is only one. Both are
  // 0 for a historic processor.
  uint8_t wavefront_size;
  uint8_t other_wavefront_size;
  // The generic target whose code the processor runs, or null; and the first version of
  // that target that covers it. For a generic target: null, and the version that LLVM 22
  // writes.
  const char* generic;
  uint8_t generic_version;
  const char* architecture;  // code name, "cdna3"; null unless kExact

  bool is_generic() const noexcept { return kind == ProcessorKind::kGeneric; }
};

struct ArchitectureInfo {
  const char* name;   // "cdna3"
  const char* title;  // "CDNA 3"
};

// A product. The figures are those of one device, as the runtime reports it; 0 if they are not
// public. Memory is also 0 if a GPU uses the host's.
struct ProductInfo {
  const char* name;       // "mi300x"
  const char* title;      // "AMD Instinct MI300X"
  const char* processor;  // "gfx942"
  uint16_t compute_units;
  uint16_t memory_gib;
  uint8_t devices;  // of the product: 2 for an MI250, otherwise 1
};

// Another name of a product.
struct ProductAlias {
  const char* name;
  const char* product;
};

// A group of processors with a common name, as in TheRock: "gfx94X-dcgpu".
struct FamilyInfo {
  const char* name;
  std::span<const char* const> processors;
};

// All entries in the order of the map: exact processors by name, generic targets, historic ones.
std::span<const ProcessorInfo> all_processors() noexcept;
std::span<const ArchitectureInfo> all_architectures() noexcept;
std::span<const ProductInfo> all_products() noexcept;
std::span<const ProductAlias> all_product_aliases() noexcept;
std::span<const FamilyInfo> all_families() noexcept;

// nullptr for an unknown name.
const ProcessorInfo* find_processor(std::string_view name) noexcept;
const ProcessorInfo* find_processor(uint8_t elf_machine) noexcept;
const ArchitectureInfo* find_architecture(std::string_view name) noexcept;
const ProductInfo* find_product(std::string_view name) noexcept;  // or an alias

// Whether `processor` runs code of that version of its generic target: empty if it does, otherwise
// the reason, as the second half of a sentence. Code runs on the processors that the target had
// when the code was compiled (LLVM AMDGPUUsage, "Generic Processor Versioning").
std::string why_older_than_processor(const ProcessorInfo& processor, uint32_t generic_version);

// The processors that run the code of a generic target.
std::vector<std::string_view> processors_of_generic(std::string_view generic);
// The processors of an architecture, by its code name.
std::vector<std::string_view> processors_of_architecture(std::string_view architecture);

enum class TargetNameKind : uint8_t { kProcessor, kGeneric, kProduct, kArchitecture, kFamily };

// "processor", "generic target", …
const char* to_string(TargetNameKind kind);

// The meaning of a name.
struct NamedTarget {
  TargetNameKind kind;
  std::string name;                      // as in the map, without features
  const ProductInfo* product = nullptr;  // for kProduct
  std::vector<TargetId> targets;         // in the order of the map; at least one
};

// Resolves a processor or generic target, a product (or its title), a code name of an
// architecture, or a family. Features can follow each ("gfx90a:xnack+",
// "mi300x:xnack-"). Case, blanks, hyphens and underscores are ignored ("RX 7900 XTX").
// NOT_FOUND with a suggestion; INVALID_ARGUMENT for features that a processor does not
// have.
Result<NamedTarget> resolve_target_name(std::string_view name);

// The ranks of code that runs on a device; Halyard prefers the smallest.
enum class MatchRank : uint8_t {
  kProcessorWithFeatures,  // "gfx90a:sramecc+:xnack-"
  kProcessor,              // "gfx90a"
  kGenericWithFeatures,    // "gfx9-4-generic:xnack-"
  kGeneric,                // "gfx9-4-generic"
};

// The rank of code that is built for `code`. Comparable only between targets that run on the device
// (see why_not_runs_on in hal/target_id.h).
MatchRank match_rank(const TargetId& code);

// Whether `a` is preferred to `b`, if both run on a device: by rank, then by the number of named
// features. A strict weak ordering.
bool is_preferred(const TargetId& a, const TargetId& b);

// Every target whose code the device runs, the best first. A feature with an unknown setting (kAny)
// is left open in all of them. A processor that is not in the map runs only code with its name.
std::vector<TargetId> load_order(const TargetId& device);

}  // namespace halyard
