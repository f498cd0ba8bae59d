//===- RegisterOnnxImport.cpp - `--import-onnx` ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"
#include "gpuopt/Import/Onnx/ImportOnnx.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace gpuopt;

namespace {
struct ImportFlags {
  llvm::cl::list<std::string> dimensions{
      "dim", llvm::cl::value_desc("NAME=N"),
      llvm::cl::desc("The size of a symbolic dimension of the ONNX model")};
  llvm::cl::opt<int64_t> batchSize{
      "batch-size", llvm::cl::value_desc("N"),
      llvm::cl::desc(
          "The size of the symbolic first dimension of the model's inputs")};
};
} // namespace

static OwningOpRef<Operation *> import(StringRef path, MLIRContext &context,
                                       const ImportFlags &flags) {
  OnnxImportOptions options;
  for (const std::string &dimension : flags.dimensions) {
    if (llvm::Error error = options.addDimension(dimension)) {
      emitError(UnknownLoc::get(&context))
          << "--dim: " << llvm::toString(std::move(error));
      return {};
    }
  }
  if (flags.batchSize.getNumOccurrences())
    options.batchSize = flags.batchSize;
  return importOnnxModel(path, context, options);
}

void gpuopt::registerOnnxImport() {
  static ImportFlags flags;
  // The importer maps the file itself; the buffer is only used for the name of
  // the file.
  static TranslateToMLIRRegistration registration(
      "import-onnx", "import an ONNX model as an onnx.graph",
      [](llvm::SourceMgr &source, MLIRContext *context) {
        StringRef path = source.getMemoryBuffer(source.getMainFileID())
                             ->getBufferIdentifier();
        return import(path, *context, flags);
      },
      [](DialectRegistry &registry) { registry.insert<onnx::OnnxDialect>(); });
}
