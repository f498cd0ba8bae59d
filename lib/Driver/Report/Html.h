//===- Html.h - Text and numbers for a page ---------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_HTML_H
#define GPUOPT_LIB_DRIVER_REPORT_HTML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt::html {

/// Returns bytes as the text of a page or of an attribute in quotes: escapes
/// what HTML gives a meaning, and leaves out what HTML and XML do not allow.
std::string escape(llvm::StringRef text);

/// Returns the distance between the ticks of an axis from 0 to `most`: 1, 2, 5
/// or 10 times a power of ten, so that six distances reach `most`.
double tickStep(double most);

/// A chart of lines over axes that begin at 0, as inline SVG. Colours come
/// from the page's classes: "line plan" for a series of class "plan".
struct Chart {
  struct Point {
    double x, y;
    std::string hint; ///< Shown when the mouse is over the point.
  };
  struct Series {
    std::string label, className;
    std::vector<Point> points;
  };
  std::string xLabel, yLabel;
  std::vector<Series> series;
  double mark = 0; ///< A vertical line at this x, with `markLabel`; 0: none.
  std::string markLabel;

  void print(llvm::raw_ostream &os) const;
};

} // namespace gpuopt::html

#endif // GPUOPT_LIB_DRIVER_REPORT_HTML_H
