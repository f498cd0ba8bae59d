//===- gpuopt-opt.cpp - Runs gpuopt's passes on MLIR files ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Version.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  // What the libraries registered so far is for their own developers.
  llvm::cl::HideUnrelatedOptions(
      llvm::ArrayRef<const llvm::cl::OptionCategory *>());
  gpuopt::setVersionPrinter("gpuopt-opt");
  mlir::DialectRegistry registry;
  gpuopt::registerAllDialects(registry);
  gpuopt::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "gpuopt optimizer driver\n", registry));
}
