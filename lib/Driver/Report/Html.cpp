//===- Html.cpp - Text and charts for a page ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Html.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;
using namespace gpuopt;

std::string html::escape(StringRef text) {
  std::string clean, escaped;
  for (char c : json::fixUTF8(text))
    if (static_cast<unsigned char>(c) >= 0x20)
      clean += c;
  raw_string_ostream stream(escaped);
  printHTMLEscaped(clean, stream);
  return escaped;
}

double html::tickStep(double most) {
  if (!(most > 0))
    return 1;
  double step = std::pow(10, std::floor(std::log10(most / 6)));
  for (double factor : {1, 2, 5, 10})
    if (most / (factor * step) <= 6)
      return factor * step;
  return 10 * step;
}

namespace {

/// Maps the numbers of a chart to positions in the picture.
class Axes {
public:
  static constexpr double kWidth = 760, kHeight = 340;
  static constexpr double kLeft = 64, kRight = 16, kTop = 28, kBottom = 52;

  explicit Axes(const html::Chart &chart) {
    for (const html::Chart::Series &series : chart.series)
      for (const html::Chart::Point &point : series.points) {
        xMost = std::max(xMost, point.x);
        yMost = std::max(yMost, point.y);
      }
    xMost = std::max(xMost, chart.mark);
    xStep = html::tickStep(xMost);
    yStep = html::tickStep(yMost > 0 ? yMost : 1);
    xMost = xStep * std::ceil(std::max(xMost, xStep) / xStep);
    yMost = yStep * std::ceil(std::max(yMost, yStep) / yStep);
  }

  double x(double value) const {
    return kLeft + value / xMost * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - value / yMost * (kHeight - kTop - kBottom);
  }

  double xMost = 0, yMost = 0, xStep = 1, yStep = 1;
};

} // namespace

static void printText(double x, double y, StringRef anchor, StringRef text,
                      raw_ostream &os) {
  os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"{2}\">{3}"
                "</text>\n",
                x, y, anchor, html::escape(text));
}

static void printLine(StringRef className, double x1, double y1, double x2,
                      double y2, raw_ostream &os) {
  os << formatv("<line class=\"{0}\" x1=\"{1:f1}\" y1=\"{2:f1}\" x2=\"{3:f1}\" "
                "y2=\"{4:f1}\"/>\n",
                className, x1, y1, x2, y2);
}

static std::string number(double value) {
  return formatv("{0}", format("%g", value)).str();
}

static void printAxes(const html::Chart &chart, const Axes &axes,
                      raw_ostream &os) {
  constexpr double kSlack = 1e-9; // of sums of steps
  double bottom = axes.y(0);
  for (int i = 0; i * axes.yStep <= axes.yMost * (1 + kSlack); ++i) {
    double y = axes.y(i * axes.yStep);
    printLine("grid", Axes::kLeft, y, axes.x(axes.xMost), y, os);
    printText(Axes::kLeft - 8, y + 4, "end", number(i * axes.yStep), os);
  }
  for (int i = 0; i * axes.xStep <= axes.xMost * (1 + kSlack); ++i) {
    double x = axes.x(i * axes.xStep);
    printLine("axis", x, bottom, x, bottom + 5, os);
    printText(x, bottom + 20, "middle", number(i * axes.xStep), os);
  }
  printLine("axis", Axes::kLeft, bottom, axes.x(axes.xMost), bottom, os);
  printText(axes.x(axes.xMost / 2), bottom + 40, "middle", chart.xLabel, os);
  printText(Axes::kLeft - 40, Axes::kTop - 12, "start", chart.yLabel, os);
}

static void printSeries(const html::Chart::Series &series, const Axes &axes,
                        raw_ostream &os) {
  std::string className = html::escape(series.className);
  os << "<polyline class=\"line " << className << "\" points=\"";
  interleave(
      series.points, os,
      [&](const html::Chart::Point &point) {
        os << formatv("{0:f1},{1:f1}", axes.x(point.x), axes.y(point.y));
      },
      " ");
  os << "\"/>\n";
  for (const html::Chart::Point &point : series.points)
    os << formatv("<circle class=\"dot {0}\" cx=\"{1:f1}\" cy=\"{2:f1}\" "
                  "r=\"3.5\"><title>{3}</title></circle>\n",
                  className, axes.x(point.x), axes.y(point.y),
                  html::escape(point.hint));
}

void html::Chart::print(raw_ostream &os) const {
  Axes axes(*this);
  os << formatv(
      "<svg viewBox=\"0 0 {0:f0} {1:f0}\" role=\"img\" aria-label=\"{2} "
      "against {3}\" xmlns=\"http://www.w3.org/2000/svg\">\n",
      Axes::kWidth, Axes::kHeight, escape(yLabel), escape(xLabel));
  printAxes(*this, axes, os);
  if (mark > 0) {
    printLine("mark", axes.x(mark), Axes::kTop, axes.x(mark), axes.y(0), os);
    bool isRight = mark > axes.xMost / 2;
    printText(axes.x(mark) + (isRight ? -6 : 6), Axes::kTop + 12,
              isRight ? "end" : "start", markLabel, os);
  }
  for (const Series &one : series)
    printSeries(one, axes, os);
  os << "</svg>\n<p class=\"legend\">";
  for (const Series &one : series)
    os << "<span class=\"swatch " << escape(one.className) << "\"></span>"
       << escape(one.label) << " ";
  os << "</p>\n";
}
