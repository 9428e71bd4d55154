#include "config/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>

#include "config/scalars.h"

namespace halyard::config {

namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

Location location_of(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return {file, 0, 0};
  return {file, mark.line + 1, mark.column + 1};
}

// Of a value that was read before, the file alone says it all: "a.yaml:3:5".
Location split_place(const Location& where) {
  Location place = where;
  if (place.line != 0) return place;
  int* const numbers[] = {&place.column, &place.line};
  for (int* const number : numbers) {
    const size_t colon = place.file.rfind(':');
    if (colon == std::string::npos) return where;
    const char* const end = place.file.data() + place.file.size();
    const auto read = std::from_chars(place.file.data() + colon + 1, end, *number);
    if (read.ec != std::errc() || read.ptr != end) return where;
    place.file.resize(colon);
  }
  return place;
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
  errors_.push_back({split_place(where), std::string(sentence)});
}

std::vector<std::string> Diagnostics::errors() const {
  std::vector<std::string> files;
  const auto rank = [&](const Error& error) {
    const auto found = std::find(files.begin(), files.end(), error.where.file);
    return found - files.begin();
  };
  for (const Error& error : errors_) {
    if (rank(error) == std::ssize(files)) files.push_back(error.where.file);
  }
  std::vector<const Error*> sorted;
  for (const Error& error : errors_) sorted.push_back(&error);
  // Of equal places, the one that was reported first is first.
  const auto place = [&](const Error* error) {
    return std::tuple(rank(*error), error->where.line, error->where.column, error);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const Error* a, const Error* b) { return place(a) < place(b); });
  std::vector<std::string> lines;
  for (const Error* error : sorted) {
    lines.push_back(fmt::format("{}: {}", error->where.to_string(), error->sentence));
  }
  return lines;
}

std::string Diagnostics::text() const {
  return fmt::format("{}", fmt::join(errors(), "\n"));
}

struct Map::State {
  YAML::Node node;
  std::string path;
  std::string file;
  Diagnostics* diagnostics = nullptr;
  std::set<std::string, std::less<>> asked;

  std::string full(std::string_view key) const {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  }
  // What a message calls the mapping.
  std::string name() const { return path.empty() ? "the file" : path; }

  struct Entry {
    YAML::Mark key;
    YAML::Node value;
  };
  // For a duplicate key, the first one. YAML::Node's operator[] would match keys by conversion, and
  // search all of them.
  std::map<std::string, Entry, std::less<>> entries;

  YAML::Node find(std::string_view key) const {
    const auto found = entries.find(key);
    return found == entries.end() ? YAML::Node(YAML::NodeType::Undefined) : found->second.value;
  }
};

Map::Map(const YAML::Node& node, std::string path, std::string file, Diagnostics& diagnostics)
    : state_(std::make_shared<State>()) {
  state_->node = node;
  state_->path = std::move(path);
  state_->file = std::move(file);
  state_->diagnostics = &diagnostics;
  if (!node.IsMap()) return;
  for (const auto& entry : node) {
    const Location where = location_of(state_->file, entry.first.Mark());
    if (!entry.first.IsScalar()) {
      diagnostics.error(where, fmt::format("A key of {} is {}; it must be a name.", state_->name(),
                                           kind_name(entry.first)));
      continue;
    }
    const State::Entry made{entry.first.Mark(), entry.second};
    if (!state_->entries.emplace(entry.first.Scalar(), made).second) {
      diagnostics.error(where, fmt::format("The key ({}) is given twice in {}; remove one of them.",
                                           entry.first.Scalar(), state_->name()));
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

void Map::fail_key(std::string_view key, std::string_view sentence) {
  const auto found = state_->entries.find(key);
  const bool is_there = found != state_->entries.end();
  state_->diagnostics->error(
      is_there ? location_of(state_->file, found->second.key) : location(key), sentence);
}

void Map::fail(std::string_view key, std::string_view sentence) {
  state_->diagnostics->error(location(key), sentence);
}

bool Map::scalar(std::string_view key, std::string& text) {
  state_->asked.emplace(key);
  const YAML::Node value = state_->find(key);
  if (!value.IsDefined()) return false;
  if (!value.IsScalar()) {
    fail(key,
         fmt::format("{} is {}; it must be a single value.", state_->full(key), kind_name(value)));
    return false;
  }
  text = value.Scalar();
  return true;
}

bool Map::string(std::string_view key, std::string& out) {
  return scalar(key, out);
}

bool Map::take(std::string_view key, const Reading& read) {
  std::string text;
  if (!scalar(key, text)) return false;
  const std::string problem = read(text);
  if (problem.empty()) return true;
  fail(key, fmt::format("{} ({}) {}", state_->full(key), text, problem));
  return false;
}

bool Map::boolean(std::string_view key, bool& out) {
  return take(key, [&](std::string_view text) { return read_boolean(text, out); });
}

bool Map::integer(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  return take(key, [&](std::string_view text) { return read_integer(text, out, min, max); });
}

bool Map::integer(std::string_view key, uint32_t& out, uint32_t min, uint32_t max) {
  uint64_t wide = 0;
  if (!integer(key, wide, uint64_t{min}, uint64_t{max})) return false;
  out = static_cast<uint32_t>(wide);
  return true;
}

bool Map::number(std::string_view key, double& out, double min, double max) {
  return take(key, [&](std::string_view text) { return read_number(text, out, min, max); });
}

bool Map::size(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  return take(key, [&](std::string_view text) {
    return read_quantity(text, Quantity::kSize, out, min, max);
  });
}

bool Map::duration(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  return take(key, [&](std::string_view text) {
    return read_quantity(text, Quantity::kDuration, out, min, max);
  });
}

bool Map::frequency(std::string_view key, uint64_t& out, uint64_t min, uint64_t max) {
  return take(key, [&](std::string_view text) {
    return read_quantity(text, Quantity::kFrequency, out, min, max);
  });
}

bool Map::choice(std::string_view key, std::string& out,
                 std::initializer_list<const char*> allowed) {
  const std::vector<std::string> words(allowed.begin(), allowed.end());
  return take(key, [&](std::string_view text) { return read_choice(text, out, words); });
}

bool Map::strings(std::string_view key, std::vector<LocatedText>& out, bool single) {
  state_->asked.emplace(key);
  const YAML::Node value = state_->find(key);
  if (!value.IsDefined()) return false;
  std::vector<LocatedText> texts;
  if (single && value.IsScalar()) {
    out = {{value.Scalar(), location(key)}};
    return true;
  }
  if (!value.IsSequence()) {
    fail(key, fmt::format("{} is {}; it must be a {}list of single values.", state_->full(key),
                          kind_name(value), single ? "single value or a " : ""));
    return false;
  }
  for (const auto& entry : value) {
    const Location where = location_of(state_->file, entry.Mark());
    if (!entry.IsScalar()) {
      state_->diagnostics->error(
          where, fmt::format("{}[{}] is {}; it must be a single value.", state_->full(key),
                             texts.size(), kind_name(entry)));
      return false;
    }
    texts.push_back({entry.Scalar(), where});
  }
  out = std::move(texts);
  return true;
}

Map Map::child(std::string_view key) {
  state_->asked.emplace(key);
  const YAML::Node value = state_->find(key);
  const YAML::Node empty(YAML::NodeType::Map);
  if (!value.IsDefined()) {
    return Map(empty, state_->full(key), state_->file, *state_->diagnostics);
  }
  if (!value.IsMap()) {
    fail(key, fmt::format("{} is {}; it must be a mapping.", state_->full(key), kind_name(value)));
    return Map(empty, state_->full(key), state_->file, *state_->diagnostics);
  }
  return Map(value, state_->full(key), state_->file, *state_->diagnostics);
}

std::vector<Map> Map::list(std::string_view key) {
  state_->asked.emplace(key);
  std::vector<Map> maps;
  const YAML::Node value = state_->find(key);
  if (!value.IsDefined()) return maps;
  if (!value.IsSequence()) {
    fail(key, fmt::format("{} is {}; it must be a list of mappings.", state_->full(key),
                          kind_name(value)));
    return maps;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    const YAML::Node entry = value[i];
    const std::string name = fmt::format("{}[{}]", state_->full(key), maps.size());
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

void Map::expect(std::string_view key) {
  state_->asked.emplace(key);
}

void Map::finish() {
  if (!state_->node.IsMap()) return;
  const std::vector<std::string> known(state_->asked.begin(), state_->asked.end());
  for (const auto& entry : state_->node) {
    if (!entry.first.IsScalar()) continue;
    const std::string& key = entry.first.Scalar();
    if (state_->asked.contains(key)) continue;
    state_->diagnostics->error(
        location_of(state_->file, entry.first.Mark()),
        fmt::format("The key ({}) is unknown in {}{}; the keys there are: {}.", key, state_->name(),
                    guess_of(key, known), joined(known)));
  }
}

namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr uint64_t kMaxValues = 100000;
constexpr size_t kMaxDepth = 64;

// A file that is YAML, and is refused all the same.
struct Refusal {
  YAML::Mark mark;
  std::string sentence;
};

// Checks the events of a file before a tree is built from them: where documents begin, the depth,
// and the number of values when every alias is replaced by a copy of its target.
class Shape final : public YAML::EventHandler {
 public:
  YAML::Mark last_document = YAML::Mark::null_mark();

  void OnDocumentStart(const YAML::Mark& mark) override {
    last_document = mark;
    sizes_.clear();  // anchors are a document's own
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string&) override {
    leaf(mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = sizes_.find(anchor);
    if (named == sizes_.end()) {
      throw Refusal{mark, "This alias is inside the node that it names, so it would never end."};
    }
    add(mark, named->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    YAML::anchor_t anchor;
    uint64_t before;  // values in front of it
  };

  void add(const YAML::Mark& mark, uint64_t count) {
    values_ += count;
    if (values_ <= kMaxValues) return;
    throw Refusal{mark, fmt::format("With its aliases expanded, the file has more than {} values "
                                    "from here on; use fewer values or aliases.",
                                    kMaxValues)};
  }
  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor) {
    add(mark, 1);
    if (anchor != 0) sizes_[anchor] = 1;
  }
  void begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    open_.push_back({anchor, values_});
    add(mark, 1);
    if (open_.size() <= kMaxDepth) return;
    throw Refusal{mark, fmt::format("The file is more than {} levels deep here.", kMaxDepth)};
  }
  void end() {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.anchor != 0) sizes_[closed.anchor] = values_ - closed.before;
  }

  uint64_t values_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, uint64_t> sizes_;
};

// Also: yaml-cpp 0.7 does not get past a comma between values that stand outside of brackets. It
// finds one empty document after the other there, and YAML::LoadAll keeps all of them.
void check_shape(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Shape shape;
  for (int before = -1; parser.HandleNextDocument(shape); before = shape.last_document.pos)
    if (shape.last_document.pos == before)
      throw YAML::ParserException(shape.last_document, "there is no place for a value here");
}

}  // namespace

bool Document::load_file(const std::string& path, Diagnostics& diagnostics) {
  std::error_code code;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path, code)) {
    diagnostics.error({path, 0, 0}, "The file cannot be opened for reading.");
    return false;
  }
  std::string text(kMaxFileBytes + 1, '\0');  // one more than what load_text takes
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) {
    diagnostics.error({path, 0, 0}, "The file cannot be read.");
    return false;
  }
  text.resize(static_cast<size_t>(stream.gcount()));
  return load_text(text, path, diagnostics);
}

bool Document::load_text(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
  file_ = name;
  node_.reset();
  if (text.size() > kMaxFileBytes) {
    diagnostics.error({name, 0, 0},
                      fmt::format("The file is larger than {} bytes.", kMaxFileBytes));
    return false;
  }
  // yaml-cpp reports syntax errors by throwing; they stop here.
  try {
    const std::string copy(text);
    check_shape(copy);
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
  } catch (const Refusal& refusal) {
    diagnostics.error(location_of(name, refusal.mark), refusal.sentence);
    return false;
  } catch (const YAML::Exception& exception) {
    diagnostics.error(location_of(name, exception.mark),
                      fmt::format("This is not valid YAML: {}.", exception.msg));
    return false;
  }
}

Map Document::root(Diagnostics& diagnostics) const {
  return Map(node_ ? *node_ : YAML::Node(YAML::NodeType::Map), "", file_, diagnostics);
}

}  // namespace halyard::config
