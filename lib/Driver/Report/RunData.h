//===- RunData.h - A run as data of a page ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_RUNDATA_H
#define GPUOPT_LIB_DRIVER_REPORT_RUNDATA_H

#include "Report/RunPage.h"

namespace gpuopt {

/// Writes a run as the object that the page's scripts read. Curves have at most
/// as many points as a wide screen shows, and the plan's tensors are in
/// columns, so that the page of a long run or of a large model is small.
void writeRun(const ShownRun &run, llvm::json::OStream &json);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_RUNDATA_H
