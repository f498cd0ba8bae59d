//===- CastStep.cpp - A step in the types that were chosen ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Inserts the casts of a step in one walk over it. Kernels widen what they read
// and round what they write, so a cast is a part of a kernel if possible: a
// tensor that products read in another type becomes one more result, of that
// type, of the kernel that makes it. If no kernel makes the tensor, a kernel of
// its own casts it once.
//
//===----------------------------------------------------------------------===//

#include "Precision/Precision.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/StepGraph.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Analysis/Precision/PrecisionGraph.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/Support/TensorType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

static Type elementOf(Value value) {
  return tensorType(value).getElementType();
}
static void setElement(Value value, Type element) {
  value.setType(tensorType(value).clone(element));
}

/// Casts between f32 and f16 or bf16, in either direction.
static Value castTo(OpBuilder &builder, Value value, Type element) {
  RankedTensorType type = tensorType(value).clone(element);
  if (element.getIntOrFloatBitWidth() == 16)
    return arith::TruncFOp::create(builder, value.getLoc(), type, value);
  return arith::ExtFOp::create(builder, value.getLoc(), type, value);
}

/// Returns a constant in another type; what the type cannot hold becomes its
/// largest number.
static DenseElementsAttr saturated(DenseElementsAttr value, FloatType to) {
  const llvm::fltSemantics &semantics = to.getFloatSemantics();
  return llvm::cast<DenseElementsAttr>(
      llvm::cast<DenseFPElementsAttr>(value).mapValues(
          to, [&](const APFloat &number) {
            APFloat narrow = number;
            bool isLossy;
            narrow.convert(semantics, APFloat::rmNearestTiesToEven, &isLossy);
            if (narrow.isInfinity())
              narrow = APFloat::getLargest(semantics, number.isNegative());
            return narrow.bitcastToAPInt();
          }));
}

namespace {

class CastInserter {
public:
  CastInserter(StepOp step, FloatType half, llvm::SetVector<StringAttr> &copied)
      : module(step->getParentOfType<ModuleOp>()),
        block(step.getBody().front()), half(half), copied(copied),
        builder(step.getContext()) {}

  void run() {
    findCopies();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isViewOp(&op) || isa<nn::ConcatOp>(op))
        setElement(op.getResult(0), elementOf(op.getOperand(0)));
      else if (isProduct(&op))
        castProduct(&op);
      else if (auto read = dyn_cast<ReadOp>(op))
        castTable(read);
      else if (!isa<nn::FusedOp>(op))
        setResults(&op);
      if (auto call = dyn_cast<RuntimeCallOpInterface>(op))
        noteWideResults(call);
      removeLabels(&op);
      if (auto fused = dyn_cast<nn::FusedOp>(op))
        castKernel(fused);
    }
    eraseDeadViews();
  }

private:
  static bool isHalfResult(OpResult result) {
    auto labels = result.getOwner()->getAttrOfType<DenseBoolArrayAttr>(
        kHalfResultsAttribute);
    return labels && labels[result.getResultNumber()];
  }

  /// Remembers which results of kernels are to be rounded.
  void removeLabels(Operation *op) {
    halfResults.clear();
    for (OpResult result : op->getResults())
      if (isHalfResult(result))
        halfResults.push_back(result.getResultNumber());
    op->removeAttr(kHalfResultsAttribute);
    op->removeAttr(kHalfProductAttribute);
  }

  /// Finds the results of kernels that a product needs in another type than
  /// they have. It reads its factors in the type that it multiplies in, and
  /// adds its bias in the type of its result.
  void findCopies() {
    for (Operation &op : block) {
      if (!isProduct(&op) || !elementOf(op.getResult(0)).isF32())
        continue;
      auto call = cast<RuntimeCallOpInterface>(op);
      SmallVector<OpOperand *> factors = call.getFactors();
      for (OpOperand &operand : op.getOpOperands()) {
        bool isFactor = llvm::is_contained(factors, &operand);
        auto result = dyn_cast<OpResult>(sourceOf(operand.get()));
        if (result && elementOf(result).isF32() &&
            isa<nn::FusedOp>(result.getOwner()) &&
            (isFactor || !call.keepsType(operand.get())) &&
            isHalfResult(result) != (isFactor
                                         ? op.hasAttr(kHalfProductAttribute)
                                         : isHalfResult(op.getResult(0))))
          copiedResults[result.getOwner()].insert(result.getResultNumber());
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// Kernels take rows of the copy if the read is labelled.
  void castTable(ReadOp read) {
    if (!isHalfResult(cast<OpResult>(read.getResult())))
      return;
    Value copy = inType(read.getResult(), half);
    read.getResult().replaceUsesWithIf(
        copy, [](OpOperand &use) { return isa<nn::FusedOp>(use.getOwner()); });
  }

  void castKernel(nn::FusedOp fused) {
    Block &body = fused.getBody().front();
    builder.setInsertionPointToStart(&body);
    for (auto [argument, input] :
         llvm::zip(body.getArguments(), fused.getInputs()))
      if (argument.getType() != input.getType())
        castArgument(argument, elementOf(input));
    Operation *yield = body.getTerminator();
    for (unsigned number : halfResults)
      roundResult(yield, fused->getResult(number));
    if (auto found = copiedResults.find(fused); found != copiedResults.end())
      addCopies(fused, found->second.getArrayRef());
  }

  void castArgument(BlockArgument argument, Type element) {
    Type wide = elementOf(argument);
    setElement(argument, element);
    // A table is not read as a whole, so only the rows that are taken are cast.
    SmallVector<nn::TakeOp> takes;
    for (Operation *user : argument.getUsers())
      if (auto take = dyn_cast<nn::TakeOp>(user);
          take && take.getTable() == argument)
        takes.push_back(take);
    for (nn::TakeOp take : takes) {
      OpBuilder after(take->getContext());
      after.setInsertionPointAfter(take);
      setElement(take.getResult(), element);
      Value rows = castTo(after, take.getResult(), wide);
      take.getResult().replaceAllUsesExcept(rows, rows.getDefiningOp());
    }
    llvm::SmallPtrSet<Operation *, 4> except(takes.begin(), takes.end());
    if (llvm::all_of(argument.getUsers(),
                     [&](Operation *user) { return except.contains(user); }))
      return;
    Value value = castTo(builder, argument, wide);
    except.insert(value.getDefiningOp());
    argument.replaceAllUsesExcept(value, except);
  }

  /// The kernel's own uses of the result read it rounded, as other kernels do,
  /// so that they give the same wherever they are computed.
  void roundResult(Operation *yield, OpResult result) {
    Value value = yield->getOperand(result.getResultNumber());
    Value &rounded = roundedValues[value];
    if (!rounded) {
      OpBuilder at(yield);
      if (Operation *definition = value.getDefiningOp())
        at.setInsertionPointAfter(definition);
      else
        at.setInsertionPointToStart(yield->getBlock());
      rounded = castTo(at, value, half);
      llvm::SmallPtrSet<Operation *, 2> except{rounded.getDefiningOp(), yield};
      bool isReadInside = llvm::any_of(value.getUsers(), [&](Operation *user) {
        return !except.contains(user);
      });
      if (value.getDefiningOp() && isReadInside)
        value.replaceAllUsesExcept(castTo(at, rounded, elementOf(value)),
                                   except);
    }
    yield->setOperand(result.getResultNumber(), rounded);
    setElement(result, half);
  }

  /// Builds a kernel with the same results, followed by some of them in the
  /// other type.
  void addCopies(nn::FusedOp fused, ArrayRef<unsigned> results) {
    Block &body = fused.getBody().front();
    Operation *yield = body.getTerminator();
    SmallVector<Type> types(fused.getResultTypes());
    SmallVector<nn::OriginAttr> origins =
        llvm::map_to_vector(fused.getResults(), originAttrOf);
    OpBuilder inside(yield);
    SmallVector<Value> yielded(yield->getOperands());
    for (unsigned number : results) {
      Value value = yielded[number];
      bool isHalf = elementOf(value) == half;
      yielded.push_back(
          castTo(inside, value, isHalf ? Type(inside.getF32Type()) : half));
      types.push_back(yielded.back().getType());
      origins.push_back(origins[number]);
    }
    yield->setOperands(yielded);
    builder.setInsertionPoint(fused);
    auto replacement = nn::FusedOp::create(builder, fused.getLoc(), types,
                                           fused.getLabel(), fused.getInputs());
    setOrigins(replacement, origins);
    replacement.getBody().takeBody(fused.getBody());
    unsigned count = fused.getNumResults();
    for (unsigned i = 0; i < results.size(); ++i)
      copies[replacement.getResult(results[i])] =
          replacement.getResult(count + i);
    fused.replaceAllUsesWith(replacement.getResults().take_front(count));
    fused.erase();
  }

  /// Views of masters whose readers read a view of the copy now would keep the
  /// masters.
  void eraseDeadViews() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isViewOp(&op) && op.use_empty())
        op.erase();
  }

  //===--------------------------------------------------------------------===//
  // Products and other library calls
  //===--------------------------------------------------------------------===//

  void setResults(Operation *op) {
    for (OpResult result : op->getResults())
      if (isHalfResult(result))
        setElement(result, half);
  }

  void castProduct(Operation *op) {
    if (!elementOf(op->getResult(0)).isF32())
      return;
    bool isHalf = op->hasAttr(kHalfProductAttribute);
    Type element = isHalf ? Type(half) : builder.getF32Type();
    builder.setInsertionPoint(op);
    SmallVector<OpOperand *> factors =
        cast<RuntimeCallOpInterface>(op).getFactors();
    for (OpOperand *factor : factors)
      factor->set(inType(factor->get(), element));
    setResults(op);
    auto call = cast<RuntimeCallOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (!llvm::is_contained(factors, &operand) &&
          isa<FloatType>(elementOf(operand.get())) &&
          !call.keepsType(operand.get()))
        operand.set(inType(operand.get(), elementOf(op->getResult(0))));
  }

  /// Notes the results that are f32 although the operands are in half
  /// precision: their type does not follow from the operands'.
  void noteWideResults(RuntimeCallOpInterface call) {
    bool readsHalf = llvm::any_of(call->getOperands(), [&](Value operand) {
      return elementOf(operand) == half;
    });
    if (readsHalf && elementOf(call->getResult(0)).isF32())
      call.widenResults();
  }

  /// Returns `value` in a type: itself, or its copy through the same views.
  Value inType(Value value, Type element) {
    if (elementOf(value) == element)
      return value;
    Value &known = inOtherType[value];
    if (known)
      return known;
    if (Operation *view = value.getDefiningOp(); isViewOp(view)) {
      Value source = inType(view->getOperand(0), element);
      IRMapping mapping;
      mapping.map(view->getOperand(0), source);
      Operation *clone = builder.clone(*view, mapping);
      setElement(clone->getResult(0), element);
      return inOtherType[value] = clone->getResult(0);
    }
    return inOtherType[value] = copyOf(value, element);
  }

  Value copyOf(Value root, Type element) {
    if (Value copy = copies.lookup(root))
      return copy;
    OpBuilder::InsertionGuard guard(builder);
    Operation *op = root.getDefiningOp();
    if (op)
      builder.setInsertionPointAfter(op);
    else
      builder.setInsertionPointToStart(&block);
    if (auto read = dyn_cast_or_null<ReadOp>(op);
        read && copyKeeperOf(read) != CopyKeeper::Step) {
      copied.insert(read.getVariableAttr().getAttr());
      return ReadOp::create(builder, read.getLoc(),
                            tensorType(root).clone(element),
                            halfCopyName(module, read.getVariable()));
    }
    // The elements of a resource are not looked at.
    if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
        return arith::ConstantOp::create(builder, op->getLoc(),
                                         saturated(elements, half));
    return castByKernel(root, element);
  }

  Value castByKernel(Value root, Type element) {
    RankedTensorType type = tensorType(root).clone(element);
    auto fused = nn::FusedOp::create(builder, root.getLoc(), TypeRange(type),
                                     "cast", ValueRange(root));
    setOrigins(fused, originAttrOf(root));
    Block &body = fused.getBody().emplaceBlock();
    Value argument = body.addArgument(root.getType(), root.getLoc());
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    nn::YieldOp::create(inside, root.getLoc(),
                        castTo(inside, argument, element));
    return fused.getResult(0);
  }

  ModuleOp module; ///< Null for a step without a module.
  Block &block;
  FloatType half;
  llvm::SetVector<StringAttr> &copied;
  OpBuilder builder;
  llvm::DenseMap<Operation *, llvm::SetVector<unsigned>> copiedResults;
  SmallVector<unsigned> halfResults;          ///< In this kernel.
  llvm::DenseMap<Value, Value> roundedValues; ///< Within kernels.
  llvm::DenseMap<Value, Value> copies;        ///< By the tensors' own kernels.
  llvm::DenseMap<Value, Value> inOtherType;
};

} // namespace

std::string train::halfCopyName(ModuleOp module, StringRef parameter) {
  std::string name = (parameter + ".half").str();
  if (!module)
    return name;
  for (VariableOp variable : module.getOps<VariableOp>())
    if (variable.getKind() == VariableKind::HalfCopy &&
        variable.getOf() == parameter)
      return variable.getSymName().str();
  return freeSymbol(module, name);
}

bool train::needsNoMaster(VariableOp weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t size = rowSizeOf(type);
  return weight.getKind() == VariableKind::Frozen && weight.getFile() &&
         (type.getRank() < 2 || pitchFor(size) == size);
}

void train::insertCasts(StepOp step, FloatType halfType,
                        llvm::SetVector<StringAttr> &copied) {
  CastInserter(step, halfType, copied).run();
}
