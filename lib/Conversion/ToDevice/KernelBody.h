//===- KernelBody.h - The loops and values of a kernel ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBODY_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBODY_H

#include "RowTotals.h"

#include "gpuopt/Analysis/Kernels/LaunchShape.h"
#include "gpuopt/Analysis/Kernels/RowWalks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gpuopt {

/// Writes the loops of a kernel, and in them the values of an nn.fused that are
/// wanted there: each is computed once, in the outermost loop in which all that
/// it depends on is known.
class KernelBody {
public:
  /// `kernel` has an argument for each input and result of `op`, and one for
  /// the step's state if `op` needs it.
  KernelBody(mlir::ImplicitLocOpBuilder &b, nn::FusedOp op,
             const KernelShape &shape, const LaunchShape &launch,
             mlir::Block *kernel)
      : b(b), body(op.getBody().front()), shape(shape), launch(launch),
        kernel(kernel), totals(b, body), index(shape.loops.size()),
        lane(shape.loops.size() - 1) {}

protected:
  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  mlir::Value constant(int64_t number);

  /// Builds a loop over dimension `dim`. Each iteration runs `inside` and
  /// contributes to the reductions, whose results it returns.
  llvm::SmallVector<mlir::Value> loop(device::LoopKind kind, unsigned dim,
                                      mlir::Value lower, mlir::Value upper,
                                      llvm::ArrayRef<nn::ReduceOp> reductions,
                                      llvm::function_ref<void()> inside);
  device::LoopOp createLoop(device::LoopKind kind, mlir::Value lower,
                            mlir::Value upper,
                            llvm::ArrayRef<nn::ReduceOp> reductions,
                            int64_t multiple = 1, int64_t unroll = 1);
  /// Runs `inside` within a loop's body and yields what it returns.
  void enter(device::LoopOp op, unsigned dim,
             llvm::function_ref<llvm::SmallVector<mlir::Value>()> inside);
  /// Builds a loop over all lanes of a row.
  void overColumns(llvm::function_ref<void()> inside);
  /// Builds a loop that combines nothing; `inside` gets its index.
  void plainLoop(device::LoopKind kind, mlir::Value lower, mlir::Value upper,
                 llvm::function_ref<void(mlir::Value)> inside);
  /// Builds loops over `dims` around `innermost`, which returns what each
  /// iteration contributes. The first loop is of `kind`, the others are
  /// sequential.
  llvm::SmallVector<mlir::Value>
  nest(llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<nn::ReduceOp> reductions,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> innermost,
       device::LoopKind kind = device::LoopKind::Sequential);

  /// Sets the indices of `dims`, whose number in row-major order is `linear`.
  void setDigits(mlir::Value linear, llvm::ArrayRef<unsigned> dims);
  /// Returns a flag for each loop, true for `dims`.
  llvm::SmallVector<bool> availability(llvm::ArrayRef<unsigned> dims) const;
  /// Opens a scope at the insertion point, in which the indices of these loops
  /// are known beside those of the scopes around it.
  void openScope(llvm::SmallVector<bool> available);

  //===--------------------------------------------------------------------===//
  // Values and outputs
  //===--------------------------------------------------------------------===//

  static mlir::Type elementType(mlir::Value value);
  /// Returns what `op` yields: its results, in order.
  mlir::ValueRange yielded();
  /// Returns the scalar that stands for a tensor of `op` at the current
  /// indices.
  mlir::Value value(mlir::Value tensor);
  void store(unsigned output, mlir::Value scalar);
  /// Read and write a row of the block's memory at the current column.
  mlir::Value loadKept(mlir::Value memory);
  void storeKept(mlir::Value scalar, mlir::Value memory);
  /// Stores the results that vary along reduced loops, or those that do not.
  void storeOutputs(bool ofRows = false);

  /// The block into which ops go, and the values that have been computed there.
  struct Scope {
    mlir::OpBuilder::InsertPoint point;
    llvm::SmallVector<bool> available; ///< Loops whose index is known here.
    llvm::DenseMap<mlir::Value, mlir::Value> known{};
  };
  /// A value that later walks read from memory: of a row reduction, or of the
  /// columns of one that goes along the rows.
  struct KeptRow {
    mlir::Value memory;
    unsigned walk; ///< The walk that computes it.
  };

  mlir::ImplicitLocOpBuilder &b;
  mlir::Block &body;
  const KernelShape &shape;
  const LaunchShape &launch;
  mlir::Block *kernel;
  RowTotals totals; ///< Of a row reduction.
  llvm::SmallVector<mlir::Value> index;
  unsigned lane;
  mlir::Value block;
  std::vector<Scope> scopes;

  llvm::DenseMap<mlir::Value, KeptRow> rows;
  unsigned walk = 0;                  ///< The walk that is being emitted.
  const RowWalks *rowWalks = nullptr; ///< Of the row that is being emitted.
  /// The column at which kept rows begin; null for the first one.
  mlir::Value firstKept;
  bool isPicking = false; ///< All lanes load the element at index[lane].
  /// The numbers that the bounds of the loops over lanes are multiples of.
  int64_t multiple = 1;

private:
  device::Combiner combinerOf(nn::ReduceOp reduce) const;

  /// Returns the outermost scope in which all indices are known that `value`
  /// depends on.
  Scope &scopeOf(mlir::Value value);
  /// Returns the current column within kept rows, and its strides.
  std::pair<llvm::SmallVector<mlir::Value>, llvm::SmallVector<int64_t>>
  keptColumn() const;
  mlir::Value compute(mlir::Operation *producer,
                      llvm::ArrayRef<mlir::Value> operands);
  mlir::Value folded(mlir::Operation *op);
  /// Returns the indices that the access depends on, and their strides.
  std::pair<llvm::SmallVector<mlir::Value>, llvm::SmallVector<int64_t>>
  indicesOf(const AffineAccess &access);
  mlir::Value load(mlir::Value tensor, const AffineAccess &access,
                   mlir::Value row, int64_t rowStride);
  mlir::Value position(mlir::Value tensor);
};

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBODY_H
