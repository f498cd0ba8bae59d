//===- RunDiff.h - In what two runs or plans differ -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_RUNDIFF_H
#define GPUOPT_LIB_DRIVER_REPORT_RUNDIFF_H

#include "Files/RunMetrics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

/// Prints the first step in which each number of two runs differs, and by how
/// much, and how they end; but for times, which never agree. Returns whether
/// any number differs.
bool printMetricsDiff(const RunMetrics &first, const RunMetrics &second,
                      llvm::raw_ostream &os);

/// Prints whether two plans are of different models or versions of gpuopt.
/// Returns whether they are.
bool printSourceDiff(const llvm::json::Object &first,
                     const llvm::json::Object &second, llvm::raw_ostream &os);

/// Prints in what the bytes of two plans differ, what is in half precision, and
/// what their budgets cost. Returns whether anything differs.
bool printMemoryDiff(const llvm::json::Object &first,
                     const llvm::json::Object &second, llvm::raw_ostream &os);

/// Prints the tensors of two plans that are saved in one and computed again in
/// the other, those of another type, and last the buffers of another size,
/// lifetime or offset. Returns whether there are any.
bool printTensorsDiff(const llvm::json::Object &first,
                      const llvm::json::Object &second, llvm::raw_ostream &os);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_RUNDIFF_H
