//===- NNLayoutOps.cpp - Layout changes, joining, padding, generators -----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Support/TensorType.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Checks (C1) of layout changes: the element type stays the same.
static LogicalResult verifySameElementType(Operation *op) {
  Type from = tensorType(op->getOperand(0)).getElementType();
  Type to = tensorType(op->getResult(0)).getElementType();
  if (from == to)
    return success();
  return op->emitOpError("expects a result with element type ")
         << from << ", but got " << to;
}

/// The most elements of a constant that is folded. Shapes, positions and masks
/// of a batch of long sequences are below it; larger tensors are computed where
/// they are read, from what they are made of.
static constexpr int64_t kMostFoldedIntegers = 1 << 20, kMostFoldedFloats = 64;

/// Returns a tensor of elements of a constant, by their numbers there.
static Attribute pickElements(DenseElementsAttr constant,
                              ArrayRef<int64_t> picked,
                              RankedTensorType result) {
  Type type = result.getElementType();
  unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  if (bits == 0 || bits % 8 != 0) { // not whole bytes, as booleans
    auto elements = constant.getValues<Attribute>();
    return DenseElementsAttr::get(
        result, llvm::map_to_vector(picked, [&](int64_t element) -> Attribute {
          return elements[element];
        }));
  }
  // An attribute for each element would take most of the time of a compilation
  // with a large batch.
  size_t bytes = bits / 8;
  ArrayRef<char> from = constant.getRawData();
  std::vector<char> copied(picked.size() * bytes);
  for (auto [place, element] : llvm::enumerate(picked))
    std::copy_n(&from[element * bytes], bytes, &copied[place * bytes]);
  return DenseElementsAttr::getFromRawBuffer(result, copied);
}

/// Returns the elements of `result`, each of which is the element of a constant
/// at the index that `sourceOf` gives.
static Attribute gatherConstant(
    Attribute constant, RankedTensorType result,
    llvm::function_ref<void(ArrayRef<int64_t>, SmallVectorImpl<int64_t> &)>
        sourceOf) {
  auto value = dyn_cast_or_null<DenseElementsAttr>(constant);
  int64_t count = result.getNumElements();
  if (value && value.isSplat())
    return value.resizeSplat(result);
  if (!value ||
      count > (isa<FloatType>(result.getElementType()) ? kMostFoldedFloats
                                                       : kMostFoldedIntegers))
    return {};
  ArrayRef<int64_t> from = cast<RankedTensorType>(value.getType()).getShape(),
                    to = result.getShape();
  std::vector<int64_t> picked;
  picked.reserve(count);
  SmallVector<int64_t> index(to.size(), 0), source;
  for (int64_t element = 0; element < count; ++element) {
    source.assign(from.size(), 0);
    sourceOf(index, source);
    int64_t linear = 0;
    for (auto [position, size] : llvm::zip(source, from))
      linear = linear * size + position;
    picked.push_back(linear);
    for (int64_t dim = (int64_t)to.size() - 1;
         dim >= 0 && ++index[dim] == to[dim]; --dim)
      index[dim] = 0;
  }
  return pickElements(value, picked, result);
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (failed(verifySameElementType(*this))) // (C1)
    return failure();
  int64_t from = tensorType(getInput()).getNumElements(),
          to = getType().getNumElements();
  if (from != to) // (C2)
    return emitOpError("expects ")
           << from << " elements in the result, but got " << to;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto value = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return value.reshape(getType());
  if (auto producer = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(producer.getInput());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  llvm::SmallBitVector seen(input.getRank());
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) { // (C1)
    if (dim < 0 || dim >= input.getRank() || seen[dim])
      return emitOptionalError(
          loc, "'nn.transpose' op expects a permutation of the dimensions of ",
          input, ", but got [", permutation, "]");
    seen.set(dim);
    shape.push_back(input.getDimSize(dim));
  }
  if ((int64_t)shape.size() != input.getRank())
    return emitOptionalError(loc, "'nn.transpose' op expects ", input.getRank(),
                             " entries in the permutation, but got ",
                             shape.size());
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  auto sourceOf = [&](ArrayRef<int64_t> index,
                      SmallVectorImpl<int64_t> &source) {
    for (auto [position, dim] : llvm::zip(index, permutation))
      source[dim] = position;
  };
  if (Attribute folded =
          gatherConstant(adaptor.getInput(), getType(), sourceOf))
    return folded;
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return getInput();
  auto producer = getInput().getDefiningOp<TransposeOp>();
  if (!producer)
    return {};
  SmallVector<int64_t> composed;
  for (int64_t dim : permutation)
    composed.push_back(producer.getPermutation()[dim]);
  getInputMutable().assign(producer.getInput());
  setPermutation(composed);
  return getResult();
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  if (failed(verifySameElementType(*this))) // (C1)
    return failure();
  ArrayRef<int64_t> from = tensorType(getInput()).getShape(),
                    to = getType().getShape();
  bool fits = from.size() <= to.size();
  for (auto [size, target] : llvm::zip(llvm::reverse(from), llvm::reverse(to)))
    fits &= size == 1 || size == target;
  if (!fits) // (C2)
    return emitOpError("expects dimensions of size 1 or the result's, but got ")
           << getInput().getType() << " for " << getType();
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto value = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()))
    return value.resizeSplat(getType());
  ArrayRef<int64_t> from = tensorType(getInput()).getShape();
  size_t missing = getType().getRank() - from.size();
  auto sourceOf = [&](ArrayRef<int64_t> index,
                      SmallVectorImpl<int64_t> &source) {
    for (size_t dim = 0; dim < from.size(); ++dim)
      source[dim] = from[dim] == 1 ? 0 : index[missing + dim];
  };
  if (Attribute folded =
          gatherConstant(adaptor.getInput(), getType(), sourceOf))
    return folded;
  if (auto producer = getInput().getDefiningOp<BroadcastOp>()) {
    getInputMutable().assign(producer.getInput());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  auto offsets = adaptor.getOffsets(), sizes = adaptor.getSizes(),
       strides = adaptor.getStrides();
  if (offsets.size() != rank || sizes.size() != rank ||
      strides.size() != rank) // (C1)
    return emitOptionalError(loc, "'nn.slice' op expects ", rank,
                             " offsets, sizes and strides");
  for (size_t dim = 0; dim < rank; ++dim) {
    if (strides[dim] < 1) // (C1)
      return emitOptionalError(
          loc, "'nn.slice' op expects strides of at least 1, but got ",
          strides[dim]);
    int64_t room = input.getDimSize(dim) - 1 - offsets[dim];
    if (offsets[dim] < 0 || sizes[dim] < 0 ||
        (sizes[dim] > 0 &&
         (room < 0 || sizes[dim] - 1 > room / strides[dim]))) // (C2)
      return emitOptionalError(
          loc, "'nn.slice' op expects a box inside ", input, ", but dimension ",
          dim, " has ", sizes[dim], " elements from ", offsets[dim], " on");
  }
  types.push_back(RankedTensorType::get(sizes, input.getElementType()));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto value = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()))
    return value.resizeSplat(getType());
  auto sourceOf = [&](ArrayRef<int64_t> index,
                      SmallVectorImpl<int64_t> &source) {
    for (size_t dim = 0; dim < index.size(); ++dim)
      source[dim] = getOffsets()[dim] + index[dim] * getStrides()[dim];
  };
  return gatherConstant(adaptor.getInput(), getType(), sourceOf);
}

//===----------------------------------------------------------------------===//
// Concat and pad
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty()) // (C1)
    return emitOptionalError(loc,
                             "'nn.concat' op expects at least one operand");
  RankedTensorType first = tensorType(adaptor.getInputs().front());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(loc, "'nn.concat' op expects a dimension of ",
                             first, ", but got ", dim);
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = 0;
  for (Value input : adaptor.getInputs()) {
    RankedTensorType type = tensorType(input);
    SmallVector<int64_t> expected(first.getShape());
    if (type.getRank() == first.getRank())
      expected[dim] = type.getDimSize(dim);
    if (type !=
        RankedTensorType::get(expected, first.getElementType())) // (C1) (C2)
      return emitOptionalError(
          loc, "'nn.concat' op expects operands that differ in dimension ", dim,
          " alone, but got ", first, " and ", type);
    shape[dim] += type.getDimSize(dim);
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return (*this)->hasAttr(kStopsGradient) ? OpFoldResult() : getInputs()[0];
  if (!getType().getElementType().isInteger() ||
      getType().getNumElements() > kMostFoldedIntegers ||
      !llvm::all_of(adaptor.getInputs(), [](Attribute input) {
        return isa_and_nonnull<DenseElementsAttr>(input);
      }))
    return {};
  int64_t outer = 1, whole = getType().getNumElements();
  for (int64_t size : getType().getShape().take_front(getDim()))
    outer *= size;
  SmallVector<Attribute> elements;
  for (int64_t row = 0; whole && row < outer; ++row)
    for (Attribute input : adaptor.getInputs()) {
      auto values = cast<DenseElementsAttr>(input).getValues<Attribute>();
      int64_t count = cast<DenseElementsAttr>(input).getNumElements() / outer;
      for (int64_t element = 0; element < count; ++element)
        elements.push_back(values[row * count + element]);
    }
  return DenseElementsAttr::get(getType(), elements);
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *context,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  auto low = adaptor.getLow(), high = adaptor.getHigh(),
       interior = adaptor.getInterior();
  bool sized =
      low.size() == rank && high.size() == rank && interior.size() == rank;
  auto negative = [](int64_t size) { return size < 0; };
  if (!sized || llvm::any_of(low, negative) || llvm::any_of(high, negative) ||
      llvm::any_of(interior, negative)) // (C1)
    return emitOptionalError(loc, "'nn.pad' op expects ", rank,
                             " non-negative low, high and interior entries");
  if (adaptor.getValue().getType() != input.getElementType()) // (C2)
    return emitOptionalError(loc, "'nn.pad' op expects a value of type ",
                             input.getElementType(), ", but got ",
                             adaptor.getValue().getType());
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t size = input.getDimSize(dim);
    shape.push_back(low[dim] + size +
                    std::max<int64_t>(size - 1, 0) * interior[dim] + high[dim]);
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Generators
//===----------------------------------------------------------------------===//

LogicalResult InRangeOp::verify() {
  if ((int64_t)getSize() < 1) // (C1)
    return emitOpError("expects a size of at least 1, but got ") << getSize();
  return success();
}

LogicalResult IotaOp::verify() {
  if (getDim() >= (uint64_t)getType().getRank()) // (C1)
    return emitOpError("expects a dimension of ")
           << getType() << ", but got " << getDim();
  return success();
}
