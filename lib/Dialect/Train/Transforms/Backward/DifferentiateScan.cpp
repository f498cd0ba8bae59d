//===- DifferentiateScan.cpp - The gradient of a loop ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The backward of a scan is a scan in the other direction. An iteration of it
// reads the states before the forward's iteration from their histories,
// computes what that iteration computed again, and goes on with the gradients
// of the states. Those of the slices are results with an entry for each
// iteration.
//
// The gradient of an invariant is a sum over all iterations. Where an
// iteration's part is a product, the product is taken once, after the loop, of
// the factors of all iterations: one large product in place of many small ones
// that add to each other. Other parts are kept and summed up after the loop.
//
//===----------------------------------------------------------------------===//

#include "Backward/DifferentiateScan.h"

#include "Backward/Differentiate.h"
#include "gpuopt/Dialect/NN/IR/ScanBuilder.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static bool isFloat(Value value) {
  return isa<FloatType>(
      cast<RankedTensorType>(value.getType()).getElementType());
}

/// Returns `count` entries of the first dimension, from `first` on.
static Value entriesOf(TensorBuilder &b, Value tensor, int64_t first,
                       int64_t count) {
  SmallVector<int64_t> shape(b.shape(tensor)), offsets(shape.size(), 0),
      ones(shape.size(), 1);
  offsets[0] = first;
  shape[0] = count;
  return b.createOrFold<SliceOp>(tensor, offsets, shape, ones);
}

/// Returns one entry of the first dimension, without that dimension.
static Value entryOf(TensorBuilder &b, Value tensor, int64_t index) {
  return b.reshape(entriesOf(b, tensor, index, 1),
                   b.shape(tensor).drop_front());
}

namespace {

class ScanReverse {
public:
  ScanReverse(OpBuilder &builder, ScanOp op, ArrayRef<Value> resultGradients,
              ArrayRef<bool> wanted)
      : op(op), b(op.getLoc(), builder), resultGradients(resultGradients),
        wanted(wanted), scan(op.getContext(), op.getCount(), !op.getReverse()),
        iteration(op.getContext()) {
    iteration.setInsertionPointToEnd(&scan.getIteration());
  }

  LogicalResult run(MutableArrayRef<Value> operandGradients) {
    cloneIteration();
    addSeeds();
    SmallVector<Value> gradients;
    Operation *last =
        scan.getIteration().empty() ? nullptr : &scan.getIteration().back();
    if (failed(
            train::differentiate(iteration, last, seeds, sources, gradients)))
      return failure();
    for (auto [source, gradient] : llvm::zip(sources, gradients))
      gradientOf[source] = gradient;
    SmallVector<Value> next = nextStates();
    collectParts();
    ScanOp built = scan.finish(b, op.getLoc(), next, stacked.getArrayRef());
    writeGradients(built, operandGradients);
    return success();
  }

private:
  unsigned numSlices() { return op.getSlices().size(); }
  unsigned numStates() { return op.getStates().size(); }
  Value argumentOf(unsigned operand) {
    return mapping.lookup(op.getIteration().getArgument(operand));
  }

  /// Clones what the forward's iteration computes, on the states before it.
  void cloneIteration() {
    int64_t count = op.getCount();
    for (auto [index, argument] :
         llvm::enumerate(op.getIteration().getArguments())) {
      unsigned state = index - numSlices();
      Value inside;
      if (index < numSlices())
        inside = scan.addSlice(op.getSlices()[index]);
      else if (state < numStates())
        inside = scan.addSlice(
            entriesOf(b, op.getHistories()[state], op.getEntryBefore(), count));
      else
        inside = scan.addInvariant(op->getOperand(index));
      mapping.map(argument, inside);
      bool isState = index >= numSlices() && state < numStates();
      if (isFloat(argument) && (isState || wanted[index]))
        sources.push_back(inside);
    }
    for (Operation &inner : op.getIteration().without_terminator())
      iteration.clone(inner, mapping);
  }

  /// Returns what the iteration yields as a result, in the clone.
  Value yieldedAs(unsigned result) {
    return mapping.lookup(op.getYielded()[result]);
  }

  /// The gradient of a state goes from iteration to iteration, beginning with
  /// that of the final state.
  void addSeeds() {
    for (unsigned state = 0; state < numStates(); ++state) {
      Value initial = op.getStates()[state], history = resultGradients[state];
      if (!isFloat(initial))
        continue;
      Value last = history ? entryOf(b, history, op.getFinalEntry())
                           : b.splat(0, b.type(initial));
      stateGradients[state] = scan.addState(last);
      seeds.push_back({yieldedAs(state), stateGradients[state]});
    }
    for (unsigned result = numStates(); result < op->getNumResults(); ++result)
      if (Value gradient = resultGradients[result])
        seeds.push_back({yieldedAs(result), scan.addSlice(gradient)});
  }

  /// Returns the gradients of the states before the forward's iteration.
  SmallVector<Value> nextStates() {
    SmallVector<Value> next;
    TensorBuilder inside(op.getLoc(), iteration);
    for (auto &[state, after] : stateGradients) {
      Value gradient = gradientOf.lookup(argumentOf(numSlices() + state));
      if (Value history = resultGradients[state]) {
        Value entry = scan.addSlice(
            entriesOf(b, history, op.getEntryBefore(), op.getCount()));
        gradient = gradient ? inside.add(gradient, entry) : entry;
      }
      next.push_back(gradient ? gradient : inside.splat(0, inside.type(after)));
    }
    iteration.setInsertionPointToEnd(&scan.getIteration());
    return next;
  }

  //===--------------------------------------------------------------------===//
  // Sums over all iterations
  //===--------------------------------------------------------------------===//

  /// Returns the product that a value is, without what a product can have
  /// beside its factors, if both factors differ from iteration to iteration.
  ContractOp productOf(Value value) {
    auto product = value.getDefiningOp<ContractOp>();
    bool isPlain = product && product->getNumOperands() == 2 &&
                   llvm::none_of(product->getOperands(), [&](Value factor) {
                     return scan.isInvariant(factor);
                   });
    return isPlain ? product : ContractOp();
  }

  /// A part of a sum over all iterations: the product of two values of an
  /// iteration, with its letters, or one value where there are none.
  struct Part {
    std::string letters;
    Value lhs, rhs;
  };

  /// Notes what the sum of `gradient` over all iterations is made of.
  void addParts(Value gradient, SmallVectorImpl<Part> &parts) {
    if (auto sum = gradient.getDefiningOp<arith::AddFOp>()) {
      addParts(sum.getLhs(), parts);
      addParts(sum.getRhs(), parts);
    } else if (ContractOp product = productOf(gradient)) {
      keep(product.getLhs());
      keep(product.getRhs());
      parts.push_back(
          {product.getSpec().str(), product.getLhs(), product.getRhs()});
    } else {
      keep(gradient);
      parts.push_back({"", gradient, {}});
    }
  }

  /// Makes a value of an iteration a result of the scan, unless its entries of
  /// all iterations are known as a whole.
  void keep(Value value) {
    if (!scan.isSlice(value) && !scan.isState(value))
      stacked.insert(value);
  }

  /// Notes what the gradients of slices and invariants are computed from. The
  /// iteration loses what nothing reads afterwards.
  void collectParts() {
    for (unsigned index = 0; index < op->getNumOperands(); ++index) {
      Value gradient = gradientOf.lookup(argumentOf(index));
      if (!gradient || !wanted[index])
        continue;
      if (index < numSlices())
        keep(gradient);
      else if (index >= numSlices() + numStates())
        addParts(gradient, partsOf[index]);
    }
  }

  /// Returns the entries that a value of an iteration has in all iterations.
  Value entriesOfAll(ScanOp built, Value value) {
    if (scan.isSlice(value))
      return scan.getOuter(value);
    for (auto [index, state] : llvm::enumerate(stateGradients))
      if (state.second == value)
        return entriesOf(b, built.getHistories()[index], built.getEntryBefore(),
                         op.getCount());
    return built.getStacked()[llvm::find(stacked, value) - stacked.begin()];
  }

  Value sumOf(ScanOp built, const Part &part) {
    Value lhs = entriesOfAll(built, part.lhs);
    if (part.letters.empty())
      return b.reshape(b.sum(lhs, 0), b.shape(lhs).drop_front());
    // The iteration's number is one more letter, over which the product adds
    // up.
    char letter = 'a';
    while (StringRef(part.letters).contains(letter))
      ++letter;
    auto [factors, result] = StringRef(part.letters).split("->");
    auto [left, right] = factors.split(',');
    std::string letters =
        (Twine(letter) + left + "," + Twine(letter) + right + "->" + result)
            .str();
    return b.create<ContractOp>(letters, lhs, entriesOfAll(built, part.rhs));
  }

  void writeGradients(ScanOp built, MutableArrayRef<Value> operandGradients) {
    for (unsigned index = 0; index < numSlices(); ++index)
      if (Value gradient = gradientOf.lookup(argumentOf(index));
          gradient && wanted[index])
        operandGradients[index] = entriesOfAll(built, gradient);
    for (auto [index, state] : llvm::enumerate(stateGradients))
      if (wanted[numSlices() + state.first])
        operandGradients[numSlices() + state.first] =
            entryOf(b, built.getHistories()[index], built.getFinalEntry());
    for (auto &[index, parts] : partsOf)
      for (const Part &part : parts) {
        Value sum = sumOf(built, part), &all = operandGradients[index];
        all = all ? b.add(all, sum) : sum;
      }
  }

  ScanOp op;
  TensorBuilder b;
  ArrayRef<Value> resultGradients;
  ArrayRef<bool> wanted;
  ScanBuilder scan;
  OpBuilder iteration;
  IRMapping mapping;
  SmallVector<Value> sources;
  SmallVector<std::pair<Value, Value>> seeds;
  llvm::MapVector<unsigned, Value> stateGradients; ///< After an iteration.
  llvm::DenseMap<Value, Value> gradientOf;
  llvm::SetVector<Value> stacked; ///< Values of an iteration that are results.
  llvm::MapVector<unsigned, SmallVector<Part>> partsOf; ///< By operand.
};

} // namespace

LogicalResult
train::differentiateScan(OpBuilder &builder, ScanOp op,
                         ArrayRef<Value> resultGradients, ArrayRef<bool> wanted,
                         MutableArrayRef<Value> operandGradients) {
  return ScanReverse(builder, op, resultGradients, wanted)
      .run(operandGradients);
}
