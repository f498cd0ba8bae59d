//===- Reporter.h - How the importer says what is wrong -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_REPORTER_H
#define GPUOPT_LIB_IMPORT_ONNX_REPORTER_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

#include <string>

namespace gpuopt::onnx {

/// Emits diagnostics that begin with the name of the model's file. They have no
/// location: a binary file has no lines, so the text names the place.
class Reporter {
public:
  Reporter(mlir::MLIRContext &context, llvm::StringRef path)
      : context(context), path(path.str()) {}

  mlir::InFlightDiagnostic error() const {
    return mlir::emitError(mlir::UnknownLoc::get(&context)) << path << ": ";
  }

  mlir::InFlightDiagnostic warning() const {
    return mlir::emitWarning(mlir::UnknownLoc::get(&context)) << path << ": ";
  }

  mlir::MLIRContext &getContext() const { return context; }
  llvm::StringRef getPath() const { return path; }

private:
  mlir::MLIRContext &context;
  std::string path;
};

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_REPORTER_H
