#include "tools/bench/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace halyard::bench {
namespace {

constexpr int kLabels = 290;  // px
constexpr int kPlot = 620;
constexpr int kTop = 64;
constexpr int kBar = 9;
constexpr int kGap = 8;  // between rows
constexpr const char* kColours[] = {"#1b6ca8", "#d1495b", "#7a9e3c", "#edae49", "#66579c"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // No other control character is legal in XML.
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

// The axis: from one power of ten to another.
struct Axis {
  int low = 0, high = 1;

  double x(double ns) const {
    const double part = (std::log10(ns) - low) / (high - low);
    return kLabels + std::clamp(part, 0.0, 1.0) * kPlot;
  }
};

struct Row {
  std::string name;
  std::vector<const Measurement*> bars;
};

std::vector<Row> rows_of(const Results& results) {
  std::vector<Row> rows;
  for (const Measurement& one : results.measurements) {
    if (one.row.empty() || one.median() <= 0) continue;
    auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == one.row; });
    if (found == rows.end()) found = rows.insert(rows.end(), Row{one.row, {}});
    found->bars.push_back(&one);
  }
  return rows;
}

Axis axis_of(const std::vector<Row>& rows) {
  double least = INFINITY;
  double most = 0;
  for (const Row& row : rows) {
    for (const Measurement* bar : row.bars) {
      least = std::min(least, std::max(bar->times.front(), 0.01));
      most = std::max(most, bar->times.back());
    }
  }
  Axis axis;
  axis.low = static_cast<int>(std::floor(std::log10(least)));
  axis.high = std::max(static_cast<int>(std::ceil(std::log10(most))), axis.low + 1);
  return axis;
}

std::string text_at(double x, double y, const char* anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
      y2, colour);
}

std::string grid(const Axis& axis, int bottom) {
  std::string text;
  for (int power = axis.low; power <= axis.high; ++power) {
    const double x = axis.x(std::pow(10.0, power));
    text += line(x, kTop, x, bottom, "#dddddd");
    const double ns = std::pow(10.0, power);
    const std::string label = ns < 1e3   ? fmt::format("{:g} ns", ns)
                              : ns < 1e6 ? fmt::format("{:g} us", ns * 1e-3)
                              : ns < 1e9 ? fmt::format("{:g} ms", ns * 1e-6)
                                         : fmt::format("{:g} s", ns * 1e-9);
    text += text_at(x, kTop - 6, "middle", label);
  }
  return text;
}

std::string bar_text(const Measurement& bar, const Axis& axis, double y, const char* colour) {
  const double middle = y + kBar / 2.0;
  std::string text = fmt::format(
      "<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}</title>"
      "</rect>\n",
      kLabels, y, axis.x(bar.median()) - kLabels, kBar - 1, colour,
      escaped(fmt::format("{}, {}: {} ({} to {})", bar.row, bar.column, time_text(bar.median()),
                          time_text(bar.times.front()), time_text(bar.times.back()))));
  return text +
         line(axis.x(bar.times.front()), middle, axis.x(bar.times.back()), middle, "#222222");
}

}  // namespace

std::string to_svg(const Results& results) {
  const std::vector<Row> rows = rows_of(results);
  const Axis axis = axis_of(rows);
  std::map<std::string, const char*> colours;
  std::string legend;
  int x = kLabels;
  for (const Column& column : results.columns) {
    if (!column.absent.empty()) continue;
    const char* const colour = kColours[colours.size() % std::size(kColours)];
    colours[column.name] = colour;
    legend += fmt::format("<rect x=\"{}\" y=\"28\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x,
                          colour);
    const std::string label =
        column.device.empty() ? "bare " + column.name : "Halyard, " + column.device;
    legend += text_at(x + 14, 37, "start", label);
    x += 40 + static_cast<int>(label.size()) * 7;
  }
  std::string body;
  int y = kTop + kGap;
  for (const Row& row : rows) {
    const int height = static_cast<int>(row.bars.size()) * kBar;
    body += text_at(kLabels - 8, y + height / 2.0 + 4, "end", row.name);
    for (const Measurement* bar : row.bars) {
      const auto colour = colours.find(bar->column);
      body += bar_text(*bar, axis, y, colour == colours.end() ? "#888888" : colour->second);
      y += kBar;
    }
    y += kGap;
  }
  const std::string title =
      fmt::format("{} ({}): median of {} repetitions, and the least and the most; logarithmic",
                  results.gpu_name, results.gpu_target, results.repetitions);
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
             "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
             kLabels + kPlot + 40, y + 10) +
         text_at(10, 18, "start", title) + legend + grid(axis, y) + body + "</svg>\n";
}

}  // namespace halyard::bench
