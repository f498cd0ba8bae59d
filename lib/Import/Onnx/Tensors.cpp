//===- Tensors.cpp - The tensors of an ONNX file --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "Dimensions.h"

using namespace mlir;
using namespace gpuopt::onnx;
using proto::TensorProto;

static constexpr int64_t kMaxInlineElements = 64;
static constexpr int64_t kMaxInlineConstantBytes = int64_t(64) << 20;

// ONNX data is little-endian, and it is used here without conversion.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "needs a little-endian host");

/// Constants are needed when ops are folded. Integers are always constants:
/// they are indices and masks, of which models keep those of their longest
/// sequence.
static bool isInlined(RankedTensorType type, int64_t numElements,
                      int64_t sizeInBytes, bool isConstant) {
  Type element = type.getElementType();
  if (element.isIntOrFloat() && !element.isInteger(1) &&
      element.getIntOrFloatBitWidth() < 8)
    return true; // their bytes in the file are not those of a tensor
  bool isNarrow =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  return isConstant || isNarrow || element.isInteger()
             ? sizeInBytes <= kMaxInlineConstantBytes
             : numElements <= kMaxInlineElements;
}

/// Returns elements that share bytes, each in a byte of its own.
static std::string unpack(StringRef bytes, int64_t count, int64_t perByte) {
  std::string elements;
  int64_t bits = 8 / perByte;
  for (int64_t index = 0; index < count; ++index) {
    uint8_t byte = bytes[index / perByte];
    elements += char(byte >> (index % perByte * bits) & ((1 << bits) - 1));
  }
  return elements;
}

ElementsAttr gpuopt::onnx::makeElements(RankedTensorType type,
                                        StringRef bytes) {
  Type element = type.getElementType();
  if (element.isIntOrFloat() && !element.isInteger(1) &&
      element.getIntOrFloatBitWidth() < 8) {
    std::string elements = unpack(bytes, type.getNumElements(),
                                  8 / element.getIntOrFloatBitWidth());
    return DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef<char>(elements.data(), elements.size()));
  }
  if (type.getElementType().isInteger(1)) {
    auto isTrue = [](char byte) { return byte != 0; };
    return DenseElementsAttr::get(
        type, llvm::to_vector(llvm::map_range(bytes, isTrue)));
  }
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef<char>(bytes.data(), bytes.size()));
}

FailureOr<TensorImporter::Type>
TensorImporter::getType(const TensorProto &tensor, StringRef where) const {
  std::optional<ElementType> element =
      getElementType(tensor.data_type(), &reporter.getContext());
  if (!element)
    return reporter.error()
           << where << " has elements of type "
           << getDataTypeName(tensor.data_type()) << ", which is not supported";
  if (tensor.has_segment())
    return reporter.error()
           << where << " is stored in segments, which is not supported";
  ArrayRef<int64_t> shape(tensor.dims().data(), tensor.dims_size());
  std::optional<int64_t> numElements = getNumElements(shape);
  if (!numElements) {
    InFlightDiagnostic error = reporter.error();
    error << where << " has the impossible shape [";
    llvm::interleaveComma(shape, error);
    return error << "]";
  }
  return Type{*element, RankedTensorType::get(shape, element->type),
              *numElements, element->getSizeInBytes(*numElements)};
}

LogicalResult TensorImporter::checkSize(const Type &type, int64_t sizeInBytes,
                                        StringRef where) const {
  if (sizeInBytes == type.sizeInBytes)
    return success();
  return reporter.error() << where << " has " << sizeInBytes
                          << " bytes of data, but " << type.tensor << " needs "
                          << type.sizeInBytes;
}

/// Copies integers into elements of `width` bytes each; returns false if one
/// does not fit. Narrow types may be stored sign-extended or not.
template <class Integer>
static bool narrow(ArrayRef<Integer> numbers, int64_t width, bool isBool,
                   std::string &bytes) {
  const int64_t limit = int64_t(1) << (8 * width);
  for (Integer number : numbers) {
    if (isBool)
      number = number != 0;
    auto wide = static_cast<int64_t>(number);
    if (wide >= limit || wide < -limit / 2 ||
        (std::is_unsigned_v<Integer> && wide < 0))
      return false;
    bytes.append(reinterpret_cast<const char *>(&number), width);
  }
  return true;
}

FailureOr<ElementsAttr> TensorImporter::readTypedData(const TensorProto &tensor,
                                                      const Type &type,
                                                      StringRef where) const {
  auto read = [&](const auto &field) -> FailureOr<ElementsAttr> {
    using Number = std::decay_t<decltype(*field.data())>;
    ArrayRef<Number> numbers(field.data(), field.size());
    if (type.element.perByte > 1) {
      if (field.size() != type.sizeInBytes)
        return reporter.error()
               << where << " has " << field.size() << " bytes of data, but "
               << type.tensor << " needs " << type.sizeInBytes;
      std::string bytes(numbers.begin(), numbers.end());
      return makeElements(type.tensor, bytes);
    }
    int64_t components = type.element.getNumComponents();
    if (field.size() != type.numElements * components)
      return reporter.error()
             << where << " has " << field.size() << " numbers of data, but "
             << type.tensor << " needs " << type.numElements * components;
    int64_t width = type.element.sizeInBytes / components;
    if (width == sizeof(Number))
      return makeElements(
          type.tensor, StringRef(reinterpret_cast<const char *>(field.data()),
                                 field.size() * sizeof(Number)));
    std::string bytes;
    if constexpr (std::is_integral_v<Number>)
      if (!narrow(numbers, width, type.element.type.isInteger(1), bytes))
        return reporter.error()
               << where << " holds a number that is no " << type.element.name;
    return makeElements(type.tensor, bytes);
  };
  switch (type.element.field) {
  case TypedField::Float:
    return read(tensor.float_data());
  case TypedField::Int32:
    return read(tensor.int32_data());
  case TypedField::Int64:
    return read(tensor.int64_data());
  case TypedField::Double:
    return read(tensor.double_data());
  case TypedField::Uint64:
    return read(tensor.uint64_data());
  }
  return failure();
}

FailureOr<TensorContent> TensorImporter::importInitializer(int index,
                                                           bool isConstant) {
  const TensorProto &tensor = file.getModel().graph().initializer(index);
  std::string where = "initializer '" + tensor.name() + "'";
  FailureOr<Type> type = getType(tensor, where);
  if (failed(type))
    return failure();

  bool isInline =
      isInlined(type->tensor, type->numElements, type->sizeInBytes, isConstant);
  TensorContent content{type->tensor, {}, {}};
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    FailureOr<FileAttr> source =
        externalFiles.locate(tensor, type->sizeInBytes, where);
    if (failed(source))
      return failure();
    if (isInline)
      content.value =
          makeElements(type->tensor, externalFiles.getBytes(*source));
    else
      content.source = *source;
    return content;
  }
  if (std::optional<ByteRange> range = file.getRawData(index)) {
    if (failed(checkSize(*type, range->size, where)))
      return failure();
    if (isInline)
      content.value = makeElements(type->tensor, file.getBytes(*range));
    else
      content.source = FileAttr::get(&reporter.getContext(), reporter.getPath(),
                                     range->offset, range->size);
    return content;
  }
  FailureOr<ElementsAttr> value = readTypedData(tensor, *type, where);
  if (failed(value))
    return failure();
  content.value = *value;
  return content;
}

FailureOr<ElementsAttr>
TensorImporter::importAttribute(const TensorProto &tensor, StringRef where) {
  FailureOr<Type> type = getType(tensor, where);
  if (failed(type))
    return failure();
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    FailureOr<FileAttr> source =
        externalFiles.locate(tensor, type->sizeInBytes, where);
    if (failed(source))
      return failure();
    return makeElements(type->tensor, externalFiles.getBytes(*source));
  }
  if (!tensor.has_raw_data())
    return readTypedData(tensor, *type, where);
  if (failed(checkSize(*type, tensor.raw_data().size(), where)))
    return failure();
  return makeElements(type->tensor, tensor.raw_data());
}
