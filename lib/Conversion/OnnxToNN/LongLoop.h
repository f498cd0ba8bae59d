//===- LongLoop.h - Loops that stay loops -----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_LONGLOOP_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_LONGLOOP_H

#include "Converters.h"
#include "gpuopt/Dialect/NN/IR/ScanBuilder.h"

#include <map>

namespace gpuopt {

/// The iteration of a loop while the nodes of its body are converted. What
/// follows from the iteration's number alone is known for all iterations.
class Iteration {
public:
  /// `before` inserts at the end of the block that the loop will stand in.
  Iteration(nn::ScanBuilder &scan, mlir::OpBuilder before, int64_t count)
      : scan(scan), before(before), count(count) {}

  /// Notes which value is the iteration's number.
  void noteNumber(mlir::Value value) { number = value; }
  /// Notes what a value of the iteration is in each iteration.
  void note(mlir::Value value, llvm::ArrayRef<mlir::Attribute> values) {
    known.push_back({value, llvm::to_vector(values)});
  }

  /// A value of the iteration with its constant.
  using Constants = llvm::DenseMap<mlir::Value, mlir::Attribute>;
  /// Returns the constant that a value is in the iteration for which
  /// `constants` has the values of the arguments; null if it is none. Adds what
  /// it finds on the way.
  mlir::Attribute evaluate(mlir::Value value, Constants &constants,
                           unsigned depth = 0) const;
  /// Returns the constants of one iteration that have been noted.
  Constants constantsOf(int64_t iteration) const;

  /// Returns the integers of a value in each iteration, one after the other;
  /// nothing if they do not follow from the iteration's number, or are many.
  std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Value value) const;

  /// Returns elements of dimension `dim` of a tensor: in each iteration the
  /// next `indices.size() / count` of `indices`. Returns null if the tensor is
  /// computed from what differs from iteration to iteration, or if they are too
  /// many together.
  mlir::Value pick(mlir::Value tensor, int64_t dim,
                   llvm::ArrayRef<int64_t> indices);

  int64_t getCount() const { return count; }

private:
  bool moveBefore(mlir::Value value, unsigned depth = 0);

  nn::ScanBuilder &scan;
  mlir::OpBuilder before;
  int64_t count;
  mlir::Value number;
  llvm::SmallVector<std::pair<mlir::Value, llvm::SmallVector<mlir::Attribute>>>
      known;
  /// Slices, by what they are slices of.
  std::map<std::tuple<void *, int64_t, std::vector<int64_t>>, mlir::Value>
      picked;
};

/// A Loop or Scan node that becomes an nn.scan. Its body is converted once.
class LongLoop {
public:
  /// Of `count` iterations, or fewer if its condition ends it; without a count,
  /// the condition does.
  LongLoop(NodeConversion &c, std::optional<int64_t> count, bool isReversed)
      : c(c), isBounded(count && *count <= kMostLoopSteps),
        count(isBounded ? *count : kMostLoopSteps), isReversed(isReversed) {}

  /// The body has the iteration's number and a condition as its first
  /// arguments, and the condition for the next iteration as its first result.
  bool hasCondition = false;
  llvm::SmallVector<Converted> states;
  llvm::SmallVector<mlir::Value> slices; ///< [count, ...]; no sequences.

  /// Returns whether the loop has been converted. If not, `why` says the
  /// reason, unless it is too short or its body does not fit the node.
  bool convert();

  llvm::SmallVector<mlir::Value> finals;  ///< The states after the loop.
  llvm::SmallVector<mlir::Value> stacked; ///< The other results, [count, ...].
  std::string why;

private:
  enum class Attempt { Done, Failed, Again };

  /// A state as the body sees it.
  struct State {
    mlir::Value before; ///< Its value before an iteration.
    /// The iterations do not change it: `before` is its initial value.
    bool isFixed = false;
    /// Before each iteration and after the last one, if that is known.
    llvm::SmallVector<mlir::Attribute> known;
  };

  bool check();
  Attempt attempt();
  void addArguments(nn::ScanBuilder &scan, Iteration &iteration,
                    llvm::SmallVectorImpl<Converted> &arguments);
  std::string convertBody(nn::ScanBuilder &scan, Iteration &iteration,
                          llvm::SmallVectorImpl<mlir::Value> &results);
  std::string checkTypes(llvm::ArrayRef<mlir::Value> results);
  std::string checkCondition(const Iteration &iteration, mlir::Value condition);
  void fixNamedStates();
  bool fixStates(llvm::ArrayRef<mlir::Value> next);
  bool knowStates(const Iteration &iteration,
                  llvm::ArrayRef<mlir::Value> results);
  bool simulate(const Iteration &iteration, llvm::ArrayRef<mlir::Value> results,
                llvm::SmallVectorImpl<unsigned> &candidates,
                llvm::SmallVectorImpl<llvm::SmallVector<mlir::Attribute>> &all);
  mlir::Value stackedKnown(const State &state);
  void build(nn::ScanBuilder &scan, llvm::ArrayRef<mlir::Value> next,
             llvm::ArrayRef<mlir::Value> more);

  NodeConversion &c;
  bool isBounded; ///< The loop ends without its condition.
  int64_t count;  ///< The most iterations.
  bool isReversed;
  llvm::SmallVector<State> seen;
  std::string lastFound; ///< What the last attempt has made known.
};

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_LONGLOOP_H
