//===- ReplaceWeights.h - A model with other weights ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_IMPORT_ONNX_REPLACEWEIGHTS_H
#define GPUOPT_IMPORT_ONNX_REPLACEWEIGHTS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpuopt {

/// The name and the shape that an initializer has in the file.
struct InitializerShape {
  std::string name;
  std::string type; ///< As MLIR spells it: "f32", "bf16".
  llvm::SmallVector<int64_t> dimensions;
  int64_t sizeInBytes;
  /// Returns the elements that it has, one after the other. Fails after a
  /// diagnostic.
  std::function<mlir::FailureOr<std::string>()> readElements;
};

/// Returns the new elements of an initializer, as many bytes as it has; nothing
/// if it keeps its own.
using NewElements =
    llvm::function_ref<mlir::FailureOr<std::optional<std::string>>(
        const InitializerShape &)>;

/// Returns whether the new elements are all that there must be.
using Check = llvm::function_ref<mlir::LogicalResult()>;

/// Is told the names of all initializers before the first is asked for: the own
/// name of each, and the further ones that a tied weight has in the module that
/// was exported. Returns whether to go on.
using AllNames = llvm::function_ref<mlir::LogicalResult(
    llvm::ArrayRef<std::vector<std::string>>)>;

/// Writes the model in the file `path` to `target`, with new elements of its
/// initializers. Elements that lie in files beside the model lie in files of
/// the same names beside the target, which must be in another folder. `check`
/// is called when all initializers have been asked for, before anything is
/// written. Fails after a diagnostic on `context`; files that were there before
/// are then unchanged, or new as a whole.
mlir::LogicalResult replaceWeights(llvm::StringRef path, llvm::StringRef target,
                                   mlir::MLIRContext &context,
                                   NewElements newElements, Check check,
                                   AllNames tellNames = nullptr);

} // namespace gpuopt

#endif // GPUOPT_IMPORT_ONNX_REPLACEWEIGHTS_H
