//===- Dimensions.cpp - The sizes of symbolic dimensions ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dimensions.h"

#include "ElementTypes.h"
#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gpuopt::onnx;
using proto::TensorShapeProto;
using proto::ValueInfoProto;

/// No tensor can have more elements than this, whatever their type.
static constexpr int64_t kMaxNumElements = int64_t(1) << 56;

std::optional<int64_t> gpuopt::onnx::getNumElements(ArrayRef<int64_t> shape) {
  // Zero sizes are left out of the product at first, so that they cannot hide
  // an overflow that depends on the order of multiplication.
  int64_t product = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      empty = true;
    else if (llvm::MulOverflow(product, size, product) ||
             product > kMaxNumElements)
      return std::nullopt;
  }
  return empty ? 0 : product;
}

/// Returns the name that `--dim` uses for a dimension; empty if its size is
/// fixed.
static std::string getDimensionName(const ValueInfoProto &input, int index) {
  const auto &dimension = input.type().tensor_type().shape().dim(index);
  if (dimension.has_dim_value())
    return "";
  if (!dimension.dim_param().empty())
    return dimension.dim_param();
  return input.name() + "_dim_" + std::to_string(index);
}

/// Returns the text as a word of a command.
static std::string inShell(const std::string &text) {
  bool isPlain = llvm::all_of(text, [](char letter) {
    return llvm::isAlnum(letter) || StringRef("_-.+=:/").contains(letter);
  });
  return isPlain ? text : "'" + text + "'";
}

std::optional<int64_t> Dimensions::lookup(const std::string &name) const {
  auto found = sizes.find(name);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

LogicalResult Dimensions::bindBatch(const GraphInputs &inputs) {
  const ValueInfoProto *fixed = nullptr;
  bool hasBatch = false;
  for (const ValueInfoProto *input : inputs) {
    const TensorShapeProto &shape = input->type().tensor_type().shape();
    hasBatch |= !input->type().tensor_type().has_shape(); // `bind` tells
    if (shape.dim_size() == 0)
      continue;
    std::string name = getDimensionName(*input, 0);
    if (name.empty()) {
      hasBatch |= shape.dim(0).dim_value() == *batchSize;
      if (!fixed && shape.dim(0).dim_value() != *batchSize)
        fixed = input;
      continue;
    }
    hasBatch = true;
    auto [known, isNew] = sizes.try_emplace(name, *batchSize);
    if (!isNew && known->second != *batchSize)
      return reporter.error()
             << "the first dimension of input '" << input->name() << "' is '"
             << name << "', for which both --batch-size=" << *batchSize
             << " and --dim " << name << "=" << known->second << " are given";
  }
  if (hasBatch)
    return success();
  if (!fixed)
    return reporter.error() << "no input has a batch dimension that "
                               "--batch-size could apply to";
  return reporter.error()
         << "the batch size of input '" << fixed->name() << "' is fixed to "
         << fixed->type().tensor_type().shape().dim(0).dim_value()
         << " by the file, so it cannot be " << *batchSize
         << ": export with a symbolic batch, torch.onnx.export(..., "
            "dynamic_shapes={'"
         << fixed->name() << "': {0: 'batch'}})";
}

void Dimensions::bindUsualBatch(const GraphInputs &inputs) {
  for (const ValueInfoProto *input : inputs)
    if (input->type().tensor_type().shape().dim_size() > 0)
      if (std::string name = getDimensionName(*input, 0); !name.empty())
        sizes.try_emplace(name, *usualBatchSize);
}

LogicalResult Dimensions::bindConstant(const ValueInfoProto &input,
                                       const ConstantInput &constant) {
  const auto &tensor = input.type().tensor_type();
  if (!tensor.has_shape())
    return success();
  if (tensor.shape().dim_size() != int(constant.shape.size()))
    return reporter.error()
           << "input '" << input.name() << "' has " << tensor.shape().dim_size()
           << " dimensions, but '" << constant.file
           << "' of --constant-input has " << constant.shape.size();
  for (auto [index, size] : llvm::enumerate(constant.shape)) {
    std::string name = getDimensionName(input, index);
    int64_t wanted = name.empty() ? tensor.shape().dim(index).dim_value()
                                  : sizes.try_emplace(name, size).first->second;
    if (wanted != size)
      return reporter.error()
             << "dimension " << index << " of input '" << input.name()
             << "' is " << wanted << ", but '" << constant.file
             << "' of --constant-input has " << size;
  }
  return success();
}

std::optional<int64_t> Dimensions::sumOf(StringRef name) const {
  SmallVector<StringRef> terms;
  name.split(terms, '+');
  int64_t sum = 0;
  for (StringRef term : terms) {
    term = term.trim();
    int64_t size = 0;
    if (term.getAsInteger(10, size)) {
      std::optional<int64_t> known = lookup(term.str());
      if (!known)
        return std::nullopt;
      size = *known;
    }
    if (llvm::AddOverflow(sum, size, sum))
      return std::nullopt;
  }
  return sum;
}

void Dimensions::bindSums(const std::set<std::string> &symbols) {
  for (const std::string &name : symbols)
    if (name.find('+') != std::string::npos)
      if (std::optional<int64_t> sum = sumOf(name))
        sizes.try_emplace(name, *sum);
}

LogicalResult Dimensions::bind(
    const GraphInputs &inputs,
    ArrayRef<std::pair<const ValueInfoProto *, const ConstantInput *>>
        constants) {
  std::set<std::string> symbols;
  auto addSymbols = [&](const ValueInfoProto &input) {
    for (int i = 0; i < input.type().tensor_type().shape().dim_size(); ++i)
      symbols.insert(getDimensionName(input, i));
  };
  for (const ValueInfoProto *input : inputs)
    addSymbols(*input);
  for (const auto &[input, constant] : constants)
    addSymbols(*input);
  symbols.erase("");
  for (const auto &[name, size] : sizes) {
    if (!symbols.count(name)) {
      InFlightDiagnostic error = reporter.error();
      error << "no input has the dimension '" << name << "' of --dim " << name
            << "=" << size;
      if (!symbols.empty()) {
        error << "; there are: ";
        llvm::interleaveComma(symbols, error, [&](const std::string &symbol) {
          error << "'" << symbol << "'";
        });
      }
      return error;
    }
    if (size < 1)
      return reporter.error()
             << "dimension '" << name
             << "' needs a size of at least 1, but got " << size;
  }
  if (batchSize && *batchSize < 1)
    return reporter.error()
           << "the batch size must be at least 1, but got " << *batchSize;
  bindSums(symbols);
  if (batchSize && failed(bindBatch(inputs)))
    return failure();
  for (const auto &[input, constant] : constants)
    if (failed(bindConstant(*input, *constant)))
      return failure();
  if (!batchSize && usualBatchSize)
    bindUsualBatch(inputs);
  bindSums(symbols);
  return success();
}

FailureOr<RankedTensorType>
Dimensions::getInputType(const ValueInfoProto &input) const {
  const auto &tensor = input.type().tensor_type();
  if (!input.type().has_tensor_type())
    return reporter.error() << "input '" << input.name() << "' is no tensor";
  auto element = getElementType(tensor.elem_type(), &reporter.getContext());
  if (!element)
    return reporter.error()
           << "input '" << input.name() << "' has elements of type "
           << getDataTypeName(tensor.elem_type()) << ", which is not supported";
  if (!tensor.has_shape())
    return reporter.error()
           << "input '" << input.name() << "' has no shape: export with one";

  SmallVector<int64_t> shape;
  bool known = true;
  for (int i = 0; i < tensor.shape().dim_size(); ++i) {
    std::string name = getDimensionName(input, i);
    std::optional<int64_t> size =
        name.empty() ? tensor.shape().dim(i).dim_value() : lookup(name);
    if (!size)
      reporter.error() << "dimension " << i << " of input '" << input.name()
                       << "' is unknown: give its size by --dim "
                       << inShell(name + "=N")
                       << (i == 0 ? " or --batch-size N" : "");
    known &= size.has_value();
    shape.push_back(size.value_or(1));
  }
  if (!known)
    return failure();
  if (!getNumElements(shape)) {
    InFlightDiagnostic error = reporter.error();
    error << "input '" << input.name() << "' has the impossible shape [";
    llvm::interleaveComma(shape, error);
    return error << "]";
  }
  return RankedTensorType::get(shape, element->type);
}

Type Dimensions::getValueType(const proto::TypeProto &type) const {
  Type unknown = UnknownType::get(&reporter.getContext());
  auto element =
      getElementType(type.tensor_type().elem_type(), &reporter.getContext());
  if (!element || !type.tensor_type().has_shape())
    return unknown;
  SmallVector<int64_t> shape, knownSizes;
  for (const auto &dimension : type.tensor_type().shape().dim()) {
    std::optional<int64_t> size = dimension.has_dim_value()
                                      ? dimension.dim_value()
                                      : lookup(dimension.dim_param());
    if (size && *size < 0)
      size = std::nullopt;
    shape.push_back(size.value_or(ShapedType::kDynamic));
    knownSizes.push_back(size.value_or(1));
  }
  if (!getNumElements(knownSizes))
    return unknown;
  return RankedTensorType::get(shape, element->type);
}
