//===- RuntimeCallOpInterface.cpp - Ops that are calls --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"

#include "gpuopt/Interfaces/RuntimeCallOpInterface.cpp.inc"

using namespace mlir;
using namespace gpuopt;

bool CallLayouts::areDense() const {
  auto isDense = [](const StridedView &view) { return view.isDense(); };
  return llvm::all_of(operands, isDense) && llvm::all_of(results, isDense);
}

bool gpuopt::isProduct(Operation *op) {
  auto call = dyn_cast_or_null<RuntimeCallOpInterface>(op);
  return call && (call.getPrecisionRole() == PrecisionRole::Product ||
                  call.getPrecisionRole() == PrecisionRole::WideningProduct);
}
