#include "hal/target_map.h"

#include <algorithm>
#include <tuple>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard {
namespace {

// What counts of a name.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// A title as it is in the map has AMD's name only where AMD writes it so.
std::string folded_title(std::string_view title) {
  std::string text = folded(title);
  return text.starts_with("amd") ? text.substr(3) : text;
}

template <typename Entry>
const Entry* find_named(std::span<const Entry> entries, std::string_view name) noexcept {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return name == e.name; });
  return found == entries.end() ? nullptr : &*found;
}

template <typename Entry>
const Entry* find_folded(std::span<const Entry> entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& e) { return name == folded(e.name); });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<std::string_view> processors_with(const char* const ProcessorInfo::* field,
                                              std::string_view value) {
  std::vector<std::string_view> names;
  for (const ProcessorInfo& processor : all_processors()) {
    const char* const text = processor.*field;
    if (text != nullptr && value == text) names.emplace_back(processor.name);
  }
  return names;
}

const ProductInfo* find_product_folded(const std::string& name) {
  if (const ProductInfo* product = find_folded(all_products(), name)) return product;
  if (const ProductAlias* alias = find_folded(all_product_aliases(), name)) {
    return find_product(alias->product);
  }
  const std::string title = folded_title(name);
  for (const ProductInfo& product : all_products()) {
    if (title == folded_title(product.title)) return &product;
  }
  return nullptr;
}

Status unknown_name(std::string_view name) {
  std::vector<std::string_view> names;
  const auto add = [&names](auto entries) {
    for (const auto& entry : entries) names.emplace_back(entry.name);
  };
  for (const ProcessorInfo& processor : all_processors()) {
    if (processor.kind != ProcessorKind::kHistoric) names.emplace_back(processor.name);
  }
  add(all_architectures());
  add(all_products());
  add(all_product_aliases());
  add(all_families());
  return error(StatusCode::kNotFound,
               "The target map has no entry named ({}).{} It has processors (gfx942), generic "
               "targets (gfx9-4-generic), products (mi300x), code names (cdna3) and families "
               "(gfx94X-dcgpu); `halyard targets` lists them.",
               name, did_you_mean_clause(name, names));
}

Status historic_name(const ProcessorInfo& processor) {
  return error(StatusCode::kNotFound,
               "Halyard does not support the processor ({}): the target map begins with {} and has "
               "the processors that LLVM 22 compiles for.",
               processor.name, all_processors().front().name);
}

// What `name` stands for, but for its targets.
Result<NamedTarget> find_name(const std::string& name, std::string_view shown,
                              std::vector<std::string_view>* processors) {
  if (const ProcessorInfo* processor = find_folded(all_processors(), name)) {
    if (processor->kind == ProcessorKind::kHistoric) return historic_name(*processor);
    *processors = {processor->name};
    return NamedTarget{
        processor->is_generic() ? TargetNameKind::kGeneric : TargetNameKind::kProcessor,
        processor->name,
        nullptr,
        {}};
  }
  if (const ArchitectureInfo* architecture = find_folded(all_architectures(), name)) {
    *processors = processors_of_architecture(architecture->name);
    return NamedTarget{TargetNameKind::kArchitecture, architecture->name, nullptr, {}};
  }
  if (const FamilyInfo* family = find_folded(all_families(), name)) {
    processors->assign(family->processors.begin(), family->processors.end());
    return NamedTarget{TargetNameKind::kFamily, family->name, nullptr, {}};
  }
  if (const ProductInfo* product = find_product_folded(name)) {
    *processors = {product->processor};
    return NamedTarget{TargetNameKind::kProduct, product->name, product, {}};
  }
  return unknown_name(shown);
}

size_t named_features(const TargetId& target) {
  const auto is_named = [](Feature f) { return f == Feature::kOn || f == Feature::kOff; };
  return static_cast<size_t>(is_named(target.xnack)) +
         static_cast<size_t>(is_named(target.sramecc));
}

// Every way to name some of the features of `device`, the most at first, for a processor that has
// them.
void append_settings(const ProcessorInfo* processor, const TargetId& device,
                     std::vector<TargetId>* order) {
  const bool known = processor != nullptr;
  const auto settings = [known](Feature device_setting, bool supported) -> std::vector<Feature> {
    if (known && !supported) return {Feature::kUnsupported};
    const bool is_set = device_setting == Feature::kOn || device_setting == Feature::kOff;
    if (!is_set) return {Feature::kAny};
    return {device_setting, Feature::kAny};
  };
  for (const Feature sramecc : settings(device.sramecc, known && processor->has_sramecc)) {
    for (const Feature xnack : settings(device.xnack, known && processor->has_xnack)) {
      order->push_back({known ? processor->name : device.processor, sramecc, xnack});
    }
  }
}

}  // namespace

const ProcessorInfo* find_processor(std::string_view name) noexcept {
  return find_named(all_processors(), name);
}

const ProcessorInfo* find_processor(uint8_t elf_machine) noexcept {
  for (const ProcessorInfo& processor : all_processors()) {
    if (elf_machine == processor.elf_machine) return &processor;
  }
  return nullptr;
}

const ArchitectureInfo* find_architecture(std::string_view name) noexcept {
  return find_named(all_architectures(), name);
}

const ProductInfo* find_product(std::string_view name) noexcept {
  const ProductAlias* alias = find_named(all_product_aliases(), name);
  return find_named(all_products(), alias == nullptr ? name : alias->product);
}

std::string why_older_than_processor(const ProcessorInfo& processor, uint32_t generic_version) {
  if (generic_version >= processor.generic_version) return {};
  return fmt::format("it has version {} of {}, which covers {} from version {} on", generic_version,
                     processor.generic, processor.name, processor.generic_version);
}

std::vector<std::string_view> processors_of_generic(std::string_view generic) {
  return processors_with(&ProcessorInfo::generic, generic);
}

std::vector<std::string_view> processors_of_architecture(std::string_view architecture) {
  return processors_with(&ProcessorInfo::architecture, architecture);
}

const char* to_string(TargetNameKind kind) {
  switch (kind) {
    case TargetNameKind::kProcessor:
      return "processor";
    case TargetNameKind::kGeneric:
      return "generic target";
    case TargetNameKind::kProduct:
      return "product";
    case TargetNameKind::kArchitecture:
      return "code name";
    case TargetNameKind::kFamily:
      return "family";
  }
  return "?";
}

Result<NamedTarget> resolve_target_name(std::string_view name) {
  const size_t colon = std::min(name.find(':'), name.size());
  const std::string_view features = name.substr(colon);
  std::vector<std::string_view> processors;
  HALYARD_ASSIGN_OR_RETURN(NamedTarget named, find_name(folded(name.substr(0, colon)),
                                                        name.substr(0, colon), &processors));
  for (const std::string_view processor : processors) {
    HALYARD_ASSIGN_OR_RETURN(TargetId target,
                             parse_target_id(std::string(processor).append(features)));
    named.targets.push_back(std::move(target));
  }
  return named;
}

MatchRank match_rank(const TargetId& code) {
  const ProcessorInfo* processor = find_processor(code.processor);
  const bool has_features = named_features(code) > 0;
  if (processor != nullptr && processor->is_generic()) {
    return has_features ? MatchRank::kGenericWithFeatures : MatchRank::kGeneric;
  }
  return has_features ? MatchRank::kProcessorWithFeatures : MatchRank::kProcessor;
}

bool is_preferred(const TargetId& a, const TargetId& b) {
  const auto key = [](const TargetId& target) {
    return std::tuple(match_rank(target), SIZE_MAX - named_features(target));
  };
  return key(a) < key(b);
}

std::vector<TargetId> load_order(const TargetId& device) {
  const ProcessorInfo* processor = find_processor(device.processor);
  std::vector<TargetId> order;
  append_settings(processor, device, &order);
  if (processor != nullptr && processor->generic != nullptr) {
    append_settings(find_processor(processor->generic), device, &order);
  }
  return order;
}

}  // namespace halyard
