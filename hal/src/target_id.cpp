#include "hal/target_id.h"

#include "hal/error.h"
#include "hal/text.h"

namespace halyard {
namespace {

// Machine numbers are EF_AMDGPU_MACH (LLVM AMDGPUUsage, "AMDGPU ELF Header e_flags"; gfx940 and
// gfx941 from before they were retired). Features as LLVM 22 writes them into e_flags.
constexpr ProcessorInfo kProcessors[] = {
    // name, machine, xnack, sramecc, generic, is generic
    {"gfx600", 0x20, false, false, nullptr, false},
    {"gfx601", 0x21, false, false, nullptr, false},
    {"gfx602", 0x3a, false, false, nullptr, false},
    {"gfx700", 0x22, false, false, nullptr, false},
    {"gfx701", 0x23, false, false, nullptr, false},
    {"gfx702", 0x24, false, false, nullptr, false},
    {"gfx703", 0x25, false, false, nullptr, false},
    {"gfx704", 0x26, false, false, nullptr, false},
    {"gfx705", 0x3b, false, false, nullptr, false},
    {"gfx801", 0x28, true, false, nullptr, false},
    {"gfx802", 0x29, false, false, nullptr, false},
    {"gfx803", 0x2a, false, false, nullptr, false},
    {"gfx805", 0x3c, false, false, nullptr, false},
    {"gfx810", 0x2b, true, false, nullptr, false},
    {"gfx900", 0x2c, true, false, "gfx9-generic", false},
    {"gfx902", 0x2d, true, false, "gfx9-generic", false},
    {"gfx904", 0x2e, true, false, "gfx9-generic", false},
    {"gfx906", 0x2f, true, true, "gfx9-generic", false},
    {"gfx908", 0x30, true, true, nullptr, false},
    {"gfx909", 0x31, true, false, "gfx9-generic", false},
    {"gfx90a", 0x3f, true, true, nullptr, false},
    {"gfx90c", 0x32, true, false, "gfx9-generic", false},
    {"gfx940", 0x40, true, true, "gfx9-4-generic", false},
    {"gfx941", 0x4b, true, true, "gfx9-4-generic", false},
    {"gfx942", 0x4c, true, true, "gfx9-4-generic", false},
    {"gfx950", 0x4f, true, true, "gfx9-4-generic", false},
    {"gfx1010", 0x33, true, false, "gfx10-1-generic", false},
    {"gfx1011", 0x34, true, false, "gfx10-1-generic", false},
    {"gfx1012", 0x35, true, false, "gfx10-1-generic", false},
    {"gfx1013", 0x42, true, false, "gfx10-1-generic", false},
    {"gfx1030", 0x36, false, false, "gfx10-3-generic", false},
    {"gfx1031", 0x37, false, false, "gfx10-3-generic", false},
    {"gfx1032", 0x38, false, false, "gfx10-3-generic", false},
    {"gfx1033", 0x39, false, false, "gfx10-3-generic", false},
    {"gfx1034", 0x3e, false, false, "gfx10-3-generic", false},
    {"gfx1035", 0x3d, false, false, "gfx10-3-generic", false},
    {"gfx1036", 0x45, false, false, "gfx10-3-generic", false},
    {"gfx1100", 0x41, false, false, "gfx11-generic", false},
    {"gfx1101", 0x46, false, false, "gfx11-generic", false},
    {"gfx1102", 0x47, false, false, "gfx11-generic", false},
    {"gfx1103", 0x44, false, false, "gfx11-generic", false},
    {"gfx1150", 0x43, false, false, "gfx11-generic", false},
    {"gfx1151", 0x4a, false, false, "gfx11-generic", false},
    {"gfx1152", 0x55, false, false, "gfx11-generic", false},
    {"gfx1153", 0x58, false, false, "gfx11-generic", false},
    {"gfx1200", 0x48, false, false, "gfx12-generic", false},
    {"gfx1201", 0x4e, false, false, "gfx12-generic", false},
    {"gfx1250", 0x49, true, true, nullptr, false},
    {"gfx1251", 0x5a, true, true, nullptr, false},
    {"gfx9-generic", 0x51, true, false, nullptr, true},
    {"gfx9-4-generic", 0x5f, true, true, nullptr, true},
    {"gfx10-1-generic", 0x52, true, false, nullptr, true},
    {"gfx10-3-generic", 0x53, false, false, nullptr, true},
    {"gfx11-generic", 0x54, false, false, nullptr, true},
    {"gfx12-generic", 0x59, false, false, nullptr, true},
};

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

const ProcessorInfo* find_processor(std::string_view name) {
  for (const ProcessorInfo& processor : kProcessors) {
    if (name == processor.name) return &processor;
  }
  return nullptr;
}

const ProcessorInfo* find_processor(uint8_t elf_machine) {
  for (const ProcessorInfo& processor : kProcessors) {
    if (elf_machine == processor.elf_machine) return &processor;
  }
  return nullptr;
}

std::vector<std::string_view> processors_of_generic(std::string_view generic) {
  std::vector<std::string_view> names;
  for (const ProcessorInfo& processor : kProcessors) {
    if (processor.generic != nullptr && generic == processor.generic) {
      names.push_back(processor.name);
    }
  }
  return names;
}

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
    for (const ProcessorInfo& known : kProcessors) names.push_back(known.name);
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

std::string why_not_runs_on(const TargetId& code, const TargetId& device) {
  if (code.processor != device.processor) {
    const ProcessorInfo* built = find_processor(code.processor);
    if (built == nullptr || !built->is_generic) {
      return fmt::format("{} code does not run on {}", code.processor, device.processor);
    }
    const ProcessorInfo* there = find_processor(device.processor);
    if (there == nullptr || there->generic == nullptr || code.processor != there->generic) {
      return fmt::format("{} covers {}, but not {}", code.processor,
                         list_of(processors_of_generic(code.processor), SIZE_MAX),
                         device.processor);
    }
  }
  if (std::string why = why_feature_differs("xnack", code.xnack, device.xnack); !why.empty()) {
    return why;
  }
  return why_feature_differs("sramecc", code.sramecc, device.sramecc);
}

}  // namespace halyard
