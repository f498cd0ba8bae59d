//===- Differentiate.cpp - Reverse-mode differentiation -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/Differentiate.h"

#include "Backward/DifferentiateScan.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace {

class Reverse {
public:
  Reverse(OpBuilder &builder, ArrayRef<Value> sources) : builder(builder) {
    for (Value source : sources)
      spread(source);
  }

  /// Adds to the gradient of a value.
  void add(Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? arith::AddFOp::create(builder, gradient.getLoc(), sum, gradient)
                    .getResult()
              : gradient;
  }

  /// Visits all ops up to `last`, from the last one on.
  LogicalResult run(Operation *last) {
    SmallVector<Operation *> reversed;
    for (Operation *op = last; op; op = op->getPrevNode())
      reversed.push_back(op);
    LogicalResult result = success();
    for (Operation *op : reversed)
      if (isOnPath(op) && failed(visit(op)))
        result = failure();
    return result;
  }

  Value gradientOf(Value value) const { return gradients.lookup(value); }

private:
  static bool isFloat(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && isa<FloatType>(type.getElementType());
  }

  /// Marks all values that depend on a source through floating-point values.
  void spread(Value source) {
    SmallVector<Value> stack{source};
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      if (!dependent.insert(value).second)
        continue;
      for (Operation *user : value.getUsers())
        for (Value result : user->getResults())
          if (isFloat(result))
            stack.push_back(result);
    }
  }

  bool isOnPath(Operation *op) const {
    bool reached = llvm::any_of(op->getResults(), [&](Value result) {
      return gradients.contains(result);
    });
    return reached && llvm::any_of(op->getOperands(), [&](Value operand) {
             return dependent.contains(operand);
           });
  }

  LogicalResult visit(Operation *op) {
    SmallVector<Value> resultGradients, operandGradients(op->getNumOperands());
    SmallVector<bool> wanted;
    for (Value result : op->getResults())
      resultGradients.push_back(gradients.lookup(result));
    for (Value operand : op->getOperands())
      wanted.push_back(dependent.contains(operand));
    Operation *before = &builder.getBlock()->back();
    if (failed(buildVjp(op, resultGradients, wanted, operandGradients)))
      return failure();
    nameGradients(op, before);
    for (auto [operand, gradient, isWanted] :
         llvm::zip(op->getOperands(), operandGradients, wanted))
      if (gradient && isWanted)
        add(operand, gradient);
    return success();
  }

  /// Builds the gradients of the operands of an op.
  LogicalResult buildVjp(Operation *op, ArrayRef<Value> resultGradients,
                         ArrayRef<bool> wanted,
                         MutableArrayRef<Value> operandGradients) {
    if (auto scan = dyn_cast<gpuopt::nn::ScanOp>(op))
      return gpuopt::train::differentiateScan(builder, scan, resultGradients,
                                              wanted, operandGradients);
    auto differentiable = dyn_cast<gpuopt::DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitError("'")
             << op->getName()
             << "' lies between a parameter and the loss but has no gradient";
    differentiable.buildVjp(builder, resultGradients, wanted, operandGradients);
    return success();
  }

  /// Names all ops that the rule built the gradient of what the op makes. The
  /// type of the ONNX op stays.
  void nameGradients(Operation *op, Operation *before) {
    gpuopt::Origin origin = gpuopt::originIn(op->getLoc());
    if (origin.name.empty())
      return;
    StringAttr type = gpuopt::onnxOpOf(op->getLoc());
    auto label = builder.getStringAttr(origin.gradient().text());
    Location loc =
        type ? NameLoc::get(label, NameLoc::get(type)) : NameLoc::get(label);
    for (Operation *built = before->getNextNode(); built;
         built = built->getNextNode())
      built->setLoc(loc);
  }

  OpBuilder &builder;
  llvm::DenseSet<Value> dependent;
  llvm::DenseMap<Value, Value> gradients;
};

} // namespace

LogicalResult
gpuopt::train::differentiate(OpBuilder &builder, Operation *last,
                             ArrayRef<std::pair<Value, Value>> targets,
                             ArrayRef<Value> sources,
                             SmallVectorImpl<Value> &gradients) {
  Reverse reverse(builder, sources);
  for (auto [target, seed] : targets)
    reverse.add(target, seed);
  LogicalResult result = reverse.run(last);
  for (Value source : sources)
    gradients.push_back(reverse.gradientOf(source));
  return result;
}

LogicalResult gpuopt::train::differentiate(OpBuilder &builder, Value target,
                                           Value seed, ArrayRef<Value> sources,
                                           SmallVectorImpl<Value> &gradients) {
  return differentiate(builder, target.getDefiningOp(), {{target, seed}},
                       sources, gradients);
}
