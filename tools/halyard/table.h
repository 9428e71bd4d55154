// How commands print what they found: as columns, or as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace halyard::cli {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

// Columns two spaces apart. The first row is the heading; an empty field shows as "-".
std::string format_table(const std::vector<Row>& rows);

// With a newline behind it. A name in a broken encoding does not end the listing.
std::string dump(const Json& json);

}  // namespace halyard::cli
