#include "config/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace halyard::config {

namespace {

enum QuantityKind { kBytes, kNanoseconds, kHertz };

struct Unit {
  const char* name;
  double factor;
};

constexpr Unit kByteUnits[] = {
    {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
};
constexpr Unit kTimeUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kFrequencyUnits[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};

struct Quantity {
  const char* noun;
  const char* example;
  const Unit* units;
  size_t unit_count;
};

const Quantity& quantity_of(int kind) {
  static const Quantity table[] = {
      {"a size", "256MiB", kByteUnits, std::size(kByteUnits)},
      {"a duration", "50us", kTimeUnits, std::size(kTimeUnits)},
      {"a frequency", "100MHz", kFrequencyUnits, std::size(kFrequencyUnits)},
  };
  return table[kind];
}

std::string unit_names(const Quantity& quantity) {
  std::string names;
  for (size_t i = 0; i < quantity.unit_count; ++i) {
    if (i != 0) names += ", ";
    names += quantity.units[i].name;
  }
  return names;
}

// The largest unit that divides the value, for limits in messages.
std::string with_unit(uint64_t value, const Quantity& quantity) {
  const Unit* best = &quantity.units[0];
  for (size_t i = 0; i < quantity.unit_count; ++i) {
    const auto factor = static_cast<uint64_t>(quantity.units[i].factor);
    if (value != 0 && value % factor == 0 && factor > static_cast<uint64_t>(best->factor)) {
      best = &quantity.units[i];
    }
  }
  return fmt::format("{}{}", value / static_cast<uint64_t>(best->factor), best->name);
}

bool parse_unsigned(std::string_view text, uint64_t& value) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return code == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_quantity(std::string_view text, const Quantity& quantity, uint64_t& value) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || !std::isfinite(number) || number < 0) return false;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (size_t i = 0; i < quantity.unit_count; ++i) {
    if (unit != quantity.units[i].name) continue;
    const double product = number * quantity.units[i].factor;
    if (product >= 0x1p63) return false;
    value = static_cast<uint64_t>(std::llround(product));
    return true;
  }
  return false;
}

// Insertions, deletions, substitutions and swaps of neighbours.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + differs});
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && differs != 0;
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

Location location_of(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return {file, 0, 0};
  return {file, mark.line + 1, mark.column + 1};
}

const char* kind_name(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Null:
      return "nothing";
    case YAML::NodeType::Scalar:
      return "a single value";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Undefined:
      break;
  }
  return "nothing";
}

}  // namespace

std::string Location::to_string() const {
  if (line == 0) return file;
  return fmt::format("{}:{}:{}", file, line, column);
}

void Diagnostics::error(const Location& where, std::string_view sentence) {
  errors_.push_back(fmt::format("{}: {}", where.to_string(), sentence));
}

std::string Diagnostics::text() const {
  return fmt::format("{}", fmt::join(errors_, "\n"));
}

std::string closest_match(std::string_view word, const std::vector<std::string>& candidates) {
  // Nobody means a longer one, and the distance takes memory for both lengths.
  constexpr size_t kLongest = 256;
  if (word.size() > kLongest) return {};
  std::string best;
  // A third of the word may be wrong: more than that is another word.
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

struct Map::State {
  YAML::Node node;
  std::string name;
  std::string file;
  Diagnostics* diagnostics = nullptr;
  std::set<std::string, std::less<>> asked;

  // Finds by hand: YAML::Node's operator[] would match keys by conversion.
  YAML::Node find(std::string_view key) const {
    if (!node.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && entry.first.Scalar() == key) return entry.second;
    }
    return YAML::Node(YAML::NodeType::Undefined);
  }
};

Map::Map(const YAML::Node& node, std::string name, std::string file, Diagnostics& diagnostics)
    : state_(std::make_shared<State>()) {
  state_->node = node;
  state_->name = std::move(name);
  state_->file = std::move(file);
  state_->diagnostics = &diagnostics;
  if (!node.IsMap()) return;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const Location where = location_of(state_->file, entry.first.Mark());
    if (!entry.first.IsScalar()) {
      diagnostics.error(where, fmt::format("A key of {} is {}; it must be a name.", state_->name,
                                           kind_name(entry.first)));
      continue;
    }
    if (!seen.insert(entry.first.Scalar()).second) {
      diagnostics.error(where, fmt::format("The key ({}) is given twice in {}; remove one of them.",
                                           entry.first.Scalar(), state_->name));
    }
  }
}

Map::Map(const Map&) = default;
Map& Map::operator=(const Map&) = default;
Map::~Map() = default;

bool Map::has(std::string_view key) const {
  return state_->find(key).IsDefined();
}

std::vector<std::string> Map::keys() const {
  std::vector<std::string> keys;
  if (!state_->node.IsMap()) return keys;
  for (const auto& entry : state_->node) {
    if (entry.first.IsScalar()) keys.push_back(entry.first.Scalar());
  }
  return keys;
}

Location Map::location(std::string_view key) const {
  const YAML::Node value = state_->find(key);
  if (!value.IsDefined()) return location_of(state_->file, state_->node.Mark());
  return location_of(state_->file, value.Mark());
}

void Map::fail(std::string_view key, std::string_view sentence) {
  state_->diagnostics->error(location(key), sentence);
}

bool Map::scalar(std::string_view key, std::string& text) {
  state_->asked.emplace(key);
  const YAML::Node value = state_->find(key);
  if (!value.IsDefined()) return false;
  if (!value.IsScalar()) {
    fail(key, fmt::format("{} is {}; it must be a single value.", key, kind_name(value)));
    return false;
  }
  text = value.Scalar();
  return true;
}

bool Map::string(std::string_view key, std::string& out) {
  return scalar(key, out);
}

bool Map::boolean(std::string_view key, bool& out) {
  std::string text;
  if (!scalar(key, text)) return false;
  if (text != "true" && text != "false") {
    fail(key, fmt::format("{} ({}) is not a truth value; it must be true or false.", key, text));
    return false;
  }
  out = text == "true";
  return true;
}

bool Map::integer(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  std::string text;
  if (!scalar(key, text)) return false;
  uint64_t value = 0;
  if (!parse_unsigned(text, value)) {
    fail(key, fmt::format("{} ({}) is not a whole number; it must be one from {} to {}.", key, text,
                          min, max));
    return false;
  }
  if (value < min || value > max) {
    fail(key,
         fmt::format("{} ({}) is out of range; it must be from {} to {}.", key, text, min, max));
    return false;
  }
  out = value;
  return true;
}

bool Map::integer(std::string_view key, uint32_t& out, uint32_t min, uint32_t max) {
  uint64_t wide = 0;
  if (!integer(key, wide, uint64_t{min}, uint64_t{max})) return false;
  out = static_cast<uint32_t>(wide);
  return true;
}

bool Map::quantity(std::string_view key, uint64_t& out, uint64_t min, uint64_t max, int kind) {
  std::string text;
  if (!scalar(key, text)) return false;
  const Quantity& quantity = quantity_of(kind);
  uint64_t value = 0;
  if (!parse_quantity(text, quantity, value)) {
    fail(key, fmt::format("{} ({}) is not {}; write a number and a unit ({}), such as {}.", key,
                          text, quantity.noun, unit_names(quantity), quantity.example));
    return false;
  }
  if (value < min || value > max) {
    fail(key, fmt::format("{} ({}) is out of range; it must be from {} to {}.", key, text,
                          with_unit(min, quantity), with_unit(max, quantity)));
    return false;
  }
  out = value;
  return true;
}

bool Map::size(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  return quantity(key, out, min, max, kBytes);
}

bool Map::duration(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  return quantity(key, out, min, max, kNanoseconds);
}

bool Map::frequency(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  return quantity(key, out, min, max, kHertz);
}

bool Map::choice(std::string_view key, std::string& out,
                 std::initializer_list<const char*> allowed) {
  std::string text;
  if (!scalar(key, text)) return false;
  const std::vector<std::string> words(allowed.begin(), allowed.end());
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    const std::string guess = closest_match(text, words);
    fail(key,
         fmt::format("{} ({}) is unknown{}; it must be one of: {}.", key, text,
                     guess.empty() ? "" : fmt::format(", did you mean {}?", guess), joined(words)));
    return false;
  }
  out = text;
  return true;
}

Map Map::child(std::string_view key) {
  state_->asked.emplace(key);
  const YAML::Node value = state_->find(key);
  const YAML::Node empty(YAML::NodeType::Map);
  if (!value.IsDefined()) {
    return Map(empty, std::string(key), state_->file, *state_->diagnostics);
  }
  if (!value.IsMap()) {
    fail(key, fmt::format("{} is {}; it must be a mapping.", key, kind_name(value)));
    return Map(empty, std::string(key), state_->file, *state_->diagnostics);
  }
  return Map(value, std::string(key), state_->file, *state_->diagnostics);
}

std::vector<Map> Map::list(std::string_view key) {
  state_->asked.emplace(key);
  std::vector<Map> maps;
  const YAML::Node value = state_->find(key);
  if (!value.IsDefined()) return maps;
  if (!value.IsSequence()) {
    fail(key, fmt::format("{} is {}; it must be a list of mappings.", key, kind_name(value)));
    return maps;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    const YAML::Node entry = value[i];
    const std::string name = fmt::format("{}[{}]", key, maps.size());
    if (!entry.IsMap()) {
      state_->diagnostics->error(
          location_of(state_->file, entry.Mark()),
          fmt::format("{} is {}; it must be a mapping.", name, kind_name(entry)));
    }
    maps.emplace_back(entry.IsMap() ? entry : YAML::Node(YAML::NodeType::Map), name, state_->file,
                      *state_->diagnostics);
  }
  return maps;
}

void Map::finish() {
  if (!state_->node.IsMap()) return;
  const std::vector<std::string> known(state_->asked.begin(), state_->asked.end());
  for (const auto& entry : state_->node) {
    if (!entry.first.IsScalar()) continue;
    const std::string& key = entry.first.Scalar();
    if (state_->asked.contains(key)) continue;
    const std::string guess = closest_match(key, known);
    state_->diagnostics->error(
        location_of(state_->file, entry.first.Mark()),
        fmt::format("The key ({}) is unknown in {}{}; the keys there are: {}.", key, state_->name,
                    guess.empty() ? "" : fmt::format(", did you mean {}?", guess), joined(known)));
  }
}

namespace {

// Sees where documents begin, and nothing else of them.
class DocumentStarts final : public YAML::EventHandler {
 public:
  YAML::Mark last = YAML::Mark::null_mark();

  void OnDocumentStart(const YAML::Mark& mark) override { last = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// yaml-cpp 0.7 does not get past a comma between values that stand outside of brackets: it finds
// one empty document after the other there, and YAML::LoadAll keeps all of them. Throws where that
// is.
void require_progress(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  for (int before = -1; parser.HandleNextDocument(starts); before = starts.last.pos)
    if (starts.last.pos == before)
      throw YAML::ParserException(starts.last, "there is no place for a value here");
}

}  // namespace

bool Document::load_file(const std::string& path, Diagnostics& diagnostics) {
  std::error_code code;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path, code)) {
    diagnostics.error({path, 0, 0}, "The file cannot be opened for reading.");
    return false;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) {
    diagnostics.error({path, 0, 0}, "The file cannot be read.");
    return false;
  }
  return load_text(text.str(), path, diagnostics);
}

bool Document::load_text(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
  file_ = name;
  node_.reset();
  // yaml-cpp reports syntax errors by throwing; they stop here.
  try {
    const std::string copy(text);
    require_progress(copy);
    const std::vector<YAML::Node> documents = YAML::LoadAll(copy);
    if (documents.size() > 1) {
      diagnostics.error(location_of(name, documents[1].Mark()),
                        "The file holds several YAML documents; it must hold one.");
      return false;
    }
    const bool empty = documents.empty() || documents[0].IsNull();
    YAML::Node node = empty ? YAML::Node(YAML::NodeType::Map) : YAML::Node(documents[0]);
    if (!node.IsMap()) {
      diagnostics.error(
          location_of(name, node.Mark()),
          fmt::format("The file is {} at the top; it must be a mapping.", kind_name(node)));
      return false;
    }
    node_ = std::make_shared<YAML::Node>(std::move(node));
    return true;
  } catch (const YAML::Exception& exception) {
    diagnostics.error(location_of(name, exception.mark),
                      fmt::format("This is not valid YAML: {}.", exception.msg));
    return false;
  }
}

Map Document::root(Diagnostics& diagnostics) const {
  return Map(node_ ? *node_ : YAML::Node(YAML::NodeType::Map), "the file", file_, diagnostics);
}

}  // namespace halyard::config
