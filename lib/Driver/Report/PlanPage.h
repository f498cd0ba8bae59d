//===- PlanPage.h - A plan as a page ----------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page is one HTML file that needs no other: it contains its styles and
// pictures, and has no scripts. It is well-formed XML, too.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_PLANPAGE_H
#define GPUOPT_LIB_DRIVER_REPORT_PLANPAGE_H

#include "Report/PlanReport.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

/// The plans that the page shows.
struct PlanPage {
  std::string model;              ///< The file's name.
  int64_t budgetInBytes = 0;      ///< The memory budget; 0 if there is none.
  Planned planned;                ///< A plan whose status is 0.
  std::vector<BudgetPoint> curve; ///< From the largest budget down.

  void print(llvm::raw_ostream &os) const;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_PLANPAGE_H
