// Strict reading of YAML configs: the reader defines what is legal.
//
// A reader opens a Document, takes its top-level Map and asks for keys by name and type. Each
// mistake (an unknown key, a duplicate key, a wrong type, a value out of range) becomes one line of
// Diagnostics, `file:line:column: sentence`, so that a user sees all mistakes of a file at once.
// Sizes and durations have a unit: `256MiB`, `50us`.
//
// A file is bounded before anything is built from it: 1 MiB of text, 64 levels, and 100,000 values
// when every alias (`*name`) is replaced by a copy of its target. A number with a leading zero is
// refused, because YAML 1.1 reads `010` as 8 and YAML 1.2 as 10.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/scalars.h"

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

struct LocatedText {
  std::string text;
  Location where;
};

// The errors of one or several files, in the order in which they were found.
class Diagnostics {
 public:
  void error(const Location& where, std::string_view sentence);
  bool ok() const { return errors_.empty(); }
  // In the order of the lines of a file; files in the order in which they were reported first.
  std::vector<std::string> errors() const;
  // All errors, one per line, no newline at the end.
  std::string text() const;

 private:
  struct Error {
    Location where;
    std::string sentence;
  };
  std::vector<Error> errors_;
};

// A mapping of a document. Cheap to copy; not for use from several threads.
//
// Every accessor leaves `out` unchanged and returns false if the key is absent or its value is not
// acceptable; the second case is reported. Call finish() after the last accessor: it reports the
// keys that no accessor has read.
class Map {
 public:
  // `path`: the keys that lead here, "gpus[0].gpu"; empty for the file itself. Messages name a key
  // by its whole path.
  Map(const YAML::Node& node, std::string path, std::string file, Diagnostics& diagnostics);
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
  // A decimal number within [min, max].
  bool number(std::string_view key, double& out, double min, double max);
  // A list of single values; `single` also takes one value for a list of one.
  bool strings(std::string_view key, std::vector<LocatedText>& out, bool single = false);
  // A mapping below this one. If the key is absent, an empty map, which accepts every question.
  Map child(std::string_view key);
  // The mappings of a list below this one; none if the key is absent.
  std::vector<Map> list(std::string_view key);

  // Reports a mistake that only the caller can see, at the value of `key`.
  void fail(std::string_view key, std::string_view sentence);
  Location location(std::string_view key) const;
  // The same at the key itself.
  void fail_key(std::string_view key, std::string_view sentence);

  // Makes `key` one that finish() knows and lists, whether or not it is there.
  void expect(std::string_view key);
  void finish();

 private:
  struct State;
  bool scalar(std::string_view key, std::string& text);
  // The mistake in a text, or nothing; config/scalars.h has such functions.
  using Reading = std::function<std::string(std::string_view text)>;
  bool take(std::string_view key, const Reading& read);
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

}  // namespace halyard::config
