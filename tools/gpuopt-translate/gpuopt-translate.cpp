//===- gpuopt-translate.cpp - Into and out of gpuopt's dialects -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Import/Onnx/ImportOnnx.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "gpuopt/Version.h"

#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  // What the libraries registered so far is for their own developers.
  llvm::cl::HideUnrelatedOptions(
      llvm::ArrayRef<const llvm::cl::OptionCategory *>());
  gpuopt::setVersionPrinter("gpuopt-translate");
  gpuopt::registerOnnxImport();
  gpuopt::registerCxxTranslation();
  mlir::LogicalResult result =
      mlir::mlirTranslateMain(argc, argv, "gpuopt translation driver");
  return mlir::failed(result);
}
