// What is generated from the table of keys: the JSON Schema for editors, and the reference page.
#pragma once

#include <span>
#include <string>

#include "config/settings/key_table.h"

namespace halyard::config {

// JSON Schema, draft 2020-12, with a newline at the end.
std::string json_schema(std::span<const Key> table = key_table());

// The keys in Markdown: a section for each, lines of at most 100 columns.
std::string key_reference(std::span<const Key> table = key_table());

}  // namespace halyard::config
