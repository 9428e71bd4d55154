// Strict reading of YAML configs: what a config may say is what its reader asks for.
//
// A reader opens a Document, takes its top-level Map and asks for keys by name and type. Whatever
// is wrong (an unknown key, a key given twice, a wrong type, a value out of range) becomes one line
// of Diagnostics, `file:line:column: sentence`, so that a user sees all mistakes of a file at once.
// Sizes and durations carry their unit: `256MiB`, `50us`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace YAML {
class Node;
}

namespace halyard::config {

// A place in a file; line and column count from 1, and 0 means the file as a whole.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  std::string to_string() const;
};

// The errors of one or several files, in the order in which they were found.
class Diagnostics {
 public:
  void error(const Location& where, std::string_view sentence);
  bool ok() const { return errors_.empty(); }
  const std::vector<std::string>& errors() const { return errors_; }
  // All errors, one per line, no newline at the end.
  std::string text() const;

 private:
  std::vector<std::string> errors_;
};

// A mapping of a document. Cheap to copy; not for use from several threads.
//
// Every accessor leaves `out` alone and returns false if the key is absent or its value is not
// acceptable; the second case is reported. Call finish() after the last accessor: it reports the
// keys that nobody asked for.
class Map {
 public:
  Map(const YAML::Node& node, std::string name, std::string file, Diagnostics& diagnostics);
  Map(const Map&);
  Map& operator=(const Map&);
  ~Map();

  bool has(std::string_view key) const;
  // All keys, in the order of the file: for a mapping whose keys are data.
  std::vector<std::string> keys() const;

  bool string(std::string_view key, std::string& out);
  bool boolean(std::string_view key, bool& out);
  // Decimal or 0x… hexadecimal, within [min, max].
  bool integer(std::string_view key, uint64_t& out, uint64_t min, uint64_t max);
  bool integer(std::string_view key, uint32_t& out, uint32_t min, uint32_t max);
  // Bytes: a number with B, KiB, MiB, GiB or TiB (powers of 1024) or KB, MB, GB, TB (powers of
  // 1000).
  bool size(std::string_view key, uint64_t& out, uint64_t min, uint64_t max);
  // Nanoseconds: a number with ns, us, ms or s.
  bool duration(std::string_view key, uint64_t& out, uint64_t min, uint64_t max);
  // Hertz: a number with Hz, kHz, MHz or GHz.
  bool frequency(std::string_view key, uint64_t& out, uint64_t min, uint64_t max);
  // One of `allowed`.
  bool choice(std::string_view key, std::string& out, std::initializer_list<const char*> allowed);
  // A mapping below this one. If the key is absent, an empty map, which accepts every question.
  Map child(std::string_view key);
  // The mappings of a list below this one; none if the key is absent.
  std::vector<Map> list(std::string_view key);

  // Reports a mistake that only the caller can see, at the value of `key`.
  void fail(std::string_view key, std::string_view sentence);
  Location location(std::string_view key) const;

  void finish();

 private:
  struct State;
  bool scalar(std::string_view key, std::string& text);
  bool quantity(std::string_view key, uint64_t& out, uint64_t min, uint64_t max, int kind);
  std::shared_ptr<State> state_;
};

// A file that has been read and parsed.
class Document {
 public:
  // Reports a file that cannot be read, is not YAML, or is not a mapping at the top, and returns
  // false.
  bool load_file(const std::string& path, Diagnostics& diagnostics);
  // The same for text in memory; `name` stands in for the file's name.
  bool load_text(std::string_view text, const std::string& name, Diagnostics& diagnostics);

  Map root(Diagnostics& diagnostics) const;

 private:
  std::shared_ptr<YAML::Node> node_;
  std::string file_;
};

// The entry of `candidates` that `word` is most likely meant to be, or empty if none is near.
std::string closest_match(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace halyard::config
