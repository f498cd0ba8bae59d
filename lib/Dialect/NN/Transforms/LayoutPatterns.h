//===- LayoutPatterns.h - Patterns of nn-absorb-layouts ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_NN_TRANSFORMS_LAYOUTPATTERNS_H
#define GPUOPT_LIB_DIALECT_NN_TRANSFORMS_LAYOUTPATTERNS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace gpuopt::nn {

/// Whether the call whose result is transposed can make it in that order.
bool isTakenByCall(TransposeOp transpose);

/// Whether a product has nothing but its operands, so that it can be built anew
/// with other letters. One that comes from a convolution keeps the order that
/// convolutions want, so that transposes cancel as they do around those.
bool isPlain(ContractOp op);

/// Transposes before and after contractions become other orders of letters.
void populateAbsorbTransposes(mlir::RewritePatternSet &patterns);
/// Transposes move behind elementwise work, reductions, concatenations and
/// slices, until they cancel.
void populateSinkTransposes(mlir::RewritePatternSet &patterns);
/// Reshapes that merge dimensions move behind the work that reads them.
void populateSinkReshapes(mlir::RewritePatternSet &patterns);
/// Sums of padded tensors become concatenations.
void populateJoinPads(mlir::RewritePatternSet &patterns);
/// The pads that remain become concatenations with constants.
void populatePadsToConcats(mlir::RewritePatternSet &patterns);

} // namespace gpuopt::nn

#endif // GPUOPT_LIB_DIALECT_NN_TRANSFORMS_LAYOUTPATTERNS_H
