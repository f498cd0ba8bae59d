//===- NNCalls.cpp - The ops of nn that are calls of the runtime ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/Support/TensorType.h"
#include "gpuopt/settings/column_sums_layout.h"
#include "gpuopt/settings/conv_calls.h"
#include "gpuopt/settings/scatter_layout.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static ArrayRef<int64_t> shapeOf(Value value) {
  return tensorType(value).getShape();
}

/// Returns a text such as "3x3".
static std::string times(int64_t a, int64_t b) {
  return std::to_string(a) + "x" + std::to_string(b);
}

static constexpr int64_t kMiB = int64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Contract: one batched matrix product
//===----------------------------------------------------------------------===//

bool ContractOp::supportsLayouts(const CallLayouts &layouts) {
  auto others = ArrayRef(layouts.operands).drop_front(2);
  return productLayoutOf(*this, layouts) &&
         llvm::all_of(others,
                      [](const StridedView &view) { return view.isDense(); });
}
bool ContractOp::canWriteParts() { return true; }
Value ContractOp::getTiedOperand(unsigned) { return getAccumulator(); }
bool ContractOp::takesAccumulator() { return !getAccumulator() && !getBias(); }
void ContractOp::setAccumulator(Value accumulator) {
  getAccumulatorMutable().assign(accumulator);
}

PrecisionRole ContractOp::getPrecisionRole() {
  return PrecisionRole::WideningProduct;
}
SmallVector<OpOperand *> ContractOp::getFactors() {
  return {&getLhsMutable(), &getRhsMutable()};
}

StringRef ContractOp::getProductLetters() { return getSpec(); }
bool ContractOp::keepsType(Value value) {
  return getFull() || (getWide() && value == getResult());
}

void ContractOp::widenResults() {
  setResultElementType(Float32Type::get(getContext()));
}

int64_t ContractOp::getWorkspaceInBytes() { return productWorkspaceInBytes(); }

std::string ContractOp::getCostName() {
  return ("contract " + getSpec()).str();
}

RuntimeCall ContractOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("gemm");
  call.passConstant(gemmShapeOf(*productLayoutOf(*this, layouts)));
  call.pass(getLhs());
  call.pass(getRhs());
  call.pass(getResult());
  if (getAccumulator())
    call.setOption("beta", 1.0);
  if (getBias())
    call.setOption("bias", getBias());
  return call;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// Returns the bytes for cuDNN's own scratch memory and for the filters in its
/// order. cuDNN gives no bound for its workspaces, so this is a multiple of the
/// largest tensor of the convolution.
static int64_t convWorkspace(Operation *op, Value filters) {
  constexpr int64_t kLeast = 16 * kMiB, kMost = 256 * kMiB, kTensors = 4;
  int64_t largest = 0;
  for (Type type :
       llvm::concat<Type>(op->getOperandTypes(), op->getResultTypes()))
    largest =
        std::max(largest, alignedSizeInBytes(cast<RankedTensorType>(type)));
  return alignedSizeInBytes(tensorType(filters)) +
         std::clamp(kTensors * largest, kLeast, kMost);
}

int64_t ConvOp::getWorkspaceInBytes() {
  return convWorkspace(*this, getWeights());
}
int64_t ConvWithSumsOp::getWorkspaceInBytes() {
  return std::max(convWorkspace(*this, getWeights()),
                  getRequiredWorkspaceInBytes());
}
/// Where cuDNN does not compute the sums, the runtime's own kernels do.
int64_t ConvWithSumsOp::getRequiredWorkspaceInBytes() {
  int64_t channels = shapeOf(getSum()).back();
  return ColumnSumsLayout(tensorType(getResult()).getNumElements() / channels,
                          channels, elementSizeInBytes(tensorType(getSum())),
                          /*kinds=*/2)
      .bytes;
}
int64_t ConvInputGradOp::getWorkspaceInBytes() {
  return convWorkspace(*this, getWeights());
}
int64_t ConvWeightGradOp::getWorkspaceInBytes() {
  return convWorkspace(*this, getResult());
}

PrecisionRole ConvOp::getPrecisionRole() { return PrecisionRole::Product; }
PrecisionRole ConvWithSumsOp::getPrecisionRole() {
  return PrecisionRole::Product;
}
PrecisionRole ConvInputGradOp::getPrecisionRole() {
  return PrecisionRole::Product;
}
PrecisionRole ConvWeightGradOp::getPrecisionRole() {
  return PrecisionRole::Product;
}

SmallVector<OpOperand *> ConvOp::getFactors() {
  return {&getInputMutable(), &getWeightsMutable()};
}
SmallVector<OpOperand *> ConvWithSumsOp::getFactors() {
  return {&getInputMutable(), &getWeightsMutable()};
}
bool ConvWithSumsOp::keepsType(Value value) {
  return value == getSum() || value == getSumOfSquares();
}
SmallVector<OpOperand *> ConvInputGradOp::getFactors() {
  return {&getGradientMutable(), &getWeightsMutable()};
}
SmallVector<OpOperand *> ConvWeightGradOp::getFactors() {
  return {&getInputMutable(), &getGradientMutable()};
}

/// `input`, `weights` and `output` are the tensors of the forward convolution.
template <typename OpT>
static RuntimeCall convCall(StringRef function, OpT op, Value input,
                            Value weights, Value output) {
  ArrayRef<int64_t> x = shapeOf(input), w = shapeOf(weights),
                    y = shapeOf(output), pads = op.getPads(),
                    strides = op.getStrides(), dilations = op.getDilations();
  StructConstant shape(kConvShapeType, "kConv" + times(w[2], w[3]) + "_" +
                                           std::to_string(x[3]) + "to" +
                                           std::to_string(y[3]) + "_" +
                                           times(y[1], y[2]));
  shape.field("n", x[0]);
  shape.field("h", x[1]);
  shape.field("w", x[2]);
  shape.field("c", x[3]);
  shape.field("oh", y[1]);
  shape.field("ow", y[2]);
  shape.field("oc", y[3]);
  shape.field("kh", w[2]);
  shape.field("kw", w[3]);
  shape.pair("stride", strides[0], strides[1], 1);
  shape.pair("pad_begin", pads[0], pads[1], 0);
  shape.pair("pad_end", pads[2], pads[3], 0);
  shape.pair("dilation", dilations[0], dilations[1], 1);
  shape.field("groups", op.getGroups(), 1);
  RuntimeCall call(function);
  call.passToTemplate(tensorType(input).getElementType());
  call.passConstant(std::move(shape));
  return call;
}

RuntimeCall ConvOp::getCall(const CallLayouts &) {
  RuntimeCall call =
      convCall(kConvForwardCall, *this, getInput(), getWeights(), getResult());
  call.pass(getInput());
  call.pass(getWeights());
  call.passNull("bias");
  call.pass(getResult());
  return call;
}
RuntimeCall ConvWithSumsOp::getCall(const CallLayouts &) {
  RuntimeCall call = convCall(kConvForwardWithSumsCall, *this, getInput(),
                              getWeights(), getResult());
  call.pass(getInput());
  call.pass(getWeights());
  call.pass(getResult());
  call.pass(getSum());
  call.pass(getSumOfSquares());
  return call;
}
RuntimeCall ConvInputGradOp::getCall(const CallLayouts &) {
  RuntimeCall call = convCall(kConvBackwardDataCall, *this, getResult(),
                              getWeights(), getGradient());
  call.pass(getGradient());
  call.pass(getWeights());
  call.pass(getResult());
  return call;
}
RuntimeCall ConvWeightGradOp::getCall(const CallLayouts &) {
  RuntimeCall call = convCall(kConvBackwardWeightsCall, *this, getInput(),
                              getResult(), getGradient());
  call.pass(getInput());
  call.pass(getGradient());
  call.pass(getResult());
  call.passInteger(0, "beta");
  return call;
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

PrecisionRole MaxPoolOp::getPrecisionRole() { return PrecisionRole::Uniform; }
PrecisionRole MaxPoolGradOp::getPrecisionRole() {
  return PrecisionRole::Uniform;
}
PrecisionRole AvgPoolOp::getPrecisionRole() { return PrecisionRole::Uniform; }
PrecisionRole AvgPoolGradOp::getPrecisionRole() {
  return PrecisionRole::Uniform;
}

/// `input` and `output` are the tensors of the forward pooling, or their
/// gradients.
template <typename OpT>
static RuntimeCall poolCall(StringRef function, OpT op, Value input,
                            Value output, ArrayRef<int64_t> dilations,
                            bool countsPadding) {
  ArrayRef<int64_t> x = shapeOf(input), y = shapeOf(output),
                    kernel = op.getKernel(), pads = op.getPads(),
                    strides = op.getStrides();
  StructConstant shape("PoolShape", "kPool" + times(kernel[0], kernel[1]) +
                                        "_" + times(y[1], y[2]));
  shape.field("n", x[0]);
  shape.field("h", x[1]);
  shape.field("w", x[2]);
  shape.field("c", x[3]);
  shape.field("oh", y[1]);
  shape.field("ow", y[2]);
  shape.field("kh", kernel[0]);
  shape.field("kw", kernel[1]);
  shape.pair("stride", strides[0], strides[1], 1);
  shape.pair("pad_begin", pads[0], pads[1], 0);
  shape.pair("pad_end", pads[2], pads[3], 0);
  shape.pair("dilation", dilations[0], dilations[1], 1);
  shape.field("count_include_pad", countsPadding, 0);
  RuntimeCall call(function);
  call.passToTemplate(tensorType(input).getElementType());
  call.passConstant(std::move(shape));
  return call;
}

RuntimeCall MaxPoolOp::getCall(const CallLayouts &) {
  RuntimeCall call = poolCall("max_pool_forward", *this, getInput(),
                              getResult(), getDilations(), false);
  call.pass(getInput());
  call.pass(getResult());
  call.pass(getArgmax());
  return call;
}
RuntimeCall MaxPoolGradOp::getCall(const CallLayouts &) {
  RuntimeCall call = poolCall("max_pool_backward", *this, getResult(),
                              getGradient(), getDilations(), false);
  call.pass(getGradient());
  call.pass(getArgmax());
  call.pass(getResult());
  return call;
}
RuntimeCall AvgPoolOp::getCall(const CallLayouts &) {
  RuntimeCall call = poolCall("avg_pool_forward", *this, getInput(),
                              getResult(), {1, 1}, getCountIncludePad());
  call.pass(getInput());
  call.pass(getResult());
  return call;
}
RuntimeCall AvgPoolGradOp::getCall(const CallLayouts &) {
  RuntimeCall call = poolCall("avg_pool_backward", *this, getResult(),
                              getGradient(), {1, 1}, getCountIncludePad());
  call.pass(getGradient());
  call.pass(getResult());
  return call;
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

PrecisionRole ScatterAddOp::getPrecisionRole() {
  return PrecisionRole::Accumulation;
}

Value ScatterAddOp::getTiedOperand(unsigned) { return getAccumulator(); }
bool ScatterAddOp::takesAccumulator() { return !getAccumulator(); }
void ScatterAddOp::setAccumulator(Value accumulator) {
  getAccumulatorMutable().assign(accumulator);
}

void ScatterAddOp::widenResults() {
  setResultElementType(Float32Type::get(getContext()));
}

int64_t ScatterAddOp::getRequiredWorkspaceInBytes() {
  RankedTensorType table = tensorType(getResult());
  int64_t rows = table.getDimSize(0);
  return ScatterLayout(rows, tensorType(getIndices()).getNumElements(),
                       rows ? table.getNumElements() / rows : 0,
                       table.getElementType().isF64() ? 8 : 4)
      .bytes;
}
int64_t ScatterAddOp::getWorkspaceInBytes() {
  return getRequiredWorkspaceInBytes();
}

RuntimeCall ScatterAddOp::getCall(const CallLayouts &) {
  int64_t count = tensorType(getIndices()).getNumElements(),
          updates = tensorType(getUpdates()).getNumElements();
  RuntimeCall call("scatter_add_rows");
  call.pass(getIndices());
  call.passInteger(count);
  call.pass(getUpdates());
  call.passInteger(getRows());
  call.passInteger(count ? updates / count : 0);
  call.pass(getResult());
  call.passInteger(getAccumulator() ? 1 : 0, "beta");
  return call;
}
