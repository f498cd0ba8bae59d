//===- TextChart.cpp - A curve in characters ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TextChart.h"

#include "Report/Buckets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace llvm;
using namespace gpuopt;

namespace {

/// Dots, two columns and four rows to a character, from the top.
class DotField {
public:
  DotField(int columns, int rows)
      : columns(columns), rows(rows), cells(size_t(columns * rows), 0) {}

  int width() const { return 2 * columns; }
  int height() const { return 4 * rows; }
  void set(int x, int y) {
    // The bits of U+2800: 1 to 3 and 7 on the left, 4 to 6 and 8 on the right.
    constexpr unsigned char kBits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    x = std::clamp(x, 0, width() - 1);
    y = std::clamp(y, 0, height() - 1);
    cells[size_t(y / 4 * columns + x / 2)] |= kBits[y % 4][x % 2];
  }
  /// Sets the dots between two heights of a column.
  void setColumn(int x, int from, int to) {
    for (int y = std::min(from, to); y <= std::max(from, to); ++y)
      set(x, y);
  }
  std::string row(int row) const {
    std::string text;
    for (int i = 0; i < columns; ++i) {
      unsigned char bits = cells[size_t(row * columns + i)];
      text += '\xe2'; // U+2800 + bits in UTF-8
      text += char(0xa0 | bits >> 6);
      text += char(0x80 | (bits & 63));
    }
    return text;
  }

private:
  int columns, rows;
  std::vector<unsigned char> cells;
};

} // namespace

static std::string number(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.4g", value);
  return text;
}

/// Draws the curve: in each column the least and the greatest ordinate, joined
/// to those of the column before.
static void drawCurve(ArrayRef<double> x, ArrayRef<double> y, double low,
                      double high, DotField &field) {
  double from = x.front(), to = std::max(x.back(), from + 1e-9);
  auto heightOf = [&](double value) {
    double share = high > low ? (value - low) / (high - low) : 0.5;
    return int(std::lround((1 - share) * (field.height() - 1)));
  };
  int lastColumn = -1, lastHeight = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(y[i]))
      continue;
    int column =
        int(std::lround((x[i] - from) / (to - from) * (field.width() - 1)));
    int height = heightOf(y[i]);
    if (lastColumn < 0 || column > lastColumn + 1)
      for (int k = std::max(lastColumn, 0); lastColumn >= 0 && k < column; ++k)
        field.set(k, lastHeight + (height - lastHeight) * (k - lastColumn) /
                                      std::max(1, column - lastColumn));
    if (lastColumn >= 0 && column <= lastColumn + 1)
      field.setColumn(column, lastHeight, height);
    field.set(column, height);
    lastColumn = column;
    lastHeight = height;
  }
}

std::string gpuopt::textChart(StringRef title, ArrayRef<double> x,
                              ArrayRef<double> y, int columns, int rows) {
  auto last =
      find_if(reverse(y), [](double each) { return std::isfinite(each); });
  if (last == y.rend())
    return title.str() + ": no finite number yet\n";
  Buckets buckets = bucketsOf(x, y, size_t(2 * std::max(10, columns)));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (double value : buckets.mean)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  std::string top = number(high), bottom = number(low);
  size_t margin = std::max(top.size(), bottom.size()) + 1;
  int wide = std::max(4, columns - int(margin) - 2);
  rows = std::max(1, rows);
  DotField field(wide, rows);
  drawCurve(buckets.x, buckets.mean, low, high, field);
  std::string text = title.str() + ": " + number(*last) + "\n";
  for (int row = 0; row < rows; ++row) {
    StringRef label = row == 0 ? top : row == rows - 1 ? bottom : StringRef();
    text += std::string(margin - label.size(), ' ') + label.str() +
            " \xe2\x94\x82" + field.row(row) + "\n"; // a vertical line
  }
  std::string from = number(x.front()), to = number(x.back());
  int gap = std::max(1, wide - int(from.size() + to.size()));
  return text + std::string(margin + 2, ' ') + from +
         std::string(size_t(gap), ' ') + to + "\n";
}
