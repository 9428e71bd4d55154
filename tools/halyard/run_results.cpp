#include "tools/halyard/run_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "hal/error.h"
#include "hal/text.h"
#include "tools/halyard/session.h"
#include "tools/values/npy.h"
#include "tools/values/tensor.h"
#include "tools/values/value.h"

namespace halyard::cli {
namespace {

using runner::RunBuffer;
using values::Tensor;
using values::Value;

Status check_npy(const std::string& text, const RunBuffer& buffer) {
  return values::npy_header(buffer.value.type).status().with_context("--output=" + text);
}

// `before`: those of the texts before.
Result<Sink> open_sink(const std::string& text, size_t place, const RunBuffer& buffer,
                       const std::vector<Sink>& before) {
  Sink sink{place, nullptr, false};
  if (text == "-") return sink;
  const bool appends = text.starts_with('+');
  if (!appends && !text.starts_with('@')) {
    return error(StatusCode::kInvalidArgument,
                 "--output ({}) is neither \"-\" nor a file name after \"@\" or \"+\". Write a "
                 "result to a file (@out.npy, or raw bytes to any other name such as @out.bin; "
                 "+out.npy appends), print it (-), or write an .npy file to standard output (@-).",
                 printable(text));
  }
  const std::string path = text.substr(1);
  if (values::has_extension(path, ".npz")) {
    return error(StatusCode::kUnimplemented,
                 "--output cannot write an .npz file ({}), an archive of arrays. Write each "
                 "result to an .npy file, or several to one (@out.npy and then +out.npy).",
                 printable(text));
  }
  sink.is_npy = path == "-" || values::has_extension(path, ".npy");
  if (sink.is_npy) HALYARD_RETURN_IF_ERROR(check_npy(text, buffer));
  if (path == "-") return sink;
  // Behind a result of this run, as the file is not there yet.
  for (const Sink& other : before) {
    if (!other.file || other.file->path() != path) continue;
    if (!appends) {
      return error(StatusCode::kInvalidArgument,
                   "--output ({}) names a file that another result is written to, and would "
                   "replace it. Write this one behind it (+{}), or to another file.",
                   printable(text), printable(path));
    }
    sink.file = other.file;
  }
  if (sink.file) return sink;
  HALYARD_ASSIGN_OR_RETURN(values::OutputFile file, appends
                                                        ? values::OutputFile::open_to_append(path)
                                                        : values::OutputFile::open(path));
  sink.file = std::make_shared<values::OutputFile>(std::move(file));
  return sink;
}

// What the flags, the configs, or the library says, in this order.
values::Tolerance tolerance_of(const ToleranceFlags& flags, const config::Settings& settings,
                               std::string_view target, values::ElementType type) {
  const std::string path =
      fmt::format("tolerances.{}.", values::to_string(values::complex_part(type).value_or(type)));
  const auto chosen = [&](const std::optional<double>& flag, const char* part, double standard) {
    const config::Setting* const setting =
        settings.of_processor(target.substr(0, target.find(':')), path + part);
    return flag.value_or(setting == nullptr ? standard : setting->value().real);
  };
  const values::Tolerance standard = values::default_tolerance(type);
  return {chosen(flags.absolute, "absolute", standard.absolute),
          chosen(flags.relative, "relative", standard.relative)};
}

const Tensor& result_of(const Delivery& delivery, size_t buffer) {
  const std::vector<size_t>& places = delivery.run.results;
  const auto found = std::find(places.begin(), places.end(), buffer);
  return delivery.results[static_cast<size_t>(found - places.begin())];
}

// An array as its file has it.
Result<std::string> npy_text(const Tensor& tensor) {
  HALYARD_ASSIGN_OR_RETURN(std::string text, values::npy_header(tensor.type));
  text.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  return text;
}

Status write(Sink& sink, const Tensor& tensor) {
  if (!sink.is_npy) return sink.file->write(tensor.data);
  HALYARD_ASSIGN_OR_RETURN(const std::string header, values::npy_header(tensor.type));
  HALYARD_RETURN_IF_ERROR(sink.file->write(std::as_bytes(std::span(header))));
  return sink.file->write(tensor.data);
}

}  // namespace

Result<std::vector<Sink>> open_sinks(const std::vector<std::string>& texts,
                                     const std::vector<RunBuffer>& buffers,
                                     const std::vector<size_t>& standard,
                                     const AssignResults& assign) {
  std::vector<Sink> sinks;
  if (texts.empty()) {
    for (const size_t i : standard) sinks.push_back({i, nullptr, false});
    return sinks;
  }
  HALYARD_ASSIGN_OR_RETURN(const std::vector<runner::ResultText> assigned,
                           assign("--output", texts));
  for (const runner::ResultText& text : assigned) {
    HALYARD_ASSIGN_OR_RETURN(Sink sink,
                             open_sink(text.text, text.argument, buffers[text.argument], sinks));
    sinks.push_back(std::move(sink));
  }
  const auto is_text = [](const Sink& sink) { return !sink.file && !sink.is_npy; };
  if (fills_standard_output(sinks) && std::any_of(sinks.begin(), sinks.end(), is_text)) {
    return error(StatusCode::kInvalidArgument,
                 "Standard output cannot have both results as text (--output=-) and a file "
                 "(--output=@-). Write one of them to a file.");
  }
  return sinks;
}

Result<std::vector<Expectation>> parse_expectations(const std::vector<std::string>& texts,
                                                    const std::vector<RunBuffer>& buffers,
                                                    const AssignResults& assign,
                                                    const ToleranceFlags& flags,
                                                    const config::Settings& settings,
                                                    std::string_view target) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<runner::ResultText> assigned,
                           assign("--expected-output", texts));
  std::vector<Expectation> expectations;
  for (const runner::ResultText& text : assigned) {
    const RunBuffer& buffer = buffers[text.argument];
    auto value = values::parse_value(text.text);
    if (!value.ok()) {
      return value.status().with_context(fmt::format("The expected output for {}", buffer.label));
    }
    const values::TensorType& type = buffer.value.type;
    // Untyped bytes are compared as what the buffer holds.
    if (value->kind == Value::Kind::kBytes && value->data.size() == type.bytes()) {
      value->kind = Value::Kind::kBuffer;
      value->type = type;
    }
    const bool is_buffer =
        value->kind == Value::Kind::kBuffer && value->contents != Value::Contents::kZero;
    if (!is_buffer || !(value->type == type)) {
      return error(StatusCode::kInvalidArgument,
                   "The expected output for {} is {}, but the buffer is {}.", buffer.label,
                   value->describe(), type.to_string());
    }
    expectations.push_back(
        {text.argument, value->to_tensor(), tolerance_of(flags, settings, target, type.element)});
  }
  return expectations;
}

std::vector<size_t> wanted_buffers(const std::vector<Sink>& sinks,
                                   const std::vector<Expectation>& expectations) {
  std::vector<size_t> places;
  for (const Sink& sink : sinks) places.push_back(sink.buffer);
  for (const Expectation& expectation : expectations) places.push_back(expectation.buffer);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

bool fills_standard_output(const std::vector<Sink>& sinks) {
  return std::any_of(sinks.begin(), sinks.end(),
                     [](const Sink& sink) { return !sink.file && sink.is_npy; });
}

Status deliver(std::vector<Sink>& sinks, const Delivery& delivery) {
  std::string lines;
  std::string files;
  for (Sink& sink : sinks) {
    const Tensor& tensor = result_of(delivery, sink.buffer);
    const std::string label = delivery.prefix + delivery.run.buffers[sink.buffer].label;
    if (!sink.file && sink.is_npy) {
      HALYARD_ASSIGN_OR_RETURN(const std::string text, npy_text(tensor));
      files += text;
    } else if (!sink.file) {
      lines += fmt::format("{}: {}\n", label, values::format_tensor(tensor, delivery.print_limit));
    } else {
      lines += fmt::format("{}: {}=@{}\n", label, tensor.type.to_string(), sink.file->path());
      HALYARD_RETURN_IF_ERROR(write(sink, tensor));
    }
  }
  for (Sink& sink : sinks) {
    if (sink.file) HALYARD_RETURN_IF_ERROR(sink.file->commit());  // once, whoever has it
  }
  return print(fills_standard_output(sinks) ? files : lines);
}

Status compare(const std::vector<Expectation>& expectations, const Delivery& delivery,
               bool is_quiet) {
  std::string good;
  std::string bad;
  for (const Expectation& expectation : expectations) {
    const Tensor& tensor = result_of(delivery, expectation.buffer);
    const std::string label = delivery.prefix + delivery.run.buffers[expectation.buffer].label;
    const auto& [absolute, relative] = expectation.tolerance;
    if (const auto difference =
            values::describe_difference(tensor, expectation.tensor, expectation.tolerance)) {
      bad += fmt::format("{}The result {} {}.", bad.empty() ? "" : "\n", label, *difference);
    } else {
      good += fmt::format("{} is as expected ({} elements, atol {}, rtol {})\n", label,
                          tensor.type.element_count(), absolute, relative);
    }
  }
  if (!is_quiet) HALYARD_RETURN_IF_ERROR(print(good));
  return bad.empty() ? Status() : Status(StatusCode::kAborted, bad);
}

}  // namespace halyard::cli
