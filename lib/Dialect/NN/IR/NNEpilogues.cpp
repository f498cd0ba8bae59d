//===- NNEpilogues.cpp - Products with more than a sum --------------------===//
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
#include "gpuopt/settings/even_elements.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Instructions of a lane for an element: those of the formula, as
/// LaneInstructions.cpp counts them, of which 15 are the tanh.
static constexpr double kGeluInstructions = 24, kGeluGradientInstructions = 38;
/// In bf16 cuBLASLt 13.1 takes longer than the formula: on an H200, a product
/// of 65536 x 3072 x 768 took 1.69 ms with this epilogue, which alone took
/// 0.42. That f16 and other devices are alike is an assumption.
static constexpr double kHalfGeluGradientInstructions = 186;
/// For a sum of columns.
static constexpr double kSumInstructions = 3;

static double elementsOf(Value value) {
  return double(tensorType(value).getNumElements());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult ContractGeluOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      inferProduct("nn.contract_gelu", loc, adaptor.getSpec(),
                   tensorType(adaptor.getLhs()), tensorType(adaptor.getRhs()));
  if (failed(type))
    return failure();
  types.assign(adaptor.getKeepsInput() ? 2 : 1, *type);
  return success();
}

LogicalResult ContractGeluGradOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      inferProduct("nn.contract_gelu_grad", loc, adaptor.getSpec(),
                   tensorType(adaptor.getLhs()), tensorType(adaptor.getRhs()));
  if (failed(type))
    return failure();
  types.push_back(*type);
  if (adaptor.getSumsColumns())
    types.push_back(RankedTensorType::get(type->getShape().take_back(),
                                          type->getElementType()));
  return success();
}

/// Checks (C5).
static LogicalResult verifyColumns(Operation *op, StringRef text) {
  ProductSpec spec = ProductSpec::parse(text);
  if (!spec.result.empty() && !spec.lhs.contains(spec.result.back()))
    return success();
  return op->emitOpError("expects that only the right operand has the last "
                         "letter of the result, but got \"")
         << text << "\"";
}

LogicalResult ContractGeluOp::verify() {
  if (failed(verifyColumns(*this, getSpec())))
    return failure();
  RankedTensorType type = tensorType(getResult());
  auto wanted =
      RankedTensorType::get(type.getShape().take_back(), type.getElementType());
  if (getBias() && getBias().getType() != wanted) // (C6)
    return emitOpError("expects a bias of type ")
           << wanted << ", but got " << getBias().getType();
  return success();
}

LogicalResult ContractGeluGradOp::verify() {
  if (failed(verifyColumns(*this, getSpec())))
    return failure();
  if (getInput().getType() != getResult().getType()) // (C6)
    return emitOpError("expects an input of type ")
           << getResult().getType() << ", but got " << getInput().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// What both are as products
//===----------------------------------------------------------------------===//

/// An epilogue works on one matrix whose rows are dense.
template <typename OpT>
static bool hasOneMatrix(OpT op, const CallLayouts &layouts) {
  std::optional<ProductLayout> layout = productLayoutOf(op, layouts);
  auto isDense = [](const StridedView &view) { return view.isDense(); };
  return layout && layout->batch[0] * layout->batch[1] == 1 &&
         llvm::all_of(ArrayRef(layouts.operands).drop_front(2), isDense) &&
         llvm::all_of(layouts.results, isDense);
}

bool ContractGeluOp::supportsLayouts(const CallLayouts &layouts) {
  return hasOneMatrix(*this, layouts);
}
bool ContractGeluGradOp::supportsLayouts(const CallLayouts &layouts) {
  return hasOneMatrix(*this, layouts);
}

PrecisionRole ContractGeluOp::getPrecisionRole() {
  return PrecisionRole::Product;
}
PrecisionRole ContractGeluGradOp::getPrecisionRole() {
  return PrecisionRole::Product;
}

SmallVector<OpOperand *> ContractGeluOp::getFactors() {
  return {&getLhsMutable(), &getRhsMutable()};
}
SmallVector<OpOperand *> ContractGeluGradOp::getFactors() {
  return {&getLhsMutable(), &getRhsMutable()};
}

StringRef ContractGeluOp::getProductLetters() { return getSpec(); }
StringRef ContractGeluGradOp::getProductLetters() { return getSpec(); }

int64_t ContractGeluOp::getWorkspaceInBytes() {
  return productWorkspaceInBytes();
}
int64_t ContractGeluGradOp::getWorkspaceInBytes() {
  return productWorkspaceInBytes();
}

std::string ContractGeluOp::getCostName() {
  return ("contract_gelu " + getSpec()).str();
}
std::string ContractGeluGradOp::getCostName() {
  return ("contract_gelu_grad " + getSpec()).str();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double ContractGeluOp::getFloatingPointOperations() {
  return productOperations(ProductSpec::parse(getSpec()), tensorType(getLhs()),
                           tensorType(getRhs()));
}
double ContractGeluGradOp::getFloatingPointOperations() {
  return productOperations(ProductSpec::parse(getSpec()), tensorType(getLhs()),
                           tensorType(getRhs()));
}

bool ContractGeluOp::usesMatrixUnits() { return true; }
bool ContractGeluGradOp::usesMatrixUnits() { return true; }

void ContractGeluOp::addWarpWork(OpWork &work) {
  work.laneInstructions = kGeluInstructions * elementsOf(getResult());
}
void ContractGeluGradOp::addWarpWork(OpWork &work) {
  double sum = getSumsColumns() ? kSumInstructions : 0;
  double gradient = work.elementType.getIntOrFloatBitWidth() == 16
                        ? kHalfGeluGradientInstructions
                        : kGeluGradientInstructions;
  work.laneInstructions = (gradient + sum) * elementsOf(getResult());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static void passOr(RuntimeCall &call, Value tensor, StringRef name) {
  if (tensor)
    call.pass(tensor);
  else
    call.passNull(name);
}

RuntimeCall ContractGeluOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("gemm_gelu");
  call.passConstant(gemmShapeOf(*productLayoutOf(*this, layouts)));
  call.pass(getLhs());
  call.pass(getRhs());
  passOr(call, getBias(), "bias");
  call.pass(getResult());
  passOr(call, getInput(), "input");
  return call;
}

RuntimeCall ContractGeluGradOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("gemm_gelu_backward");
  call.passConstant(gemmShapeOf(*productLayoutOf(*this, layouts)));
  call.pass(getLhs());
  call.pass(getRhs());
  call.pass(getInput());
  call.pass(getResult());
  passOr(call, getSums(), "sums");
  return call;
}

//===----------------------------------------------------------------------===//
// ReLU
//===----------------------------------------------------------------------===//

/// Returns the type of a mask with a bit for each element of `type`.
static RankedTensorType maskType(RankedTensorType type) {
  const int64_t columns = type.getShape().back(),
                rows = columns ? type.getNumElements() / columns : 0;
  return RankedTensorType::get({rows, mask_words(columns)},
                               IntegerType::get(type.getContext(), 32));
}

LogicalResult ContractReluOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      inferProduct("nn.contract_relu", loc, adaptor.getSpec(),
                   tensorType(adaptor.getLhs()), tensorType(adaptor.getRhs()));
  if (failed(type))
    return failure();
  types.push_back(*type);
  if (adaptor.getKeepsMask())
    types.push_back(maskType(*type));
  return success();
}

LogicalResult ContractReluGradOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      inferProduct("nn.contract_relu_grad", loc, adaptor.getSpec(),
                   tensorType(adaptor.getLhs()), tensorType(adaptor.getRhs()));
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

/// Checks (C7).
static LogicalResult verifyAdded(Operation *op, Value added, Value result) {
  if (!added || added.getType() == result.getType())
    return success();
  return op->emitOpError("expects to add ")
         << result.getType() << ", but got " << added.getType();
}

LogicalResult ContractReluOp::verify() {
  if (failed(verifyColumns(*this, getSpec())) ||
      failed(verifyAdded(*this, getAdded(), getResult())))
    return failure();
  RankedTensorType type = tensorType(getResult());
  auto wanted =
      RankedTensorType::get(type.getShape().take_back(), type.getElementType());
  if (getBias() && getBias().getType() != wanted) // (C6)
    return emitOpError("expects a bias of type ")
           << wanted << ", but got " << getBias().getType();
  return success();
}

LogicalResult ContractReluGradOp::verify() {
  if (failed(verifyColumns(*this, getSpec())) ||
      failed(verifyAdded(*this, getAdded(), getResult())))
    return failure();
  RankedTensorType wanted = maskType(tensorType(getResult()));
  if (getMask().getType() != wanted) // (C6)
    return emitOpError("expects a mask of type ")
           << wanted << ", but got " << getMask().getType();
  return success();
}

bool ContractReluOp::supportsLayouts(const CallLayouts &layouts) {
  return hasOneMatrix(*this, layouts);
}
bool ContractReluGradOp::supportsLayouts(const CallLayouts &layouts) {
  return hasOneMatrix(*this, layouts);
}
PrecisionRole ContractReluOp::getPrecisionRole() {
  return PrecisionRole::Product;
}
PrecisionRole ContractReluGradOp::getPrecisionRole() {
  return PrecisionRole::Product;
}
SmallVector<OpOperand *> ContractReluOp::getFactors() {
  return {&getLhsMutable(), &getRhsMutable()};
}
SmallVector<OpOperand *> ContractReluGradOp::getFactors() {
  return {&getLhsMutable(), &getRhsMutable()};
}
StringRef ContractReluOp::getProductLetters() { return getSpec(); }
StringRef ContractReluGradOp::getProductLetters() { return getSpec(); }

int64_t ContractReluOp::getWorkspaceInBytes() {
  return productWorkspaceInBytes();
}
int64_t ContractReluGradOp::getWorkspaceInBytes() {
  return productWorkspaceInBytes();
}
std::string ContractReluOp::getCostName() {
  return ("contract_relu " + getSpec()).str();
}
std::string ContractReluGradOp::getCostName() {
  return ("contract_relu_grad " + getSpec()).str();
}

double ContractReluOp::getFloatingPointOperations() {
  return productOperations(ProductSpec::parse(getSpec()), tensorType(getLhs()),
                           tensorType(getRhs()));
}
double ContractReluGradOp::getFloatingPointOperations() {
  return productOperations(ProductSpec::parse(getSpec()), tensorType(getLhs()),
                           tensorType(getRhs()));
}
bool ContractReluOp::usesMatrixUnits() { return true; }
bool ContractReluGradOp::usesMatrixUnits() { return true; }

/// A sum or two, a maximum, and the bit of a vote.
static constexpr double kReluInstructions = 4;
/// In f16 cuBLASLt 13.1 takes longer than that beside its products: on an H200,
/// 802816 x 256 x 64 with a sum and a ReLU took 0.315 ms, and with a sum and
/// the gradient of a ReLU 0.498, where the product takes 0.038. Six shapes of
/// ResNet-50 had 32 to 44 instructions for an element, and 61 to 74. That bf16
/// and other devices are alike is an assumption.
static constexpr double kHalfReluInstructions = 40,
                        kHalfReluGradientInstructions = 66;

static bool isHalf(const OpWork &work) {
  return work.elementType.getIntOrFloatBitWidth() == 16;
}

void ContractReluOp::addWarpWork(OpWork &work) {
  work.laneInstructions =
      (isHalf(work) ? kHalfReluInstructions : kReluInstructions) *
      elementsOf(getResult());
}
void ContractReluGradOp::addWarpWork(OpWork &work) {
  work.laneInstructions =
      (isHalf(work) ? kHalfReluGradientInstructions : kReluInstructions) *
      elementsOf(getResult());
}

RuntimeCall ContractReluOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("gemm_relu");
  call.passConstant(gemmShapeOf(*productLayoutOf(*this, layouts)));
  call.pass(getLhs());
  call.pass(getRhs());
  passOr(call, getBias(), "bias");
  passOr(call, getAdded(), "added");
  call.pass(getResult());
  passOr(call, getMask(), "mask");
  return call;
}

RuntimeCall ContractReluGradOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("gemm_relu_backward");
  call.passConstant(gemmShapeOf(*productLayoutOf(*this, layouts)));
  call.pass(getLhs());
  call.pass(getRhs());
  call.pass(getMask());
  passOr(call, getAdded(), "added");
  call.pass(getResult());
  return call;
}

//===----------------------------------------------------------------------===//
// Sums of an operand
//===----------------------------------------------------------------------===//

LogicalResult ContractSumsOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = tensorType(adaptor.getLhs());
  FailureOr<RankedTensorType> type =
      inferProduct("nn.contract_sums", loc, adaptor.getSpec(), lhs,
                   tensorType(adaptor.getRhs()));
  if (failed(type))
    return failure();
  Type full = Float32Type::get(context);
  types.push_back(RankedTensorType::get(type->getShape(), full));
  types.push_back(RankedTensorType::get(lhs.getShape().take_back(), full));
  return success();
}

LogicalResult ContractSumsOp::verify() {
  ProductSpec spec = ProductSpec::parse(getSpec());
  auto isKept = [&](char letter) { return spec.result.contains(letter); };
  if (!spec.lhs.empty() && isKept(spec.lhs.back()) &&
      llvm::none_of(spec.lhs.drop_back(), isKept)) // (C5)
    return success();
  return emitOpError("expects that the result has the last letter of the left "
                     "operand and no other one of it, but got \"")
         << getSpec() << "\"";
}

bool ContractSumsOp::supportsLayouts(const CallLayouts &layouts) {
  return layouts.operands[0].isDense() && hasOneMatrix(*this, layouts);
}
PrecisionRole ContractSumsOp::getPrecisionRole() {
  return PrecisionRole::Product;
}
SmallVector<OpOperand *> ContractSumsOp::getFactors() {
  return {&getLhsMutable(), &getRhsMutable()};
}
StringRef ContractSumsOp::getProductLetters() { return getSpec(); }
int64_t ContractSumsOp::getWorkspaceInBytes() {
  return std::max(productWorkspaceInBytes(), getRequiredWorkspaceInBytes());
}
/// Where the library has no such epilogue, the runtime's own kernels add up.
int64_t ContractSumsOp::getRequiredWorkspaceInBytes() {
  int64_t columns = tensorType(getLhs()).getShape().back();
  if (columns == 0)
    return 0;
  return ColumnSumsLayout(tensorType(getLhs()).getNumElements() / columns,
                          columns, elementSizeInBytes(tensorType(getSums())))
      .bytes;
}
std::string ContractSumsOp::getCostName() {
  return ("contract_sums " + getSpec()).str();
}
double ContractSumsOp::getFloatingPointOperations() {
  return productOperations(ProductSpec::parse(getSpec()), tensorType(getLhs()),
                           tensorType(getRhs()));
}
bool ContractSumsOp::usesMatrixUnits() { return true; }
void ContractSumsOp::addWarpWork(OpWork &work) {
  work.laneInstructions = kSumInstructions * elementsOf(getLhs());
}

RuntimeCall ContractSumsOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("gemm_sums");
  call.passConstant(gemmShapeOf(*productLayoutOf(*this, layouts)));
  call.pass(getLhs());
  call.pass(getRhs());
  call.pass(getResult());
  call.pass(getSums());
  return call;
}
