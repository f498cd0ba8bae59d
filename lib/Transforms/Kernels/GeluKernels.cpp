//===- GeluKernels.cpp - GELUs that follow products -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A formula has many spellings: exporters write GELU in several ways, and
// simplifications and the merging of kernels change its gradient further. So
// kernels are compared by values: one of sums, products and tanh that agrees
// with GELU at many points is GELU, since two such functions that differ have
// few points in common. A kernel with a comparison is never accepted.
//
//===----------------------------------------------------------------------===//

#include "GeluKernels.h"

#include "ElementFunction.h"
#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Points at which functions are compared. The exact form of GELU is up to 5e-4
/// from the approximate one between them. Constants of models are f32.
static constexpr double kLastPoint = 6, kStep = 0.37, kTolerance = 1e-5;
/// Biases, the first of which stands for none, and gradients of the GELU's
/// result.
static constexpr double kBiases[] = {0, 0.75, -1.5}, kGradients[] = {1, -2.5};

static BlockArgument argumentOf(FusedOp kernel, Value input) {
  for (auto [argument, operand] :
       llvm::zip(kernel.getBody().front().getArguments(), kernel.getInputs()))
    if (operand == input)
      return argument;
  return {};
}

static bool isClose(std::optional<double> value, double expected) {
  return value && std::abs(*value - expected) <=
                      kTolerance * std::max(1.0, std::abs(expected));
}

/// Whether `holds` for elements of the product and its bias, and their sum, at
/// all points.
static bool holdsAtAllPoints(
    FusedOp kernel, GeluKernel &gelu,
    llvm::function_ref<bool(ElementsOfArguments &, double)> holds) {
  Value product = argumentOf(kernel, gelu.product.getResult()),
        bias = gelu.bias ? argumentOf(kernel, gelu.bias) : Value();
  for (double added : bias ? ArrayRef(kBiases) : ArrayRef(kBiases, 1))
    for (double x = -kLastPoint; x <= kLastPoint; x += kStep) {
      ElementsOfArguments elements;
      elements[product] = x - added;
      if (bias)
        elements[bias] = added;
      if (!holds(elements, x))
        return false;
    }
  return true;
}

/// Returns the other operand of a kernel that reads a product: a bias, or null
/// if there is none. Returns nothing if it is anything else.
static std::optional<Value> biasIn(FusedOp kernel, ContractOp product) {
  Value bias;
  for (Value input : kernel.getInputs()) {
    if (input == product.getResult())
      continue;
    auto type = cast<RankedTensorType>(input.getType());
    if (bias || type.getRank() != 1 || product.getBias() ||
        !product.takesBias(type))
      return std::nullopt;
    // The library reads a bias as it lies.
    std::optional<StridedView> view = viewOf(input);
    if (!view || !view->isDense())
      return std::nullopt;
    bias = input;
  }
  return bias;
}

static bool isGelu(GeluKernel &gelu) {
  FusedOp kernel = gelu.kernel;
  if (kernel.getNumResults() != 1 ||
      kernel.getResult(0).getType() != gelu.product.getType())
    return false;
  return holdsAtAllPoints(
      kernel, gelu, [&](ElementsOfArguments &elements, double x) {
        return isClose(evaluate(yieldedBy(kernel)[0], elements),
                       approximateGelu(x));
      });
}

/// Returns the additions of a bias to a product in a kernel, or nothing if it
/// reads the product in any other way.
static std::optional<SmallVector<arith::AddFOp>> additionsIn(FusedOp kernel,
                                                             GeluKernel &gelu) {
  BlockArgument product = argumentOf(kernel, gelu.product.getResult()),
                bias = argumentOf(kernel, gelu.bias);
  SmallVector<arith::AddFOp> additions;
  for (OpOperand &use : product.getUses()) {
    auto addition = dyn_cast<arith::AddFOp>(use.getOwner());
    if (!addition || !bias)
      return std::nullopt;
    auto other = addition->getOperand(1 - use.getOperandNumber())
                     .getDefiningOp<BroadcastOp>();
    if (!other || other.getInput() != bias)
      return std::nullopt;
    additions.push_back(addition);
  }
  return additions;
}

std::optional<GeluKernel> gpuopt::geluOf(ContractOp product) {
  GeluKernel gelu{product, {}, {}, {}};
  SmallVector<FusedOp> kernels;
  for (Operation *user : product->getUsers()) {
    auto kernel = dyn_cast<FusedOp>(user);
    if (!kernel || kernel->getBlock() != product->getBlock())
      return std::nullopt;
    if (!llvm::is_contained(kernels, kernel))
      kernels.push_back(kernel);
  }
  llvm::sort(kernels,
             [](FusedOp a, FusedOp b) { return a->isBeforeInBlock(b); });
  if (kernels.empty())
    return std::nullopt;
  gelu.kernel = kernels.front(); // before the backward
  std::optional<Value> bias = biasIn(gelu.kernel, product);
  if (!bias)
    return std::nullopt;
  gelu.bias = *bias;
  if (!isGelu(gelu))
    return std::nullopt;
  gelu.readers.assign(std::next(kernels.begin()), kernels.end());
  bool readSums = !gelu.bias || llvm::all_of(kernels, [&](FusedOp kernel) {
    return additionsIn(kernel, gelu).has_value();
  });
  return readSums ? std::optional(gelu) : std::nullopt;
}

/// Removes an operand that the kernel's body no longer reads.
static void dropUnused(FusedOp kernel, Value input) {
  BlockArgument argument = argumentOf(kernel, input);
  if (!argument || !argument.use_empty())
    return;
  unsigned index = argument.getArgNumber();
  kernel.getBody().front().eraseArgument(index);
  kernel->eraseOperand(index);
}

void gpuopt::readSum(FusedOp reader, GeluKernel &gelu, Value sum) {
  BlockArgument product = argumentOf(reader, gelu.product.getResult());
  if (gelu.bias) {
    SmallVector<arith::AddFOp> additions = *additionsIn(reader, gelu);
    for (arith::AddFOp addition : additions) {
      addition.replaceAllUsesWith(Value(product));
      Operation *operands[] = {addition.getLhs().getDefiningOp(),
                               addition.getRhs().getDefiningOp()};
      addition.erase();
      for (Operation *broadcast : operands)
        if (broadcast && broadcast->use_empty())
          broadcast->erase();
    }
  }
  reader->setOperand(product.getArgNumber(), sum);
  if (gelu.bias)
    dropUnused(reader, gelu.bias);
  reader.setLabel(kernelLabel(reader.getBody().front()));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Returns the product that a gradient's kernel reads beside the GELU's input.
static ContractOp factorOf(GeluKernel &gelu, FusedOp reader) {
  ContractOp factor;
  for (Value input : reader.getInputs()) {
    if (input == gelu.product.getResult() || input == gelu.bias)
      continue;
    if (factor)
      return {};
    factor = input.getDefiningOp<ContractOp>();
    if (!factor || !factor->hasOneUse() ||
        factor->getBlock() != reader->getBlock() ||
        factor.getType() != gelu.product.getType())
      return {};
  }
  return factor;
}

static bool isGradient(GeluKernel &gelu, FusedOp reader, ContractOp factor,
                       Value value) {
  Value gradient = argumentOf(reader, factor.getResult());
  return holdsAtAllPoints(reader, gelu,
                          [&](ElementsOfArguments &elements, double x) {
                            return llvm::all_of(kGradients, [&](double of) {
                              elements[gradient] = of;
                              return isClose(evaluate(value, elements),
                                             of * approximateGeluDerivative(x));
                            });
                          });
}

std::optional<GeluGradientKernel> gpuopt::gradientOf(GeluKernel &gelu,
                                                     FusedOp reader) {
  ContractOp factor = factorOf(gelu, reader);
  if (!factor || reader.getNumResults() > 2)
    return std::nullopt;
  GeluGradientKernel found{factor, reader, {}, {}};
  OpResult sum;
  for (auto [result, value] :
       llvm::zip(reader->getOpResults(), yieldedBy(reader))) {
    OpResult &place = value.getDefiningOp<ReduceOp>() ? sum : found.result;
    if (place)
      return std::nullopt;
    place = result;
  }
  if (!found.result || found.result.getType() != factor.getType())
    return std::nullopt;
  Value value = yieldedBy(reader)[found.result.getResultNumber()];
  if (!isGradient(gelu, reader, factor, value))
    return std::nullopt;
  if (!sum)
    return found;
  auto reduction =
      yieldedBy(reader)[sum.getResultNumber()].getDefiningOp<ReduceOp>();
  ArrayRef<int64_t> shape = shapeOf(found.result);
  if (reduction.getKind() != ReductionKind::Sum ||
      reduction.getInput() != value)
    return std::nullopt;
  found.sums = isSumOfColumns(sum, shape) ? sum : finishedSum(sum, shape);
  // What finishes the sum goes with the kernel, and must do nothing else.
  bool isAlone = found.sums && (found.sums == sum ||
                                found.sums.getOwner()->getNumResults() == 1);
  return isAlone ? std::optional(found) : std::nullopt;
}
