//===- KernelPrinter.h - Kernels as C++ -------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_KERNELPRINTER_H
#define GPUOPT_LIB_TARGET_CXX_KERNELPRINTER_H

#include "Kernels/Expressions.h"
#include "Kernels/KernelAnalysis.h"
#include "Names.h"

namespace gpuopt::cxx {

/// The row that each op has in the program's table of indices.
using IndexRows = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Prints a kernel as a function on the runtime's lanes: one member function
/// per op. Fails, with an error at the op, for one that has no C++ form.
class KernelPrinter {
public:
  KernelPrinter(device::KernelOp kernel, llvm::StringRef name,
                const IndexRows &rows, llvm::raw_ostream &stream)
      : kernel(kernel), name(name), rows(rows), stream(stream),
        analysis(kernel) {}

  /// Returns such as "void relu(const float *x, float *y)". It names the
  /// parameters, so it must be called before printBody.
  std::string signature();
  /// Prints what follows "{", up to and including "}".
  mlir::LogicalResult printBody();

private:
  /// The address of a load or store: a part that is the same in all lanes, and
  /// the lanes' own.
  struct Place {
    std::string uniform;    ///< "b * 128 + 4"; empty for 0.
    std::string origin;     ///< "begin", which is subtracted; empty for 0.
    std::string lane;       ///< "i", the index of the loop over lanes.
    int64_t laneStride = 0; ///< The factor of `lane`; 0 if there is none.
    std::string gathered;   ///< A sum of values that vary in no regular way.

    /// "uniform + lane * laneStride", for a pointer or position.
    std::string sum() const;
  };

  /// A variable in which a loop combines values.
  struct Accumulator {
    std::string name, identity;
    mlir::Type type;
    device::Combiner combiner;
    bool isLanes;
    bool isExpSum = false; ///< It is an ExpSum, which has the maximum as well.
  };

  // Statements.
  void line(const llvm::Twine &text);
  void guarded(llvm::StringRef condition, const llvm::Twine &text);
  void flushGuarded();
  mlir::LogicalResult printBlock(mlir::Block &block);
  mlir::LogicalResult printOperation(mlir::Operation *op);

  // Values.
  const Expression &printed(mlir::Value value);
  Expression operand(mlir::Value value);
  void define(mlir::Value value, Expression expression, llvm::StringRef stem);
  std::string stemOf(mlir::Operation *op) const;
  std::string stemOfWork(mlir::Operation *op) const;
  llvm::StringRef roleOf(mlir::Value value) const;

  // Memory.
  mlir::FailureOr<Place> placeOf(mlir::Operation *op,
                                 device::AccessPattern pattern,
                                 mlir::ValueRange indices,
                                 llvm::ArrayRef<int64_t> strides,
                                 int64_t offset);
  std::string pointerText(mlir::Value pointer, const Place &place);
  std::string elementText(mlir::Value pointer, const Place &place);
  std::string uniformLoad(device::LoadOp op, const Place &place);
  std::string loadStem(device::LoadOp op);
  int64_t knownMultiple(device::LoopOp loop, int64_t alignment = 16) const;
  std::string contiguousText(mlir::Operation *op, const llvm::Twine &function,
                             int64_t alignment,
                             llvm::SmallVector<std::string> arguments);

  // Loops.
  mlir::LogicalResult checkLoop(device::LoopOp op) const;
  llvm::SmallVector<Accumulator> declareAccumulators(device::LoopOp op);
  Accumulator declareAccumulator(device::LoopOp op, unsigned number);
  void printLoopHeader(device::LoopOp op, const std::string &index);
  void printLanesHeader(device::LoopOp op, const std::string &index);
  bool hasFixedIterations(device::LoopOp op);
  bool isLoadedAhead(device::LoadOp op, device::LoopOp first);
  mlir::LogicalResult loadRowsAhead(device::LoopOp op,
                                    const std::string &index);
  int64_t vectorsOfBatch(device::LoopOp op) const;
  mlir::LogicalResult printLongRow(device::LoopOp op, const std::string &index);
  std::string iterationsOf(const std::string &size);
  std::string firstOfGroup();
  std::string ofGroups(device::Combiner combiner);
  std::string firstIteration(device::LoopOp op);
  std::string stepOf(device::LoopOp op);
  void defineRest(device::LoopOp op, const std::string &text);
  void openFor(const std::string &index, const std::string &lower,
               const std::string &upper, const std::string &step);
  void openUnrolledFor(const std::string &index, const std::string &count);
  void closeBrace();
  void openBatches(device::LoopOp op, const std::string &start,
                   bool leavesRest);
  mlir::LogicalResult printBatches(device::LoopOp op, const std::string &index);
  mlir::LogicalResult printRestOfBatches(device::LoopOp op,
                                         const std::string &index,
                                         const std::string &start);
  mlir::LogicalResult printTiles(device::LoopOp op, const std::string &start);
  void declareBatched(device::LoopOp op, const std::string &iteration,
                      int64_t count);
  void defineResult(device::LoopOp op, const Accumulator &accumulator,
                    mlir::OpResult result);
  void combine(const Accumulator &accumulator, const std::string &value);

  // Ops.
  mlir::LogicalResult printExpression(mlir::Operation *op);
  mlir::LogicalResult printOp(device::BlockIndexOp op);
  mlir::LogicalResult printOp(device::DelinearizeOp op);
  mlir::LogicalResult printOp(device::RowOp op);
  mlir::LogicalResult printOp(device::LoadOp op);
  mlir::LogicalResult printOp(device::StoreOp op);
  mlir::LogicalResult printOp(device::PositionOp op);
  mlir::LogicalResult printOp(device::InRangeOp op);
  mlir::LogicalResult printOp(device::RandomOp op);
  mlir::LogicalResult printOp(device::LoopOp op);
  mlir::LogicalResult printOp(device::CombineGroupsOp op);
  mlir::LogicalResult printOp(device::YieldOp op);

  device::KernelOp kernel;
  llvm::StringRef name;
  const IndexRows &rows;
  llvm::raw_ostream &stream;
  KernelAnalysis analysis;
  NameLegaliser names;
  unsigned depth = 1;
  llvm::DenseMap<mlir::Value, Expression> known;
  /// Something was read that nothing had printed, and an error has been told.
  bool readsUnprinted = false;
  /// Statements under a condition that are not yet printed.
  llvm::SmallVector<std::string> pending;
  std::string pendingCondition;
  std::vector<llvm::SmallVector<Accumulator>> active;
  /// The loads of the current loop whose results are in arrays: "x_r[k]".
  llvm::DenseMap<mlir::Operation *, std::string> batched;
  /// The loads of later walks over a row that come before the first one, and
  /// their arrays: "x_r".
  llvm::DenseMap<mlir::Operation *, std::string> ahead;
  /// The arrays of the loads that read tiles.
  llvm::DenseMap<mlir::Operation *, std::string> tiles;
  /// The iterations of groups over rows in registers; empty before the first
  /// one.
  std::string iteration;
  /// How the body of the current loop over lanes writes the number of elements
  /// that are left.
  std::string rest;
  /// Whether all lanes of the current loop are there, though its row ends
  /// within a vector.
  bool hasAllLanes = false;
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_KERNELPRINTER_H
