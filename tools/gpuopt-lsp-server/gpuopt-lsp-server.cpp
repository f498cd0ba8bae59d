//===- gpuopt-lsp-server.cpp - Language server for gpuopt's MLIR ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Version.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  gpuopt::setVersionPrinter("gpuopt-lsp-server");
  mlir::DialectRegistry registry;
  gpuopt::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
