#include "tools/halyard/table.h"

#include <algorithm>

namespace halyard::cli {
namespace {

// Letters of UTF-8 text, which is what a column is wide.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string format_table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size(), 1);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string& field = row[i].empty() ? std::string("-") : row[i];
      line += field + std::string(widths[i] - width_of(field) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace halyard::cli
