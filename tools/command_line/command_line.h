// The command line: CLI11 reads it. This finds the mistakes that CLI11 would take for something
// else, and says what CLI11 leaves unsaid.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace halyard::cli {

// What every command and option is to have, once all are there: descriptions in lines that a
// terminal shows whole, and options that refuse a missing value.
void finish_commands(CLI::App& app);

// Reads the command line and runs the command that it names. Returns the error, a sentence
// that ends with a reference to --help, or nothing. Throws CLI::Success for --help and
// --version.
std::string parse(CLI::App& app, int argc, char** argv);

}  // namespace halyard::cli
