//===- KernelReport.h - How fast the kernels of a step are ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_KERNELREPORT_H
#define GPUOPT_LIB_DRIVER_REPORT_KERNELREPORT_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Analysis/Costs/KernelEstimates.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

/// The kernels and calls of a training step, by the names that they have in the
/// program. Those that take the most time come first.
struct KernelReport {
  struct Row {
    std::string name; ///< "fused_add_gelu", "gemm kGemm1024x512x128"
    KernelEstimate sum;
    std::vector<std::string> works; ///< What it does, as in CostKey.
  };
  std::vector<Row> rows;
  DeviceModel device; ///< For which they were estimated.

  void print(llvm::raw_ostream &stream) const;
};

/// Names the kernels as `module` does after the phase Device.
KernelReport nameKernels(mlir::ModuleOp module,
                         std::vector<KernelEstimate> estimates,
                         const DeviceModel &device);

llvm::json::Array toJson(const KernelReport &report);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_KERNELREPORT_H
