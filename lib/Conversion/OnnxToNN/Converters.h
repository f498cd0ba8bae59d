//===- Converters.h - How each ONNX operator is converted -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// To add an operator: write a converter in the file of its family and list it
// in that family's table. The table in docs/onnx-operators.md follows.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_CONVERTERS_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_CONVERTERS_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace gpuopt {

/// The most elements of a constant that the compiler goes through one by one. A
/// splat is small however many elements it has.
inline constexpr int64_t kMostComputedElements = int64_t(1) << 24;

/// The most elements of a tensor, with which no arithmetic on sizes overflows.
inline constexpr int64_t kMostElements = int64_t(1) << 48;

/// The most iterations that stand one after the other where a loop could hold
/// them. Each becomes ops, kernels and lines of the emitted program.
inline constexpr int64_t kMostUnrolledSteps = 64;
/// The most iterations of a loop, which has a row of addresses for each.
inline constexpr int64_t kMostLoopSteps = 1 << 16;

class Iteration;

/// Returns the same numbers, which pass no gradient on.
mlir::Value withoutGradient(nn::TensorBuilder &b, mlir::Value x);

/// A value of the graph: one tensor, or a sequence of them.
struct Converted {
  llvm::SmallVector<mlir::Value> tensors;
  bool isSequence = false;
};

/// State that converters share.
struct ConversionState {
  bool freezeBatchNorm = false;
  int64_t nextStream = 0; ///< Next stream of random numbers.
  /// How many values may still be looked at to say what operands depend on.
  /// Each node that fails may look at the whole graph, so that without a limit
  /// the time grows with the square of the model.
  int64_t explanationBudget = int64_t(1) << 20;
  /// Dropout nodes that drop nothing, as often as they were converted: those
  /// without an operand that says whether the model trains, and those whose
  /// operand says that it does not.
  llvm::SmallVector<onnx::NodeOp> untoldDropouts, idleDropouts;
  /// New values of variables; at the end of the function the last are written.
  llvm::SmallVector<std::pair<mlir::FlatSymbolRefAttr, mlir::Value>> writes;
  /// Returns the tensor that a value of the file has become; null if it has
  /// become none, or a sequence.
  std::function<mlir::Value(mlir::Value value)> tensorOf;
  /// Converts a graph inside of a node, whose values of the graphs around it
  /// are converted. Fails if a node does; its problem is then noted.
  std::function<mlir::LogicalResult(mlir::Region &graph,
                                    llvm::ArrayRef<Converted> arguments,
                                    llvm::SmallVectorImpl<Converted> &results)>
      convertGraph;
  /// Does the same for a graph that can be converted in another way if this
  /// fails. Then its problem is returned, and noted nowhere; the result is
  /// empty otherwise.
  std::function<std::string(mlir::Region &graph,
                            llvm::ArrayRef<Converted> arguments,
                            llvm::SmallVectorImpl<Converted> &results)>
      tryGraph;
  /// The innermost iteration that is being built, of a loop that stays a loop.
  Iteration *iteration = nullptr;
  /// Nodes of graphs inside of nodes that were converted so far, and the ops
  /// that they have become.
  int64_t unrolledNodes = 0;
  /// How many of the graphs that are being converted may not be computed, or
  /// more than once.
  int64_t uncertainGraphs = 0;
  /// A long loop that is unrolled, and the reason.
  struct UnrolledLoop {
    onnx::NodeOp node;
    int64_t iterations;
    std::string why;
  };
  llvm::SmallVector<UnrolledLoop> unrolledLoops; ///< Each node once.

  /// What a part of the conversion has noted so far, so that an attempt that
  /// fails can be forgotten. Variables and initializers stay: the next attempt
  /// finds them.
  struct Mark {
    int64_t nextStream, unrolledNodes;
    size_t untoldDropouts, idleDropouts, writes, unrolledLoops;
  };
  Mark mark() const {
    return {nextStream,          unrolledNodes, untoldDropouts.size(),
            idleDropouts.size(), writes.size(), unrolledLoops.size()};
  }
  void rollBack(const Mark &mark) {
    nextStream = mark.nextStream;
    unrolledNodes = mark.unrolledNodes;
    untoldDropouts.truncate(mark.untoldDropouts);
    idleDropouts.truncate(mark.idleDropouts);
    writes.truncate(mark.writes);
    unrolledLoops.truncate(mark.unrolledLoops);
  }
};

/// The conversion of one node: its operands, already converted, and the place
/// for its results.
class NodeConversion {
public:
  NodeConversion(onnx::NodeOp node, llvm::ArrayRef<Converted> inputs,
                 nn::TensorBuilder &b, ConversionState &state)
      : node(node), b(b), state(state),
        inputs(inputs.drop_back(countOmitted(inputs))) {}

  onnx::NodeOp node;
  nn::TensorBuilder &b;
  ConversionState &state;
  llvm::SmallVector<Converted> outputs;
  std::string problem; ///< Why the node cannot be converted, empty if it can.

  bool has(unsigned index) const {
    return index < inputs.size() && !inputs[index].tensors.empty();
  }
  size_t inputCount() const { return inputs.size(); }
  /// Returns the tensor of operand `index`, for which `has` must be true.
  mlir::Value input(unsigned index) const {
    return inputs[index].tensors.front();
  }
  const Converted &sequence(unsigned index) const { return inputs[index]; }
  mlir::RankedTensorType type(unsigned index) const {
    return b.type(input(index));
  }
  bool isFloat(unsigned index) const {
    return mlir::isa<mlir::FloatType>(type(index).getElementType());
  }

  /// Returns the integers of a constant operand; notes the problem if it is
  /// none.
  std::optional<llvm::SmallVector<int64_t>> constantInts(unsigned index);
  std::optional<int64_t> constantInt(unsigned index);
  std::optional<double> constantFloat(unsigned index);
  std::optional<llvm::SmallVector<double>> constantFloats(unsigned index);

  /// Returns `axis` counted from the front; notes the problem if it is out of
  /// range.
  std::optional<int64_t> axis(int64_t axis, int64_t rank);
  /// Whether a tensor may have this shape; notes the problem if not.
  bool isShape(llvm::ArrayRef<int64_t> shape);
  /// Whether the compiler may go through `count` elements one by one; notes the
  /// problem if not.
  bool canCompute(int64_t count) {
    if (count <= kMostComputedElements)
      return true;
    problem = "the compiler would go through " + std::to_string(count) +
              " elements one by one, but does so for at most " +
              std::to_string(kMostComputedElements);
    return false;
  }
  /// Returns whether a contraction has enough letters for the operand's `rank`
  /// dimensions, for `added` more that they are cut into, and for one of the
  /// result; notes the problem if not.
  bool hasLetters(int64_t rank, int64_t added = 0) {
    const int64_t mostDimensions = 25 - added;
    if (rank <= mostDimensions)
      return true;
    problem = "the operand has " + std::to_string(rank) +
              " dimensions, but at most " + std::to_string(mostDimensions) +
              " are supported" +
              (added ? " where a long dimension is summed in chunks" : "");
    return false;
  }
  /// Returns the shape that operands broadcast to; notes the problem if there
  /// is none.
  std::optional<llvm::SmallVector<int64_t>>
  commonShape(llvm::ArrayRef<mlir::Value> values);

  /// Says of an operand that must be a constant which inputs of the model it is
  /// computed from, and the flag that makes these constants; empty if there are
  /// none.
  std::string whatDecides(unsigned index) const;

  mlir::LogicalResult fail(const llvm::Twine &why) {
    problem = why.str();
    return mlir::failure();
  }
  mlir::LogicalResult yield(mlir::Value value) {
    outputs.push_back({{value}, false});
    return mlir::success();
  }

private:
  /// Counts the operands at the end that are left out, by empty names.
  static size_t countOmitted(llvm::ArrayRef<Converted> inputs) {
    size_t count = 0;
    for (const Converted &input : llvm::reverse(inputs)) {
      if (!input.tensors.empty() || input.isSequence)
        break;
      ++count;
    }
    return count;
  }

  llvm::ArrayRef<Converted> inputs;
};

/// Returns the element type for a number of TensorProto.DataType; null for one
/// that is not supported. Programs compute no integers of 8 and 16 bits, nor
/// unsigned ones: these become signed ones of 32 bits, or of 64 for uint32.
mlir::Type elementTypeOf(mlir::Builder &b, int64_t dataType);
/// Returns the elements of a constant; null for other values.
mlir::DenseElementsAttr constantOf(mlir::Value value);
/// Returns axes from an attribute (older opsets) or an operand, counted from
/// the front; nothing if there are none, or they do not fit.
std::optional<llvm::SmallVector<int64_t>>
axesOf(NodeConversion &c, unsigned operand, int64_t rank);
/// Returns a constant vector, or a scalar.
mlir::Value makeInts(NodeConversion &c, llvm::ArrayRef<int64_t> numbers,
                     bool isScalar = false);
/// Returns the elements offset, offset + stride, ... of one dimension, of which
/// there are `size`.
mlir::Value partOf(nn::TensorBuilder &b, mlir::Value x, int64_t axis,
                   int64_t offset, int64_t size, int64_t stride = 1);

/// Returns elements of dimension `dim` by index, by a repetition, a slice or a
/// gather, depending on the indices.
mlir::Value pick(nn::TensorBuilder &b, mlir::Value x, int64_t dim,
                 llvm::ArrayRef<int64_t> picked);

/// Returns the elements (i, j, ...) of x with index[i, j, ...] in place of
/// dimension `axis`. Indices lie within the dimension (nn.in_range).
mlir::Value takeAlong(nn::TensorBuilder &b, mlir::Value x, int64_t axis,
                      mlir::Value index);

/// Returns the index of the largest or smallest element along `axis`, which
/// keeps size 1; of equal elements the first or the last.
mlir::Value findExtreme(nn::TensorBuilder &b, mlir::Value x, int64_t axis,
                        bool largest, bool last = false);

/// Multiplies one dimension by a matrix [from, to], or [to, from] where
/// `isTransposed`. Its rank is one that NodeConversion::hasLetters accepts.
mlir::Value multiplyAlong(nn::TensorBuilder &b, mlir::Value x, int64_t dim,
                          mlir::Value matrix, bool isTransposed = false);

/// Returns integers as floating-point numbers that hold them exactly, up to
/// 2^53. Programs only add up integers of masks and positions.
mlir::Value inDouble(nn::TensorBuilder &b, mlir::Value integers);

/// Whether a constant of unsigned integers has a number that is none of the
/// signed integers of its width, in which constants are computed.
bool exceedsSigned(mlir::DenseElementsAttr constant);

/// Returns whole numbers in double as integers of `element`. In 32 bits they
/// wrap; of 64 bits, 2^63 stands for the largest, which double rounds to it.
mlir::Value fromDouble(nn::TensorBuilder &b, mlir::Value numbers,
                       mlir::Type element);

/// Returns the shapes of tensors for a message: "[2, 3] and []".
std::string shapesText(nn::TensorBuilder &b,
                       llvm::ArrayRef<mlir::Value> values);

/// Returns floating-point numbers in another floating-point type.
mlir::Value inFloatType(nn::TensorBuilder &b, mlir::Value x,
                        mlir::Type element);

/// Returns the `degree`-th root of numbers that are not negative. Its slope at
/// 0 is 0, as PyTorch has it for norms, and not infinite.
mlir::Value rootOf(nn::TensorBuilder &b, mlir::Value x, int64_t degree);

/// Returns the greater of x and 0.
mlir::Value reluOf(nn::TensorBuilder &b, mlir::Value x);

/// Adds to the operands of a node of an older opset what is an attribute there
/// and an operand in later ones.
void addOldOperands(onnx::NodeOp node, nn::TensorBuilder &b,
                    llvm::SmallVectorImpl<Converted> &inputs);

/// Whether an operator computes with the numbers of an operand in signed
/// integers, if they are integers.
bool computesSigned(llvm::StringRef op, unsigned operand);

/// Checks that the operands are those of the operator's specification.
mlir::LogicalResult checkOperands(NodeConversion &c);

using Converter = mlir::LogicalResult (*)(NodeConversion &);

/// One supported operator.
struct OperatorEntry {
  const char *name;
  Converter convert;
  const char *note = ""; ///< What is not supported, for the documentation.
};

llvm::ArrayRef<OperatorEntry> elementwiseOperators();
llvm::ArrayRef<OperatorEntry> attentionOperators();
llvm::ArrayRef<OperatorEntry> contractionOperators();
llvm::ArrayRef<OperatorEntry> einsumOperators();
llvm::ArrayRef<OperatorEntry> spatialOperators();
llvm::ArrayRef<OperatorEntry> resampleOperators();
llvm::ArrayRef<OperatorEntry> normalisationOperators();
llvm::ArrayRef<OperatorEntry> shapeOperators();
llvm::ArrayRef<OperatorEntry> castOperators();
llvm::ArrayRef<OperatorEntry> paddingOperators();
llvm::ArrayRef<OperatorEntry> gatherOperators();
llvm::ArrayRef<OperatorEntry> scatterOperators();
llvm::ArrayRef<OperatorEntry> selectOperators();
llvm::ArrayRef<OperatorEntry> randomOperators();
llvm::ArrayRef<OperatorEntry> lossOperators();
llvm::ArrayRef<OperatorEntry> samplingOperators();
llvm::ArrayRef<OperatorEntry> poolOperators();
llvm::ArrayRef<OperatorEntry> rotaryOperators();
llvm::ArrayRef<OperatorEntry> rankOperators();
llvm::ArrayRef<OperatorEntry> scanOperators();
llvm::ArrayRef<OperatorEntry> reductionOperators();
llvm::ArrayRef<OperatorEntry> recurrentOperators();
llvm::ArrayRef<OperatorEntry> recurrenceOperators();
llvm::ArrayRef<OperatorEntry> regionOperators();
llvm::ArrayRef<OperatorEntry> controlFlowOperators();
llvm::ArrayRef<OperatorEntry> quantizeOperators();
llvm::ArrayRef<OperatorEntry> sequenceOperators();
llvm::ArrayRef<OperatorEntry> signalOperators();

/// Returns the entry of an operator of the default domain, or null.
const OperatorEntry *findOperator(llvm::StringRef name);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_CONVERTERS_H
