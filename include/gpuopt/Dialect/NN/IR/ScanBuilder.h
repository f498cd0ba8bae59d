//===- ScanBuilder.h - Builds loops from their iterations -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_SCANBUILDER_H
#define GPUOPT_DIALECT_NN_IR_SCANBUILDER_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/IR/Builders.h"

namespace gpuopt::nn {

/// Whether an op may be in an iteration of an nn.scan: not if it is one, draws
/// random numbers, or keeps running statistics.
bool canIterate(mlir::Operation *op);

/// Builds an nn.scan whose operands are not known before its body:
///
///   ScanBuilder scan(builder.getContext(), 512, /*reverse=*/false);
///   Value x = scan.addSlice(inputs), h = scan.addState(initial),
///         w = scan.addInvariant(weights);
///   ... // ops at the end of scan.getIteration()
///   ScanOp op = scan.finish(builder, loc, {next}, {y});
class ScanBuilder {
public:
  ScanBuilder(mlir::MLIRContext *context, int64_t count, bool reverse)
      : context(context), count(count), reverse(reverse) {}

  /// The block in which an iteration is built. It is part of no op yet.
  mlir::Block &getIteration() { return iteration; }

  /// Returns the entry of `tensor`, of shape [count, ...], in an iteration: a
  /// value of shape [...].
  mlir::Value addSlice(mlir::Value tensor);
  /// Returns the state before an iteration, of the type of `initial`.
  mlir::Value addState(mlir::Value initial);
  /// Returns a value from outside of the loop, within an iteration. As with
  /// slices and states, each call makes an operand of its own, even if another
  /// one is equal: the gradient of each is told apart.
  mlir::Value addInvariant(mlir::Value value);

  /// The tensor outside of the loop that an argument stands for: the whole
  /// tensor of a slice, the initial state, or the invariant. Null for other
  /// values than these arguments.
  mlir::Value getOuter(mlir::Value argument) const;
  bool isSlice(mlir::Value value) const { return isIn(slices, value); }
  bool isState(mlir::Value value) const { return isIn(states, value); }
  bool isInvariant(mlir::Value value) const { return isIn(invariants, value); }

  /// Makes what is used in the iteration, and defined outside of it,
  /// invariants, one for each value; constants are copied into the iteration.
  /// Constants of the iteration, and ops that depend on nothing but such
  /// values, are moved to `builder`, before the loop.
  void capture(mlir::OpBuilder &builder);

  /// Builds the op. `next` are the states after an iteration, in the order in
  /// which they were added, and `stacked` the entries of the other results.
  /// Both may be values from outside of the loop. What nothing reads, slices
  /// and invariants too, is left out.
  ScanOp finish(mlir::OpBuilder &builder, mlir::Location loc,
                llvm::ArrayRef<mlir::Value> next,
                llvm::ArrayRef<mlir::Value> stacked);

private:
  using Arguments = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>;

  static bool isIn(const Arguments &arguments, mlir::Value value) {
    return llvm::is_contained(llvm::make_first_range(arguments), value);
  }
  mlir::Value addArgument(Arguments &kind, mlir::Value outer, mlir::Type type);
  bool isInIteration(mlir::Value value) const;
  /// Returns a value from outside of the loop within an iteration: an
  /// invariant, or a copy of a constant.
  mlir::Value captured(mlir::OpBuilder &inside, mlir::Value value);

  mlir::MLIRContext *context;
  int64_t count;
  bool reverse;
  mlir::Block iteration;
  Arguments slices, states, invariants; ///< With what they stand for.
};

} // namespace gpuopt::nn

#endif // GPUOPT_DIALECT_NN_IR_SCANBUILDER_H
