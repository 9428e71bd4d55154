#include "toolchain/mlir_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

#include "hal/error.h"
#include "toolchain/mlir_pipelines.h"

namespace halyard::toolchain {
namespace {

// Calls `use` with each line, without its end.
template <typename Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
}

// What an operation's line says before its comment.
std::string_view without_comment(std::string_view line) {
  return line.substr(0, std::min(line.find("//"), line.size()));
}

}  // namespace

ProgramKind program_kind_of(std::string_view source) {
  ProgramKind kind = ProgramKind::kTensors;
  for_each_line(source, [&](std::string_view line) {
    const bool launches = without_comment(line).find("gpu.launch") != std::string_view::npos;
    if (launches) kind = ProgramKind::kLaunches;
  });
  return kind;
}

bool has_reference(std::string_view source) {
  bool found = false;
  for_each_line(source, [&](std::string_view line) {
    const std::string_view code = without_comment(line);
    found =
        found || (code.find("func.func") != std::string_view::npos &&
                  code.find("@" + std::string(kReferenceFunction) + "(") != std::string_view::npos);
  });
  return found;
}

size_t count_check_comments(std::string_view source) {
  size_t count = 0;
  for_each_line(source, [&](std::string_view line) {
    const size_t comment = line.find("//");
    if (comment == std::string_view::npos) return;
    std::string_view text = trimmed(line.substr(comment + 2));
    if (!text.starts_with("CHECK")) return;
    text.remove_prefix(std::string_view("CHECK").size());
    const size_t end = text.find(':');
    if (end == std::string_view::npos) return;
    text = text.substr(0, end);
    // "-NEXT", "-COUNT-2", "-DAG{LITERAL}"
    const bool is_directive =
        text.empty() || ((text.front() == '-' || text.front() == '{') &&
                         std::none_of(text.begin(), text.end(), [](char c) { return c == ' '; }));
    if (is_directive) ++count;
  });
  return count;
}

Result<std::string> make_pipeline(std::string_view text, const PipelineValues& values) {
  std::string passes;
  for_each_line(text, [&](std::string_view line) {
    if (!line.starts_with('#')) passes += trimmed(line);
  });
  std::string pipeline = "builtin.module(";
  std::string_view rest = passes;
  for (size_t at = rest.find('@'); at != std::string_view::npos; at = rest.find('@')) {
    pipeline += rest.substr(0, at);
    const size_t end = rest.find('@', at + 1);
    const std::string_view name =
        rest.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    if (name == "CHIP") {
      pipeline += values.chip;
    } else if (name == "BARE") {
      pipeline += values.bare_pointers ? "true" : "false";
    } else if (name == "TOOLKIT") {
      pipeline += values.toolkit;
    } else {
      return error(StatusCode::kInvalidArgument,
                   "The pipeline has a placeholder (@{}@) that does not exist. Legal are @CHIP@, "
                   "@BARE@ and @TOOLKIT@.",
                   name);
    }
    rest.remove_prefix(end + 1);
  }
  pipeline += rest;
  return pipeline + ")";
}

Result<std::string> make_cpu_pipeline(std::string_view function) {
  HALYARD_ASSIGN_OR_RETURN(const std::string passes, make_pipeline(kCpuPipeline, {}));
  constexpr std::string_view kBegin = "builtin.module(";
  return fmt::format("{}symbol-privatize{{exclude={}}},symbol-dce,{}", kBegin, function,
                     std::string_view(passes).substr(kBegin.size()));
}

std::vector<std::string> expected_texts(std::string_view source) {
  constexpr std::string_view kMark = "// EXPECT: ";
  std::vector<std::string> texts;
  for_each_line(source, [&](std::string_view line) {
    const size_t mark = line.find(kMark);
    if (mark != std::string_view::npos)
      texts.emplace_back(trimmed(line.substr(mark + kMark.size())));
  });
  return texts;
}

Status check_expected(const std::vector<std::string>& texts, std::string_view output) {
  size_t from = 0;
  for (const std::string& text : texts) {
    const size_t found = output.find(text, from);
    if (found == std::string_view::npos) {
      return error(StatusCode::kAborted,
                   "The program does not print the text of its EXPECT comment ({}), or prints it "
                   "before the text of an earlier one.",
                   text);
    }
    from = found + text.size();
  }
  return {};
}

std::vector<double> printed_numbers(std::string_view output) {
  std::vector<double> numbers;
  for_each_line(output, [&](std::string_view line) {
    // "Unranked Memref base@ = 0x… rank = 1 …": addresses differ.
    if (line.starts_with("Unranked Memref")) return;
    const std::string text(line);
    for (size_t i = 0; i < text.size();) {
      const bool starts = is_word(text[i]) || text[i] == '-' || text[i] == '+';
      char* end = nullptr;
      const double value = starts ? std::strtod(text.c_str() + i, &end) : 0;
      const size_t next = starts ? static_cast<size_t>(end - text.c_str()) : i;
      if (next > i && (next == text.size() || !is_word(text[next]))) {
        numbers.push_back(value);
        i = next;
        continue;
      }
      // Past a word that is not a number; it may end in digits.
      do ++i;
      while (i < text.size() && is_word(text[i - 1]) && is_word(text[i]));
    }
  });
  return numbers;
}

Result<size_t> compare_outputs(std::string_view got, std::string_view wanted,
                               const OutputTolerance& tolerance) {
  const std::vector<double> left = printed_numbers(got);
  const std::vector<double> right = printed_numbers(wanted);
  if (left.size() != right.size() || left.empty()) {
    return error(StatusCode::kAborted,
                 "The GPU's program prints {} numbers and the CPU's {}. Both must print the same "
                 "number of them, at least one (printMemrefF32).",
                 left.size(), right.size());
  }
  for (size_t i = 0; i < left.size(); ++i) {
    const bool same = left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]));
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(right[i]);
    if (same || std::fabs(left[i] - right[i]) <= allowed) continue;
    return error(StatusCode::kAborted,
                 "Number {} of {} is {} on the GPU and {} on the CPU; they may differ by {}.",
                 i + 1, left.size(), left[i], right[i], allowed);
  }
  return left.size();
}

}  // namespace halyard::toolchain
