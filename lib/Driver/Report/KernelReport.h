//===- KernelReport.h - How fast the kernels of a step are ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_KERNELREPORT_H
#define GPUOPT_LIB_DRIVER_REPORT_KERNELREPORT_H

#include "gpuopt/Analysis/KernelEstimates.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

/// The kernels and calls of a training step by the names that they have in the
/// program, those that take most time first.
struct KernelReport {
  struct Row {
    std::string name; ///< "fused_add_gelu", "gemm kGemm1024x512x128"
    KernelEstimate sum;
  };
  std::vector<Row> rows;
  double bytesPerSecond = 0; ///< That the device reaches at most.

  void print(llvm::raw_ostream &stream) const;
};

/// Takes the names from `module` after the phase Device.
KernelReport nameKernels(mlir::ModuleOp module,
                         std::vector<KernelEstimate> estimates,
                         const DeviceModel &device);

llvm::json::Array toJson(const KernelReport &report);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_KERNELREPORT_H
