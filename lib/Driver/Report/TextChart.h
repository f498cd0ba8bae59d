//===- TextChart.h - A curve in characters ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_TEXTCHART_H
#define GPUOPT_LIB_DRIVER_REPORT_TEXTCHART_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// Draws a curve by Braille patterns, each of which has 2 by 4 dots, with the
/// range of both axes. `x` ascends; ordinates that are not finite are left out.
/// A dot of a long curve stands for the mean of neighbouring points; the title
/// has the last finite ordinate itself. The text has `rows` lines of the curve,
/// of at most `columns` characters, and two lines more: the title above and the
/// abscissas below.
std::string textChart(llvm::StringRef title, llvm::ArrayRef<double> x,
                      llvm::ArrayRef<double> y, int columns, int rows);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_TEXTCHART_H
