// The target map: which AMDGPU processors there are, what is known of each, and what people call
// them. The facts are in config/targets.yaml; docs/targets.md shows them.
//
// For host code and drivers; not part of the ABI. Everything points into constant tables, and every
// function may be called from any thread.
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
  kHistoric,  // a GPU before gfx900 or retired from LLVM, known so that messages can name it
};

struct ProcessorInfo {
  const char* name;
  ProcessorKind kind;
  uint8_t elf_machine;  // EF_AMDGPU_MACH (LLVM AMDGPUUsage, "AMDGPU ELF Header e_flags")
  // Whether e_flags hold a setting of the feature.
  bool has_xnack;
  bool has_sramecc;
  // Whether a target ID can choose the features that the processor has; otherwise code leaves them
  // open.
  bool features_can_be_chosen;
  // Lanes. The second size is 0 if there is only one; the first is the compiler's default. Both are
  // 0 for a historic processor.
  uint8_t wavefront_size;
  uint8_t other_wavefront_size;
  // The generic target whose code the processor runs, or null; and the version of that target that
  // was the first to cover it. A generic target has the version that LLVM 22 writes, and no
  // generic.
  const char* generic;
  uint8_t generic_version;
  const char* architecture;  // code name, "cdna3"; null unless kExact

  bool is_generic() const noexcept { return kind == ProcessorKind::kGeneric; }
};

struct ArchitectureInfo {
  const char* name;   // "cdna3"
  const char* title;  // "CDNA 3"
};

// Something that is sold. The figures are those of one device, as the runtime reports it; 0 where
// they are not public, and for memory also where a GPU uses the host's.
struct ProductInfo {
  const char* name;       // "mi300x"
  const char* title;      // "AMD Instinct MI300X"
  const char* processor;  // "gfx942"
  uint16_t compute_units;
  uint16_t memory_gib;
  uint8_t devices;  // that the product is: 2 for an MI250, otherwise 1
};

// Another name of a product.
struct ProductAlias {
  const char* name;
  const char* product;
};

// A group of processors that are built for together, named as in TheRock: "gfx94X-dcgpu".
struct FamilyInfo {
  const char* name;
  std::span<const char* const> processors;
};

// All of them in the order of the map: exact processors by name, generic targets, historic ones.
std::span<const ProcessorInfo> all_processors() noexcept;
std::span<const ArchitectureInfo> all_architectures() noexcept;
std::span<const ProductInfo> all_products() noexcept;
std::span<const ProductAlias> all_product_aliases() noexcept;
std::span<const FamilyInfo> all_families() noexcept;

// nullptr for what is not known.
const ProcessorInfo* find_processor(std::string_view name) noexcept;
const ProcessorInfo* find_processor(uint8_t elf_machine) noexcept;
const ArchitectureInfo* find_architecture(std::string_view name) noexcept;
const ProductInfo* find_product(std::string_view name) noexcept;  // or an alias

// Whether `processor` runs code of that version of its generic target: empty if it does, and
// otherwise the reason, as the second half of a sentence. Code runs on the processors that the
// target had when the code was compiled (LLVM AMDGPUUsage, "Generic Processor Versioning").
std::string why_older_than_processor(const ProcessorInfo& processor, uint32_t generic_version);

// The processors that run the code of a generic target.
std::vector<std::string_view> processors_of_generic(std::string_view generic);
// The processors of an architecture, by its code name.
std::vector<std::string_view> processors_of_architecture(std::string_view architecture);

enum class TargetNameKind : uint8_t { kProcessor, kGeneric, kProduct, kArchitecture, kFamily };

// "processor", "generic target", …
const char* to_string(TargetNameKind kind);

// What a name stands for.
struct NamedTarget {
  TargetNameKind kind;
  std::string name;                      // as the map writes it, without features
  const ProductInfo* product = nullptr;  // of kProduct
  std::vector<TargetId> targets;         // in the order of the map; at least one
};

// Takes a processor or generic target, a product, a code name of an architecture or a family; each
// may have features behind it ("gfx90a:xnack+", "mi300x:xnack-"), and a product may be given by its
// title. Case, blanks, hyphens and underscores do
// not count ("RX 7900 XTX"). NOT_FOUND with what was probably meant, INVALID_ARGUMENT for features
// that a processor has not.
Result<NamedTarget> resolve_target_name(std::string_view name);

// What code runs on a device, and which is taken if there is a choice: the smaller, the better.
enum class MatchRank : uint8_t {
  kProcessorWithFeatures,  // "gfx90a:sramecc+:xnack-"
  kProcessor,              // "gfx90a"
  kGenericWithFeatures,    // "gfx9-4-generic:xnack-"
  kGeneric,                // "gfx9-4-generic"
};

// The rank of code that is built for `code`. Only comparable between targets that run on the device
// (see why_not_runs_on in hal/target_id.h).
MatchRank match_rank(const TargetId& code);

// Whether of two that run on a device `a` is taken before `b`: by rank, then by the number of
// features that it names. A strict weak ordering.
bool is_preferred(const TargetId& a, const TargetId& b);

// Every target whose code the device runs, the best first. A feature whose setting is not known
// (kAny) is left open in all of them. A processor that is not in the map runs what names it.
std::vector<TargetId> load_order(const TargetId& device);

}  // namespace halyard
