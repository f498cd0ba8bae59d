//===- ImportOnnx.h - From an ONNX file to the onnx dialect ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an ONNX model (protobuf, opset 13 and up) into a module that holds one
// `onnx.graph`: one `onnx.node` per node, exactly as the file says, but
//
// - the nodes in topological order, where the file's order is not,
// - calls of functions that the model defines itself replaced by their bodies,
// - the inputs of the graph of static shape: symbolic dimensions take the sizes
//   in the options.
//
// The data of large initializers is not read: `onnx.initializer` says where in
// which file it lies. Nothing in a file is trusted: whatever is wrong with it
// is a diagnostic that names the file and the place.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_IMPORT_ONNX_IMPORTONNX_H
#define GPUOPT_IMPORT_ONNX_IMPORTONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuopt {

/// The numbers that an input of the model always has.
struct ConstantInput {
  std::string file; ///< For messages.
  int32_t dataType; ///< A number of TensorProto.DataType.
  std::vector<int64_t> shape;
  /// In row-major order and little-endian; a boolean takes a byte.
  std::string elements;
};

struct OnnxImportOptions {
  /// The sizes of symbolic dimensions, by name. An unnamed dimension `i` of
  /// input `x` goes by the name `x_dim_i`.
  std::map<std::string, int64_t> dimensions;

  /// The size of the first dimension of every input that has a symbolic one.
  std::optional<int64_t> batchSize;

  /// The same if there is no `batchSize`, of models that leave it open.
  std::optional<int64_t> usualBatchSize;

  /// The inputs that become constants, by name. Their shapes give symbolic
  /// dimensions their sizes.
  std::map<std::string, ConstantInput> constantInputs;

  /// Adds the dimension that `text`, "NAME=N", states.
  llvm::Error addDimension(llvm::StringRef text);
};

/// Imports the model in the file `path`. External data is looked for in the
/// folder of the model, and nowhere else. Returns null after having emitted
/// diagnostics on `context` if the model cannot be imported.
mlir::OwningOpRef<mlir::ModuleOp>
importOnnxModel(llvm::StringRef path, mlir::MLIRContext &context,
                const OnnxImportOptions &options = {});

/// Registers `--import-onnx`, with `--dim` and `--batch-size`, for
/// mlirTranslateMain.
void registerOnnxImport();

} // namespace gpuopt

#endif // GPUOPT_IMPORT_ONNX_IMPORTONNX_H
