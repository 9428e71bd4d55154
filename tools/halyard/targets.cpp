// halyard targets: the target map, what a name in it stands for, and which code runs there.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "hal/error.h"
#include "hal/target_map.h"
#include "hal/text.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/session.h"
#include "tools/halyard/table.h"

namespace halyard::cli {
namespace {

struct TargetsFlags {
  SessionFlags session;
  std::vector<std::string> names;
  bool json = false;
};

// A processor with features, or a generic target, and how the user came to it.
struct Question {
  std::string subject;  // "mi300x", "amdgpu:0"
  std::string what;     // "AMD Instinct MI300X, 304 compute units, 192 GiB"
  std::vector<TargetId> targets;
};

std::string join(const std::vector<std::string>& words, const char* separator = ", ") {
  return fmt::format("{}", fmt::join(words, separator));
}

std::vector<std::string> features_of(const ProcessorInfo& processor) {
  std::vector<std::string> names;
  if (processor.has_sramecc) names.emplace_back("sramecc");
  if (processor.has_xnack) names.emplace_back("xnack");
  return names;
}

std::vector<std::string> wavefront_sizes_of(const ProcessorInfo& processor) {
  std::vector<std::string> sizes = {std::to_string(processor.wavefront_size)};
  if (processor.other_wavefront_size != 0) {
    sizes.push_back(std::to_string(processor.other_wavefront_size));
  }
  return sizes;
}

std::vector<std::string> products_of(const ProcessorInfo& processor) {
  std::vector<std::string> names;
  for (const ProductInfo& product : all_products()) {
    if (std::string_view(product.processor) == processor.name) names.emplace_back(product.name);
  }
  return names;
}

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

const char* title_of(MatchRank rank) {
  switch (rank) {
    case MatchRank::kProcessorWithFeatures:
      return "processor with features";
    case MatchRank::kProcessor:
      return "processor";
    case MatchRank::kGenericWithFeatures:
      return "generic target with features";
    case MatchRank::kGeneric:
      return "generic target";
  }
  return "?";
}

// One line of the order of preference.
struct Step {
  MatchRank rank;
  std::vector<std::string> targets;  // the better first
  // Features that code of this step may ask for as well, if the device turns out to be so set.
  std::vector<std::string> open_features;
};

void add_steps(const TargetId& device, const ProcessorInfo& processor, std::vector<Step>& steps) {
  Step featured{
      processor.is_generic() ? MatchRank::kGenericWithFeatures : MatchRank::kProcessorWithFeatures,
      {},
      {}};
  Step plain{processor.is_generic() ? MatchRank::kGeneric : MatchRank::kProcessor, {}, {}};
  for (const TargetId& target : load_order(device)) {
    const MatchRank rank = match_rank(target);
    if (rank == featured.rank) featured.targets.push_back(to_string(target));
    if (rank == plain.rank) plain.targets.push_back(to_string(target));
  }
  const auto is_open = [&](bool there, Feature setting) {
    return there && processor.features_can_be_chosen && setting == Feature::kAny;
  };
  if (is_open(processor.has_sramecc, device.sramecc))
    featured.open_features.emplace_back("sramecc");
  if (is_open(processor.has_xnack, device.xnack)) featured.open_features.emplace_back("xnack");
  if (!featured.targets.empty() || !featured.open_features.empty()) steps.push_back(featured);
  steps.push_back(plain);
}

std::vector<Step> steps_of(const TargetId& device) {
  std::vector<Step> steps;
  const ProcessorInfo* processor = find_processor(device.processor);
  if (processor == nullptr) {
    for (const TargetId& target : load_order(device)) {
      steps.push_back({match_rank(target), {to_string(target)}, {}});
    }
    return steps;
  }
  add_steps(device, *processor, steps);
  if (processor->generic != nullptr) add_steps(device, *find_processor(processor->generic), steps);
  return steps;
}

std::string text_of(const Step& step, const std::string& processor) {
  if (step.open_features.empty()) return join(step.targets);
  const std::string setting =
      fmt::format("the device's own setting of {}", join(step.open_features, " and "));
  if (step.targets.empty()) return fmt::format("{}, with {}", processor, setting);
  return fmt::format("{}, also with {}", join(step.targets), setting);
}

std::string describe(const ProcessorInfo& processor) {
  std::string text = processor.is_generic()
                         ? fmt::format("generic target, version {}", processor.generic_version)
                         : find_architecture(processor.architecture)->title;
  text += fmt::format("; wavefronts of {}", join(wavefront_sizes_of(processor), " or "));
  if (processor.has_sramecc || processor.has_xnack) {
    text +=
        fmt::format("; {}{}", join(features_of(processor), " and "),
                    processor.features_can_be_chosen ? "" : ", which a target ID cannot choose");
  }
  return text;
}

// A target, and what is loaded on it.
std::string to_text(const TargetId& target) {
  const ProcessorInfo* processor = find_processor(target.processor);
  if (processor == nullptr) {
    return fmt::format("{} is not in the target map; it runs only code for exactly this target.\n",
                       to_string(target));
  }
  std::string text = fmt::format("{}: {}.\n", to_string(target), describe(*processor));
  if (processor->is_generic()) {
    return text + fmt::format("  Code for it runs on {}.\n",
                              list_of(processors_of_generic(processor->name), SIZE_MAX));
  }
  text += "  It loads the first of these that a module has:\n";
  size_t number = 0;
  for (const Step& step : steps_of(target)) {
    const bool is_generic = step.rank >= MatchRank::kGenericWithFeatures;
    text += fmt::format("  {}. {:<29} {}\n", ++number, title_of(step.rank),
                        text_of(step, is_generic ? processor->generic : processor->name));
  }
  return text;
}

Json to_json(const TargetId& target) {
  Json json = {{"target", to_string(target)}, {"processor", target.processor}};
  const ProcessorInfo* processor = find_processor(target.processor);
  if (processor != nullptr) {
    json["architecture"] = text_of(processor->architecture);
    json["generic"] = text_of(processor->generic);
    json["features"] = features_of(*processor);
    json["covers"] = processors_of_generic(processor->name);
    if (processor->is_generic()) return json;
  }
  json["load_order"] = Json::array();
  for (const Step& step : steps_of(target)) {
    json["load_order"].push_back({{"kind", title_of(step.rank)},
                                  {"targets", step.targets},
                                  {"open_features", step.open_features}});
  }
  return json;
}

std::string describe(const ProductInfo& product) {
  std::string text = product.title;
  if (product.devices > 1) text += fmt::format(", {} devices, each with", product.devices);
  if (product.compute_units > 0) {
    text +=
        fmt::format("{} {} compute units", product.devices > 1 ? "" : ",", product.compute_units);
  }
  if (product.memory_gib > 0) {
    text += fmt::format("{}{} GiB", product.devices > 1 ? " and " : ", ", product.memory_gib);
  }
  return text;
}

Result<Question> question_of(const std::string& name) {
  HALYARD_ASSIGN_OR_RETURN(const NamedTarget named, resolve_target_name(name));
  std::string what;
  if (named.kind == TargetNameKind::kProduct) what = describe(*named.product);
  if (named.kind == TargetNameKind::kArchitecture) {
    what = fmt::format("code name of {}", find_architecture(named.name)->title);
  }
  if (named.kind == TargetNameKind::kFamily) what = "family";
  return Question{named.name, what, named.targets};
}

Result<std::vector<Question>> native_questions(const SessionFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags));
  std::vector<Question> questions;
  for (const LoadedDriver& driver : registry->drivers()) {
    for (const DeviceSummary& device : driver.devices) {
      const std::string subject = fmt::format("{}:{}", driver.name, device.ordinal);
      Question question{subject, std::string(printable(device.name.view())), {}};
      const Result<TargetId> target = parse_target_id(device.target.view());
      if (target.ok()) {
        question.targets.push_back(*target);
      } else {
        question.what +=
            fmt::format(", no AMD GPU (its target is {})", printable(device.target.view()));
      }
      questions.push_back(std::move(question));
    }
  }
  if (questions.empty()) return no_device(*registry);
  print_notes(*flags.settings, registry->report());
  return questions;
}

Result<std::vector<Question>> questions_of(const TargetsFlags& flags) {
  std::vector<Question> questions;
  for (const std::string& name : flags.names) {
    if (name == "native") {
      HALYARD_ASSIGN_OR_RETURN(const std::vector<Question> native, native_questions(flags.session));
      questions.insert(questions.end(), native.begin(), native.end());
      continue;
    }
    HALYARD_ASSIGN_OR_RETURN(Question question, question_of(name));
    questions.push_back(std::move(question));
  }
  return questions;
}

Status answer(const TargetsFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<Question> questions, questions_of(flags));
  std::string text;
  Json json = Json::array();
  for (const Question& question : questions) {
    Json targets = Json::array();
    if (!question.what.empty()) text += fmt::format("{}: {}.\n", question.subject, question.what);
    for (const TargetId& target : question.targets) {
      text += to_text(target);
      targets.push_back(to_json(target));
    }
    json.push_back({{"name", question.subject}, {"what", question.what}, {"targets", targets}});
  }
  return print(flags.json ? dump(json) : text);
}

std::string list_as_text() {
  std::vector<Row> processors = {
      {"PROCESSOR", "CODE NAME", "GENERIC TARGET", "FEATURES", "WAVEFRONT", "PRODUCTS"}};
  std::vector<Row> generics = {{"GENERIC TARGET", "VERSION", "FEATURES", "WAVEFRONT", "COVERS"}};
  for (const ProcessorInfo& processor : all_processors()) {
    const std::string features = join(features_of(processor));
    const std::string sizes = join(wavefront_sizes_of(processor));
    if (processor.kind == ProcessorKind::kExact) {
      processors.push_back({processor.name, processor.architecture, text_of(processor.generic),
                            features, sizes, join(products_of(processor))});
    } else if (processor.is_generic()) {
      generics.push_back(
          {processor.name, std::to_string(processor.generic_version), features, sizes,
           fmt::format("{}", fmt::join(processors_of_generic(processor.name), ", "))});
    }
  }
  std::vector<Row> architectures = {{"CODE NAME", "ARCHITECTURE", "PROCESSORS"}};
  for (const ArchitectureInfo& architecture : all_architectures()) {
    architectures.push_back(
        {architecture.name, architecture.title,
         fmt::format("{}", fmt::join(processors_of_architecture(architecture.name), ", "))});
  }
  std::vector<Row> families = {{"FAMILY", "PROCESSORS"}};
  for (const FamilyInfo& family : all_families()) {
    families.push_back({family.name, fmt::format("{}", fmt::join(family.processors, ", "))});
  }
  return format_table(processors) + "\n" + format_table(generics) + "\n" +
         format_table(architectures) + "\n" + format_table(families);
}

Json list_as_json() {
  Json json = {{"processors", Json::array()},
               {"generics", Json::array()},
               {"products", Json::array()},
               {"architectures", Json::array()},
               {"families", Json::array()}};
  for (const ProcessorInfo& processor : all_processors()) {
    if (processor.kind == ProcessorKind::kHistoric) continue;
    Json entry = {{"name", processor.name},
                  {"elf_machine", processor.elf_machine},
                  {"features", features_of(processor)},
                  {"features_can_be_chosen", processor.features_can_be_chosen},
                  {"wavefront_sizes", wavefront_sizes_of(processor)},
                  {"generic_version", processor.generic_version}};
    if (processor.is_generic()) {
      entry["covers"] = processors_of_generic(processor.name);
      json["generics"].push_back(entry);
    } else {
      entry["architecture"] = processor.architecture;
      entry["generic"] = text_of(processor.generic);
      json["processors"].push_back(entry);
    }
  }
  for (const ProductInfo& product : all_products()) {
    json["products"].push_back({{"name", product.name},
                                {"title", product.title},
                                {"processor", product.processor},
                                {"compute_units", product.compute_units},
                                {"memory_gib", product.memory_gib},
                                {"devices", product.devices}});
  }
  for (const ArchitectureInfo& architecture : all_architectures()) {
    json["architectures"].push_back(
        {{"name", architecture.name},
         {"title", architecture.title},
         {"processors", processors_of_architecture(architecture.name)}});
  }
  for (const FamilyInfo& family : all_families()) {
    json["families"].push_back({{"name", family.name}, {"processors", family.processors}});
  }
  return json;
}

Status targets(TargetsFlags& flags) {
  const bool asks_drivers = flags.session.vgpu->count() > 0 ||
                            !flags.session.plugin_paths.empty() || !flags.session.libhsa.empty() ||
                            !flags.session.libhip.empty();
  if (flags.names.empty() && asks_drivers) flags.names.emplace_back("native");
  if (!flags.names.empty()) return answer(flags);
  return print(flags.json ? dump(list_as_json()) : list_as_text());
}

}  // namespace

void add_targets_command(Command app, Status& outcome) {
  Command command = app.add_subcommand(
      "targets", "List GPUs to compile for, and the order in which each selects code");
  const auto flags = std::make_shared<TargetsFlags>();
  command
      .add_option("names", flags->names,
                  "A processor or generic target (gfx942, gfx90a:xnack+, gfx9-generic), a product "
                  "(mi300x), a code name (cdna3), a family (gfx94X-dcgpu), or native (the devices "
                  "of this machine). Without a name, the command lists all")
      ->type_name("TARGET");
  command.add_flag("--json", flags->json, "Print JSON instead of text");
  add_session_flags(command, flags->session);
  command.footer(
      "The driver options apply to native. With them and without a name, the command shows "
      "native.\n"
      "\n"
      "Examples:\n"
      "  halyard targets mi300x\n"
      "  halyard targets native --vgpu=gfx90a");
  command.callback([flags, &outcome] { outcome = targets(*flags); });
}

}  // namespace halyard::cli
