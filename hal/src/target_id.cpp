#include "hal/target_id.h"

#include "hal/error.h"
#include "hal/target_map.h"
#include "hal/text.h"

namespace halyard {
namespace {

bool looks_like_processor(std::string_view name) {
  if (name.size() < 6 || name.size() > 32 || name.substr(0, 3) != "gfx") return false;
  for (const char c : name.substr(3)) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-')) return false;
  }
  return name[3] >= '0' && name[3] <= '9';
}

Status not_a_target(std::string_view text, std::string_view why) {
  return error(StatusCode::kInvalidArgument,
               "The target ID \"{}\" {}. One looks like \"gfx900\" or "
               "\"gfx90a:sramecc+:xnack-\".",
               text, why);
}

const char* setting(Feature feature) {
  return feature == Feature::kOn ? "on" : "off";
}

std::string why_feature_differs(const char* name, Feature code, Feature device) {
  // A device whose setting is not known is left for the vendor's loader to judge.
  if (code != Feature::kOn && code != Feature::kOff) return {};
  if (code == device || device == Feature::kAny) return {};
  if (device == Feature::kUnsupported) {
    if (code == Feature::kOff) return {};
    return fmt::format("it needs {} on, which the device does not have", name);
  }
  return fmt::format("it needs {} {}, and the device has it {}", name, setting(code),
                     setting(device));
}

}  // namespace

Result<TargetId> parse_target_id(std::string_view text) {
  std::string_view rest = text;
  // An ISA name has the triple in front: architecture, vendor, system and an empty environment.
  if (const size_t end = rest.find("--"); end != std::string_view::npos)
    rest.remove_prefix(end + 2);
  const size_t colon = rest.find(':');
  TargetId target;
  target.processor = std::string(rest.substr(0, colon));
  const ProcessorInfo* processor = find_processor(target.processor);
  if (processor == nullptr && !looks_like_processor(target.processor)) {
    std::vector<std::string_view> names;
    for (const ProcessorInfo& known : all_processors()) names.push_back(known.name);
    return not_a_target(text, fmt::format("names no processor (\"{}\").{}", target.processor,
                                          did_you_mean_clause(target.processor, names)));
  }
  if (processor != nullptr) {
    if (processor->has_sramecc) target.sramecc = Feature::kAny;
    if (processor->has_xnack) target.xnack = Feature::kAny;
  }
  rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(part.size());
    const char sign = part.empty() ? '\0' : part.back();
    if (sign != '+' && sign != '-') {
      return not_a_target(text, fmt::format("has a feature (\"{}\") without + or -", part));
    }
    const std::string_view name = part.substr(0, part.size() - 1);
    Feature* feature = name == "sramecc" ? &target.sramecc
                       : name == "xnack" ? &target.xnack
                                         : nullptr;
    if (feature == nullptr) {
      return not_a_target(text,
                          fmt::format("has a feature (\"{}\") other than sramecc and xnack", name));
    }
    if (processor != nullptr && *feature == Feature::kUnsupported) {
      return not_a_target(
          text, fmt::format("has a feature (\"{}\") that {} does not have", name, processor->name));
    }
    if (*feature == Feature::kOn || *feature == Feature::kOff) {
      return not_a_target(text, fmt::format("names a feature (\"{}\") twice", name));
    }
    *feature = sign == '+' ? Feature::kOn : Feature::kOff;
  }
  return target;
}

std::string to_string(const TargetId& target) {
  std::string text = target.processor;
  const auto append = [&](const char* name, Feature feature) {
    if (feature == Feature::kOn) text.append(":").append(name).append("+");
    if (feature == Feature::kOff) text.append(":").append(name).append("-");
  };
  append("sramecc", target.sramecc);
  append("xnack", target.xnack);
  return text;
}

std::string why_not_runs_on(const TargetId& code, const TargetId& device,
                            uint32_t generic_version) {
  if (code.processor != device.processor) {
    const ProcessorInfo* built = find_processor(code.processor);
    if (built == nullptr || !built->is_generic()) {
      return fmt::format("{} code does not run on {}", code.processor, device.processor);
    }
    const ProcessorInfo* there = find_processor(device.processor);
    if (there == nullptr || there->generic == nullptr || code.processor != there->generic) {
      return fmt::format("{} covers {}, but not {}", code.processor,
                         list_of(processors_of_generic(code.processor), SIZE_MAX),
                         device.processor);
    }
    if (std::string why = why_older_than_processor(*there, generic_version); !why.empty()) {
      return why;
    }
  }
  if (std::string why = why_feature_differs("xnack", code.xnack, device.xnack); !why.empty()) {
    return why;
  }
  return why_feature_differs("sramecc", code.sramecc, device.sramecc);
}

}  // namespace halyard
